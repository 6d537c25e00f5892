// --activity and the live sources of a run.
import Advertising
import LinuxIO
import Profiles

/// What the device of a run feels.
enum ActivityOption {
    /// Puts the source that the user names in the place of the profile's, and checks that the run
    /// can follow it.
    /// - Returns: false where it cannot, which has been said.
    static func apply(
        _ options: RunOptions, of number: Int, to profile: inout DeviceProfile,
        _ console: inout Console
    ) -> Bool {
        if let spec = options.substitutes[number].activity {
            guard let source = source(spec, for: profile, &console) else { return false }
            profile.activity?.sources = [source]
        }
        guard options.virtualTime else { return true }
        for case .live(let live) in profile.activity?.sources ?? [] {
            console.error(
                "--virtual-time cannot follow \(live), which lives in real time; "
                    + "give a trace with --activity csv:FILE")
            return false
        }
        return true
    }

    private static func source(
        _ spec: ActivitySpec, for profile: DeviceProfile, _ console: inout Console
    ) -> ActivitySource? {
        guard let rule = profile.activity else {
            console.error(
                "--activity: \(profile.file) has no 'activity:' whose source it could replace; "
                    + "add one to the profile")
            return nil
        }
        guard !rule.sources.allSatisfy(\.isUse) else {
            console.error(
                "--activity: the activity of \(profile.file) has no thresholds; "
                    + "add 'active-above' and 'idle-below' and another source to the profile")
            return nil
        }
        switch spec {
        case .live(let live): return .live(live)
        case .csv(let path, let column):
            return ProfileFile.trace(path, column: column, &console).map { .trace($0) }
        }
    }
}
