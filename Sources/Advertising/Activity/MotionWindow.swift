// The RMS of a stepwise signal over a sliding window, exact in whole numbers.
import SansIO

/// The energy of the last `span`: the sum of value² over each of its microseconds.
///
/// Values hold until the next one, so the energy is piecewise linear in time. The instant at which
/// it crosses a limit can be told in advance, without looking at any instant in between.
struct MotionWindow: Sendable {
    /// The longest window; with it the energy of the largest value is far within 128 bits.
    static let spanMax = TimeSpan.seconds(3600)
    /// Values kept of one window: 40 Hz over 100 s, 64 KiB of squares.
    static let stepsMax = 4096

    private struct Step {
        var start: Instant
        var square: Int128
    }

    let span: TimeSpan
    /// At `at`.
    private(set) var energy: Int128 = 0
    private(set) var at: Instant
    /// From the step in force at the window's start, to the one in force at `at`.
    private var steps: [Step]
    private var first = 0

    init(span: TimeSpan, start: Instant) {
        self.span = min(max(span, .microseconds(1)), Self.spanMax)
        at = start
        steps = [Step(start: start, square: 0)]
    }

    /// A value in steps of 0.0001 g.
    static func quantised(_ value: Double) -> Int128 {
        guard !value.isNaN else { return 0 }
        return Int128((min(max(value, -1000), 1000) * 10_000).rounded())
    }

    /// The energy of a constant `value`; below any where it is negative.
    func energy(of value: Double) -> Int128 {
        let value = Self.quantised(value)
        return value < 0 ? -1 : value * value * Int128(span.microseconds)
    }

    /// Takes a value at `now` or, where that is past, at the latest instant.
    mutating func take(_ value: Double, at now: Instant) {
        advance(to: now)
        let value = Self.quantised(value)
        let square = value * value
        guard square != steps[steps.count - 1].square else { return }
        if steps[steps.count - 1].start == at, steps.count - first > 1 {
            steps[steps.count - 1].square = square
        } else {
            if steps.count - first == Self.stepsMax { averageOldest() }
            steps.append(Step(start: at, square: square))
        }
    }

    mutating func advance(to now: Instant) {
        while let edge, edge <= now {
            integrate(to: edge)
            first += 1
        }
        integrate(to: now)
        // The steps that have left are dropped when they are half of all: amortised, no copying.
        if first > 64, first * 2 > steps.count {
            steps.removeFirst(first)
            first = 0
        }
    }

    private mutating func integrate(to now: Instant) {
        guard now > at else { return }
        energy += slope * (Int128(now.microseconds) - Int128(at.microseconds))
        at = now
    }

    /// The change of energy a microsecond.
    private var slope: Int128 { steps[steps.count - 1].square - steps[first].square }

    /// When the oldest step leaves the window and the slope changes; nil where all is one step.
    var edge: Instant? { steps.count - first > 1 ? steps[first + 1].start + span : nil }

    /// The first instant after `at`, and not after the next edge, with an energy above `limit`.
    func instant(above limit: Int128) -> Instant? {
        guard slope > 0, energy <= limit else { return nil }
        return instant(after: (limit - energy) / slope + 1)
    }

    /// The first instant after `at`, and not after the next edge, with an energy below `limit`.
    func instant(below limit: Int128) -> Instant? {
        guard slope < 0, energy >= limit else { return nil }
        return instant(after: (energy - limit) / -slope + 1)
    }

    private func instant(after microseconds: Int128) -> Instant? {
        guard let edge, microseconds <= Int128(edge.microseconds) - Int128(at.microseconds) else {
            return nil
        }
        return at + TimeSpan(microseconds: Int64(microseconds))
    }

    /// Makes one step of the two oldest that lie in the window whole, with their mean square.
    private mutating func averageOldest() {
        let (one, two, end) = (steps[first + 1], steps[first + 2], steps[first + 3].start)
        let before = Int128(two.start.microseconds) - Int128(one.start.microseconds)
        let after = Int128(end.microseconds) - Int128(two.start.microseconds)
        let sum = one.square * before + two.square * after
        let mean = before + after > 0 ? sum / (before + after) : 0
        energy += mean * (before + after) - sum
        steps[first + 2] = Step(start: one.start, square: mean)
        steps[first + 1] = steps[first]
        first += 1
    }
}
