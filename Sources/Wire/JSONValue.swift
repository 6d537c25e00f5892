// JSON (RFC 8259): a value, its text, and a strict bounded reader.

/// A JSON value. Objects keep the order of their members.
public indirect enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// An object's member by its name.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    public var string: String? { if case .string(let text) = self { text } else { nil } }

    public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

    /// A number of either kind.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .null, .boolean, .string, .array, .object: nil
        }
    }

    /// The elements of an array; none of anything else.
    public var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// An object of members given as pairs.
    public static func members(_ pairs: (String, JSONValue)...) -> JSONValue {
        .object(pairs.map { JSONMember($0.0, $0.1) })
    }

    /// An object with one more member; anything else stays as it is.
    public func with(_ name: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [JSONMember(name, value)])
    }
}

/// A name and its value.
public struct JSONMember: Equatable, Sendable {
    public var name: String
    public var value: JSONValue

    public init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}

extension JSONValue {
    /// The text on one line, or indented by two spaces a level.
    public func text(indented: Bool = false) -> String {
        var text = ""
        write(to: &text, level: indented ? 0 : nil)
        return text
    }

    private func write(to text: inout String, level: Int?) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += "\(value)"
        case .real(let value):
            // JSON has neither infinity nor NaN.
            guard value.isFinite else { return text += "null" }
            let isWhole = value == value.rounded() && abs(value) < 1e15
            text += isWhole ? "\(Int64(value))" : "\(value)"
        case .string(let value): Self.write(value, to: &text)
        case .array(let values):
            Self.write(values, "[", "]", to: &text, level: level) { value, text, level in
                value.write(to: &text, level: level)
            }
        case .object(let members):
            Self.write(members, "{", "}", to: &text, level: level) { member, text, level in
                Self.write(member.name, to: &text)
                text += level == nil ? ":" : ": "
                member.value.write(to: &text, level: level)
            }
        }
    }

    private static func write<Element>(
        _ elements: [Element], _ open: String, _ close: String, to text: inout String, level: Int?,
        _ write: (Element, inout String, Int?) -> Void
    ) {
        text += open
        let inner = level.map { $0 + 1 }
        for (index, element) in elements.enumerated() {
            if index > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: "  ", count: inner) }
            write(element, &text, inner)
        }
        if let level, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: level) }
        text += close
    }

    private static func write(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\u{0}"..."\u{1F}", "\u{7F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Why octets are no JSON value.
public struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Counted from 0.
    public let offset: Int
    public let description: String
}

extension JSONValue {
    /// How deep values nest.
    public static let depthMax = 32

    /// Reads one value, with nothing but white space around it.
    public init(_ octets: Span<UInt8>) throws(JSONError) {
        var reader = JSONReader()
        self = try reader.value(octets, depth: 0)
        reader.skipSpace(octets)
        guard reader.place == octets.count else { throw reader.error("more follows the value") }
    }
}

/// A reader's place in octets that are given to each call.
private struct JSONReader {
    var place = 0

    func error(_ text: String) -> JSONError { JSONError(offset: place, description: text) }

    mutating func skipSpace(_ octets: Span<UInt8>) {
        while place < octets.count, [0x20, 0x09, 0x0A, 0x0D].contains(octets[place]) { place += 1 }
    }

    private func peek(_ octets: Span<UInt8>) -> UInt8? {
        place < octets.count ? octets[place] : nil
    }

    private mutating func take(_ octet: Unicode.Scalar, _ octets: Span<UInt8>) -> Bool {
        guard peek(octets) == UInt8(ascii: octet) else { return false }
        place += 1
        return true
    }

    mutating func value(_ octets: Span<UInt8>, depth: Int) throws(JSONError) -> JSONValue {
        guard depth < JSONValue.depthMax else { throw error("values nest too deep") }
        skipSpace(octets)
        switch peek(octets) {
        case UInt8(ascii: "{"): return try object(octets, depth: depth)
        case UInt8(ascii: "["): return try array(octets, depth: depth)
        case UInt8(ascii: "\""): return .string(try string(octets))
        case UInt8(ascii: "t"): return try word("true", .boolean(true), octets)
        case UInt8(ascii: "f"): return try word("false", .boolean(false), octets)
        case UInt8(ascii: "n"): return try word("null", .null, octets)
        default: return try number(octets)
        }
    }

    private mutating func word(
        _ word: String, _ value: JSONValue, _ octets: Span<UInt8>
    ) throws(JSONError) -> JSONValue {
        for octet in word.utf8 {
            guard peek(octets) == octet else { throw error("no value begins so") }
            place += 1
        }
        return value
    }

    private mutating func array(
        _ octets: Span<UInt8>, depth: Int
    ) throws(JSONError) -> JSONValue {
        place += 1
        var values: [JSONValue] = []
        skipSpace(octets)
        if take("]", octets) { return .array(values) }
        while true {
            values.append(try value(octets, depth: depth + 1))
            skipSpace(octets)
            if take("]", octets) { return .array(values) }
            guard take(",", octets) else { throw error("a comma or ] is missing") }
        }
    }

    private mutating func object(
        _ octets: Span<UInt8>, depth: Int
    ) throws(JSONError) -> JSONValue {
        place += 1
        var members: [JSONMember] = []
        var names: Set<String> = []
        skipSpace(octets)
        if take("}", octets) { return .object(members) }
        while true {
            skipSpace(octets)
            let name = try string(octets)
            guard names.insert(name).inserted else {
                throw error("the name stands twice")
            }
            skipSpace(octets)
            guard take(":", octets) else { throw error("a colon is missing") }
            members.append(JSONMember(name, try value(octets, depth: depth + 1)))
            skipSpace(octets)
            if take("}", octets) { return .object(members) }
            guard take(",", octets) else { throw error("a comma or } is missing") }
        }
    }

    private mutating func string(_ octets: Span<UInt8>) throws(JSONError) -> String {
        guard take("\"", octets) else { throw error("a string is missing") }
        var bytes: [UInt8] = []
        while let octet = peek(octets) {
            place += 1
            switch octet {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw error("the text is not UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): bytes += try escape(octets)
            case 0..<0x20: throw error("a control character stands in a string")
            default: bytes.append(octet)
            }
        }
        throw error("the string does not end")
    }

    private mutating func escape(_ octets: Span<UInt8>) throws(JSONError) -> [UInt8] {
        guard let octet = peek(octets) else { throw error("the string does not end") }
        place += 1
        switch octet {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [octet]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            let first = try unit(octets)
            var code = UInt32(first)
            if (0xD800..<0xDC00).contains(first) {
                guard take("\\", octets), take("u", octets) else {
                    throw error("half a character")
                }
                let second = try unit(octets)
                guard (0xDC00..<0xE000).contains(second) else { throw error("half a character") }
                code = 0x10000 + (code - 0xD800) << 10 + UInt32(second) - 0xDC00
            }
            guard let scalar = Unicode.Scalar(code) else { throw error("half a character") }
            return Array(String(Character(scalar)).utf8)
        default: throw error("no such escape")
        }
    }

    private mutating func unit(_ octets: Span<UInt8>) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let octet = peek(octets), let digit = Hex.value(of: octet) else {
                throw error("four hexadecimal digits are missing")
            }
            place += 1
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }

    private mutating func number(_ octets: Span<UInt8>) throws(JSONError) -> JSONValue {
        let start = place
        _ = take("-", octets)
        let whole = place
        skipDigits(octets)
        guard place > whole else { throw error("no value begins so") }
        guard place == whole + 1 || octets[whole] != UInt8(ascii: "0") else {
            throw error("a number begins with 0")
        }
        var isReal = false
        if take(".", octets) {
            isReal = true
            let fraction = place
            skipDigits(octets)
            guard place > fraction else { throw error("a digit is missing") }
        }
        if take("e", octets) || take("E", octets) {
            isReal = true
            if !take("+", octets) { _ = take("-", octets) }
            let exponent = place
            skipDigits(octets)
            guard place > exponent else { throw error("a digit is missing") }
        }
        guard place - start <= 64 else { throw error("the number is too long") }
        var text = ""
        for index in start..<place { text.unicodeScalars.append(Unicode.Scalar(octets[index])) }
        if !isReal, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error("no such number") }
        return .real(value)
    }

    private mutating func skipDigits(_ octets: Span<UInt8>) {
        while let octet = peek(octets), (0x30...0x39).contains(octet) { place += 1 }
    }
}
