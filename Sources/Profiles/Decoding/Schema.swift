// What a form takes, as JSON Schema 2020-12: made by the declarations that read profiles.
import Wire

/// What may stand at one place. It never refuses what the loader takes.
package indirect enum Schema {
    /// Anything: the loader looks more closely.
    case any
    case boolean
    case integer(ClosedRange<Int>)
    case number
    /// Text, of these words or as the pattern says where there are such.
    case text(pattern: String? = nil)
    case words([String])
    /// A number and one of these units, behind a word where one is said: `every 10 s`.
    case quantity([String], word: String = "")
    /// An assigned name or number; the names are for completion.
    case assigned([String])
    case list(Schema, minimum: Int)
    case anyOf([Schema])
    case map([Property])
    /// Of a map with keys that the profile chooses: the known ones are for completion.
    case open([Property])
    /// A value, and a number, in the characteristic's own format and unit.
    case value, valueNumber
    /// A map that makes numbers, as `value` can be.
    case generator

    package struct Property {
        var key: String
        var schema: Schema
        var isRequired: Bool
        var says: String
    }

    var json: JSONValue {
        switch self {
        case .any, .value, .valueNumber, .generator: return .object([])
        case .boolean: return .members(("type", .string("boolean")))
        case .integer(let range):
            return .members(
                ("type", .string("integer")), ("minimum", .integer(Int64(range.lowerBound))),
                ("maximum", .integer(Int64(range.upperBound))))
        case .number: return .members(("type", .string("number")))
        case .text(nil): return .members(("type", .string("string")))
        case .text(let pattern?):
            return .members(("type", .string("string")), ("pattern", .string(pattern)))
        case .quantity(let units, let word):
            return Self.text(pattern: Self.pattern(units, word: word)).json
        case .words(let words): return .members(("enum", .array(words.map { .string($0) })))
        case .assigned(let names):
            let known = JSONValue.members(("enum", .array(names.map { .string($0) })))
            let other = JSONValue.members(
                ("type", .array([.string("string"), .string("number")])))
            return names.isEmpty ? other : .members(("anyOf", .array([known, other])))
        case .list(let element, let minimum):
            return .members(
                ("type", .string("array")), ("items", element.json),
                ("minItems", .integer(Int64(minimum))))
        case .anyOf(let schemas):
            return .members(("anyOf", .array(schemas.map(\.json))))
        case .map(let properties): return Self.object(properties)
        case .open(let properties):
            let known = properties.map { JSONMember($0.key, .object([])) }
            return .members(
                (
                    "type",
                    .array(
                        ["object", "array", "string", "number", "boolean"].map {
                            .string($0)
                        })
                ), ("properties", .object(known)))
        }
    }

    private static func pattern(_ units: [String], word: String) -> String {
        let unit = units.count == 1 ? units[0] : "(" + units.joined(separator: "|") + ")"
        return word.isEmpty ? "^-?[0-9.]+ \(unit)$" : "^\(word) [0-9.]+ \(unit)$"
    }

    private static func object(_ properties: [Property]) -> JSONValue {
        var members: [JSONMember] = []
        for property in properties where !members.contains(where: { $0.name == property.key }) {
            var json = property.schema.json
            if case .object(let inner) = json {
                json = .object([JSONMember("description", .string(property.says))] + inner)
            }
            members.append(JSONMember(property.key, json))
        }
        let required = properties.filter(\.isRequired).map { JSONValue.string($0.key) }
        return .object(
            [
                JSONMember("type", .string("object")),
                JSONMember("additionalProperties", .boolean(false)),
                JSONMember("properties", .object(members)),
            ] + (required.isEmpty ? [] : [JSONMember("required", .array(required))]))
    }
}

/// Notes what keys a map's declaration asks for.
final class SchemaRecorder {
    var properties: [Schema.Property] = []
    /// The keys that are taken to be there; nil for all.
    let assumed: [String]?

    init(assuming assumed: [String]? = nil) { self.assumed = assumed }

    func add<Value>(_ key: String, _ form: Form<Value>, isRequired: Bool) {
        properties.append(
            Schema.Property(
                key: key, schema: form.schema(), isRequired: isRequired, says: form.says))
    }
}

/// The schema of profiles.
public enum ProfileSchema {
    /// JSON Schema 2020-12 of a whole profile, in text.
    public static var text: String {
        let head: [JSONMember] = [
            JSONMember("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            JSONMember("title", .string("peripheral-emu profile")),
            JSONMember(
                "description",
                .string("What a Bluetooth Low Energy accessory is. The loader checks more.")),
        ]
        guard case .object(let members) = Form<DeviceProfile>.profile.schema().json else {
            return ""
        }
        return JSONValue.object(head + members).text(indented: true)
    }
}
