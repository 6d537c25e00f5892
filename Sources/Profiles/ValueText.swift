// Values as people read them: `21.57 °C`, `"Strap"`, `01 02`.
import Behaviours
import Wire

/// What a profile or a client wrote, for a message: long texts are cut, and say so.
func shortened(_ text: String) -> String {
    let shownMax = 100
    return text.count > shownMax ? "\(text.prefix(shownMax))…" : text
}

extension ValueFormat {
    /// A value's octets as text. Octets that do not fit the format are shown as they are.
    public func describe(_ bytes: [UInt8]) -> String { meaning(of: bytes).text }

    /// `01 02 FF`, or `empty`; of a long value the beginning and the count.
    static func plain(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "empty" }
        let shown = Array(bytes.prefix(bytes.count > 64 ? 32 : 64))
        let text = Hex.string(shown, separator: " ")
        return shown.count < bytes.count ? "\(text) … (\(bytes.count) octets)" : text
    }

    /// Text in quotes on one line: neither a peer nor a profile can move the cursor.
    static func quoted(_ text: String) -> String {
        let escaped = text.replacingEach("\\", with: "\\\\").replacingEach("\"", with: "\\\"")
        return "\"" + printable(escaped) + "\""
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
}

extension NumberSpec {
    /// The number with as many decimals as the scale has: hundredths show two.
    func text(of value: Double) -> String {
        switch format.kind {
        case .integer:
            let sign = value < 0 ? "-" : ""
            return sign
                + DecimalText.fixed(abs(value), decimals: Self.decimals(of: format.scale))
        case .float, .medical:
            guard !value.isNaN else { return "not a number" }
            guard value.isFinite else { return value < 0 ? "-infinity" : "infinity" }
            return DecimalText.short(value)
        }
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
