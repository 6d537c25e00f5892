// What an application says to a write before it is stored: a table that the server consults.

/// When a rule is for a written value. What is not said does not matter.
public struct WriteCondition: Equatable, Sendable {
    /// The value has more, or fewer, octets.
    public var longerThan: Int?
    public var shorterThan: Int?
    /// The value is exactly this, or begins with it.
    public var equals: [UInt8]?
    public var prefix: [UInt8] = []
    /// The value is an integer within the bounds.
    public var integer: IntegerRange?
    /// Whether the writing client has asked for this value's notifications or indications.
    public var isSubscribed: Bool?

    /// A little-endian integer's range.
    public struct IntegerRange: Equatable, Sendable {
        /// 1 to 8.
        public var octets: Int
        /// Whether it is two's complement.
        public var isSigned: Bool
        public var range: ClosedRange<Int64>

        public init(octets: Int, isSigned: Bool, range: ClosedRange<Int64>) {
            self.octets = min(max(octets, 1), 8)
            self.isSigned = isSigned
            self.range = range
        }

        func contains(_ value: Span<UInt8>) -> Bool {
            guard value.count == octets else { return false }
            var bits: UInt64 = 0
            for index in 0..<octets { bits |= UInt64(value[index]) << UInt64(8 * index) }
            let unused = UInt64(64 - 8 * octets)
            guard isSigned || bits <= UInt64(Int64.max) else { return false }
            let integer =
                isSigned
                ? Int64(bitPattern: bits << unused) >> Int64(unused) : Int64(bitPattern: bits)
            return range.contains(integer)
        }
    }

    /// A condition that every write meets.
    public init() {}

    /// Whether a value, as the client wants it stored, meets all that is said.
    public func holds(for value: Span<UInt8>, isSubscribed: Bool) -> Bool {
        if let longerThan, value.count <= longerThan { return false }
        if let shorterThan, value.count >= shorterThan { return false }
        if let equals, value.count != equals.count || !value.begins(with: equals) { return false }
        if let integer, !integer.contains(value) { return false }
        if let wanted = self.isSubscribed, wanted != isSubscribed { return false }
        return value.begins(with: prefix)
    }
}

extension Span<UInt8> {
    fileprivate func begins(with octets: [UInt8]) -> Bool {
        guard count >= octets.count else { return false }
        for index in octets.indices where self[index] != octets[index] { return false }
        return true
    }
}

/// One rule for writes of a value. Of a value's rules the first whose condition holds decides.
public struct WriteRule: Equatable, Sendable {
    public var condition: WriteCondition
    /// Why the write is refused; nil where it is stored.
    public var rejection: ATTError?

    public init(_ condition: WriteCondition, rejection: ATTError?) {
        self.condition = condition
        self.rejection = rejection
    }
}

extension GATTServer {
    /// The rules of one value; at most as many as a profile may have for one.
    struct WriteRules: Sendable {
        let handle: UInt16
        let rules: [WriteRule]
    }

    /// Says what the application refuses of writes to `handle`, instead of what it said before.
    public mutating func setWriteRules(_ rules: [WriteRule], of handle: UInt16) {
        writeRules.removeAll { $0.handle == handle }
        if !rules.isEmpty { writeRules.append(WriteRules(handle: handle, rules: rules)) }
    }

    /// The number of the rule that decides about `value`; nil where none does.
    public func writeRule(
        for value: Span<UInt8>, of handle: UInt16, from client: Int
    ) -> Int? {
        decidingRule(for: value, of: handle, from: client)?.number
    }

    private func decidingRule(
        for value: Span<UInt8>, of handle: UInt16, from client: Int
    ) -> (number: Int, rule: WriteRule)? {
        guard let rules = writeRules.first(where: { $0.handle == handle })?.rules,
            let index = table.index(of: handle)
        else { return nil }
        let isSubscribed = subscription(of: index, client: client) != 0
        return rules.firstIndex { $0.condition.holds(for: value, isSubscribed: isSubscribed) }
            .map { ($0, rules[$0]) }
    }

    /// Says whether a procedure that writes to `handle` begin is under way: other writes than those
    /// that begin with `opcode`, which ends it, are then refused.
    public mutating func setBusy(
        _ isBusy: Bool, _ handle: UInt16, butFor opcode: UInt8, error: ATTError
    ) {
        busy.removeAll { $0.handle == handle }
        if isBusy { busy.append((handle, opcode, error)) }
    }

    /// Refuses a value that the application does not want stored.
    func checkRules(_ value: Span<UInt8>, of handle: UInt16, from client: Int) throws(Refusal) {
        for busy in busy where busy.handle == handle {
            guard value.count > 0, value[0] == busy.opcode else {
                throw Refusal(busy.error, handle)
            }
        }
        if let rejection = decidingRule(for: value, of: handle, from: client)?.rule.rejection {
            throw Refusal(rejection, handle)
        }
    }
}
