// Generators at work: numbers over time, equal for equal seeds.
public import SansIO
import Wire

/// A generator with what it remembers between samples.
public struct GeneratorState: Sendable {
    private let generator: Generator
    private let format: NumberFormat
    private var random: SeededRandom
    /// The random walk's value and the counter's, after the first sample.
    private var walk: Double?
    private var count: Int64?

    /// - Parameters:
    ///   - format: where a counter wraps.
    ///   - seed: the run's seed.
    ///   - stream: what the numbers are for, different for each characteristic.
    public init(_ generator: Generator, format: NumberFormat, seed: UInt64, stream: String) {
        self.generator = generator
        self.format = format
        random = SeededRandom(seed: seed, stream: stream)
    }

    /// The next number, in the characteristic's unit.
    ///
    /// - Parameter elapsed: since power-on; a negative span counts as zero.
    public mutating func sample(at elapsed: TimeSpan) -> Double {
        let elapsed = max(elapsed, .zero)
        switch generator {
        case .sine(let minimum, let maximum, let period, let noise):
            let wave = Mathematics.sin(2 * .pi * phase(elapsed, in: period))
            let value = (minimum + maximum) / 2 + (maximum - minimum) / 2 * wave
            return clamp(value + noise * (2 * random.unit() - 1), minimum, maximum)
        case .ramp(let from, let to, let span, let loops):
            if loops { return from + (to - from) * phase(elapsed, in: span) }
            guard elapsed < span else { return to }
            return from + (to - from) * (elapsed.seconds / span.seconds)
        case .randomWalk(let minimum, let maximum, let step, let start):
            let value = clamp(
                nextOfWalk(minimum, maximum, step: step, start: start), minimum, maximum)
            walk = value
            return value
        case .counter(let start, let step):
            return nextOfCounter(start: start, step: step)
        case .writes: return nextOfCounter(start: 0, step: 1)
        }
    }

    /// Appends the octets of the next number; exact also where a counter needs more than 53 bits.
    mutating func sample(at elapsed: TimeSpan, into block: inout ByteBlock) {
        switch generator {
        case .counter(let start, let step) where format.scale == 1:
            format.append(UInt64(bitPattern: nextCount(start: start, step: step)), to: &block)
        case .writes where format.scale == 1:
            format.append(UInt64(bitPattern: nextCount(start: 0, step: 1)), to: &block)
        case .sine, .ramp, .randomWalk, .counter, .writes:
            format.encode(sample(at: elapsed), into: &block)
        }
    }

    /// Where `elapsed` is within its period, 0 up to but without 1; 0 without a period.
    private func phase(_ elapsed: TimeSpan, in period: TimeSpan) -> Double {
        guard period > .zero else { return 0 }
        return Double(elapsed.microseconds % period.microseconds) / Double(period.microseconds)
    }

    private mutating func nextOfWalk(
        _ minimum: Double, _ maximum: Double, step: Double, start: Double?
    ) -> Double {
        guard let walk else { return start ?? (minimum + maximum) / 2 }
        let value = walk + step * (2 * random.unit() - 1)
        // Turned back at a bound: cut there, the walk would stick to it.
        if value > maximum { return 2 * maximum - value }
        if value < minimum { return 2 * minimum - value }
        return value
    }

    private mutating func nextCount(start: Int64, step: Int64) -> Int64 {
        let next = count.map { $0 &+ step } ?? start
        count = next
        return next
    }

    private mutating func nextOfCounter(start: Int64, step: Int64) -> Double {
        let next = nextCount(start: start, step: step)
        // In whole steps the octets wrap by themselves.
        guard format.scale != 1 else { return format.value(ofSteps: UInt64(bitPattern: next)) }
        let range = format.largest - format.smallest + format.scale
        let turns = ((Double(next) - format.smallest) / range).rounded(.down)
        return Double(next) - turns * range
    }

    /// Within both bounds, whichever is the greater.
    private func clamp(_ value: Double, _ minimum: Double, _ maximum: Double) -> Double {
        max(min(minimum, maximum), min(max(minimum, maximum), value))
    }
}
