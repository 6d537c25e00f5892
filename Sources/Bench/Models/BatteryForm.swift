// The files of batteries and sensors.
import PowerModel
import Profiles

extension Form where Value == Battery {
    static var battery: Form {
        map(says: "a battery: a map that begins with 'battery'") { keys in
            let name = keys.required("battery", .text(40, says: "the battery's name"))
            let voltage = keys.required("voltage", Form<Double>.volts)
            let end = keys.required("end-voltage", Form<Double>.volts)
            let capacity = keys.required(
                "capacity", .quantity("mAh", 1...1_000_000, example: "225 mAh"))
            let usable = keys.required("usable", .band("%", 1...100, example: "65 %"))
            let loss = keys.required(
                "self-discharge-a-year", .band("%", 0...100, example: "1.5 %"))
            let ohms = keys.required("resistance", .band("Ohm", 0...1_000, example: "18 Ohm"))
            let years = keys.required("shelf-life", .quantity("y", 0.1...50, example: "10 y"))
            _ = keys.required("source", Form<String>.source)
            if let voltage, let end, end >= voltage {
                keys.report(
                    at: "end-voltage", "the end is not below the voltage",
                    "write the voltage at which the capacity is used up")
                return nil
            }
            guard let name, let voltage, let end, let capacity, let usable, let loss, let ohms,
                let years
            else { return nil }
            return Battery(
                name: name, voltage: voltage, endVoltage: end, capacity: capacity,
                usable: usable.lowerBound / 100...usable.upperBound / 100,
                selfDischarge: loss.lowerBound / 100...loss.upperBound / 100,
                resistance: ohms, shelfLife: years)
        }
    }
}

extension Form where Value == ClosedRange<Double> {
    /// Two bounds with their unit: `{from: 65 %, to: 100 %}`.
    fileprivate static func band(
        _ unit: String, _ range: ClosedRange<Double>, example: String
    ) -> Form {
        map(says: "a band: a map of from and to") { keys in
            let low = keys.required("from", .quantity(unit, range, example: example))
            let high = keys.required("to", .quantity(unit, range, example: example))
            guard let low, let high else { return nil }
            guard low <= high else {
                keys.report(at: "to", "the band ends below its beginning", "exchange the two")
                return nil
            }
            return low...high
        }
    }
}

extension Form where Value == SensorCurrent {
    static var sensor: Form {
        map(says: "a sensor: a map that begins with 'sensor'") { keys in
            let name = keys.required("sensor", .text(60, says: "the sensor's name"))
            let current = keys.required("current", Form<Double>.microamperes)
            _ = keys.required("source", Form<String>.source)
            guard let name, let current else { return nil }
            return SensorCurrent(name: name, current: current)
        }
    }
}
