// What a plain scalar means: the YAML 1.2 core schema, with booleans `true` and `false` only.

/// A scalar's meaning.
public enum YAMLValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// Also integers beyond 64 bits, and the infinities and NaN that `.inf` and `.nan` write.
    case real(Double)
    case text(String)
}

extension YAMLScalar {
    /// The scalar resolved by the core schema (YAML 1.2.2, 10.3.2).
    public var value: YAMLValue {
        guard isPlain else { return .text(text) }
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case ".nan", ".NaN", ".NAN": return .real(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .real(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .real(-.infinity)
        default: return number ?? .text(text)
        }
    }

    private var number: YAMLValue? {
        let octets = Array(text.utf8)
        guard octets.count <= Self.numberOctetsMax else { return nil }
        if octets.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "x")]) {
            return prefixed(radix: 16)
        }
        if octets.starts(with: [UInt8(ascii: "0"), UInt8(ascii: "o")]) {
            return prefixed(radix: 8)
        }
        switch NumberShape(octets) {
        case .none: return nil
        case .integer:
            if let value = Int64(text) { return .integer(value) }
            return Double(text).map { .real($0) }
        case .real: return Double(Self.completed(text)).map { .real($0) }
        }
    }

    /// Longer plain scalars are text: no number of a profile needs as many digits.
    static let numberOctetsMax = 400

    private func prefixed(radix: Int) -> YAMLValue? {
        let digits = text.dropFirst(2)
        guard let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-")
        else { return nil }
        if let value = Int64(digits, radix: radix) { return .integer(value) }
        var real = 0.0
        for digit in digits {
            guard let value = digit.hexDigitValue, value < radix, digit.isASCII else { return nil }
            real = real * Double(radix) + Double(value)
        }
        return .real(real)
    }

    /// `Double` wants digits on both sides of the point, the core schema on one.
    private static func completed(_ text: String) -> String {
        var result = ""
        var previous: Character = " "
        for character in text {
            if character == ".", !previous.isNumber { result.append("0") }
            if previous == ".", !character.isNumber { result.append("0") }
            result.append(character)
            previous = character
        }
        return previous == "." ? result + "0" : result
    }
}

/// Which of the core schema's two decimal patterns a text matches.
private enum NumberShape {
    case none, integer, real

    init(_ octets: [UInt8]) {
        var rest = octets[...]
        func skipSign() {
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
                rest.removeFirst()
            }
        }
        func skipDigits() -> Int {
            let before = rest.count
            rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return before - rest.count
        }
        skipSign()
        let whole = skipDigits()
        var fraction = 0
        var isReal = false
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = skipDigits()
            isReal = true
        }
        guard whole + fraction > 0 else { self = .none; return }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            skipSign()
            guard skipDigits() > 0 else { self = .none; return }
            isReal = true
        }
        self = rest.isEmpty ? (isReal ? .real : .integer) : .none
    }
}
