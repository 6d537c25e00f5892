// The source `csv`: a recorded trace, in real time or scaled, once or again and again.
import SansIO

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

    public init(samples: [ActivityRule.Sample], speed: Double = 1, repeats: Bool = false) {
        self.samples = samples
        self.speed = speed
        self.repeats = repeats
    }
}

struct TracePlayer: SampleSource {
    private let trace: TraceSource
    private let speed: Double
    private var index = 0
    /// When this round began.
    private var round = TimeSpan.zero

    init(_ trace: TraceSource) {
        self.trace = trace
        speed = TraceSource.speeds.contains(trace.speed) ? trace.speed : 1
    }

    mutating func next() -> ActivityRule.Sample? {
        if index == trace.samples.count {
            guard trace.repeats, let last = trace.samples.last else { return nil }
            let following = round + scaled(last.time)
            // A trace without a length, or one at the end of time, has no next round.
            guard following > round, following.microseconds < .max else { return nil }
            round = following
            index = 0
        }
        let sample = trace.samples[index]
        index += 1
        return ActivityRule.Sample(time: round + scaled(sample.time), value: sample.value)
    }

    private func scaled(_ time: TimeSpan) -> TimeSpan {
        guard speed != 1 else { return time }
        let microseconds = (Double(time.microseconds) / speed).rounded()
        return TimeSpan(
            microseconds: Int64(exactly: microseconds) ?? (microseconds < 0 ? .min : .max))
    }
}
