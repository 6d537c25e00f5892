// What may be written at one place of a profile: each form reads a node and says what it wants.
import Wire
import YAML

/// One way to write a value. A profile's whole shape is forms made of forms: a key is declared
/// once.
package struct Form<Value> {
    /// What is written there, for messages: `a time such as '100 ms'`.
    package let says: String
    /// The value, or nil after an error was reported.
    package let read: (Place, DecodeContext) -> Value?
    /// What it takes, for editors; made only when it is asked for.
    package let schema: () -> Schema

    package init(
        says: String, schema: @escaping () -> Schema = { .any },
        read: @escaping (Place, DecodeContext) -> Value?
    ) {
        self.says = says
        self.schema = schema
        self.read = read
    }

    package func map<Other>(_ transform: @escaping (Value) -> Other) -> Form<Other> {
        Form<Other>(says: says, schema: schema) { place, context in
            read(place, context).map(transform)
        }
    }

    /// The same with another schema.
    func described(_ schema: @escaping @autoclosure () -> Schema) -> Form {
        Form(says: says, schema: schema, read: read)
    }
}

extension Form {
    /// Reports that this form is not what is there; always nil.
    static func mismatch(_ place: Place, _ context: DecodeContext, says: String) -> Value? {
        let isMissing = place.scalar?.value == .null
        context.report(
            place, isMissing ? "the value is missing" : "\(place.found) cannot stand here",
            "write \(says)")
        return nil
    }

    /// A list of at least `minimum` elements. Elements with errors are left out.
    package static func list<Element>(
        of element: Form<Element>, says: String, minimum: Int = 1
    ) -> Form<[Element]> where Value == [Element] {
        Form(says: says, schema: { .list(element.schema(), minimum: minimum) }) { place, context in
            guard case .sequence(let nodes) = place.node.content else {
                return mismatch(place, context, says: says)
            }
            guard nodes.count >= minimum else {
                context.report(place, "the list is empty", "write \(says)")
                return nil
            }
            return nodes.enumerated().compactMap { index, node in
                context.isFull ? nil : element.read(place.element(index, node), context)
            }
        }
    }

    /// One element, or a list of them.
    package static func oneOrMany<Element>(
        _ element: Form<Element>, says: String
    ) -> Form<[Element]> where Value == [Element] {
        Form(
            says: says,
            schema: { .anyOf([element.schema(), .list(element.schema(), minimum: 1)]) }
        ) { place, context in
            guard case .sequence = place.node.content else {
                return element.read(place, context).map { [$0] }
            }
            return list(of: element, says: says).read(place, context)
        }
    }

    /// A scalar in one form, a map in another: the short and the long way to say it.
    ///
    /// - Parameter long: the map to write where a scalar says what only a map can.
    static func either(
        scalar: Form<Value>, map: Form<Value>, long: @escaping (String) -> String? = { _ in nil }
    ) -> Form<Value> {
        Form(says: scalar.says, schema: { .anyOf([scalar.schema(), map.schema()]) }) {
            place, context in
            switch place.node.content {
            case .scalar, .sequence:
                if let text = place.scalar?.text, let map = long(text) {
                    context.report(place, "\(place.found) is said in a map", "write '\(map)'")
                    return nil
                }
                return scalar.read(place, context)
            case .mapping: return map.read(place, context)
            }
        }
    }

    /// One of a few words; those of `later` are known, and refused.
    package static func word(_ words: [(String, Value)], later: [String] = []) -> Form<Value> {
        let says = oneOf(words.map(\.0))
        return Form(says: says, schema: { .words(words.map(\.0)) }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null else {
                return mismatch(place, context, says: says)
            }
            for (word, value) in words where word == scalar.text { return value }
            if later.contains(scalar.text) {
                context.report(place, "'\(scalar.text)' is not supported yet", "write \(says)")
                return nil
            }
            let near = NearestName.of(scalar.text, among: words.map(\.0) + later)
            context.report(
                place, "unknown word \(place.found)", "write \(near.map { "'\($0)'" } ?? says)")
            return nil
        }
    }

