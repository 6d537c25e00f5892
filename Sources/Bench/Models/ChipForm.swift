// The file of a chip: its phases, its voltage law, and which published values set what.
public import PowerModel
import Profiles

/// A chip with the record of how its numbers came about.
public struct ChipModel: Equatable, Sendable {
    public var chip: SystemOnChip
    /// Which published values set which parameters.
    public var calibrations: [Calibration]
    /// The published values that no parameter was fitted to.
    public var predictions: [String]
    /// Why something, or everything, of this chip is not a prediction.
    public var noPrediction: String?

    /// One parameter, or several that were set together.
    public struct Calibration: Equatable, Sendable {
        /// The parameter's place in the file.
        public var parameter: String
        /// The names of the values that set it.
        public var values: [String]
    }
}

extension Form where Value == ChipModel {
    static var chip: Form {
        map(says: "a chip: a map that begins with 'soc'") { keys in
            let name = keys.required("soc", .text(40, says: "the chip's name"))
            let supply = keys.required("supply", Form<Supply>.supply)
            let exponent = keys.required("voltage-law", .voltageLaw)
            let sleep = keys.required("sleep", .sourced("a sleep current"))
            let phases = keys.required("phases", .phases)
            let transmit = keys.required("transmit", .transmit)
            let calibrations = keys.required("calibration", .calibrations)
            let predictions = keys.optional("predictions", .valueNames)
            let reason = keys.optional("no-prediction", .text(400, says: "the reason"))
            if predictions == nil, reason == nil, !keys.has("predictions") {
                keys.report(
                    at: "calibration", "what these numbers predict is not said",
                    "add 'predictions:' with names of published values, or 'no-prediction:' with "
                        + "the reason")
            }
            guard let name, let supply, let exponent, let sleep, let phases, let transmit,
                let calibrations
            else { return nil }
            let chip = SystemOnChip(
                name: name, referenceVoltage: supply.reference, supply: supply.range,
                voltageExponent: exponent, sleep: sleep, phases: phases, transmit: transmit)
            return ChipModel(
                chip: chip, calibrations: calibrations, predictions: predictions ?? [],
                noPrediction: reason)
        }
    }
}

/// The voltages of a chip.
struct Supply {
    var reference: Double
    var range: ClosedRange<Double>
}

extension Form where Value == Supply {
    fileprivate static var supply: Form {
        map(says: "a map of reference, minimum and maximum") { keys in
            let reference = keys.required("reference", Form<Double>.volts)
            let low = keys.required("minimum", Form<Double>.volts)
            let high = keys.required("maximum", Form<Double>.volts)
            guard let reference, let low, let high else { return nil }
            guard low < high, low <= reference, reference <= high else {
                keys.report(
                    at: "reference", "the voltages are not in order",
                    "write a minimum below the maximum, and a reference between them")
                return nil
            }
            return Supply(reference: reference, range: low...high)
        }
    }
}

extension Form where Value == Double {
    static var volts: Form { quantity("V", 0.5...6, example: "3.0 V") }
    static var microamperes: Form { quantity("uA", 0...100_000, example: "2.0 uA") }
    static var milliamperes: Form { quantity("mA", 0...1_000, example: "6.24 mA") }
    static var microseconds: Form { quantity("us", 0...1_000_000, example: "402 us") }

    /// A number from `range`.
    static func number(_ range: ClosedRange<Double>, says: String) -> Form {
        let real = Form<Double>.real(says: says)
        return Form(says: says, schema: real.schema) { place, context in
            guard let value = real.read(place, context) else { return nil }
            guard range.contains(value) else {
                context.report(place, "\(place.found) is too small or too large", "write \(says)")
                return nil
            }
            return value
        }
    }

    fileprivate static var voltageLaw: Form {
        map(says: "a map of exponent and source") { keys in
            let exponent = keys.required(
                "exponent",
                .number(0...1.5, says: "a number of 0 (linear regulator) to 1.5, such as 0.76"))
            _ = keys.required("source", Form<String>.source)
            return exponent
        }
    }

    /// A current with its source.
    static func sourced(_ what: String) -> Form {
        map(says: "\(what): a map of current and source") { keys in
            let current = keys.required("current", Form<Double>.microamperes)
            _ = keys.required("source", Form<String>.source)
            return current
        }
    }
}

extension Form where Value == String {
    /// Where a number comes from.
    static var source: Form { text(500, says: "where the number comes from") }
}

extension Form where Value == [String] {
    /// Names of published values.
    static var valueNames: Form {
        let name = Form<String>.text(40, says: "the name of a published value, such as 'V04'")
        return list(of: name, says: "a list of names of published values", minimum: 0)
    }
}

extension Form where Value == [(RadioPhase, PhaseCost)] {
    fileprivate static var phases: Form {
        map(says: "a map of phases") { keys in
            let parts = RadioPhase.partsOfProcessing
            // The parts are told apart, or the whole is told.
            let isWhole = keys.has(RadioPhase.processing.rawValue)
            let processing = isWhole ? [RadioPhase.processing] : parts
            var costs: [(RadioPhase, PhaseCost)] = []
            for phase in processing + [.transmitToReceive, .receive] {
                if let cost = keys.required(phase.rawValue, Form<PhaseCost>.phase) {
                    costs.append((phase, cost))
                }
            }
            for phase in parts where isWhole && keys.has(phase.rawValue) {
                keys.report(
                    at: phase.rawValue, "'\(phase.rawValue)' is a part of 'processing'",
                    "write the parts, or 'processing' alone")
                _ = keys.optional(phase.rawValue, Form<PhaseCost>.phase)
            }
            return costs
        }
    }
}

extension Form where Value == PhaseCost {
    fileprivate static var phase: Form {
        map(says: "a map of time, current and source, such as '{time: 402 us, current: 1.56 mA}'") {
            keys in
            let time = keys.required("time", Form<Double>.microseconds)
            let current = keys.required("current", Form<Double>.milliamperes)
            _ = keys.required("source", Form<String>.source)
            guard let time, let current else { return nil }
            return PhaseCost(time: time, current: current)
        }
    }
}

extension Form where Value == [TransmitCurrent] {
    fileprivate static var transmit: Form {
        let setting = Form<TransmitCurrent>.map(says: "a map of power, current and source") {
            keys in
            let power = keys.required("power", Form<Int8>.power)
            let current = keys.required("current", Form<Double>.milliamperes)
            _ = keys.required("source", Form<String>.source)
            guard let power, let current else { return nil }
            return TransmitCurrent(power: power, current: current)
        }
        let list = list(of: setting, says: "a list of transmit powers with their currents")
        return Form(says: list.says, schema: list.schema) { place, context in
            guard let settings = list.read(place, context) else { return nil }
            for (index, setting) in settings.enumerated()
            where settings[..<index].contains(where: { $0.power == setting.power }) {
                context.report(place, "\(setting.power) dBm stands twice", "keep one of them")
            }
            return settings
        }
    }
}

extension Form where Value == [ChipModel.Calibration] {
    fileprivate static var calibrations: Form {
        let one = Form<ChipModel.Calibration>.map(says: "a map of sets and from") { keys in
            let parameter = keys.required("sets", Form<String>.text(120, says: "a parameter"))
            let values = keys.required("from", .valueNames)
            guard let parameter, let values else { return nil }
            return ChipModel.Calibration(parameter: parameter, values: values)
        }
        return list(of: one, says: "a list of what sets which parameter", minimum: 0)
    }
}
