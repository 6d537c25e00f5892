// The reference of the profile format, in Markdown: each key with type, unit, default and example.

/// Writes the reference from the declarations that read profiles and from the notes on their keys.
public enum ProfileReference {
    /// What `Profiles/README.md` has behind its guide.
    public static var text: String {
        sections.map(\.markdown).joined(separator: "\n")
    }

    /// Each map of the format once, in the order in which a profile is read.
    static var sections: [ReferenceSection] {
        var walk = ReferenceWalk()
        walk.visit(Form<DeviceProfile>.profile.schema(), path: "")
        return walk.sections
    }
}

/// One map of the format.
struct ReferenceSection {
    /// `services[].characteristics[].length`; a second map at the same place has a number behind.
    var path: String
    var notes: KeyNotes
    var properties: [Schema.Property]

    var markdown: String {
        var lines = ["### \(notes.title)", "", "`\(path.isEmpty ? "the file" : path)`", ""]
        lines += [
            "| Key | Type | Unit | Default | Example | Meaning |", "|---|---|---|---|---|---|",
        ]
        for property in properties {
            let row = notes.rows[property.key]
            let absent = property.isRequired ? "required" : Self.code(row?.initial ?? "")
            let cells = [
                "`\(property.key)`", property.schema.typeText(property.says),
                property.schema.unitText, absent,
                "`\(property.key): \(row?.example ?? "")`", row?.meaning ?? "",
            ]
            lines.append(
                "| "
                    + cells.map { cell in
                        cell.split(separator: "|", omittingEmptySubsequences: false)
                            .joined(separator: "\\|")
                    }.joined(separator: " | ") + " |")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// What stands in parentheses says in words what happens.
    private static func code(_ text: String) -> String {
        text.isEmpty ? "" : text.hasPrefix("(") ? String(text.dropFirst().dropLast()) : "`\(text)`"
    }
}

/// Finds the maps of a schema.
private struct ReferenceWalk {
    var sections: [ReferenceSection] = []
    private let notes = KeyNotes.all
    /// What was met: nested fields and access levels stand at many places.
    private var met: Set<String> = []

    mutating func visit(_ schema: Schema, path: String) {
        var number = 0
        visit(schema, path: path, &number)
    }

    private mutating func visit(_ schema: Schema, path: String, _ number: inout Int) {
        switch schema {
        case .anyOf(let schemas):
            for schema in schemas { visit(schema, path: path, &number) }
        case .list(let element, _):
            visit(element, path: path + "[]")
        case .map(let properties), .open(let properties):
            var keys: [Schema.Property] = []
            for property in properties where !keys.contains(where: { $0.key == property.key }) {
                keys.append(property)
            }
            let signature = keys.map { "\($0.key) \($0.isRequired) \($0.says)" }
                .joined(separator: "\n")
            guard !keys.isEmpty, met.insert(signature).inserted else { return }
            number += 1
            let place = number == 1 ? path : path + " \(number)"
            sections.append(
                ReferenceSection(
                    path: place, notes: notes[place] ?? KeyNotes(title: place),
                    properties: keys))
            // Generators stand in fields too, and are told of where a characteristic has them.
            let open = keys.filter { if case .open = $0.schema { true } else { false } }
            for property in open + keys {
                visit(
                    property.schema, path: path.isEmpty ? property.key : path + "." + property.key)
            }
        case .any, .boolean, .integer, .number, .text, .words, .quantity, .assigned, .value,
            .valueNumber, .generator:
            break
        }
    }
}

extension Schema {
    /// What may stand there, in words; `says` is the form's own.
    fileprivate func typeText(_ says: String) -> String {
        switch self {
        case .boolean: "`true` or `false`"
        case .integer(let range):
            range.lowerBound == range.upperBound
                ? "`\(range.lowerBound)`"
                : "whole number, \(range.lowerBound) to \(range.upperBound)"
        case .number, .valueNumber: "number"
        case .text(nil): "text"
        case .words(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .quantity(_, word: ""): "number with unit"
        case .quantity(_, let word): "`\(word)` and a time"
        case .list(let element, _): "list: " + element.typeText(says)
        case .map: "map"
        case .open: "value or generator"
        case .value: "value of the format"
        case .generator: "generator"
        case .anyOf(let schemas):
            schemas.map { $0.typeText(says) }.reduce(into: [String]()) { texts, text in
                if !texts.contains(text) { texts.append(text) }
            }.joined(separator: "; or ")
        case .any, .text, .assigned: Self.quotesAsCode(says)
        }
    }

    fileprivate var unitText: String {
        switch self {
        case .quantity(let units, _): units.joined(separator: ", ")
        case .valueNumber: "the value's"
        case .list(let element, _): element.unitText
        case .anyOf(let schemas): schemas.map(\.unitText).first { !$0.isEmpty } ?? ""
        case .any, .boolean, .integer, .number, .text, .words, .assigned, .map, .open, .value,
            .generator:
            ""
        }
    }

    /// `'chest'` in a message is code in Markdown.
    private static func quotesAsCode(_ says: String) -> String {
        says.split(separator: "'", omittingEmptySubsequences: false).enumerated().map {
            ($0.offset == 0 ? "" : "`") + $0.element
        }.joined()
    }
}
