// A constant for a whole value or for one part of it: a field, or bits of one.
import Behaviours
import YAML

extension FieldLayout {
    /// How values of a field are written.
    func part(_ name: String) -> FieldPart? {
        for field in fields {
            if field.name == name { return .whole(field.format) }
            if let bits = field.bits.first(where: { $0.name == name }) { return .bits(bits) }
        }
        return nil
    }
}

/// What a value is written for: a whole value or field of a format, or bits of one.
enum FieldPart {
    case whole(ValueFormat)
    case bits(BitField)

    /// Whether octets of any number, even none, are a text.
    var isText: Bool {
        switch self {
        case .whole(.utf8), .whole(.utf16): true
        case .whole, .bits: false
        }
    }

    /// What a constant looks like.
    var says: String {
        switch self {
        case .whole(let format): ValueForm(format: format).says
        case .bits(let bits): bits.says
        }
    }

    /// The octets of a constant, those of a bit field's number with the lowest first.
    func octets(_ place: Place, _ context: DecodeContext) -> [UInt8]? {
        switch self {
        case .whole(let format):
            switch ValueForm(format: format).source(place, context) {
            case .constant(let octets): return octets
            case .generated, .composed, .packed, .echo: break
            case nil: return nil
            }
        case .bits(let bits):
            switch bits.source(place, context) {
            case .constant(let number):
                let octets = (bits.width + 7) / 8
                return (0..<octets).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
            case .generated: break
            case nil: return nil
            }
        }
        context.report(place, "only a constant can stand here", "write \(says)")
        return nil
    }
}
