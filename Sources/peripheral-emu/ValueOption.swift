// `--set`: values that take the place of the profile's.
import Emulator
import Profiles

enum ValueOption {
    /// Puts the values of all `--set` into the profile; false where one is wrong, which has been
    /// said.
    static func apply(
        _ options: RunOptions, to profile: inout DeviceProfile, _ console: inout Console
    ) -> Bool {
        var isRight = true
        for text in options.settings {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            do throws(ProfileErrors) {
                profile.presets.append(
                    try ProfileLoader.setting(
                        String(parts.last ?? ""), of: String(parts.first ?? ""), in: profile,
                        source: "--set"))
            } catch {
                for error in error.list { console.error("--set \(error.sentence)") }
                isRight = false
            }
        }
        return isRight
    }
}
