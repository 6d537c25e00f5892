// The generator `bursts`: rest, and now and then a while of motion.
public import SansIO

/// One burst of a constant magnitude in each period, somewhere in it.
public struct BurstSource: Equatable, Sendable {
    /// The period, above 0 s.
    public var every: TimeSpan
    /// How long a burst is, up to the period.
    public var length: TimeSpan
    /// In g.
    public var magnitude: Double

    public init(every: TimeSpan, length: TimeSpan, magnitude: Double) {
        self.every = every
        self.length = length
        self.magnitude = magnitude
    }
}

struct BurstPlayer: SampleSource {
    private let every: TimeSpan
    private let length: TimeSpan
    private let magnitude: Double
    private var random: SeededRandom
    private var period = TimeSpan.zero
    private var end: TimeSpan?

    init(_ source: BurstSource, _ random: SeededRandom) {
        every = max(source.every, .milliseconds(1))
        length = min(max(source.length, .zero), every)
        magnitude = source.magnitude
        self.random = random
    }

    mutating func next() -> ActivityRule.Sample? {
        if let end {
            self.end = nil
            return ActivityRule.Sample(time: end, value: 0)
        }
        let start = period + .microseconds(random.below((every - length).microseconds))
        end = start + length
        period = period + every
        return period.microseconds < .max ? .init(time: start, value: magnitude) : nil
    }
}
