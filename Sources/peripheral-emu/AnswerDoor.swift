// A person's answers to pairings on standard input, and --passkey.
import Advertising
import Emulator
import LinuxIO
import Profiles
import SMP
import SansIO

/// Where answers come from, beside the control socket.
enum AnswerChoice: Equatable {
    /// From standard input where that is a terminal.
    case automatic
    case standardInput
    case none

    init(_ text: String) throws(UsageError) {
        switch text {
        case "stdin": self = .standardInput
        case "none": self = .none
        default:
            throw UsageError("--answers: there is no \"\(text)\" to answer; write stdin or none")
        }
    }
}

/// `--passkey`, and what it and `--answers` ask of the profile.
enum PairingOption {
    /// - Returns: false where the profile cannot have it, which has been said.
    static func apply(
        _ options: RunOptions, to profile: inout DeviceProfile, _ console: inout Console
    ) -> Bool {
        if options.answers == .standardInput, profile.followsStandardInput {
            console.error(
                "--answers stdin: the activity comes from standard input already; "
                    + "answer by --control PATH and ctl")
            return false
        }
        guard let passkey = options.passkey else { return true }
        guard let security = profile.security, security.policy != .refused else {
            console.error(
                "--passkey: nobody can pair with \(profile.file); "
                    + "add 'security: {io: display}' to the profile")
            return false
        }
        guard security.io != .noInputNoOutput else {
            console.error(
                "--passkey: with 'io: none' there is no passkey; "
                    + "write 'io: display' or 'io: keyboard' in the profile")
            return false
        }
        profile.security?.passkey = passkey
        return true
    }
}

extension DeviceProfile {
    fileprivate var followsStandardInput: Bool {
        activity?.sources.contains(.live(.stdin)) == true
    }

    /// Whether a pairing may ask the person at the device.
    var canAsk: Bool {
        guard let security, security.policy != .refused else { return false }
        switch security.io {
        case .keyboardOnly, .displayYesNo, .keyboardDisplay: return true
        case .noInputNoOutput, .displayOnly: return false
        }
    }
}

/// Standard input as a person's answers.
final class AnswerDoor {
    private let input: StandardInput

    /// nil where standard input is not for answers.
    init?(
        _ options: RunOptions, _ profile: DeviceProfile, loop: inout EventLoop
    ) throws(SystemError) {
        switch options.answers {
        case .none: return nil
        case .standardInput: break
        case .automatic:
            guard StandardInput.isTerminal, !profile.followsStandardInput else { return nil }
        }
        input = try StandardInput(loop: &loop)
    }

    /// How a person answers.
    static func hint(_ options: RunOptions, _ door: AnswerDoor?) -> LogLine {
        var ways: [String] = []
        if let door {
            ways.append(door.input.isTerminal ? "by a line here" : "by a line on standard input")
        }
        if let path = options.control {
            ways.append("by peripheral-emu ctl --control \(path) answer")
        }
        guard ways.isEmpty else {
            return LogLine(.info, "answer " + ways.joined(separator: ", or "))
        }
        return LogLine(
            .warning,
            "nobody can answer: standard input is no terminal; "
                + "write --control PATH, --answers stdin, or answers in the profile")
    }

    /// To be called before the loop waits.
    /// - Returns: when `nextLine` has a line though the loop says nothing.
    func listen(to device: EmulatedDevice, _ loop: inout EventLoop) throws(SystemError) -> Instant?
    {
        let isAsked = device.awaitsAnswer
        try input.listen(isWanted: isAsked, &loop)
        guard isAsked else { return nil }
        // Nothing tells that the program has come to the terminal's foreground.
        return input.hasLine ? .zero : input.isAway ? loop.now() + .seconds(1) : nil
    }

    /// Takes an event of the loop; one of somebody else's is ignored.
    func handle(_ event: ReadyEvent, loop: inout EventLoop) { input.handle(event, loop: &loop) }

    /// The next line that is typed, or written to answer what is asked now. Blank ones are nothing.
    func nextLine(for device: EmulatedDevice) -> String? {
        while input.isTerminal || device.awaitsAnswer, let line = input.nextLine() {
            if line.contains(where: { !$0.isWhitespace }) { return line }
        }
        return nil
    }
}
