// --set, --activity and --passkey: what the command line puts in the place of a profile's parts.
import Emulator
import LinuxIO

/// What takes the place of one profile's parts.
struct Substitutes {
    /// `REFERENCE=VALUE` texts, in their order.
    var settings: [String] = []
    /// Of the sources in the profile's activity.
    var activity: ActivitySpec?
    /// Of the profile's passkey.
    var passkey: UInt32?

    /// An option as it is written: whose it is only shows once all profiles are known.
    struct Written {
        /// `--set`
        let option: String
        let text: String
        /// Reads the text, without the accessory's name.
        let read: @Sendable (String, inout Substitutes) throws(UsageError) -> Void
    }
}

extension RunOptions {
    /// Keeps an option until it is known whose it is.
    mutating func write(
        _ option: String, _ text: String,
        _ read: @escaping @Sendable (String, inout Substitutes) throws(UsageError) -> Void
    ) {
        written.append(Substitutes.Written(option: option, text: text, read: read))
    }

    /// Finds out what takes the place of whose parts.
    mutating func assignSubstitutes() throws(UsageError) {
        let names = names
        substitutes = names.all.map { _ in Substitutes() }
        for written in written {
            let (number, text): (Int, String)
            do throws(AccessoryNameError) {
                (number, text) = try names.split(written.text)
            } catch { throw UsageError("--\(written.option): \(error)") }
            try written.read(text, &substitutes[number])
        }
    }
}
