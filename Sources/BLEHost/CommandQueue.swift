// HCI commands waiting for credits, and those the controller has not answered yet.
import HCI
import SansIO
import Wire

/// Whether the host can do without a command. An attempt whose parameters are refused is followed
/// by another one of its sender's, so that nothing is said of it.
enum CommandNeed: Sendable { case attempt, essential, optional }

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

    private var waiting: [Entry] = []
    private var unanswered: [Entry] = []
    /// Before the first answer, one command may be sent.
    private var credits = 1

    var isIdle: Bool { waiting.isEmpty && unanswered.isEmpty }

    mutating func reset() {
        waiting.removeAll()
        unanswered.removeAll()
        credits = 1
    }

    mutating func enqueue<Command: HCICommand>(_ command: Command, _ need: CommandNeed) {
        var block = ByteBlock(capacity: 64)
        block.append(command: command)
        waiting.append(Entry(opcode: Command.opcode, need: need, packet: block.bytes))
    }

    /// Takes back commands that have not been sent.
    mutating func cancel(_ opcode: Opcode) -> Int {
        let before = waiting.count
        waiting.removeAll { $0.opcode == opcode }
        return before - waiting.count
    }

    /// Sends what credits allow.
    mutating func pump(at now: Instant, sending out: inout ByteBlock) {
        while credits > 0, !waiting.isEmpty {
            var entry = waiting.removeFirst()
            entry.sentAt = now
            credits -= 1
            out.append(entry.packet)
            unanswered.append(entry)
        }
    }

    /// An answer came: sets the credits and takes the command out; nil where none was unanswered.
    mutating func answer(_ opcode: Opcode, credits: UInt8) -> Entry? {
        self.credits = Int(credits)
        guard let index = unanswered.firstIndex(where: { $0.opcode == opcode }) else { return nil }
        return unanswered.remove(at: index)
    }

    var deadline: Instant? {
        // Answers may come in any order, but the oldest command is the first to be late.
        unanswered.first.map { $0.sentAt + Self.timeout }
    }

    /// The oldest command that was not answered in time, taken out; its credit counts as returned.
    mutating func timedOut(at now: Instant) -> Entry? {
        guard let first = unanswered.first, first.sentAt + Self.timeout <= now else { return nil }
        credits = max(credits, 1)
        return unanswered.removeFirst()
    }
}
