// The source `csv`: a recorded trace, in real time or scaled, once or again and again.
public import SansIO

/// A recorded trace.
public struct TraceSource: Equatable, Sendable {
    /// The range of `speed`; outside it the trace plays at 1.
    public static let speeds = 0.001...100_000.0

    /// Rising in time.
    public var samples: [ActivityRule.Sample]
    /// Seconds of the trace in one second.
    public var speed: Double
    /// At the time of the last row the trace begins again.
    public var repeats: Bool
    /// Each round but the first begins up to so much earlier or later, so that rounds differ.
    public var jitter = TimeSpan.zero

    public init(samples: [ActivityRule.Sample], speed: Double = 1, repeats: Bool = false) {
        self.samples = samples
        self.speed = speed
        self.repeats = repeats
    }

    /// How long one round takes.
    public var length: TimeSpan { scaled(samples.last?.time ?? .zero) }

    /// A time of the trace as it is played.
    func scaled(_ time: TimeSpan) -> TimeSpan {
        guard speed != 1, Self.speeds.contains(speed) else { return time }
        let microseconds = (Double(time.microseconds) / speed).rounded()
        return TimeSpan(
            microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
    }
}

struct TracePlayer: SampleSource {
    private let trace: TraceSource
    private let length: TimeSpan
    private let jitter: Int64
    private var random: SeededRandom
    private var index = 0
    /// When this round began, and when it would have without jitter.
    private var round = TimeSpan.zero
    private var due = TimeSpan.zero
    /// When the next round begins; nil where none does.
    private var following: TimeSpan?

    init(_ trace: TraceSource, _ random: SeededRandom) {
        self.trace = trace
        self.random = random
        length = trace.length
        jitter = min(max(trace.jitter.microseconds, 0), length.microseconds / 2)
        planRound()
    }

    private mutating func planRound() {
        following = nil
        let next = due + length
        // A trace without a length, or one at the end of time, has no next round.
        guard trace.repeats, length > .zero, next.microseconds < .max - jitter else { return }
        due = next
        let shift = jitter > 0 ? random.below(2 * jitter + 1) - jitter : 0
        following = max(next + .microseconds(shift), round)
    }

    mutating func next() -> ActivityRule.Sample? {
        while true {
            if index < trace.samples.count {
                let sample = trace.samples[index]
                let time = round + trace.scaled(sample.time)
                // The next round cuts off what of this one would come after its begin.
                if following.map({ time <= $0 }) ?? true {
                    index += 1
                    return ActivityRule.Sample(time: time, value: sample.value)
                }
            }
            guard let following else { return nil }
            round = following
            index = 0
            planRound()
        }
    }
}
