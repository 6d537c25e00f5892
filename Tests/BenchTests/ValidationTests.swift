// The model against published values, and the arithmetic that fitted the chips' parameters.
import Bench
import PowerModel
import TestFiles
import Testing

struct ValidationTests {
    private let chips: [ChipModel]
    private let values: [PublishedValue]
    /// Without those that take many samples.
    private let events: [PublishedValue]

    init() throws {
        chips = try Models.chips()
        values = try Models.values()
        events = values.filter { $0.unit != "ms" || $0.name.hasPrefix("V") }
    }

    @Test("Every published value with a tolerance is met")
    func all() {
        let validation = Validation(values, chips: chips)
        #expect(validation.isMet, "\(validation.text)")
        #expect(validation.lines.count == 51)
        #expect(validation.text.hasSuffix("all met"))
    }

    @Test("Every value of an event is named once by its chip: it sets something or is predicted")
    func roles() {
        for value in values {
            guard case .event(_, let conditions) = value.quantity else { continue }
            let chip = chips.first { $0.chip.name == conditions.chip }
            let sets = chip?.calibrations.filter { $0.values.contains(value.name) }.count ?? 0
            let predicts = chip?.predictions.filter { $0 == value.name }.count ?? 0
            #expect(sets + predicts == 1, "\(value.name)")
        }
    }