    static func oneOf(_ words: [String]) -> String {
        let quoted = words.map { "'\($0)'" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.joined() }
        return quoted.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Form where Value == Place {
    /// Anything: another part of the profile decides what may stand here.
    static func any(says: String) -> Form { Form(says: says) { place, _ in place } }
}

extension Form where Value == Bool {
    package static var boolean: Form {
        Form(says: "true or false", schema: { .boolean }) { place, context in
            if case .boolean(let value) = place.scalar?.value { return value }
            return mismatch(place, context, says: "true or false")
        }
    }
}

extension Form where Value == Int {
    /// A whole number; its first digit is 0 only where it is all there is, or before an x or o.
    package static func integer(_ range: ClosedRange<Int>, says: String) -> Form {
        Form(says: says, schema: { .integer(range) }) { place, context in
            guard let scalar = place.scalar, case .integer(let value) = scalar.value else {
                return mismatch(place, context, says: says)
            }
            guard !hasLeadingZero(scalar.text, place, context) else { return nil }
            guard let value = Int(exactly: value), range.contains(value) else {
                context.report(
                    place,
                    "\(scalar.text) is not within \(range.lowerBound) to \(range.upperBound)",
                    "write \(says)")
                return nil
            }
            return value
        }
    }

    /// YAML 1.1 reads `0755` as 493, YAML 1.2 as 755: neither is meant for sure.
    private static func hasLeadingZero(
        _ text: String, _ place: Place, _ context: DecodeContext
    ) -> Bool {
        let digits = text.drop { $0 == "-" || $0 == "+" }
        guard digits.count > 1, digits.first == "0", digits.dropFirst().first?.isNumber == true
        else { return false }
        context.report(
            place, "a number that begins with 0 is read differently by different programs",
            "write '\(digits.drop { $0 == "0" })', or '0o\(digits.dropFirst())' if it is octal")
        return true
    }
}

extension Form where Value == Double {
    /// A finite number, whole or not.
    package static func real(says: String) -> Form {
        Form(says: says, schema: { .number }) { place, context in
            switch place.scalar?.value {
            case .integer(let value): return Double(value)
            case .real(let value) where value.isFinite: return value
            case .real, .null, .boolean, .text, nil: return mismatch(place, context, says: says)
            }
        }
    }
}

extension Form where Value == String {
    /// Text of `minimum` to `octetsMax` octets that stays in its line wherever it is shown.
    static func line(_ octetsMax: Int, minimum: Int = 1, says: String) -> Form {
        let text = text(octetsMax, says: says)
        return Form(says: says, schema: text.schema) { place, context in
            guard let line = text.read(place, context) else { return nil }
            guard line.utf8.count >= minimum else {
                context.report(place, "the text is empty", "write \(says)")
                return nil
            }
            let breaking: [Unicode.GeneralCategory] = [
                .control, .lineSeparator, .paragraphSeparator,
            ]
            guard
                !line.unicodeScalars.contains(where: {
                    breaking.contains($0.properties.generalCategory)
                })
            else {
                context.report(
                    place, "the text has control characters", "write \(says) without them")
                return nil
            }
            return line
        }
    }

    /// Text of at most `octetsMax` octets in UTF-8. A plain scalar that YAML takes for something
    /// else is asked to be quoted.
    package static func text(_ octetsMax: Int, says: String) -> Form {
        Form(says: says, schema: { .text() }) { place, context in
            guard let scalar = place.scalar else { return mismatch(place, context, says: says) }
            switch scalar.value {
            case .text(let text):
                guard text.utf8.count <= octetsMax else {
                    context.report(
                        place, "the text has \(text.utf8.count) octets, the limit is \(octetsMax)",
                        "write a shorter one")
                    return nil
                }
                return text
            case .null: return mismatch(place, context, says: says)
            case .boolean, .integer, .real:
                context.report(
                    place, "\(place.found) is not text in YAML", "write '\"\(scalar.text)\"'")
                return nil
            }
        }
    }
}
