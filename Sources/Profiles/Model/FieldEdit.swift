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
    /// format, or of the number of a bit field; nil where the value has no such field, the field
    /// another length, or where the octets behind it would no longer fit, as with other flags.
    public func replacing(_ name: String, by octets: [UInt8], in bytes: [UInt8]) -> [UInt8]? {
        guard case .fields(let layout) = self, let fields = layout.decode(bytes) else { return nil }
        guard let result = Self.replace(name, octets, in: bytes, fields),
            let after = layout.decode(result), Self.rests(after) == Self.rests(fields)
        else { return nil }
        return result
    }

    /// How many fields are none but what is left over.
    private static func rests(_ fields: [NamedValue]) -> Int { fields.count { $0.name == "rest" } }

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
            guard let number = bits.number(octets) else { return nil }
            let mask = bits.largest
            for (place, index) in field.range.enumerated() {
                let shift = UInt64(8 * place)
                let clear = UInt8(truncatingIfNeeded: (mask << UInt64(bits.lowest)) >> shift)
                let set = UInt8(
                    truncatingIfNeeded: (number << UInt64(bits.lowest)) >> shift)
                result[index] = result[index] & ~clear | set
            }
            return result
        }
        return nil
    }
}

extension BitField {
    var largest: UInt64 { UInt64.max >> UInt64(64 - width) }

    /// The number of octets, the lowest first; nil where it does not fit.
    func number(_ octets: [UInt8]) -> UInt64? {
        guard (1...8).contains(octets.count) else { return nil }
        let number = octets.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        return number <= largest ? number : nil
    }
}
