// `bench validate`: the model's predictions against every published value.
import PowerModel
import SansIO
import Wire

/// The comparison of the model with published values.
public struct Validation: Equatable, Sendable {
    /// What a value was to the model.
    public enum Role: Equatable, Sendable {
        /// It set a parameter.
        case calibration
        /// No parameter was fitted to it.
        case prediction
    }

    public struct Line: Equatable, Sendable {
        public var value: PublishedValue
        /// In the unit of the published value; nil where the model cannot say it.
        public var prediction: Double?
        public var role: Role

        /// The share by which the prediction is above the published value.
        public var residual: Double? {
            guard let prediction, value.published != 0 else { return nil }
            return prediction / value.published - 1
        }

        /// Whether a tolerance is there and not kept.
        public var isOutside: Bool {
            guard let tolerance = value.tolerance else { return false }
            guard let residual else { return true }
            return abs(residual) > tolerance
        }
    }

    public var lines: [Line] = []
    /// What is missing or contradicts itself in the files, as sentences.
    public var complaints: [String] = []
    private var remarks: [(chip: String, reason: String)] = []

    /// Whether every tolerance is kept and the files are complete.
    public var isMet: Bool { complaints.isEmpty && !lines.contains { $0.isOutside } }

    /// Latencies that are drawn for each value of discovery.
    public static let latencySamples = 200_000
    /// Their seed: equal output each time.
    private static let seed: UInt64 = 1

    public init(_ values: [PublishedValue], chips: [ChipModel]) {
        for value in values {
            let chip = chip(of: value, among: chips)
            lines.append(
                Line(
                    value: value, prediction: Self.predict(value, chip?.chip),
                    role: role(of: value, chip)))
        }
        for chip in chips {
            if let reason = chip.noPrediction { remarks.append((chip.chip.name, reason)) }
            checkNames(of: chip, values)
        }
    }

    public static func == (left: Validation, right: Validation) -> Bool {
        left.lines == right.lines && left.complaints == right.complaints
    }

    private mutating func chip(of value: PublishedValue, among chips: [ChipModel]) -> ChipModel? {
        guard case .event(_, let conditions) = value.quantity else { return nil }
        let chip = chips.first { $0.chip.name == conditions.chip }
        if chip == nil { complaints.append("\(value.name): there is no chip \(conditions.chip)") }
        return chip
    }

    private mutating func role(of value: PublishedValue, _ chip: ChipModel?) -> Role {
        guard let chip else { return .prediction }
        let sets = chip.calibrations.contains { $0.values.contains(value.name) }
        let predicts = chip.predictions.contains(value.name)
        if sets == predicts {
            complaints.append(
                "\(value.name): the file of \(chip.chip.name) must name it under 'calibration' or "
                    + "under 'predictions'")
        }
        return sets ? .calibration : .prediction
    }

    /// Names that no value has, and chips that promise nothing.
    private mutating func checkNames(of chip: ChipModel, _ values: [PublishedValue]) {
        for name in chip.calibrations.flatMap(\.values) + chip.predictions
        where !values.contains(where: { $0.name == name }) {
            complaints.append("\(chip.chip.name): there is no published value \(name)")
        }
        if chip.predictions.isEmpty, chip.noPrediction == nil {
            complaints.append("\(chip.chip.name): there is no prediction, and no reason why")
        }
    }

    // MARK: predictions

    static func predict(_ value: PublishedValue, _ chip: SystemOnChip?) -> Double? {
        switch value.quantity {
        case .event(let quantity, let conditions):
            guard let chip,
                let radio = Radio(chip, voltage: conditions.voltage, power: conditions.power)
            else { return nil }
            return predict(quantity, radio, conditions)
        case .law(let charge, let length, let interval, let sleep):
            return Radio.averageCurrent(
                charge: charge, length: length, interval: interval, sleep: sleep)
        case .latency(let interval, let scanInterval, let scanWindow):
            return latency(interval, scanInterval, scanWindow)
        }
    }

