// `fields:`: the layout of a structured value, and what its fields hold.
import Behaviours
import YAML

/// The fields of one characteristic, and the values that stand with them.
struct FieldList {
    var layout: FieldLayout
    var given: [GivenValue]
}

/// A value given for a field or a bit field.
struct GivenValue {
    var name: String
    /// The field it stands with; nil where it is given by name.
    var field: Int?
    var place: Place
    /// Of nested fields the values that stand with them, instead of those at `place`.
    var inline: [GivenValue]?
}

extension Form where Value == FieldList {
    /// A list of fields; nested ones only have `depth` left.
    static func fields(depth: Int = 0) -> Form {
        let says = "a list of fields such as '[{name: level, format: uint8}]'"
        let schema = {
            depth < FieldLayout.depthMax
                ? Schema.list(Form<FieldEntry>.field(depth: depth).schema(), minimum: 1) : .any
        }
        return Form(says: says, schema: schema) { place, context in
            guard depth < FieldLayout.depthMax else {
                context.report(
                    place, "fields are nested more than \(FieldLayout.depthMax) deep",
                    "write fewer levels")
                return nil
            }
            let entry = Form<FieldEntry>.field(depth: depth)
            guard
                let entries = Form<[FieldEntry]>.list(of: entry, says: says)
                    .read(place, context)
            else { return nil }
            guard entries.count <= FieldLayout.fieldsMax else {
                context.report(
                    place,
                    "there are \(entries.count) fields, the limit is "
                        + "\(FieldLayout.fieldsMax)", "write fewer")
                return nil
            }
            var list = FieldList(layout: FieldLayout([]), given: [])
            for (index, entry) in entries.enumerated() {
                list.layout.fields.append(entry.field)
                for var given in entry.given {
                    given.field = index
                    list.given.append(given)
                }
            }
            return check(list, place, context) ? list : nil
        }
    }

    private static func check(
        _ list: FieldList, _ place: Place, _ context: DecodeContext
    ) -> Bool {
        var flagsBits = 0
        for (index, field) in list.layout.fields.enumerated() {
            let isLast = index == list.layout.fields.count - 1
            if field.repetition == .toEnd || (field.format.octets == nil && !field.isNested),
                !isLast
            {
                context.report(
                    place, "'\(field.name)' reaches to the end of the value, and more follows",
                    "make it the last field")
                return false
            }
            for condition in field.conditions where condition.bit >= flagsBits {
                context.report(
                    place,
                    "'\(field.name)' needs flag \(condition.bit), which no flags before it have",
                    "add 'flags-of: fields' to a field before it, wide enough")
                return false
            }
            if field.isFlags { flagsBits = 8 * (field.format.octets ?? 0) }
            let isTwice = list.layout.fields[..<index].contains { $0.name == field.name }
            if isTwice, field.conditions.isEmpty {
                context.report(
                    place, "the field '\(field.name)' stands twice",
                    "give each its own name, or say by 'present' when each is there")
                return false
            }
        }
        return true
    }
}

extension Field {
    fileprivate var isNested: Bool { if case .fields = format { true } else { false } }
}

/// A field and the values given with it.
struct FieldEntry {
    var field: Field
    var given: [GivenValue]
}

extension Form where Value == FieldEntry {
    fileprivate static func field(depth: Int) -> Form {
        map(says: "a map of name and format") { keys in
            let name = keys.required("name", .fieldName)
            let nested = keys.optional("fields", Form<FieldList>.fields(depth: depth + 1))
            let words = keys.optional(
                "words",
                Form<[String]>.list(of: .fieldName, says: "a list of the words of 0, 1, 2 …"))
            let format = keys.numberFormat()
            let isFlags = keys.optional("flags-of", Form<Bool>.word([("fields", true)]))
            let conditions = keys.optional("present", Form<[FlagCondition]>.present)
            let repetition = keys.optional("repeat", Form<Field.Repetition>.repetition)
            let bits = keys.optional(
                "bits", Form<[BitEntry]>.list(of: .bits, says: "a list of bit fields"))
            let value = keys.optional("value", Form<Place>.value)
            guard let name else { return nil }
            var field = Field(name: name, format: format ?? .bytes)
            if let nested { field.format = .fields(nested.layout) }
            if let words { field.format = .words(words) }
            if nested == nil, words == nil, !keys.has("format"), !keys.has("fields") {
                keys.context.report(
                    keys.place, "the field has no format", "add 'format: uint8' or another")
                return nil
            }
            field.isFlags = isFlags ?? false
            field.conditions = conditions ?? []
            field.repetition = repetition ?? .once
            field.bits = bits?.map(\.bits) ?? []
            guard checkBits(field, keys) else { return nil }
            var given =
                bits?.compactMap { bit in
                    bit.value.map { GivenValue(name: bit.bits.name, place: $0) }
                } ?? []
            if let value { given.append(GivenValue(name: name, place: value)) }
            // Values of nested fields stand with them, so the group is given by its own list.
            if let nested, !nested.given.isEmpty, value == nil, let list = keys.child("fields") {
                given.append(GivenValue(name: name, place: list, inline: nested.given))
            }
            return FieldEntry(field: field, given: given)
        }
    }

