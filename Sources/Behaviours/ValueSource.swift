// Where a characteristic's value comes from, as the profile declares it.
public import SansIO

/// A value's source. Numbers are in the value's own unit, before scaling to the wire.
public enum ValueSource: Equatable, Sendable {
    /// Bytes that never change by themselves.
    case constant([UInt8])
    /// A new number at each update.
    case generated(Generator, encoding: NumberFormat)
    /// Fields, one behind another.
    case composed([ValuePart])
    /// One little-endian integer of `octets` octets, put together of bit fields.
    case packed(octets: Int, [PackedBits])
    /// The octets of the characteristic that this names, anew whenever they change.
    case echo(of: String)
}

extension ValueSource {
    /// Whether a generator of it asks for the activity's level.
    public var usesLevel: Bool {
        switch self {
        case .constant, .echo: false
        case .generated(let generator, _): generator == .activity(isLevel: true)
        case .composed(let parts): parts.contains { $0.source.usesLevel }
        case .packed(_, let bits):
            bits.contains { $0.source == .generated(.activity(isLevel: true)) }
        }
    }
}

/// A field of a composed value.
public struct ValuePart: Equatable, Sendable {
    /// The field's name.
    public var name: String
    public var source: ValueSource

    public init(name: String, source: ValueSource) {
        self.name = name
        self.source = source
    }
}

/// Bits of an integer.
public struct PackedBits: Equatable, Sendable {
    /// What the bits hold.
    public enum Source: Equatable, Sendable {
        case constant(UInt64)
        case generated(Generator)
    }

    public var name: String
    /// The number of the lowest bit, and how many there are; both within 64.
    public var lowest: Int
    public var width: Int
    public var source: Source

    public init(name: String, lowest: Int, width: Int, source: Source) {
        self.name = name
        self.lowest = min(max(lowest, 0), 63)
        self.width = min(max(width, 1), 64 - self.lowest)
        self.source = source
    }

    /// As a number of its own.
    var format: NumberFormat {
        NumberFormat(octets: 8, isSigned: false, scale: 1, bits: width)
    }
}

/// A generator of numbers over time.
public enum Generator: Equatable, Sendable {
    /// Around the middle of `min` and `max`, rising first, with uniform noise of up to ± `noise`;
    /// what would be outside the bounds is the bound.
    case sine(min: Double, max: Double, period: TimeSpan, noise: Double)
    /// From `from` to `to` in `over`, then it stays there, or begins again.
    case ramp(from: Double, to: Double, over: TimeSpan, loops: Bool)
    /// `max` for the first `duty` of each period, a share of 1, then `min`.
    case square(min: Double, max: Double, period: TimeSpan, duty: Double)
    /// Any number within the bounds, each as likely.
    case noise(min: Double, max: Double)
    /// One step of at most ± `step` a sample, kept within the bounds.
    case randomWalk(min: Double, max: Double, step: Double, start: Double?)
    /// `start`, then `step` more at each sample; begins anew behind the ends of `within`, or of
    /// what the format can hold.
    case counter(start: Int64, step: Int64, within: ClosedRange<Int64>? = nil)
    /// How often the characteristic that this names was written; one more at each sample, begun
    /// anew as a counter is.
    case writes(of: String, within: ClosedRange<Int64>? = nil)
    /// A part of the time of day or date, `offset` ahead of UTC.
    case clock(ClockPart, offset: TimeSpan)
    /// Recorded values, which hold until the next one; at their end the last one holds, or they
    /// begin again. Times rise, the first value holds before its time.
    case replay([TimedValue], loops: Bool)
    /// What the device feels: the level from 0 to 1, or 1 while it is active, else 0.
    case activity(isLevel: Bool)
}

/// A recorded value.
public struct TimedValue: Equatable, Sendable {
    /// Since power-on.
    public var time: TimeSpan
    public var value: Double

    public init(time: TimeSpan, value: Double) {
        self.time = time
        self.value = value
    }
}

/// How a number becomes octets: little-endian, in steps of `scale`.
public struct NumberFormat: Equatable, Sendable {
    /// How the octets are read.
    public enum Kind: Equatable, Sendable {
        case integer
        /// IEEE 754, of 4 or 8 octets.
        case float
        /// IEEE 11073-20601 FLOAT of 4 octets or SFLOAT of 2: a decimal mantissa and exponent.
        case medical
    }

    /// 1 to 16; beyond 8 an integer's upper octets only repeat the sign.
    public var octets: Int
    /// Whether an integer is two's complement; floats always have a sign.
    public var isSigned: Bool
    /// The value of one step in the characteristic's unit: 0.01 for hundredths.
    public var scale: Double
    /// How many bits of the octets an integer uses, 1 to 64.
    public var bits: Int
    public var kind: Kind

    /// - Parameter bits: nil for all of the octets'.
    public init(
        octets: Int, isSigned: Bool, scale: Double, bits: Int? = nil, kind: Kind = .integer
    ) {
        self.octets = octets
        self.isSigned = isSigned
        self.scale = scale
        self.kind = kind
        self.bits = min(max(bits ?? 8 * min(max(octets, 1), 16), 1), 64)
    }
}

/// When subscribers get a new sample.
public enum SendRule: Equatable, Sendable {
    case onUpdate
    case onChange
    case every(TimeSpan)
    case manual
    /// A new notification whenever the link can send one at once.
    case asFastAsPossible

    /// The time between two sendings; nil where something else decides.
    var period: TimeSpan? {
        switch self {
        case .every(let period): period
        case .onUpdate, .onChange, .manual, .asFastAsPossible: nil
        }
    }
}

/// What generators take from outside the value.
public struct Surroundings: Equatable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z at power-on.
    public var unixMicroseconds: Int64 = 946_684_800_000_000
    /// What the device feels, from 0 to 1.
    public var activityLevel = 0.0
    /// Whether it is in the state active.
    public var isActive = false

    public init() {}
}
