// Numbers with their unit: `100 ms`, `-59 dBm`, `0.12 g`. The unit is always written.
import SansIO
import Wire
import YAML

/// A number and the unit behind it, as written.
struct Quantity {
    var number: Double
    var unit: String

    /// Reads `NUMBER UNIT`, or reports what to write; `units` begins with the usual one.
    ///
    /// - Parameters:
    ///   - word: what stands before the number.
    ///   - fits: whether a quantity can stand here; no other is ever suggested.
    static func read(
        _ place: Place, _ context: DecodeContext, units: [String], says: String, word: String = "",
        fits: (Quantity) -> Bool
    ) -> Quantity? {
        guard let scalar = place.scalar, scalar.value != .null else {
            return Form<Quantity>.mismatch(place, context, says: says)
        }
        func report(_ problem: String, _ candidates: [(text: String, quantity: Quantity)]) {
            let hint = candidates.first { fits($0.quantity) }.map {
                "'\(word)\($0.text) \($0.quantity.unit)'"
            }
            context.report(
                place, problem, "write \(hint ?? says)" + others(hint == nil ? [] : units))
        }
        let text = String(scalar.text.dropFirst(word.count))
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let number = decimal(parts[0]) else {
            // A number with its unit right behind it is the usual slip.
            let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "-" }
            let rest = String(text.dropFirst(digits.count))
            if let number = decimal(digits), units.contains(rest) {
                let hint = fits(Quantity(number: number, unit: rest))
                context.report(
                    place, "the space before the unit is missing",
                    "write \(hint ? "'\(word)\(digits) \(rest)'" : says)")
                return nil
            }
            return Form<Quantity>.mismatch(place, context, says: says)
        }
        guard parts.count == 2 else {
            report(
                "\(text) has no unit",
                units.map { (text, Quantity(number: number, unit: $0)) })
            return nil
        }
        let unit = String(parts[1])
        guard units.contains(unit) else {
            report(
                "unknown unit '\(unit.prefix(20))'",
                UnitConversion.candidates(parts[0], number, unit, in: units))
            return nil
        }
        return Quantity(number: number, unit: unit)
    }

    private static func others(_ units: [String]) -> String {
        units.count < 2 ? "" : " (units: \(units.joined(separator: ", ")))"
    }

    /// A plain decimal number; no exponents, which nobody writes before a unit.
    static func decimal(_ text: some StringProtocol) -> Double? {
        let octets = Array(text.utf8)
        return decimal(octets.span)
    }

    /// The same in octets. Up to 18 digits are read exactly.
    static func decimal(_ octets: Span<UInt8>) -> Double? {
        var digits: UInt64 = 0
        var count = 0
        var decimals: Int?
        for index in 0..<octets.count {
            switch octets[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                count += 1
                guard count <= 18 else { return nil }
                digits = digits * 10 + UInt64(octets[index] - UInt8(ascii: "0"))
                if let before = decimals { decimals = before + 1 }
            case UInt8(ascii: ".") where decimals == nil: decimals = 0
            case UInt8(ascii: "-") where index == 0: break
            default: return nil
            }
        }
        guard count > 0 else { return nil }
        var power = 1.0
        for _ in 0..<(decimals ?? 0) { power *= 10 }
        // One division of two exact numbers: the nearest Double to what is written.
        let magnitude = Double(digits) / power
        return octets[0] == UInt8(ascii: "-") ? -magnitude : magnitude
    }
}

extension Form where Value == TimeSpan {
    /// Microseconds in each unit of time.
    private static var units: [(name: String, microseconds: Double)] {
        [("ms", 1e3), ("s", 1e6), ("us", 1), ("min", 60e6), ("h", 3600e6), ("d", 86_400e6)]
    }

    private static var unitNames: [String] { ["us", "ms", "s", "min", "h", "d"] }

    /// A time from `range`, which `limits` says in words: `20 ms to 10.24 s`.
    ///
    /// - Parameter word: what stands before the time.
    static func time(
        _ range: ClosedRange<TimeSpan>, limits: String, example: String, word: String = ""
    ) -> Form {
        let says = "a time such as '\(word)\(example)'"
        return Form(says: says, schema: { .quantity(unitNames) }) { place, context in
            let unit = String(example.split(separator: " ").last ?? "ms")
            let names = [unit] + units.map(\.name).filter { $0 != unit }
            func time(_ quantity: Quantity) -> TimeSpan? {
                let factor = units.first { $0.name == quantity.unit }?.microseconds ?? 0
                let microseconds = (quantity.number * factor).rounded()
                guard abs(microseconds) < 1e18 else { return nil }
                let time = TimeSpan(microseconds: Int64(microseconds))
                return range.contains(time) ? time : nil
            }
            let quantity = Quantity.read(
                place, context, units: names, says: says, word: word
            ) { time($0) != nil }
            guard let quantity else { return nil }
            guard let time = time(quantity) else {
                context.report(place, "\(place.found) is not within \(limits)", "write \(says)")
                return nil
            }
            return time
        }
    }

    /// The time between two samples or messages: 1 ms to 366 days.
    static var period: Form { period() }

    private static func period(word: String = "") -> Form {
        time(
            .milliseconds(1)...(.seconds(366 * 86_400)), limits: "1 ms to 366 d", example: "10 s",
            word: word)
    }

    /// `every 10 s`.
    static var every: Form {
        let says = "a time such as 'every 10 s'"
        return Form(says: says, schema: { .quantity(unitNames, word: "every") }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null else {
                return mismatch(place, context, says: says)
            }
            guard scalar.text.hasPrefix("every ") else {
                let isPeriod = period.read(place, context.trial()) != nil
                context.report(
                    place, "the word 'every' is missing before \(place.found)",
                    "write \(isPeriod ? "'every \(scalar.text)'" : says)")
                return nil
            }
            return period(word: "every ").read(place, context)
        }
    }
}

extension Form where Value == Double {
    /// A number with one fixed unit, from `range`.
    package static func quantity(
        _ unit: String, _ range: ClosedRange<Double>, example: String, isWhole: Bool = false
    ) -> Form {
        let says = "a number with its unit such as '\(example)'"
        return Form(says: says, schema: { .quantity([unit]) }) { place, context in
            let quantity = Quantity.read(place, context, units: [unit], says: says) {
                range.contains($0.number) && (!isWhole || $0.number == $0.number.rounded())
            }
            guard let quantity else { return nil }
            guard range.contains(quantity.number) else {
                let low = DecimalText.short(range.lowerBound)
                let high = DecimalText.short(range.upperBound)
                context.report(
                    place, "\(place.found) is not within \(low) \(unit) to \(high) \(unit)",
                    "write \(says)")
                return nil
            }
            guard !isWhole || quantity.number == quantity.number.rounded() else {
                context.report(place, "\(place.found) is not whole", "write whole \(unit)")
                return nil
            }
            return quantity.number
        }
    }
}

extension Form where Value == Int8 {
    /// A power in whole dBm, -127 to 20 (Core 6.0, Vol 4, Part E, 7.8.6).
    package static var power: Form {
        Form<Double>.quantity("dBm", -127...20, example: "-59 dBm", isWhole: true).map { Int8($0) }
    }
}
