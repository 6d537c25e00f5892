// The fields of a structured value: optional by flag, repeated, nested, with bit fields.
import Behaviours

/// The fields of a value, one behind another.
public struct FieldLayout: Equatable, Sendable {
    public var fields: [Field]

    public init(_ fields: [Field]) { self.fields = fields }

    /// Fields nest no deeper, so that reading one needs little stack.
    static let depthMax = 4
    /// More fields than any assigned characteristic has.
    static let fieldsMax = 64

    /// The octets that every value has at least.
    var octetsMin: Int {
        fields.reduce(0) { sum, field in
            guard field.conditions.isEmpty else { return sum }
            switch field.repetition {
            case .once: return sum + field.format.octetsMin
            case .times(let count): return sum + count * field.format.octetsMin
            case .toEnd: return sum
            }
        }
    }

    /// The value's length where nothing in it is optional or of any length.
    public var octets: Int? {
        var sum = 0
        for field in fields {
            guard field.conditions.isEmpty, let octets = field.format.octets else { return nil }
            switch field.repetition {
            case .once: sum += octets
            case .times(let count): sum += count * octets
            case .toEnd: return nil
            }
        }
        return sum
    }

    /// All names, those of bit fields too.
    var names: [String] {
        var names: [String] = []
        for name in fields.flatMap({ [$0.name] + $0.bits.map(\.name) }) where !names.contains(name)
        {
            names.append(name)
        }
        return names
    }
}

/// One field. Fields of one name are alternatives, of which the flags choose.
public struct Field: Equatable, Sendable {
    /// How often the field stands there.
    public enum Repetition: Equatable, Sendable {
        case once
        case times(Int)
        /// As many as there are octets for.
        case toEnd
    }

    public var name: String
    public var format: ValueFormat
    /// The bits of the flags that must be as said for the field to be there.
    public var conditions: [FlagCondition] = []
    public var repetition = Repetition.once
    /// Parts of an unsigned integer that mean something of their own.
    public var bits: [BitField] = []
    /// Whether its bits say which fields behind it are there.
    public var isFlags = false
    /// Whether it is no number where no value is given, because its place alone is needed.
    public var isUnused = false

    public init(name: String, format: ValueFormat) {
        self.name = name
        self.format = format
    }
}

/// What one bit of the flags must be.
public struct FlagCondition: Equatable, Sendable {
    /// From 0, the lowest.
    public var bit: Int
    public var isSet: Bool

    public init(bit: Int, isSet: Bool) {
        self.bit = bit
        self.isSet = isSet
    }

    func holds(in flags: UInt64) -> Bool { (flags >> UInt64(min(bit, 63)) & 1 == 1) == isSet }
}

/// Bits of an integer that have a name.
public struct BitField: Equatable, Sendable {
    public var name: String
    /// The number of the lowest bit, and how many there are; both within 64.
    public var lowest: Int
    public var width: Int
    /// What 0, 1, 2 … mean; empty for a number.
    public var words: [String]

    public init(name: String, lowest: Int, width: Int, words: [String] = []) {
        self.name = name
        self.lowest = lowest
        self.width = width
        self.words = words
    }

    func value(in integer: UInt64) -> UInt64 {
        integer >> UInt64(lowest) & largest
    }
}

extension ValueFormat {
    var octetsMin: Int {
        if case .fields(let layout) = self { return layout.octetsMin }
        return octets ?? 0
    }

    /// The format as an unsigned integer, which flags and bit fields need.
    var unsigned: NumberFormat? {
        guard case .number(let spec) = self, spec.format.kind == .integer, !spec.format.isSigned,
            spec.format.octets <= 8
        else { return nil }
        return NumberFormat(octets: spec.format.octets, isSigned: false, scale: 1)
    }
}
