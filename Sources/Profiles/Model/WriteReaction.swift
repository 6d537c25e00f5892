// What an accessory does when a value is written: conditions, refusals and actions.
public import Behaviours
public import GATT
public import SansIO

/// One rule of `on-write:`. The first whose condition holds is followed, the others are not.
public struct WriteReaction: Equatable, Sendable {
    public var condition = WriteCondition()
    /// Refuses the write; nothing is stored and no action is taken.
    public var rejection: ATTError?
    public var actions: [WriteAction] = []
    /// What is done some time after; the next rule that is followed takes its place.
    public var later: LaterActions?

    public init() {}
}

/// The `then:` of a rule.
public struct LaterActions: Equatable, Sendable {
    public var after: TimeSpan
    public var actions: [WriteAction]
}

/// What is done after a write was stored. A target is a handle of the plan.
public enum WriteAction: Equatable, Sendable {
    /// Copies the written octets.
    case store(into: Target)
    /// Octets at the places named are the first one that was written, a request's op code.
    case set(Target, [UInt8], opcodeAt: [Int] = [])
    /// Sends the value to those who have asked for it, as a notification or an indication.
    case send(Target)
    case log(String)
    /// The client that has written may do what asks for authorization for so long, at most until
    /// its link ends.
    case authorize(TimeSpan)

    /// A characteristic, or a field of it.
    public struct Target: Equatable, Sendable {
        /// Counted from 0 in `services:` and in its `characteristics:`.
        public var service: Int
        public var characteristic: Int
        public var field: String?

        public init(service: Int, characteristic: Int, field: String? = nil) {
            self.service = service
            self.characteristic = characteristic
            self.field = field
        }
    }
}

/// The `records:` of a Record Access Control Point.
public struct RecordsSpec: Equatable, Sendable {
    /// The characteristic whose values the records are, and that of their contexts.
    public var target: WriteAction.Target
    /// Whose value is sent behind a record's; nil for none.
    public var contextTarget: WriteAction.Target?
    public var records: [StoredRecord]

    public init(
        target: WriteAction.Target, contextTarget: WriteAction.Target?, records: [StoredRecord]
    ) {
        self.target = target
        self.contextTarget = contextTarget
        self.records = records
    }
}