    private static func checkBits(_ field: Field, _ keys: Keys) -> Bool {
        guard field.isFlags || !field.bits.isEmpty else { return true }
        let key = field.isFlags ? "flags-of" : "bits"
        guard let unsigned = field.format.unsigned, field.repetition == .once else {
            keys.report(
                at: key, "'\(key)' needs one unsigned whole number", "write 'format: uint8'")
            return false
        }
        for bits in field.bits where bits.lowest + bits.width > 8 * unsigned.octets {
            keys.report(
                at: "bits", "'\(bits.name)' lies beyond the \(8 * unsigned.octets) bits",
                "write lower bits, or a wider format")
            return false
        }
        return true
    }
}

/// A bit field and the value given with it.
private struct BitEntry {
    var bits: BitField
    var value: Place?
}

extension Form where Value == BitEntry {
    fileprivate static var bits: Form {
        map(says: "a map of name and bit") { keys in
            let name = keys.required("name", .fieldName)
            let bit = keys.required("bit", .integer(0...63, says: "the number of the lowest bit"))
            let width = keys.optional("width", .integer(1...32, says: "how many bits"))
            let words = keys.optional(
                "words",
                Form<[String]>.list(of: .fieldName, says: "a list of the words of 0, 1, 2 …"))
            let value = keys.optional("value", Form<Place>.any(says: "a value").described(.value))
            guard let name, let bit else { return nil }
            let bits = BitField(
                name: name, lowest: bit, width: min(width ?? 1, 64 - bit), words: words ?? [])
            return BitEntry(bits: bits, value: value)
        }
    }
}

extension Form where Value == String {
    /// A name of a field or of one of its values: what a reference can hold.
    fileprivate static var fieldName: Form {
        let text = text(64, says: "a name such as 'heart-rate'")
        return Form(says: text.says, schema: text.schema) { place, context in
            guard let name = text.read(place, context) else { return nil }
            let isPlain = name.utf8.allSatisfy { octet in
                (0x30...0x39).contains(octet) || (0x61...0x7A).contains(octet)
                    || (0x41...0x5A).contains(octet) || octet == 0x2D || octet == 0x5F
            }
            guard isPlain, !name.isEmpty else {
                context.report(
                    place, "\(place.found) is no name", "write letters, digits and hyphens")
                return nil
            }
            return name
        }
    }
}

extension Form where Value == [FlagCondition] {
    /// `{flag: 3}`: the bit must be set; `{clear: 0}`; lists where several must be as said.
    fileprivate static var present: Form {
        map(says: "a map such as '{flag: 3}'") { keys in
            let set = keys.optional("flag", Form<[Int]>.bitNumbers)
            let clear = keys.optional("clear", Form<[Int]>.bitNumbers)
            if !keys.has("flag"), !keys.has("clear") {
                keys.context.report(
                    keys.place, "the key 'flag' is missing", "write '{flag: 3}'")
                return nil
            }
            return (set ?? []).map { FlagCondition(bit: $0, isSet: true) }
                + (clear ?? []).map { FlagCondition(bit: $0, isSet: false) }
        }
    }
}

extension Form where Value == [Int] {
    fileprivate static var bitNumbers: Form {
        let bit = Form<Int>.integer(0...63, says: "the number of a bit")
        return oneOrMany(bit, says: "the number of a bit, or a list of them")
    }
}

extension Form where Value == Field.Repetition {
    fileprivate static var repetition: Form {
        let says = "'to-end' or how many times"
        let schema = Schema.anyOf([.words(["to-end"]), .integer(1...512)])
        return Form(says: says, schema: { schema }) { place, context in
            if place.scalar?.text == "to-end" { return .toEnd }
            return Form<Int>.integer(1...512, says: says).read(place, context).map { .times($0) }
        }
    }
}
