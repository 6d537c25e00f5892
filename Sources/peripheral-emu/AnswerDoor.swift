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
        _ options: RunOptions, of number: Int, to profile: inout DeviceProfile,
        _ console: inout Console
    ) -> Bool {
        if options.answers == .standardInput, profile.followsStandardInput {
            console.error(
                "--answers stdin: the activity comes from standard input already; "
                    + "answer by --control PATH and ctl")
            return false
        }
        guard let passkey = options.substitutes[number].passkey else { return true }
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
    var followsStandardInput: Bool {
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
        _ options: RunOptions, _ profiles: [DeviceProfile], loop: inout EventLoop
    ) throws(SystemError) {
        switch options.answers {
        case .none: return nil
        case .standardInput: break
        case .automatic:
            guard StandardInput.isTerminal, !profiles.contains(where: \.followsStandardInput)
            else { return nil }
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
    /// - Parameter isAsked: whether an accessory waits for an answer.
    /// - Returns: when there is a line to take though the loop says nothing.
    func listen(isAsked: Bool, _ loop: inout EventLoop) throws(SystemError) -> Instant? {
        try input.listen(isWanted: isAsked, &loop)
        guard isAsked else { return nil }
        // Nothing tells that the program has come to the terminal's foreground.
        return input.hasLine ? .zero : input.isAway ? loop.now() + .seconds(1) : nil
    }

    /// Takes an event of the loop; one of somebody else's is ignored.
    func handle(_ event: ReadyEvent, loop: inout EventLoop) { input.handle(event, loop: &loop) }

    /// Takes the lines that are typed, or written to answer what is asked now. Blank ones are
    /// nothing.
    func answer(
        _ reporter: inout Reporter, of names: AccessoryNames, at now: Instant,
        _ perform: DevicePerformer
    ) {
        while input.hasLine, input.isTerminal || names.areAsking(perform),
            let line = input.nextLine()
        {
            guard line.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(AnswerError) { try names.answer(line: line, at: now, perform) } catch {
                reporter.log(.warning, "\(error)", at: now)
            }
        }
    }
}
