// The value formats by the names and numbers of Characteristic Presentation Format.
import Behaviours

/// A format of one value (Assigned Numbers, 2.4.1).
struct WireFormat: Equatable {
    enum Kind: Equatable {
        case boolean
        case integer(octets: Int, isSigned: Bool)
        case utf8
        case bytes
        /// Assigned, and served by a later version.
        case later
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
        WireFormat("boolean", 0x01, .boolean),
        WireFormat("uint8", 0x04, .integer(octets: 1, isSigned: false)),
        WireFormat("uint16", 0x06, .integer(octets: 2, isSigned: false)),
        WireFormat("uint24", 0x07, .integer(octets: 3, isSigned: false)),
        WireFormat("uint32", 0x08, .integer(octets: 4, isSigned: false)),
        WireFormat("uint48", 0x09, .integer(octets: 6, isSigned: false)),
        WireFormat("uint64", 0x0A, .integer(octets: 8, isSigned: false)),
        WireFormat("sint8", 0x0C, .integer(octets: 1, isSigned: true)),
        WireFormat("sint16", 0x0E, .integer(octets: 2, isSigned: true)),
        WireFormat("sint24", 0x0F, .integer(octets: 3, isSigned: true)),
        WireFormat("sint32", 0x10, .integer(octets: 4, isSigned: true)),
        WireFormat("sint48", 0x11, .integer(octets: 6, isSigned: true)),
        WireFormat("sint64", 0x12, .integer(octets: 8, isSigned: true)),
        WireFormat("utf8", 0x19, .utf8),
        WireFormat("bytes", nil, .bytes),
        WireFormat("float32", 0x14, .later),
        WireFormat("float64", 0x15, .later),
        WireFormat("medfloat16", 0x16, .later),
        WireFormat("medfloat32", 0x17, .later),
        WireFormat("utf16", 0x1A, .later),
        WireFormat("struct", 0x1B, .later),
    ]

    func valueFormat(scale: Double, unit: MeasurementUnit) -> ValueFormat {
        switch kind {
        case .boolean: .boolean
        case .integer(let octets, let isSigned):
            .number(
                NumberSpec(
                    format: NumberFormat(octets: octets, isSigned: isSigned, scale: scale),
                    unit: unit))
        case .utf8: .utf8
        case .bytes, .later: .bytes
        }
    }

    /// The assigned number of a value format; 0x1B, an opaque structure, where none fits.
    static func number(of format: ValueFormat) -> UInt8 {
        switch format {
        case .number(let spec):
            let kind = Kind.integer(octets: spec.format.octets, isSigned: spec.format.isSigned)
            return all.first { $0.kind == kind }?.number ?? 0x1B
        case .boolean: return 0x01
        case .words: return 0x04
        case .appearance: return 0x06
        case .utf8: return 0x19
        case .bytes: return 0x1B
        }
    }
}
