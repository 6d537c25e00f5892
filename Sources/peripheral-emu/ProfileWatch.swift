// --watch: new versions of a profile, and of the files it names, while its accessory runs.
import Advertising
import Emulator
import LinuxIO
import Profiles
import SansIO

/// Loads the profile again when one of its files has changed.
final class ProfileWatch {
    private let options: RunOptions
    /// The accessory's.
    private let number: Int
    private let watcher: FileWatcher
    /// The version at work.
    private var profile: DeviceProfile
    /// The latest version was wrong, or there was none.
    private var isBehind = false

    init(
        _ options: RunOptions, _ profile: DeviceProfile, of number: Int,
        _ files: ProfileFile.Files, _ loop: inout EventLoop
    ) throws(SystemError) {
        self.options = options
        self.number = number
        self.profile = profile
        watcher = try FileWatcher(loop: &loop)
        watcher.follow(files.paths, at: loop.now())
        if let failure = watcher.failure { throw failure }
    }

    /// When `next` must be called though the loop says nothing.
    var deadline: Instant? { watcher.deadline }

    /// Takes an event of the loop; one of somebody else's is ignored.
    func handle(_ event: ReadyEvent, at now: Instant) throws(SystemError) {
        try watcher.handle(event, at: now)
    }

    /// A version that is another than the one at work; nil where there is none, or a wrong one,
    /// which is then said.
    func next(at now: Instant, _ reporter: inout Reporter) -> DeviceProfile? {
        guard watcher.takeChange(at: now) else { return nil }
        guard exists(profile.file) else {
            if !isBehind {
                reporter.log(
                    .warning, "\(profile.file) is gone: the accessory stays as it is",
                    of: number, at: now)
            }
            isBehind = true
            return nil
        }
        var trial = Console(level: .error)
        let files = ProfileFile.Files()
        let new = ProfileFile.load(number, for: options, files, &trial)
        watcher.follow(files.paths, at: now)
        guard let new else {
            isBehind = true
            reporter.refuseFlash(profile.file, trial.takeLines(), of: number, at: now)
            return nil
        }
        guard new != profile else {
            if isBehind {
                reporter.log(.info, "\(profile.file) is as before", of: number, at: now)
            }
            isBehind = false
            return nil
        }
        return new
    }

    /// Takes a new version for the one at work, unless something speaks against it, which is said.
    /// - Parameters:
    ///   - refusal: what the device says against it.
    ///   - activity: the live sources, which become those of the new version.
    func take(
        _ new: DeviceProfile, refusal: String?, at now: Instant, _ loop: inout EventLoop,
        _ activity: inout LiveActivity?, _ reporter: inout Reporter
    ) -> Bool {
        isBehind = true
        if let refusal {
            reporter.refuseFlash(profile.file, [refusal], of: number, at: now)
            return false
        }
        do throws(SystemError) {
            try Self.reopen(&activity, profile, new, &loop)
        } catch {
            reporter.refuseFlash(profile.file, ["\(error)"], of: number, at: now)
            return false
        }
        isBehind = false
        profile = new
        return true
    }

    /// Follows the live sources of the new version; where one cannot be had, those of the old one.
    private static func reopen(
        _ activity: inout LiveActivity?, _ old: DeviceProfile, _ new: DeviceProfile,
        _ loop: inout EventLoop
    ) throws(SystemError) {
        let (before, after) = (old.activity?.sources ?? [], new.activity?.sources ?? [])
        // A source's place in the list is its number.
        guard before.map(\.live) != after.map(\.live) else { return }
        activity?.close(&loop)
        activity = nil
        do throws(SystemError) {
            activity = try LiveActivity(after, loop: &loop)
        } catch {
            activity = try LiveActivity(before, loop: &loop)
            throw error
        }
    }
}

extension ActivitySource {
    /// nil for a source that is not live.
    fileprivate var live: LiveSource? { if case .live(let live) = self { live } else { nil } }
}
