// `--set`: values that take the place of the profile's.
import Emulator
import Profiles
import Wire

enum ValueOption {
    /// Puts the values of all `--set` into the profile; false where one is wrong, which has been
    /// said.
    static func apply(
        _ options: RunOptions, of number: Int, to profile: inout DeviceProfile,
        _ console: inout Console
    ) -> Bool {
        var isRight = true
        let names = options.names
        let whose = names.areSeveral ? names.all[number] + "/" : ""
        for text in options.substitutes[number].settings {
            let (reference, value) = text.divided(by: "=") ?? (text, text)
            do throws(ProfileErrors) {
                profile.presets.append(
                    try ProfileLoader.setting(
                        value, of: reference, in: profile, source: "--set"))
            } catch {
                for error in error.list { console.error("--set \(whose)\(error.sentence)") }
                isRight = false
            }
        }
        return isRight
    }
}