    @Test("Chips with no more values than parameters say so, all others predict a bound value")
    func predictions() {
        for chip in chips {
            let bound = values.filter { $0.tolerance != nil && chip.predictions.contains($0.name) }
            #expect((chip.noPrediction == nil) == !bound.isEmpty, "\(chip.chip.name)")
        }
        let silent = chips.filter { $0.noPrediction != nil }.map(\.chip.name)
        #expect(silent == ["EFR32xG22E", "EFR32xG24", "STM32WBA2"])
        let text = Validation(events, chips: chips).text
        for name in silent { #expect(text.contains("\(name): no prediction: ")) }
    }

    @Test("A chip whose current is wrong is told, by the value it misses")
    func wrongChip() throws {
        var wrong = chips
        let index = try #require(wrong.firstIndex { $0.chip.name == "nRF54L15" })
        wrong[index].chip.phases[RadioPhase.processing.number].current *= 1.5
        let validation = Validation(events, chips: wrong)
        #expect(!validation.isMet)
        #expect(validation.text.hasSuffix("outside are V06, V07"))
        wrong[index].predictions = ["V99"]
        let complaints = Validation(events, chips: wrong).complaints
        #expect(complaints.contains("nRF54L15: there is no published value V99"))
        #expect(complaints.contains { $0.hasPrefix("V07: the file of nRF54L15 must name it") })
    }

    // MARK: the fits

    private func chip(_ name: String) throws -> SystemOnChip {
        try #require(chips.first { $0.chip.name == name }?.chip)
    }

    private func published(_ name: String) throws -> Double {
        try #require(values.first { $0.name == name }?.published)
    }

    /// The charge of one event on a chip in microcoulombs.
    private func charge(
        _ chip: SystemOnChip, _ voltage: Double, _ data: Int, listens: Bool, power: Int8 = 0
    ) throws -> Double {
        try #require(Radio(chip, voltage: voltage, power: power))
            .cost(of: .legacy(data: data, listens: listens)).charge
    }

    private func near(_ value: Double, _ expected: Double, _ share: Double = 0.002) -> Bool {
        abs(value / expected - 1) < share
    }

    @Test("nRF52832: one slope by least squares serves three powers; the payload is the nearest")
    func slope() throws {
        let chip = try chip("nRF52832")
        let payload = try (0...31).min {
            abs(try charge(chip, 3.3, $0, listens: true) - (try published("V16")))
                < abs(try charge(chip, 3.3, $1, listens: true) - (try published("V16")))
        }
        #expect(payload == 13)
        let base = try charge(chip, 3.3, 13, listens: true)
        let time = 3 * 0.232
        var (sum, squares) = (0.0, 0.0)
        let settings: [(String, Double)] = [("V15", 2.5119), ("V17", 0.3981), ("V18", 0.1585)]
        for (name, milliwatts) in settings {
            let value = try published(name)
            let x = (milliwatts - 1) * time
            sum += x * (value - base) / (value * value)
            squares += x * x / (value * value)
        }
        let slope = sum / squares
        for (power, milliwatts) in [(Int8(4), 2.5119), (-4, 0.3981), (-8, 0.1585)] {
            let current = try #require(chip.transmit.first { $0.power == power }).current
            #expect(abs(current - (6.24 + slope * (milliwatts - 1))) < 0.006)
        }
    }

    @Test("Chips with the datasheet's radio: what is left of the calibration is the processing")
    func processing() throws {
        for (name, value, voltage) in [
            ("nRF54L15", "V06", 1.8), ("EFR32xG22E", "V08", 1.8), ("EFR32xG22E", "V09", 3.3),
            ("CC2340R5", "V12", 2.2), ("CC2340R5", "V13", 3.3), ("EFR32xG24", "V14", 3.0),
            ("STM32WBA2", "V10", 1.8), ("STM32WBA2", "V11", 3.3),
        ] {
            let charge = try charge(try chip(name), voltage, 19, listens: false)
            #expect(near(charge, try published(value)), "\(value)")
        }
    }

    @Test("Voltage laws that are fitted are the ratio of two values, the others the usual one")
    func exponents() throws {
        for (name, low, high, lowVoltage) in [
            ("EFR32xG22E", "V08", "V09", 1.8), ("STM32WBA2", "V10", "V11", 1.8),
            ("CC2340R5", "V12", "V13", 2.2),
        ] {
            let (charge, less) = (try published(low), try published(high))
            // The law with the file's exponent, without a logarithm.
            let chip = try chip(name)
            let ratio =
                try self.charge(chip, lowVoltage, 19, listens: false)
                / self.charge(chip, 3.3, 19, listens: false)
            #expect(near(ratio, charge / less, 0.001), "\(name)")
        }
        for name in ["nRF52832", "nRF54L15", "EFR32xG24", "SF32LB52x", "SF32LB56x"] {
            #expect(try chip(name).voltageExponent == 0.76)
        }
    }

    @Test("SF32LB: each power's charge is the geometric mean of its two calibrations")
    func geometricMeans() throws {
        for (name, voltage, power, first, second) in [
            ("SF32LB52x", 3.3, Int8(0), "V33", "V35"), ("SF32LB52x", 3.3, 4, "V36", "V37"),
            ("SF32LB52x", 3.3, 10, "V38", "V40"), ("SF32LB52x", 3.3, 13, "V41", "V43"),
            ("SF32LB56x", 1.8, 0, "V22", "V24"), ("SF32LB56x", 1.8, 4, "V27", "V29"),
            ("SF32LB56x", 1.8, 10, "V30", "V32"),
        ] {
            let charges = try [first, second].map { name in
                let value = try #require(values.first { $0.name == name })
                guard case .event(_, let conditions) = value.quantity else { return 0.0 }
                return value.published * (try #require(conditions.interval) + 5) / 1_000
            }
            let mean = (charges[0] * charges[1]).squareRoot()
            let model = try charge(try chip(name), voltage, 19, listens: true, power: power)
            #expect(near(model, mean), "\(name) at \(power) dBm: \(model), \(mean)")
        }
    }

    @Test("The shape that chips without published radio currents share is the nRF52832's")
    func shape() throws {
        let nordic = try chip("nRF52832")
        let parts = RadioPhase.partsOfProcessing
        func count(_ phase: RadioPhase) -> Double {
            phase == .radioRestart || phase == .channelChange ? 2 : 1
        }
        let time = parts.reduce(0) { $0 + nordic[$1].time * count($1) }
        let mean = parts.reduce(0) { $0 + nordic[$1].time * nordic[$1].current * count($1) } / time
        for name in ["STM32WBA2", "SF32LB52x", "SF32LB56x"] {
            let chip = try chip(name)
            let sending = try #require(chip.transmit.first { $0.power == 0 }).current
            let scale = sending / 6.24
            #expect(chip[.processing].time == time)
            #expect(near(chip[.processing].current, mean * scale, 0.003), "\(name)")
            #expect(near(chip[.receive].current, 6.32 * scale, 0.003), "\(name)")
            #expect(near(chip[.transmitToReceive].current, 3.23 * scale, 0.003), "\(name)")
        }
    }
}
