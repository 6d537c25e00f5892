// Generators at work: numbers over time, equal for equal seeds.
public import SansIO
import Wire

/// A generator with what it remembers between samples.
public struct GeneratorState: Sendable {
    private let generator: Generator
    private let format: NumberFormat
    private var random: SeededRandom
    /// What a counter keeps within; nil where its octets begin anew by themselves.
    private let range: ClosedRange<Int64>?
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
        switch generator {
        case .counter(_, _, let range), .writes(_, let range):
            self.range = range ?? (format.isWhole ? nil : format.counts)
        case .sine, .ramp, .square, .noise, .randomWalk, .clock, .replay, .activity: range = nil
        }
    }

    /// The next number, in the characteristic's unit.
    ///
    /// - Parameter elapsed: since power-on; a negative span counts as zero.
    public mutating func sample(
        at elapsed: TimeSpan, in surroundings: Surroundings = Surroundings()
    ) -> Double {
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
        case .square(let minimum, let maximum, let period, let duty):
            return phase(elapsed, in: period) < duty ? maximum : minimum
        case .noise(let minimum, let maximum):
            return minimum + (maximum - minimum) * random.unit()
        case .randomWalk(let minimum, let maximum, let step, let start):
            let value = clamp(
                nextOfWalk(minimum, maximum, step: step, start: start), minimum, maximum)
            walk = value
            return value
        case .counter(let start, let step, _): return nextOfCounter(start: start, step: step)
        case .writes: return nextOfCounter(start: 0, step: 1)
        case .clock(let part, let offset):
            let now = TimeSpan(microseconds: surroundings.unixMicroseconds) + elapsed + offset
            return part.value(at: now.microseconds)
        case .replay(let values, let loops):
            return Self.recorded(values, at: elapsed, loops: loops)
        case .activity(let isLevel):
            return isLevel ? surroundings.activityLevel : surroundings.isActive ? 1 : 0
        }
    }

    /// Appends the octets of the next number; exact also where a counter needs more than 53 bits.
    mutating func sample(
        at elapsed: TimeSpan, in surroundings: Surroundings, into block: inout ByteBlock
    ) {
        // In whole steps the octets begin anew by themselves, 64 bits too.
        switch generator {
        case .counter(let start, let step, _) where format.isWhole:
            format.append(UInt64(bitPattern: nextCount(start: start, step: step)), to: &block)
        case .writes where format.isWhole:
            format.append(UInt64(bitPattern: nextCount(start: 0, step: 1)), to: &block)
        case .sine, .ramp, .square, .noise, .randomWalk, .counter, .writes, .clock, .replay,
            .activity:
            format.encode(sample(at: elapsed, in: surroundings), into: &block)
        }
    }

    /// Goes on from a number that it gave before a restart: a counter counts on from there, a
    /// random walk walks on.
    mutating func resume(from octets: Span<UInt8>) {
        guard format.kind == .integer, format.width <= 8 else {
            if let value = format.decode(octets) { resume(from: value, steps: nil) }
            return
        }
        guard octets.count >= format.width else { return }
        var steps: UInt64 = 0
        for index in 0..<format.width { steps |= UInt64(octets[index]) << UInt64(8 * index) }
        resume(fromSteps: steps)
    }

    /// The same with the format's bits as an unsigned integer.
    mutating func resume(fromSteps steps: UInt64) {
        resume(from: format.value(ofSteps: steps), steps: steps)
    }

    private mutating func resume(from value: Double, steps: UInt64?) {
        switch generator {
        case .counter, .writes:
            if format.isWhole, let steps {
                count = Int64(bitPattern: steps)
            } else {
                count = Int64(exactly: value.rounded()) ?? count
            }
        case .randomWalk: walk = value
        case .sine, .ramp, .square, .noise, .clock, .replay, .activity: break
        }
    }

    /// The octets of one number.
    var octets: Int { format.width }

    /// The next number as an unsigned integer of the format's bits.
    mutating func steps(at elapsed: TimeSpan, in surroundings: Surroundings) -> UInt64 {
        format.steps(of: sample(at: elapsed, in: surroundings))
    }

    /// The last value whose time has come, by a binary search.
    private static func recorded(
        _ values: [TimedValue], at elapsed: TimeSpan, loops: Bool
    ) -> Double {
        guard let first = values.first, let last = values.last else { return 0 }
        var elapsed = elapsed
        if loops, last.time > .zero {
            // Begun again when the last row's time has come.
            elapsed = TimeSpan(microseconds: elapsed.microseconds % last.time.microseconds)
        }
        var (low, high) = (0, values.count)
        while low < high {
            let middle = (low + high) / 2
            if values[middle].time <= elapsed { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? values[low - 1].value : first.value
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
        var next = count.map { $0 &+ step } ?? start
        if let range, !range.contains(next) {
            // In 128 bits nothing of this is too large.
            let lowest = Int128(range.lowerBound)
            let size = Int128(range.upperBound) - lowest + 1
            let place = (Int128(next) - lowest) % size
            next = Int64(truncatingIfNeeded: lowest + (place < 0 ? place + size : place))
        }
        count = next
        return next
    }

    private mutating func nextOfCounter(start: Int64, step: Int64) -> Double {
        let next = nextCount(start: start, step: step)
        return format.isWhole && range == nil
            ? format.value(ofSteps: UInt64(bitPattern: next)) : Double(next)
    }

    /// Within both bounds, whichever is the greater.
    private func clamp(_ value: Double, _ minimum: Double, _ maximum: Double) -> Double {
        max(min(minimum, maximum), min(max(minimum, maximum), value))
    }
}
