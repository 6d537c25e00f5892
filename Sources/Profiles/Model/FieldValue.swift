// A structured value taken apart: each field's name, place and meaning.
import Behaviours
import Wire

/// What octets of a known format mean.
public indirect enum FieldValue: Equatable, Sendable {
    case number(Double, NumberSpec)
    case boolean(Bool)
    /// A word of the specification, or text.
    case word(String)
    case text(String)
    case octets([UInt8])
    case list([FieldValue])
    case group([NamedValue])
}

/// A field of a value.
public struct NamedValue: Equatable, Sendable {
    public var name: String
    public var value: FieldValue
    /// Where its octets lie, counted from the value's first; of bit fields their integer's.
    public var range: Range<Int>
    /// The bits, where the field is one of an integer's.
    var bits: BitField?
    /// Flags only say what else there is.
    var isFlags = false
}

extension FieldLayout {
    /// The fields of `bytes` that are there; nil where the octets end within one. What is left over
    /// comes last as `rest`.
    public func decode(_ bytes: [UInt8]) -> [NamedValue]? {
        var place = 0
        guard var values = decode(bytes, from: &place, depth: 0) else { return nil }
        if place < bytes.count {
            values.append(
                NamedValue(
                    name: "rest", value: .octets(Array(bytes[place...])),
                    range: place..<bytes.count))
        }
        return values
    }

    private func decode(_ bytes: [UInt8], from place: inout Int, depth: Int) -> [NamedValue]? {
        guard depth <= Self.depthMax else { return nil }
        var values: [NamedValue] = []
        var flags: UInt64 = 0
        for field in fields where field.conditions.allSatisfy({ $0.holds(in: flags) }) {
            let start = place
            switch field.repetition {
            case .once:
                guard let value = field.element(bytes, from: &place, depth: depth) else {
                    return nil
                }
                values.append(
                    NamedValue(
                        name: field.name, value: value, range: start..<place,
                        isFlags: field.isFlags || !field.bits.isEmpty))
            case .times, .toEnd:
                guard let list = field.elements(bytes, from: &place, depth: depth) else {
                    return nil
                }
                values.append(
                    NamedValue(name: field.name, value: .list(list), range: start..<place))
            }
            guard let format = field.format.unsigned, field.isFlags || !field.bits.isEmpty,
                place - start == format.octets
            else { continue }
            var integer: UInt64 = 0
            for index in start..<place {
                integer |= UInt64(bytes[index]) << UInt64(8 * (index - start))
            }
            if field.isFlags { flags = integer }
            for bit in field.bits {
                values.append(
                    NamedValue(
                        name: bit.name, value: bit.meaning(of: bit.value(in: integer)),
                        range: start..<place, bits: bit))
            }
        }
        return values
    }
}

extension BitField {
    func meaning(of number: UInt64) -> FieldValue {
        if words.isEmpty, width == 1 { return .boolean(number == 1) }
        if let word = WordList(words)[number] { return .word(word) }
        let format = NumberFormat(octets: 8, isSigned: false, scale: 1)
        return .number(Double(number), NumberSpec(format: format, unit: .unitless))
    }
}

extension Field {
    fileprivate func elements(
        _ bytes: [UInt8], from place: inout Int, depth: Int
    ) -> [FieldValue]? {
        var list: [FieldValue] = []
        let count: Int? = if case .times(let count) = repetition { count } else { nil }
        while count.map({ list.count < $0 }) ?? (place < bytes.count) {
            let start = place
            guard let value = element(bytes, from: &place, depth: depth) else {
                // What is too short for one more is left over.
                place = start
                return count == nil ? list : nil
            }
            guard place > start else { return list }
            list.append(value)
        }
        return list
    }

    fileprivate func element(
        _ bytes: [UInt8], from place: inout Int, depth: Int
    ) -> FieldValue? {
        if case .fields(let layout) = format {
            return layout.nested(bytes, from: &place, depth: depth + 1)
        }
        let start = min(place, bytes.count)
        let octets = format.octets ?? bytes.count - start
        guard start + octets <= bytes.count else { return nil }
        place = start + octets
        return format.meaning(of: Array(bytes[start..<place]))
    }
}

