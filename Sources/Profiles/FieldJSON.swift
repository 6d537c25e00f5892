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
