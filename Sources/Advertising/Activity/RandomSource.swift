// The generator `random`: noise.
public import SansIO

/// A value between 0 and `magnitude` at each period, all equally likely.
public struct RandomSource: Equatable, Sendable {
    /// The period, from 1 ms.
    public var every: TimeSpan
    /// In g.
    public var magnitude: Double

    public init(every: TimeSpan, magnitude: Double) {
        self.every = every
        self.magnitude = magnitude
    }
}

struct RandomPlayer: SampleSource {
    private let every: TimeSpan
    private let magnitude: Double
    private var random: SeededRandom
    private var time = TimeSpan.zero

    init(_ source: RandomSource, _ random: SeededRandom) {
        every = max(source.every, .milliseconds(1))
        magnitude = source.magnitude
        self.random = random
    }

    mutating func next() -> ActivityRule.Sample? {
        guard time.microseconds < .max else { return nil }
        defer { time = time + every }
        return ActivityRule.Sample(time: time, value: magnitude * random.unit())
    }
}
