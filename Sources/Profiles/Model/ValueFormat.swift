// What the octets of a value mean: the wire's number formats, text or plain bytes.
public import Behaviours

/// How a characteristic's octets are read, written and shown.
public enum ValueFormat: Equatable, Sendable {
    /// A number in `unit`.
    case number(NumberFormat, unit: MeasurementUnit)
    /// One octet of 0 or 1.
    case boolean
    /// Text in UTF-8.
    case utf8
    /// Octets without a known meaning.
    case bytes
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
}

extension ValueFormat {
    /// A value as people read it: `21.57 °C`, `"Strap"`, `01 02`.
    public func describe(_ bytes: [UInt8]) -> String { "" }
}
