// Reads a line of the table of field layouts; Tools/names/fields.txt says how it is written.
import Behaviours
import Wire

/// One line of the table, taken apart.
struct LayoutLine {
    private let depth: Int

    /// - Parameter depth: how deep the layout is nested.
    init(depth: Int = 0) { self.depth = depth }

    /// The layout that the line's fields make; nil where the line is wrong, which a test excludes.
    func layout(_ line: String) -> FieldLayout? {
        guard depth <= FieldLayout.depthMax else { return nil }
        var fields: [Field] = []
        for text in line.split(separator: " ") {
            guard let field = field(text) else { return nil }
            fields.append(field)
        }
        return FieldLayout(fields)
    }

    private func field(_ text: Substring) -> Field? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        let name = String(text[..<equals])
        var rest = text[text.index(after: equals)...]
        var type = Self.token(&rest)
        if type.isEmpty {
            type = Self.bracketed(&rest, "(", ")")
        } else if type == "words" {
            type += "(" + Self.bracketed(&rest, "(", ")")
        }
        var scale = 1.0
        var unit = MeasurementUnit.unitless
        if rest.first == "*" { scale = Self.scale(Self.modifier(&rest)) ?? 1 }
        if rest.first == "@" {
            unit = AssignedNames.unit(String(Self.modifier(&rest))) ?? .unitless
        }
        guard let format = format(type, scale, unit) else { return nil }
        var field = Field(name: name, format: format)
        if rest.first == "~" {
            rest.removeFirst()
            field.isUnused = true
        }
        if rest.first == "#" {
            rest.removeFirst()
            field.isFlags = true
        }
        if rest.first == "[" {
            for bits in Self.bracketed(&rest, "[", "]").split(separator: ",") {
                guard let bits = Self.bits(bits) else { return nil }
                field.bits.append(bits)
            }
        }
        if rest.first == "?" {
            for condition in Self.modifier(&rest).split(separator: "&") {
                guard let bit = Int(condition.drop { $0 == "!" }) else { return nil }
                field.conditions.append(
                    FlagCondition(bit: bit, isSet: !condition.hasPrefix("!")))
            }
        }
        if rest == "+" { field.repetition = .toEnd }
        if rest.first == "x", let count = Int(rest.dropFirst()) { field.repetition = .times(count) }
        return field
    }

    private func format(
        _ type: String, _ scale: Double, _ unit: MeasurementUnit
    ) -> ValueFormat? {
        if type.hasPrefix("words(") {
            return .words(type.dropFirst(6).split(separator: "|").map { String($0) })
        }
        if type.utf8.count == 4, let number = UInt16(type, radix: 16) {
            return AssignedNames.format(BluetoothUUID(number), depth: depth + 1)
        }
        if let wire = WireFormat(name: type) { return wire.valueFormat(scale: scale, unit: unit) }
        // Integers of other widths, such as the 40 bits of the System ID.
        guard type.hasPrefix("uint"), let bits = Int(type.dropFirst(4)), (8...64).contains(bits),
            bits.isMultiple(of: 8)
        else { return nil }
        let format = NumberFormat(octets: bits / 8, isSigned: false, scale: scale)
        return .number(NumberSpec(format: format, unit: unit))
    }

    private static func bits(_ text: Substring) -> BitField? {
        let parts = text.split(separator: ":")
        guard parts.count >= 3, let lowest = Int(parts[1]), let width = Int(parts[2]),
            lowest >= 0, width >= 1, lowest + width <= 64
        else { return nil }
        let words = parts.count > 3 ? parts[3].split(separator: "|").map { String($0) } : []
        return BitField(name: String(parts[0]), lowest: lowest, width: width, words: words)
    }

    /// A number or a fraction.
    private static func scale(_ text: Substring) -> Double? {
        let parts = text.split(separator: "/").compactMap { Double($0) }
        return parts.count == 2 ? parts[0] / parts[1] : parts.first
    }

    /// Letters, digits and hyphens up to what is neither.
    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" }
        rest = rest[token.endIndex...]
        return String(token)
    }

    /// What stands between two brackets, which are dropped.
    private static func bracketed(
        _ rest: inout Substring, _ open: Character, _ close: Character
    ) -> String {
        guard rest.first == open, let end = rest.firstIndex(of: close) else { return "" }
        let inner = rest[rest.index(after: rest.startIndex)..<end]
        rest = rest[rest.index(after: end)...]
        return String(inner)
    }

    /// What stands behind a sign, up to the next one.
    private static func modifier(_ rest: inout Substring) -> Substring {
        let inner = rest.dropFirst().prefix { !"*@~#[?+".contains($0) }
        rest = rest[inner.endIndex...]
        return inner
    }
}
