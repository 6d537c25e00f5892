// Values as JSON: numbers, words and objects of fields.
public import Wire

extension FieldValue {
    /// The value for a program: a number without its unit, a word or a text, octets in hexadecimal.
    public var json: JSONValue {
        switch self {
        case .number(let value, _): .real(value)
        case .boolean(let value): .boolean(value)
        case .word(let text), .text(let text): .string(text)
        case .octets(let bytes): .string(Hex.string(bytes))
        case .list(let values): .array(values.map(\.json))
        case .group(let fields):
            .object(fields.filter { !$0.isFlags }.map { JSONMember($0.name, $0.value.json) })
        }
    }
}

extension FieldValue {
    /// The unit of a number, or of a list's numbers, as it is shown: `°C`; of a group an object
    /// with the units of its fields; null where there is none.
    public var unitJSON: JSONValue {
        switch self {
        case .number(_, let spec):
            spec.unit.symbol.isEmpty ? .null : .string(spec.unit.symbol)
        case .list(let values): values.first?.unitJSON ?? .null
        case .group(let fields): Self.units(fields)
        case .boolean, .word, .text, .octets: .null
        }
    }

    private static func units(_ fields: [NamedValue]) -> JSONValue {
        let units = fields.filter { !$0.isFlags }.map { JSONMember($0.name, $0.value.unitJSON) }
            .filter { $0.value != .null }
        return units.isEmpty ? .null : .object(units)
    }
}
