// Instants and spans in whole microseconds: the only clock the pure layers know.

/// A span of time in microseconds. Arithmetic saturates, so no input can overflow it.
public struct TimeSpan: Comparable, Hashable, Sendable {
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static let zero = TimeSpan(microseconds: 0)

    /// Spans of any length; what exceeds 64 bits of microseconds is the greatest span.
    public static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(microseconds: count) }
    public static func milliseconds(_ count: Int64) -> TimeSpan {
        TimeSpan(microseconds: saturating(count, times: 1_000))
    }
    public static func seconds(_ count: Int64) -> TimeSpan {
        TimeSpan(microseconds: saturating(count, times: 1_000_000))
    }

    /// The span as a real number of seconds.
    public var seconds: Double { Double(microseconds) / 1_000_000 }

    public static func < (left: TimeSpan, right: TimeSpan) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: saturating(left.microseconds, plus: right.microseconds))
    }

    public static func - (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: saturating(left.microseconds, minus: right.microseconds))
    }

    public static func * (left: TimeSpan, right: Int64) -> TimeSpan {
        TimeSpan(microseconds: saturating(left.microseconds, times: right))
    }
}

/// A point in time: microseconds since an origin that the driver chose (power-on, or the system's
/// boot).
public struct Instant: Comparable, Hashable, Sendable {
    public let microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static let zero = Instant(microseconds: 0)

    @inlinable public static func < (left: Instant, right: Instant) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (left: Instant, right: TimeSpan) -> Instant {
        Instant(microseconds: saturating(left.microseconds, plus: right.microseconds))
    }

    public static func - (left: Instant, right: TimeSpan) -> Instant {
        Instant(microseconds: saturating(left.microseconds, minus: right.microseconds))
    }

    public static func - (left: Instant, right: Instant) -> TimeSpan {
        TimeSpan(microseconds: saturating(left.microseconds, minus: right.microseconds))
    }
}

private func saturating(_ left: Int64, plus right: Int64) -> Int64 {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (right < 0 ? .min : .max) : sum
}

private func saturating(_ left: Int64, minus right: Int64) -> Int64 {
    let (difference, overflow) = left.subtractingReportingOverflow(right)
    return overflow ? (right < 0 ? .max : .min) : difference
}

private func saturating(_ left: Int64, times right: Int64) -> Int64 {
    let (product, overflow) = left.multipliedReportingOverflow(by: right)
    return overflow ? ((left < 0) == (right < 0) ? .max : .min) : product
}

extension TimeSpan: CustomStringConvertible {
    /// The shortest exact text in one unit: `20 ms`, `152.5 ms`, `1.5 s`, `0 s`.
    public var description: String {
        let magnitude = microseconds.magnitude
        if magnitude == 0 { return "0 s" }
        let sign = microseconds < 0 ? "-" : ""
        // Advertising intervals are read in milliseconds up to ten seconds and a bit.
        if magnitude % 1_000_000 == 0 { return "\(sign)\(magnitude / 1_000_000) s" }
        if magnitude < 11_000_000 {
            if magnitude < 1_000 { return "\(sign)\(magnitude) us" }
            return sign + decimal(magnitude, per: 1_000) + " ms"
        }
        return sign + decimal(magnitude, per: 1_000_000) + " s"
    }

    private func decimal(_ value: UInt64, per unit: UInt64) -> String {
        let whole = value / unit
        var fraction = String(value % unit + unit).dropFirst()
        while fraction.last == "0" { fraction = fraction.dropLast() }
        return fraction.isEmpty ? "\(whole)" : "\(whole).\(fraction)"
    }
}

/// The earlier of two deadlines, where nil means never.
@inlinable public func earliest(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left else { return right }
    guard let right else { return left }
    return left < right ? left : right
}