    private static func predict(
        _ quantity: PublishedValue.EventQuantity, _ radio: Radio,
        _ conditions: PublishedValue.Conditions
    ) -> Double? {
        let cost = radio.cost(of: conditions.event)
        switch quantity {
        case .charge: return cost.charge
        case .length: return cost.time / 1_000
        case .current:
            return conditions.interval.map { radio.averageCurrent(of: cost, interval: $0) }
        case .addedCurrent:
            return conditions.interval.map {
                radio.averageCurrent(of: cost, interval: $0) - radio.chip.sleep
            }
        }
    }

    /// The mean latency in milliseconds. The published ones are of one channel and packets without
    /// length: packets of 1 µs on three channels are so near that the tolerance covers it.
    private static func latency(
        _ interval: Double, _ scanInterval: Double, _ scanWindow: Double
    ) -> Double? {
        func microseconds(_ value: Double) -> Int64 { Int64(min(max(value * 1_000, 1), 6e7)) }
        let scanner = ScannerModel(
            name: "published", title: "", window: microseconds(scanWindow),
            interval: microseconds(scanInterval))
        let sampler = DiscoverySampler(
            scanner, on: .endless(interval: microseconds(interval), airTime: 1),
            from: StartSpans(from: 0, to: 86_400_000_000))
        var random = SeededRandom(seed: seed, stream: "validate")
        var sums = LatencySums()
        sampler.sample(latencySamples, &random, into: &sums)
        return sums.mean.map { $0.value * 1_000 }
    }
}

extension Validation {
    /// The table for people, with what is outside marked and a line that sums up.
    public var text: String {
        var lines = [Self.row("value", "published", "model", "residual", "tolerance", "", "")]
        for line in self.lines { lines.append(Self.row(line)) }
        if !remarks.isEmpty { lines.append("") }
        for (chip, reason) in remarks { lines.append("\(chip): no prediction: \(reason)") }
        if !complaints.isEmpty { lines.append("") }
        lines += complaints
        let bound = self.lines.filter { $0.value.tolerance != nil }
        let outside = bound.filter(\.isOutside)
        let predicted = bound.filter { $0.role == .prediction }
        lines.append("")
        lines.append(
            "\(bound.count) values with a tolerance, \(predicted.count) of them predictions: "
                + (outside.isEmpty
                    ? "all met"
                    : "outside are \(outside.map(\.value.name).joined(separator: ", "))"))
        return lines.joined(separator: "\n")
    }

    private static func row(_ line: Line) -> String {
        let value = line.value
        let figure = { (number: Double) in FigureText.significant(number, 6) }
        let tolerance = value.tolerance.map { FigureText.fixed($0 * 100, 2) + " %" }
        return row(
            value.name, figure(value.published) + " " + value.unit,
            line.prediction.map { figure($0) } ?? "none",
            line.residual.map { ($0 < 0 ? "" : "+") + FigureText.fixed($0 * 100, 2) + " %" } ?? "",
            tolerance.map { line.isOutside ? "OUTSIDE \($0)" : $0 } ?? "report only",
            line.role == .calibration ? "calibration" : "prediction",
            subject(value) + "; " + value.kind + "; " + value.source)
    }

    private static func subject(_ value: PublishedValue) -> String {
        switch value.quantity {
        case .event(_, let conditions):
            conditions.chip + (conditions.assumed.map { " (assumed: \($0))" } ?? "")
        case .law: "law of the mean"
        case .latency: "discovery"
        }
    }

    private static func row(
        _ name: String, _ published: String, _ model: String, _ residual: String,
        _ tolerance: String, _ role: String, _ rest: String
    ) -> String {
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        let text =
            left(name, 15) + right(published, 13) + right(model, 10) + right(residual, 11)
            + right(tolerance, 16) + "  " + left(role, 12) + rest
        return String(text.reversed().drop { $0 == " " }.reversed())
    }
}
