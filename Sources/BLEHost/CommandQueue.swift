// HCI commands waiting for credits, and those the controller has not answered yet.
import HCI
import SansIO
import Wire

/// Whether the host can do without a command.
struct CommandNeed: Equatable, Sendable {
    /// Whether the host goes on after a refusal.
    var mayBeRefused: Bool
    /// Whether the host goes on without an answer; else the controller is lost.
    var mayBeUnanswered: Bool
    /// A refusal of the parameters is followed by another command of the sender's, so that nothing
    /// is said of it.
    var isAttempt = false
    /// A refusal is said by who has sent it.
    var isToldBySender = false

    static let essential = CommandNeed(mayBeRefused: false, mayBeUnanswered: false)
    static let optional = CommandNeed(mayBeRefused: true, mayBeUnanswered: true)
    static let refusable = CommandNeed(mayBeRefused: true, mayBeUnanswered: false)
}

extension HCIStatus {
    /// Whether a command was refused for its parameters.
    var isAboutParameters: Bool {
        self == .invalidParameters || self == .unsupportedFeatureOrParameter
    }
}

/// Command flow control (Core 6.0, Vol 4, Part E, 4.4): at most as many commands are unanswered as
/// the controller's last Num_HCI_Command_Packets allowed.
struct CommandQueue: Sendable {
    struct Entry: Sendable {
        var opcode: Opcode
        var need: CommandNeed
        var packet: [UInt8]
        var sentAt: Instant = .zero
    }

    /// How long a controller may take to answer. The specification names no time; 2 s is what
    /// hosts in use wait.
    static let timeout = TimeSpan.seconds(2)
    /// Replies that events asked for and that wait to be sent. A controller that asks for more does
    /// not read them: they would cost memory for ever.
    static let repliesMax = 64

    private var waiting: [Entry] = []
    private var unanswered: [Entry] = []
    /// Before the first answer, one command may be sent.
    private var credits = 1
    /// Since when commands wait although none is unanswered.
    private var starvedSince: Instant?
    /// The controller allows no commands and has none to answer: it gets one at a time.
    private var ignoresCredits = false

    var isIdle: Bool { waiting.isEmpty && unanswered.isEmpty }

    mutating func reset() {
        waiting.removeAll()
        unanswered.removeAll()
        credits = 1
        starvedSince = nil
        ignoresCredits = false
    }

    /// Whether a reply to an event may still be queued.
    var hasRoomForReply: Bool { waiting.count < Self.repliesMax }

    mutating func enqueue<Command: HCICommand>(_ command: Command, _ need: CommandNeed) {
        var block = ByteBlock(capacity: 64)
        block.append(command: command)
        waiting.append(Entry(opcode: Command.opcode, need: need, packet: block.bytes))
    }

    /// Takes back commands that enable something and have not been sent.
    mutating func cancelEnable(_ opcode: Opcode) -> Int {
        let before = waiting.count
        // Enable is the first parameter.
        waiting.removeAll { $0.opcode == opcode && $0.packet.dropFirst(4).first == 1 }
        return before - waiting.count
    }

    /// Sends what credits allow.
    mutating func pump(at now: Instant, sending out: inout ByteBlock) {
        while !waiting.isEmpty, credits > 0 || ignoresCredits && unanswered.isEmpty {
            var entry = waiting.removeFirst()
            entry.sentAt = now
            credits = max(credits - 1, 0)
            out.append(entry.packet)
            unanswered.append(entry)
        }
        starvedSince = waiting.isEmpty || !unanswered.isEmpty ? nil : starvedSince ?? now
    }

    /// Nothing that is queued or unanswered ends the controller's use if it is refused.
    mutating func allowRefusals() {
        for index in waiting.indices { waiting[index].need.mayBeRefused = true }
        for index in unanswered.indices { unanswered[index].need.mayBeRefused = true }
    }

    /// An answer came: sets the credits and takes the command out; nil where none was unanswered.
    mutating func answer(_ opcode: Opcode, credits: UInt8) -> Entry? {
        self.credits = Int(credits)
        guard let index = unanswered.firstIndex(where: { $0.opcode == opcode }) else { return nil }
        return unanswered.remove(at: index)
    }

    var deadline: Instant? {
        // Answers may come in any order, but the oldest command is the first to be late.
        (unanswered.first?.sentAt ?? starvedSince).map { $0 + Self.timeout }
    }

    /// Gives up waiting for credits that do not come.
    /// - Returns: whether it was time to.
    mutating func endStarvation(at now: Instant) -> Bool {
        guard let since = starvedSince, since + Self.timeout <= now else { return false }
        ignoresCredits = true
        starvedSince = nil
        return true
    }

    /// The oldest command that was not answered in time, taken out; its credit counts as returned.
    mutating func timedOut(at now: Instant) -> Entry? {
        guard let first = unanswered.first, first.sentAt + Self.timeout <= now else { return nil }
        credits = max(credits, 1)
        return unanswered.removeFirst()
    }
}
