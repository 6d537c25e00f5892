// Published values of charge, current and latency, and the form of their file.
public import PowerModel
import Profiles

/// One published value and the conditions under which it holds.
public struct PublishedValue: Equatable, Sendable {
    public var name: String
    public var published: Double
    public var unit: String
    /// As a share; nil for a value that is only reported.
    public var tolerance: Double?
    /// How it came about: a vendor's model, a measurement, arithmetic, a simulation.
    public var kind: String
    public var source: String
    public var note: String?
    public var quantity: Quantity

    /// What is published.
    public enum Quantity: Equatable, Sendable {
        /// Of a chip's advertising event.
        case event(EventQuantity, Conditions)
        /// The mean current that follows from a given charge, length, interval and sleep current.
        case law(charge: Double, length: Double, interval: Double, sleep: Double)
        /// A mean latency of discovery.
        case latency(interval: Double, scanInterval: Double, scanWindow: Double)
    }

    public enum EventQuantity: String, CaseIterable, Sendable {
        /// Microcoulombs.
        case charge
        /// Milliseconds.
        case length
        /// Mean microamperes.
        case current
        /// Mean microamperes beyond the sleep current.
        case addedCurrent = "added-current"

        var unit: String {
            switch self {
            case .charge: "uC"
            case .length: "ms"
            case .current, .addedCurrent: "uA"
            }
        }
    }

    /// Of a measurement of a chip.
    public struct Conditions: Equatable, Sendable {
        public var chip: String
        /// Volts.
        public var voltage: Double
        /// dBm.
        public var power: Int8
        public var event: AdvertisingEvent
        /// Milliseconds; nil where one event is meant.
        public var interval: Double?
        /// What the source leaves open and is taken so, for people.
        public var assumed: String?
    }
}

extension Form where Value == [PublishedValue] {
    static var publishedValues: Form {
        map(says: "a map of values") { keys in
            let list = keys.required(
                "values", .list(of: .publishedValue, says: "a list of published values"))
            guard let list else { return nil }
            for (index, value) in list.enumerated()
            where list[..<index].contains(where: { $0.name == value.name }) {
                keys.report(at: "values", "\(value.name) stands twice", "keep one of them")
            }
            return list
        }
    }
}

extension Form where Value == PublishedValue {
    fileprivate static var publishedValue: Form {
        map(says: "a published value: a map that begins with 'value'") { keys in
            let name = keys.required("value", .text(40, says: "its name, such as 'V01'"))
            let tolerance = keys.optional("tolerance", .quantity("%", 0...100, example: "3 %"))
            let kind = keys.required("kind", .text(40, says: "how it came about"))
            let source = keys.required("source", .source)
            let note = keys.optional("note", .text(400, says: "a remark"))
            let quantity = keys.required("quantity", .quantity)
            let unit = quantity?.unit ?? "uA"
            let published = keys.required(
                "published", .quantity(unit, 0...1e9, example: "8.65 \(unit)"))
            guard let setting = quantity?.read(&keys), let name, let published, let kind,
                let source
            else { return nil }
            return PublishedValue(
                name: name, published: published, unit: unit,
                tolerance: tolerance.map { $0 / 100 }, kind: kind, source: source, note: note,
                quantity: setting)
        }
    }
}

/// The words of `quantity`, each with the keys that go with it.
private enum QuantityWord {
    case event(PublishedValue.EventQuantity)
    case law
    case latency

    var unit: String {
        switch self {
        case .event(let quantity): quantity.unit
        case .law: "uA"
        case .latency: "ms"
        }
    }

    func read(_ keys: inout Keys) -> PublishedValue.Quantity? {
        let milliseconds = Form<Double>.milliseconds
        switch self {
        case .event(let quantity):
            return keys.required("conditions", .conditions).map { .event(quantity, $0) }
        case .law:
            let charge = keys.required("charge", .quantity("uC", 0...1e6, example: "10.6 uC"))
            let length = keys.required("length", milliseconds)
            let interval = keys.required("interval", milliseconds)
            let sleep = keys.required("sleep", Form<Double>.microamperes)
            guard let charge, let length, let interval, let sleep else { return nil }
            return .law(charge: charge, length: length, interval: interval, sleep: sleep)
        case .latency:
            let interval = keys.required("interval", milliseconds)
            let scanInterval = keys.required("scan-interval", milliseconds)
            let scanWindow = keys.required("scan-window", milliseconds)
            guard let interval, let scanInterval, let scanWindow else { return nil }
            return .latency(
                interval: interval, scanInterval: scanInterval, scanWindow: scanWindow)
        }
    }
}

extension Form where Value == Double {
    fileprivate static var milliseconds: Form { quantity("ms", 0...60_000, example: "152.5 ms") }
}

extension Form where Value == QuantityWord {
    fileprivate static var quantity: Form {
        let events = PublishedValue.EventQuantity.allCases.map {
            ($0.rawValue, QuantityWord.event($0))
        }
        return word(events + [("current-law", .law), ("latency", .latency)])
    }
}

extension Form where Value == PublishedValue.Conditions {
    fileprivate static var conditions: Form {
        map(says: "the conditions: a map of chip, voltage, power, type and data") { keys in
            let chip = keys.required("chip", Form<String>.text(40, says: "the chip's name"))
            let voltage = keys.required("voltage", Form<Double>.volts)
            let power = keys.required("power", Form<Int8>.power)
            let listens = keys.required(
                "type",
                Form<Bool>.word([
                    ("connectable", true), ("scannable", true), ("non-connectable", false),
                ]))
            let data = keys.required("data", Form<Int>.integer(0...31, says: "0 to 31 octets"))
            let interval = keys.optional("interval", Form<Double>.milliseconds)
            let assumed = keys.optional(
                "assumed", Form<String>.text(200, says: "what the source leaves open"))
            guard let chip, let voltage, let power, let listens, let data else { return nil }
            return PublishedValue.Conditions(
                chip: chip, voltage: voltage, power: power,
                event: .legacy(data: data, listens: listens), interval: interval,
                assumed: assumed)
        }
    }
}
