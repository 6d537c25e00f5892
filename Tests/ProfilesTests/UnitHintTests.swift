// A quantity in a wrong unit or without one: the hint is right, and what it says can stand there.
import Testing

@testable import Profiles

@Suite struct UnitHintTests {
    private static func units(_ schema: Schema) -> (units: [String], word: String)? {
        switch schema {
        case .quantity(let units, let word): return (units, word.isEmpty ? "" : word + " ")
        case .anyOf(let schemas): return schemas.lazy.compactMap { units($0) }.first
        case .any, .boolean, .integer, .number, .text, .words, .assigned, .list, .map, .open,
            .value, .valueNumber, .generator:
            return nil
        }
    }

    private static func objections(_ text: String) -> [ProfileError] {
        do throws(ProfileErrors) {
            _ = try ReferenceTests.read(text)
            return []
        } catch { return error.list }
    }

    /// Whether an error is about a quantity by itself, whatever else stands in the profile.
    private static func isOfQuantity(_ error: ProfileError) -> Bool {
        ["unit", "is not within", "is not whole", "cannot stand here", "'every'"].contains {
            error.problem.contains($0)
        }
    }

    @Test("what a hint says in place of a quantity is never refused")
    func applied() {
        let numbers = ["0", "0.001", "0.5", "1", "2.75", "20", "72", "100", "1500", "101325", "-5"]
        let others = [
            "", "Ms", "ns", "sec", "hours", "fortnights", "V", "kV", "°F", "K", "F", "Pa", "kPa",
            "bar", "mmHg", "m/s2", "mg", "mm", "mile", "lb", "dB", "mdBm", "A", "uAh", "kHz",
            "percent", "°", "deg", "rad",
        ]
        var (tried, hinted) = (0, 0)
        for section in ProfileReference.sections {
            for property in section.properties {
                guard let row = section.notes.rows[property.key],
                    let (units, word) = Self.units(property.schema)
                else { continue }
                for number in numbers {
                    for unit in others + units.map({ "~" + $0 }) {
                        // `~` is for a unit right behind the number.
                        let spaced = unit.isEmpty ? number : "\(number) \(unit)"
                        let text = unit.hasPrefix("~") ? number + unit.dropFirst() : spaced
                        func errors(_ value: String) -> [ProfileError] {
                            Self.objections(
                                ReferenceTests.profile(
                                    section.notes, row.needs + ["\(property.key): \(value)"])
                            ).filter { Self.isOfQuantity($0) && $0.path.hasSuffix(property.key) }
                        }
                        tried += 1
                        let quoted = unit == "%" ? "\"\(word)\(text)\"" : word + text
                        for error in errors(quoted) where error.remedy.hasPrefix("write '") {
                            let hint = String(error.remedy.dropFirst(7).prefix { $0 != "'" })
                            hinted += 1
                            let after = errors(hint)
                            #expect(after.isEmpty, "\(property.key): \(quoted): \(error): \(after)")
                        }
                    }
                }
            }
        }
        #expect(tried > 10_000 && hinted > 1000, "\(tried) \(hinted)")
    }

    @Test(
        "a unit of the same kind is converted",
        arguments: [
            ("[{ruuvi: {pressure: 101325 Pa}}]", "1013.25 hPa"),
            ("[{ruuvi: {pressure: 101.325 kPa}}]", "1013.25 hPa"),
            ("[{ruuvi: {pressure: 760 mmHg}}]", "1013.25 hPa"),
            ("[{ruuvi: {pressure: 5 bar}}]", ""),
            ("[{ruuvi: {temperature: 70 °F}}]", "21.1111 °C"),
            ("[{ruuvi: {temperature: 70 F}}]", "21.1111 °C"),
            ("[{ruuvi: {temperature: 20 C}}]", "20 °C"),
            ("[{ruuvi: {temperature: 200 degC}}]", ""),
            ("[{eddystone-tlm: {temperature: 20 K}}]", ""),
            ("[{eddystone-tlm: {temperature: 293.15 K}}]", "20 °C"),
            ("[{eddystone-tlm: {temperature: 70 °F}}]", "21.1111 °C"),
            ("[{eddystone-tlm: {uptime: 1 h}}]", "3600 s"),
            ("[{eddystone-tlm: {uptime: 2 days}}]", "172800 s"),
            ("[{eddystone-tlm: {battery: 2998 mV}}]", "2.998 V"),
            ("[{ruuvi: {acceleration-x: 9.81 m/s2}}]", "1.00034 g"),
            ("[{ruuvi: {acceleration-x: 9.80665 m/s²}}]", "1 g"),
            ("[{ruuvi: {acceleration-x: 12 mg}}]", "0.012 g"),
            ("[{eddystone-url: {url: \"https://a.com/\", tx-power: -20 dB}}]", ""),
            ("[{eddystone-url: {url: \"https://a.com/\", tx-power: -20 dbm}}]", "-20 dBm"),
            ("[{bthome: {objects: [{object: speed, value: 36 km/h}]}}]", "10 m/s"),
            ("[{bthome: {objects: [{object: distance, value: 1 ft}]}}]", "305 mm"),
            ("[{bthome: {objects: [{object: pm10, value: 0.04 mg/m3}]}}]", "40 µg/m³"),
            ("[{bthome: {objects: [{object: rotation, value: 90 deg}]}}]", "90 °"),
        ])
    func converted(data: String, hint: String) {
        let found = Self.objections(
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising:\n"
                + "  - {type: non-connectable, interval: 1 s, update: every 1 s, data: \(data)}\n")
        let error = found.first { Self.isOfQuantity($0) }
        #expect(error != nil, "\(found)")
        if hint.isEmpty {
            #expect(error?.remedy.hasPrefix("write a number with its unit") == true, "\(found)")
        } else {
            #expect(error?.remedy == "write '\(hint)'", "\(found)")
        }
    }

    @Test(
        "times too",
        arguments: [
            ("100 Ms", "100 ms"), ("100 MS", "100 ms"), ("0.5", "0.5 s"), ("2", "2 s"),
            ("0.00001 Ms", "10000 ms"), ("1 Ms", ""), ("5 decades", ""), ("5ms", ""),
            ("0.1 sec", "0.1 s"),
        ])
    func times(interval: String, hint: String) {
        let found = Self.objections(
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising:\n"
                + "  - {type: non-connectable, interval: \(interval)}\n")
        let says = hint.isEmpty ? "write a time such as" : "write '\(hint)'"
        #expect(found.count == 1 && found[0].remedy.hasPrefix(says), "\(found)")
    }

    @Test(
        "a constant's other unit is converted to the characteristic's",
        arguments: [
            ("70 °F", "write '21.1111'"), ("293.15 K", "write '20'"), ("20 C", "write '20'"),
            ("20 V", "write it in °C"), ("800 °F", "write it in °C"),
        ])
    func constants(value: String, remedy: String) {
        let found = Self.objections(
            "peripheral-emu: 1\ndevice: {name: T}\nservices:\n  - service: 0x1234\n"
                + "    characteristics: [{characteristic: temperature, value: \(value)}]\n")
        #expect(found.count == 1 && found[0].remedy == remedy, "\(found)")
    }
}
