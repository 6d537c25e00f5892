// A quantity in another unit than the one that is asked for: what it would be in that one.

/// Numbers of one unit in another, for hints.
enum UnitConversion {
    /// What may be meant by a number in `unit`, best first, in the units that are known; as it is
    /// written where only the unit's spelling is another.
    static func candidates(_ text: Substring, _ number: Double, _ unit: String, in known: [String])
        -> [(text: String, quantity: Quantity)]
    {
        guard !unit.isEmpty else { return [] }
        let plain = plain(unit)
        var all: [(text: String, quantity: Quantity)] = []
        // Spelled in another way, such as `Ms`, `m/s2` or `seconds`.
        for name in known
        where self.plain(name).lowercased() == plain.lowercased() {
            all.append((String(text), Quantity(number: number, unit: name)))
        }
        for name in known {
            guard let exact = converted(number, plain, to: self.plain(name)) else { continue }
            for value in [significant(exact), exact.rounded()] where abs(value) < 1e15 {
                let text = DecimalText.short(value)
                // Too small a number has an exponent, which nobody writes before a unit.
                guard Quantity.decimal(text) != nil else { continue }
                all.append((text, Quantity(number: value, unit: name)))
            }
        }
        return all
    }

    /// Without what keyboards lack and without spaces; a word as its unit.
    private static func plain(_ unit: String) -> String {
        var plain = ""
        for letter in unit {
            switch letter {
            case "^", " ", "°", "º": break
            case "²": plain.append("2")
            case "³": plain.append("3")
            case "µ", "μ": plain.append("u")
            case "℃": plain.append("C")
            case "℉": plain.append("F")
            default: plain.append(letter)
            }
        }
        let word = plain.lowercased()
        if let known = spellings.first(where: { $0.words.contains(word) }) { return known.unit }
        return plain.hasPrefix("deg") ? String(plain.dropFirst(3)) : plain
    }

    private static let spellings: [(unit: String, words: [String])] = [
        ("us", ["usec", "microsecond", "microseconds"]),
        ("ms", ["msec", "msecs", "millis", "millisecond", "milliseconds"]),
        ("s", ["sec", "secs", "sek", "second", "seconds"]),
        ("min", ["mins", "minute", "minutes"]), ("h", ["hr", "hrs", "hour", "hours"]),
        ("d", ["day", "days"]), ("%", ["percent", "pct"]), ("lx", ["lux"]),
        ("C", ["celsius"]), ("V", ["volt", "volts"]),
    ]

    /// `from` times `factor` plus `offset` is `to`.
    private static let others: [(from: String, to: String, factor: Double, offset: Double)] = [
        ("F", "C", 5.0 / 9, -160.0 / 9), ("K", "C", 1, -273.15),
        ("bar", "hPa", 1000, 0), ("mbar", "hPa", 1, 0), ("atm", "hPa", 1013.25, 0),
        ("mmHg", "hPa", 1.333223874, 0), ("inHg", "hPa", 33.86388667, 0),
        ("psi", "hPa", 68.94757293, 0),
        ("min", "s", 60, 0), ("h", "s", 3600, 0), ("d", "s", 86_400, 0),
        ("m/s2", "g", 1 / 9.80665, 0), ("g", "m/s2", 9.80665, 0),
        ("km/h", "m/s", 1 / 3.6, 0), ("mph", "m/s", 0.44704, 0),
        ("in", "mm", 25.4, 0), ("ft", "mm", 304.8, 0), ("in", "m", 0.0254, 0),
        ("ft", "m", 0.3048, 0), ("in", "cm", 2.54, 0),
        ("lb", "kg", 0.45359237, 0), ("kg", "lb", 1 / 0.45359237, 0), ("g", "lb", 1 / 453.59237, 0),
        ("L", "m3", 0.001, 0), ("m3", "L", 1000, 0), ("m3", "mL", 1e6, 0),
        ("L/h", "m3/h", 0.001, 0),
        ("J", "kWh", 1 / 3.6e6, 0), ("kJ", "kWh", 1 / 3600.0, 0), ("MJ", "kWh", 1 / 3.6, 0),
        ("rad", "", 180 / Double.pi, 0), ("rad/s", "/s", 180 / Double.pi, 0),
        ("Hz", "rpm", 60, 0), ("C", "F", 1.8, 32), ("C", "K", 1, 273.15),
    ]

    private static let prefixes: [(text: String, exponent: Int)] = [
        ("", 0), ("n", -9), ("u", -6), ("m", -3), ("c", -2), ("d", -1), ("h", 2), ("k", 3),
        ("M", 6),
    ]

    /// What a prefix can stand before.
    private static let bases = [
        "s", "A", "Ah", "C", "V", "W", "Wh", "Pa", "g", "m", "L", "J", "Hz", "m/s", "lx", "S/cm",
        "g/m3",
    ]

    private static func converted(_ number: Double, _ unit: String, to known: String) -> Double? {
        if let found = others.first(where: { $0.from == unit && $0.to == known }) {
            return number * found.factor + found.offset
        }
        for base in bases {
            guard let from = exponent(unit, base), let to = exponent(known, base) else { continue }
            var power = 1.0
            for _ in 0..<abs(from - to) { power *= 10 }
            return from < to ? number / power : number * power
        }
        return nil
    }

    private static func exponent(_ unit: String, _ base: String) -> Int? {
        prefixes.first { unit == $0.text + base }?.exponent
    }

    /// To six significant digits, whole numbers as they are.
    private static func significant(_ value: Double) -> Double {
        guard value != value.rounded(), value.isFinite else { return value }
        var power = 1.0
        while abs(value) * power < 100_000, power < 1e9 { power *= 10 }
        return (value * power).rounded() / power
    }
}
