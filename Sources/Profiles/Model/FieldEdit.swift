// Reading and changing one field of a value that is already there.
import Wire

extension ValueFormat {
    /// The field `name` of a value, with its octets where it is not a part of some; nil where the
    /// value has no such field now.
    public func field(
        _ name: String, of bytes: [UInt8]
    ) -> (value: FieldValue, octets: [UInt8]?)? {
        guard case .fields(let layout) = self, let fields = layout.decode(bytes),
            let field = fields.first(where: { $0.name == name })
        else { return nil }
        return (field.value, field.bits == nil ? Array(bytes[field.range]) : nil)
    }

    /// `bytes` with the field `name` replaced by `octets`, which are those of the field's own
    /// format, or of the number of a bit field; nil where the value has no such field, or the field
    /// another length.
    public func replacing(_ name: String, by octets: [UInt8], in bytes: [UInt8]) -> [UInt8]? {
        guard case .fields(let layout) = self, let fields = layout.decode(bytes) else { return nil }
        return Self.replace(name, octets, in: bytes, fields)
    }

    private static func replace(
        _ name: String, _ octets: [UInt8], in bytes: [UInt8], _ fields: [NamedValue]
    ) -> [UInt8]? {
        for field in fields where field.name == name {
            var result = bytes
            guard let bits = field.bits else {
                guard octets.count == field.range.count else { return nil }
                result.replaceSubrange(field.range, with: octets)
                return result
            }
            var number: UInt64 = 0
            for (place, octet) in octets.prefix(8).enumerated() {
                number |= UInt64(octet) << UInt64(8 * place)
            }
            let mask = UInt64.max >> UInt64(64 - bits.width)
            for (place, index) in field.range.enumerated() {
                let shift = UInt64(8 * place)
                let clear = UInt8(truncatingIfNeeded: (mask << UInt64(bits.lowest)) >> shift)
                let set = UInt8(
                    truncatingIfNeeded: ((number & mask) << UInt64(bits.lowest)) >> shift)
                result[index] = result[index] & ~clear | set
            }
            return result
        }
        return nil
    }
}

extension FieldLayout {
    /// The format of a field, or of a bit field as a number of its own.
    func format(ofField name: String) -> ValueFormat? {
        for field in fields {
            if field.name == name { return field.format }
            if let bits = field.bits.first(where: { $0.name == name }) {
                return bits.words.isEmpty
                    ? WireFormat(name: "uint8")?.valueFormat(scale: 1, unit: .unitless)
                    : .words(bits.words)
            }
        }
        return nil
    }
}
