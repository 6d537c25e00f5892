// Where a characteristic's value comes from, as the profile declares it.
public import SansIO

/// A value's source. Numbers are in the value's own unit, before scaling to the wire.
public enum ValueSource: Equatable, Sendable {
    /// Bytes that never change by themselves.
    case constant([UInt8])
    /// A new number at each update.
    case generated(Generator, encoding: NumberFormat)
}

/// A generator of numbers over time.
public enum Generator: Equatable, Sendable {
    /// Around the middle of `min` and `max`, rising first, with uniform noise of up to ± `noise`;
    /// what would be outside the bounds is the bound.
    case sine(min: Double, max: Double, period: TimeSpan, noise: Double)
    /// From `from` to `to` in `over`, then it stays there, or begins again.
    case ramp(from: Double, to: Double, over: TimeSpan, loops: Bool)
    /// One step of at most ± `step` a sample, kept within the bounds.
    case randomWalk(min: Double, max: Double, step: Double, start: Double?)
    /// `start`, then `step` more at each sample; wraps to the format's range.
    case counter(start: Int64, step: Int64)
    /// How often the characteristic that this names was written; one more at each sample.
    case writes(of: String)
}

/// How a number becomes octets: an integer of `octets` octets, little-endian, in steps of `scale`.
public struct NumberFormat: Equatable, Sendable {
    /// 1 to 8.
    public var octets: Int
    public var isSigned: Bool
    /// The value of one step in the characteristic's unit: 0.01 for hundredths.
    public var scale: Double
    public init(octets: Int, isSigned: Bool, scale: Double) {
        self.octets = octets
        self.isSigned = isSigned
        self.scale = scale
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
}
