// What pairings ask of the person at the device, and the answers, wherever they come from.
import BLEHost
public import SMP
public import SansIO
public import Wire

/// What a person answers to a question of a pairing.
public enum PairingAnswer: Hashable, Sendable {
    case passkey(UInt32)
    /// Both sides show the same number.
    case yes
    /// They do not, or there is no passkey to enter.
    case no

    /// Reads six digits, `yes` or `no`; nil for anything else.
    init?(_ text: some StringProtocol) {
        switch text.lowercased() {
        case "yes", "y": self = .yes
        case "no", "n": self = .no
        default:
            guard let passkey = Passkey.number(text) else { return nil }
            self = .passkey(passkey)
        }
    }

    var word: String {
        switch self {
        case .passkey: "passkey"
        case .yes: "yes"
        case .no: "no"
        }
    }
}

/// Why an answer was not taken, and what to write.
public struct AnswerError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

/// A pairing that waits for a person.
public struct PairingQuestion: Equatable, Sendable {
    public let link: Int
    public let peer: DeviceAddress
    public let asked: SecurityQuestion
    /// When the pairing fails for want of an answer.
    public let deadline: Instant

    /// Whether it is for the person at the device, not for the one at the peer.
    var isForAnswer: Bool {
        switch asked {
        case .showPasskey: false
        case .enterPasskey, .compare: true
        }
    }

    /// `C0:11:22:33:44:55 (link 0)`
    var who: String { "\(peer) (link \(link))" }

    /// What is to be written as an answer.
    var remedy: String {
        switch asked {
        case .showPasskey(let passkey): "enter \(Passkey.digits(passkey)) at \(peer)"
        case .enterPasskey(true): "write the six digits that \(peer) shows, or no"
        case .enterPasskey(false): "write the six digits that are entered at \(peer), or no"
        case .compare(let number):
            "write yes if \(peer) shows \(Passkey.digits(number)), else no"
        }
    }
}

extension EmulatedDevice {
    /// All that pairings ask, or show, by link.
    public var pairingQuestions: [PairingQuestion] {
        openLinks.compactMap { link in
            host.security.question(on: link).map {
                PairingQuestion(
                    link: link, peer: host.links[link].information.peerAddress,
                    asked: $0.question, deadline: $0.deadline)
            }
        }
    }

    /// Whether a person at the device is asked anything.
    public var awaitsAnswer: Bool { host.security.awaitsAnswer }

    /// Takes a person's line: an answer, and the link's number or the peer's address where several
    /// ask.
    public mutating func answer(
        line: String, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) throws(AnswerError) {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard let first = words.first, words.count <= 2 else {
            throw AnswerError("'\(line.prefix(40))' is no answer; write 123456, yes or no")
        }
        try answer(
            first, from: words.count > 1 ? words[1] : nil, at: now, sending: &out, emit: &emit)
    }

    /// Gives a person's answer to the pairing that asks for it.
    /// - Parameters:
    ///   - text: six digits, `yes` or `no`.
    ///   - link: the link's number or the peer's address; nil where only one asks.
    /// - Returns: the question that it answers.
    @discardableResult
    mutating func answer(
        _ text: some StringProtocol, from link: (some StringProtocol)?, at now: Instant,
        sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) throws(AnswerError) -> PairingQuestion {
        let question = try question(of: link)
        guard let answer = PairingAnswer(text) else {
            guard case .enterPasskey = question.asked else {
                throw AnswerError("'\(text.prefix(20))' is no answer; \(question.remedy)")
            }
            throw AnswerError("\(Passkey.mistake(text)); \(question.remedy)")
        }
        switch (question.asked, answer) {
        case (.enterPasskey, .yes), (.compare, .passkey), (.showPasskey, _):
            throw AnswerError("'\(text)' is no answer to this; \(question.remedy)")
        case (.enterPasskey, .passkey(let passkey)):
            tellAnswer(answer, question, &emit)
            _ = host.enter(
                passkey: passkey, on: question.link, at: now, sending: &out, emit: &hostEvents)
        case (.enterPasskey, .no):
            tellAnswer(answer, question, &emit)
            _ = host.enter(
                passkey: nil, on: question.link, at: now, sending: &out, emit: &hostEvents)
        case (.compare, .yes), (.compare, .no):
            tellAnswer(answer, question, &emit)
            _ = host.compare(
                matches: answer == .yes, on: question.link, at: now, sending: &out,
                emit: &hostEvents)
        }
        forward(at: now, &out, &emit)
        return question
    }

    private func tellAnswer(
        _ answer: PairingAnswer, _ question: PairingQuestion, _ emit: inout Outputs<DeviceEvent>
    ) {
        emit.append(.answered(link: question.link, peer: question.peer, answer))
    }

    private func question(
        of link: (some StringProtocol)?
    ) throws(AnswerError) -> PairingQuestion {
        let questions = pairingQuestions
        let open = questions.filter(\.isForAnswer)
        guard let first = open.first else {
            guard let shown = questions.first else {
                throw AnswerError("nothing is asked: no central waits for an answer")
            }
            throw AnswerError("nothing is asked here; \(shown.remedy)")
        }
        let list = open.map(\.who).joined(separator: ", ")
        guard let link else {
            guard open.count == 1 else {
                throw AnswerError(
                    "\(open.count) centrals wait for an answer: \(list); "
                        + "write the number of the link behind the answer")
            }
            return first
        }
        let address = DeviceAddress(link)
        guard let question = open.first(where: { $0.peer == address || "\($0.link)" == link })
        else { throw AnswerError("'\(link.prefix(20))' does not wait for an answer: \(list) does") }
        return question
    }
}
