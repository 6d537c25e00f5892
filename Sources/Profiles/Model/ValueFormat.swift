// What the octets of a value mean: the wire's number formats, words, text or plain octets.
public import Behaviours

/// How a characteristic's octets are written and read.
public indirect enum ValueFormat: Equatable, Sendable {
    /// A number in a unit.
    case number(NumberSpec)
    /// One octet of 0 or 1.
    case boolean
    /// Two octets: an assigned appearance.
    case appearance
    /// One octet that counts these words from 0.
    case words([String])
    /// Text in UTF-8.
    case utf8
    /// Text in UTF-16, little-endian.
    case utf16
    /// Fields, each with a format of its own.
    case fields(FieldLayout)
    /// Octets without a known meaning.
    case bytes

    /// The value's length where the format fixes it.
    public var octets: Int? {
        switch self {
        case .number(let number): number.format.octets
        case .boolean, .words: 1
        case .appearance: 2
        case .fields(let layout): layout.octets
        case .utf8, .utf16, .bytes: nil
        }
    }
}

/// A number's layout on the wire, its unit and its range.
public struct NumberSpec: Equatable, Sendable {
    public var format: NumberFormat
    public var unit: MeasurementUnit
    /// In `unit`; what the wire can hold, or less where the specification says so.
    public private(set) var range: ClosedRange<Double>

    public init(format: NumberFormat, unit: MeasurementUnit) {
        self.format = format
        self.unit = unit
        range = format.smallest...format.largest
    }

    /// The range for people: `0 to 100 %`.
    var rangeText: String {
        "\(DecimalText.short(range.lowerBound)) to \(DecimalText.short(range.upperBound))"
            + (unit.symbol.isEmpty ? "" : " " + unit.symbol)
    }

    /// Where a counter begins anew; nil where the format's octets do that by themselves.
    var counts: ClosedRange<Int64>? {
        if format.isWhole, range == format.smallest...format.largest { return nil }
        return NumberFormat.counts(from: range.lowerBound, to: range.upperBound)
    }

    /// The same with the range cut to `limits`.
    func within(_ limits: ClosedRange<Double>) -> NumberSpec {
        var cut = self
        cut.range = range.clamped(to: limits)
        return cut
    }
}

/// A unit as people write it and as the Bluetooth SIG numbers it.
public struct MeasurementUnit: Equatable, Sendable {
    /// The profile's word: `degree-celsius`.
    public var name: String
    /// As shown behind a number: `°C`; empty where there is none.
    public var symbol: String
    /// The assigned UUID, 0x27xx.
    public var number: UInt16

    public init(name: String, symbol: String, number: UInt16) {
        self.name = name
        self.symbol = symbol
        self.number = number
    }

    public static let unitless = MeasurementUnit(name: "unitless", symbol: "", number: 0x2700)

    /// Units that specifications use and the assigned numbers have only in other multiples.
    static var own: [MeasurementUnit] {
        [
            MeasurementUnit(name: "decibel-milliwatt", symbol: "dBm", number: 0x2700),
            MeasurementUnit(name: "kilojoule", symbol: "kJ", number: 0x2725),
            MeasurementUnit(name: "kilopascal", symbol: "kPa", number: 0x2724),
            MeasurementUnit(name: "millisecond", symbol: "ms", number: 0x2703),
            MeasurementUnit(name: "kilogram-per-litre", symbol: "kg/L", number: 0x2700),
            MeasurementUnit(name: "mole-per-litre", symbol: "mol/L", number: 0x2700),
        ]
    }
}
