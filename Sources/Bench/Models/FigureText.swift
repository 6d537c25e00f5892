// Real numbers for tables and plots: as many digits as mean something.

/// Numbers in text, the same on every machine.
public enum FigureText {
    private static func power(_ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<abs(exponent) { power *= 10 }
        return exponent < 0 ? 1 / power : power
    }

    /// With exactly `decimals` decimals, 0 to 9.
    public static func fixed(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite else { return value.isNaN ? "-" : value < 0 ? "-inf" : "inf" }
        let scale = power(min(max(decimals, 0), 9))
        let steps = (abs(value) * scale).rounded()
        guard steps < 0x1p63, scale >= 1 else { return "\(value)" }
        let sign = value < 0 && steps > 0 ? "-" : ""
        let (whole, rest) = (UInt64(steps) / UInt64(scale), UInt64(steps) % UInt64(scale))
        guard decimals > 0 else { return "\(sign)\(whole)" }
        return "\(sign)\(whole)." + String(rest + UInt64(scale)).dropFirst()
    }

    /// With `digits` significant digits, without zeros at the end of its decimals.
    public static func significant(_ value: Double, _ digits: Int) -> String {
        guard value.isFinite, value != 0 else { return fixed(value == 0 ? 0 : value, 0) }
        var decimals = 0
        while decimals < 9, abs(value) * power(decimals) < power(digits - 1) { decimals += 1 }
        var text = fixed(value, decimals)
        guard text.contains(".") else { return text }
        while text.last == "0" { text.removeLast() }
        if text.last == "." { text.removeLast() }
        return text
    }
}
