// The value formats by the names and numbers of Characteristic Presentation Format.
import Behaviours

/// A format of one value (Assigned Numbers, 2.4.1).
struct WireFormat: Equatable {
    enum Kind: Equatable {
        case boolean
        case integer(octets: Int, isSigned: Bool, bits: Int)
        case float(octets: Int)
        case medical(octets: Int)
        case utf8
        case utf16
        /// Two integers.
        case pair
        case bytes
    }

    var name: String
    /// The assigned number; nil for `bytes`, which is the profile's own word.
    var number: UInt8?
    var kind: Kind

    init?(name: String) {
        guard let found = Self.all.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    private init(_ name: String, _ number: UInt8?, _ kind: Kind) {
        self.name = name
        self.number = number
        self.kind = kind
    }

    static let all: [WireFormat] = [
        WireFormat("boolean", 0x01, .boolean), integer("uint2", 0x02, 2), integer("uint4", 0x03, 4),
        integer("uint8", 0x04, 8), integer("uint12", 0x05, 12), integer("uint16", 0x06, 16),
        integer("uint24", 0x07, 24), integer("uint32", 0x08, 32), integer("uint48", 0x09, 48),
        integer("uint64", 0x0A, 64), integer("uint128", 0x0B, 128),
        integer("sint8", 0x0C, 8, isSigned: true), integer("sint12", 0x0D, 12, isSigned: true),
        integer("sint16", 0x0E, 16, isSigned: true), integer("sint24", 0x0F, 24, isSigned: true),
        integer("sint32", 0x10, 32, isSigned: true), integer("sint48", 0x11, 48, isSigned: true),
        integer("sint64", 0x12, 64, isSigned: true), integer("sint128", 0x13, 128, isSigned: true),
        WireFormat("float32", 0x14, .float(octets: 4)),
        WireFormat("float64", 0x15, .float(octets: 8)),
        WireFormat("medfloat16", 0x16, .medical(octets: 2)),
        WireFormat("medfloat32", 0x17, .medical(octets: 4)),
        WireFormat("uint16-pair", 0x18, .pair),
        WireFormat("utf8", 0x19, .utf8), WireFormat("utf16", 0x1A, .utf16),
        WireFormat("struct", 0x1B, .bytes), WireFormat("bytes", nil, .bytes),
    ]

    private static func integer(
        _ name: String, _ number: UInt8, _ bits: Int, isSigned: Bool = false
    ) -> WireFormat {
        // What is no multiple of eight bits stands alone in its octets, the upper bits zero.
        WireFormat(
            name, number, .integer(octets: (bits + 7) / 8, isSigned: isSigned, bits: min(bits, 64)))
    }

    func valueFormat(scale: Double, unit: MeasurementUnit) -> ValueFormat {
        switch kind {
        case .boolean: return .boolean
        case .integer(let octets, let isSigned, let bits):
            let format = NumberFormat(octets: octets, isSigned: isSigned, scale: scale, bits: bits)
            return .number(NumberSpec(format: format, unit: unit))
        case .float(let octets), .medical(let octets):
            let isFloat = kind == .float(octets: octets)
            let format = NumberFormat(
                octets: octets, isSigned: true, scale: scale, kind: isFloat ? .float : .medical)
            return .number(NumberSpec(format: format, unit: unit))
        case .pair:
            let format = NumberFormat(octets: 2, isSigned: false, scale: scale)
            let number = ValueFormat.number(NumberSpec(format: format, unit: unit))
            return .fields(
                FieldLayout([
                    Field(name: "first", format: number), Field(name: "second", format: number),
                ]))
        case .utf8: return .utf8
        case .utf16: return .utf16
        case .bytes: return .bytes
        }
    }

    /// Whether a scale and a unit can stand beside it.
    var isNumber: Bool {
        switch kind {
        case .integer, .float, .medical, .pair: true
        case .boolean, .utf8, .utf16, .bytes: false
        }
    }

    /// The assigned number of a value format; 0x1B, an opaque structure, where none fits.
    static func number(of format: ValueFormat) -> UInt8 {
        switch format {
        case .number(let spec):
            let (octets, own) = (spec.format.octets, spec.format)
            let kind: Kind =
                switch own.kind {
                case .integer: .integer(octets: octets, isSigned: own.isSigned, bits: own.bits)
                case .float: .float(octets: octets)
                case .medical: .medical(octets: octets)
                }
            return all.first { $0.kind == kind }?.number ?? 0x1B
        case .boolean: return 0x01
        case .words: return 0x04
        case .appearance: return 0x06
        case .utf8: return 0x19
        case .utf16: return 0x1A
        case .bytes, .fields: return 0x1B
        }
    }
}
