// `format`, `scale` and `unit`: how the octets of a value or a field are read.
import Behaviours
import SansIO
import Wire
import YAML

extension Keys {
    /// The format that `format`, `scale` and `unit` say; nil where `format` is absent or wrong.
    mutating func numberFormat() -> ValueFormat? {
        let wire = optional("format", Form<WireFormat>.wireFormat)
        let scale = optional("scale", Form<Scale>.scale)
        let unit = optional("unit", Form<MeasurementUnit>.unit)
        guard has("format") else {
            for key in ["scale", "unit"] where has(key) {
                report(at: key, "'\(key)' needs 'format'", "add 'format: sint16' or another")
            }
            return nil
        }
        guard let wire else { return nil }
        if wire.isNumber {
            if unit != nil, scale?.unit != nil {
                report(at: "unit", "the unit stands in 'scale' too", "write it once")
            }
            return wire.valueFormat(
                scale: scale?.number ?? 1, unit: unit ?? scale?.unit ?? .unitless)
        }
        for key in ["scale", "unit"] where has(key) {
            report(
                at: key, "'\(wire.name)' has no \(key)", "remove it, or choose a number format")
        }
        return wire.valueFormat(scale: 1, unit: .unitless)
    }
}

extension Form where Value == WireFormat {
    fileprivate static var wireFormat: Form { word(WireFormat.all.map { ($0.name, $0) }) }
}

extension Form where Value == MeasurementUnit {
    /// A unit's name, symbol or number.
    fileprivate static var unit: Form {
        let assigned = Form<UInt16>.assigned(.unit, example: "degree-celsius")
        return Form(says: assigned.says) { place, context in
            if let text = place.scalar?.text, let unit = AssignedNames.unit(text) { return unit }
            return assigned.read(place, context).map {
                AssignedNames.unit($0)
                    ?? MeasurementUnit(name: Hex.code($0), symbol: "", number: $0)
            }
        }
    }
}

/// The value of one step, and its unit where that stands behind it.
private struct Scale {
    var number: Double
    var unit: MeasurementUnit?
}

extension Form where Value == Scale {
    /// `0.01`, a fraction such as `1/1024`, either with a unit behind it: `1/1024 s`.
    fileprivate static var scale: Form {
        let says = "the value of one step such as 0.01 or 1/1024"
        return Form(says: says) { place, context in
            let words = (place.scalar?.text ?? "")
                .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            let parts = words.first?.split(separator: "/", omittingEmptySubsequences: false) ?? []
            let numbers = parts.compactMap { Quantity.decimal($0) }
            guard numbers.count == parts.count, (1...2).contains(numbers.count) else {
                return mismatch(place, context, says: says)
            }
            let scale = numbers.count == 2 ? numbers[0] / numbers[1] : numbers[0]
            guard scale.isFinite, (1e-9...1e9).contains(scale) else {
                context.report(
                    place, "\(place.found) is not within 0.000000001 to 1000000000", "write \(says)"
                )
                return nil
            }
            guard words.count == 2 else { return Scale(number: scale) }
            guard let unit = AssignedNames.unit(String(words[1])) else {
                context.report(
                    place, "unknown unit '\(words[1].prefix(20))'",
                    "write a unit such as 's' or 'degree-celsius'")
                return nil
            }
            return Scale(number: scale, unit: unit)
        }
    }
}

extension Form where Value == SendRule {
    static var sendRule: Form {
        let says = "'on-update', 'on-change', 'every 10 s', 'as-fast-as-possible' or 'manual'"
        let words = word(
            [
                ("on-update", .onUpdate), ("on-change", .onChange), ("manual", .manual),
                ("as-fast-as-possible", .asFastAsPossible),
            ])
        let every = Form<TimeSpan>.every
        return Form(says: says) { place, context in
            if place.scalar?.text.hasPrefix("every") == true {
                return every.read(place, context).map { .every($0) }
            }
            guard place.scalar.map({ Quantity.decimal($0.text.prefix { $0 != " " }) }) == .some(nil)
            else { return mismatch(place, context, says: says) }
            return words.read(place, context)
        }
    }
}
