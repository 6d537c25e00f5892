// Values as people read them: `21.57 °C`, `"Strap"`, `01 02`.
import Behaviours
import Wire

extension ValueFormat {
    /// A value's octets as text. Octets that do not fit the format are shown as they are.
    public func describe(_ bytes: [UInt8]) -> String {
        switch self {
        case .number(let spec):
            guard bytes.count == spec.format.octets, let value = spec.format.decode(bytes.span)
            else { return Self.plain(bytes) }
            let number = Self.text(of: value, scale: spec.format.scale)
            let symbol = spec.unit.symbol
            return symbol.isEmpty ? number : number + " " + symbol
        case .boolean:
            switch bytes {
            case [0]: return "false"
            case [1]: return "true"
            default: return Self.plain(bytes)
            }
        case .appearance:
            guard bytes.count == 2 else { return Self.plain(bytes) }
            let value = bytes.span.uint16(at: 0)
            return AssignedNames.appearance(value) ?? Hex.code(value)
        case .words(let words):
            guard bytes.count == 1, words.indices.contains(Int(bytes[0])) else {
                return Self.plain(bytes)
            }
            return words[Int(bytes[0])]
        case .utf8:
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return Self.plain(bytes)
            }
            return Self.quoted(text)
        case .bytes: return Self.plain(bytes)
        }
    }

    /// `01 02 FF`, or `empty`; of a long value the beginning and the count.
    static func plain(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "empty" }
        let shown = Array(bytes.prefix(bytes.count > 64 ? 32 : 64))
        let text = Hex.string(shown, separator: " ")
        return shown.count < bytes.count ? "\(text) … (\(bytes.count) octets)" : text
    }

    /// Text in quotes on one line: neither a peer nor a profile can move the cursor.
    static func quoted(_ text: String) -> String {
        "\"" + printable(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")) + "\""
    }

    /// The text with what does not print escaped: `\u{A}` for a line's end.
    static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned:
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The number with as many decimals as the scale has: hundredths show two.
    private static func text(of value: Double, scale: Double) -> String {
        let sign = value < 0 ? "-" : ""
        return sign + DecimalText.fixed(abs(value), decimals: decimals(of: scale))
    }

    /// Decimals that show every step apart: 2 for 0.01 and 1/64, 3 for 0.005, 0 for whole scales.
    private static func decimals(of scale: Double) -> Int {
        var decimals = 0
        var step = 1.0
        while decimals < 9, step > scale * (1 + 1e-9) {
            step /= 10
            decimals += 1
        }
        return decimals
    }
}

/// Real numbers as decimal text.
enum DecimalText {
    /// `value` is not negative; with exactly `decimals` decimals, at most 9.
    static func fixed(_ value: Double, decimals: Int) -> String {
        var power: UInt64 = 1
        for _ in 0..<decimals { power *= 10 }
        let scaled = (value * Double(power)).rounded()
        guard scaled < 0x1p63 else { return "\(value)" }
        let steps = UInt64(scaled)
        guard decimals > 0 else { return "\(steps)" }
        return "\(steps / power)." + String(steps % power + power).dropFirst()
    }

    /// The shortest text, without a trailing `.0`: `21.57`, `100`, `-40`.
    static func short(_ value: Double) -> String {
        // Without it a negative zero would show its sign.
        let text = "\(value == 0 ? 0 : value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