extension FieldLayout {
    fileprivate func nested(
        _ bytes: [UInt8], from place: inout Int, depth: Int
    ) -> FieldValue? {
        decode(bytes, from: &place, depth: depth).map { .group($0) }
    }
}

extension ValueFormat {
    /// Whether octets have a meaning in this format.
    public func allows(_ bytes: [UInt8]) -> Bool {
        if case .octets = meaning(of: bytes) { return self == .bytes }
        return true
    }

    /// The meaning of a value's octets; octets that do not fit the format mean themselves.
    public func meaning(of bytes: [UInt8]) -> FieldValue {
        switch self {
        case .number(let spec):
            guard bytes.count == spec.format.octets, let value = spec.format.decode(bytes.span)
            else { return .octets(bytes) }
            return .number(value, spec)
        case .boolean:
            switch bytes {
            case [0]: return .boolean(false)
            case [1]: return .boolean(true)
            default: return .octets(bytes)
            }
        case .appearance:
            guard bytes.count == 2 else { return .octets(bytes) }
            let value = bytes.span.uint16(at: 0)
            return .word(AssignedNames.appearance(value) ?? Hex.code(value))
        case .words(let words):
            guard bytes.count == 1, let word = WordList(words)[UInt64(bytes[0])] else {
                return .octets(bytes)
            }
            return .word(word)
        case .utf8:
            return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .octets(bytes)
        case .utf16:
            guard bytes.count.isMultiple(of: 2) else { return .octets(bytes) }
            let units = stride(from: 0, to: bytes.count, by: 2).map {
                UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
            }
            return String(validating: units, as: UTF16.self).map { .text($0) } ?? .octets(bytes)
        case .fields(let layout):
            return layout.decode(bytes).map { .group($0) } ?? .octets(bytes)
        case .bytes: return .octets(bytes)
        }
    }
}

extension FieldValue {
    /// As people read it: `rate 72 bpm, energy-expended 10 kJ`.
    public var text: String {
        switch self {
        case .number(let value, let spec):
            let number = spec.text(of: value)
            return spec.unit.symbol.isEmpty || !value.isFinite
                ? number : number + " " + spec.unit.symbol
        case .boolean(let value): return value ? "true" : "false"
        case .word(let word): return word
        case .text(let text): return ValueFormat.quoted(text)
        case .octets(let bytes): return ValueFormat.plain(bytes)
        case .list(let values):
            return values.isEmpty ? "none" : values.map(\.text).joined(separator: " ")
        case .group(let fields):
            // Of single bits only those that are set are worth a word.
            let shown = fields.filter {
                !$0.isFlags && !($0.bits != nil && $0.value == .boolean(false))
            }
            if let date = Self.date(shown) { return date }
            return shown.isEmpty ? "none" : shown.map(\.named).joined(separator: ", ")
        }
    }

    /// A date and a time of day, as in ISO 8601.
    private static func date(_ fields: [NamedValue]) -> String? {
        var numbers: [UInt64] = []
        for (field, name) in zip(
            fields, ["year", "month", "day", "hours", "minutes", "seconds"])
        {
            guard field.name == name, case .number(let value, _) = field.value,
                (0..<65_536).contains(value)
            else { return nil }
            numbers.append(UInt64(value))
        }
        guard numbers.count == 6 else { return nil }
        let two = numbers.dropFirst().map { ($0 < 10 ? "0" : "") + String($0) }
        let text = "\(numbers[0])-\(two[0])-\(two[1])T\(two[2]):\(two[3]):\(two[4])"
        return fields.count == 6
            ? text : text + ", " + fields[6...].map(\.named).joined(separator: ", ")
    }
}

extension NamedValue {
    fileprivate var named: String {
        if bits != nil, value == .boolean(true) { return name }
        if case .group = value { return "\(name) (\(value.text))" }
        return "\(name) \(value.text)"
    }
}
