// The generator `day`: motion that comes and goes with the time of day.
public import SansIO
import Wire

/// One value a minute. At night it is 0. By day it is 0 too, or with a probability of
/// sin(π · the part of the day that has passed) a value of half to one and a half `magnitude`.
public struct DayRhythmSource: Equatable, Sendable {
    /// The day's begin and end, since midnight; the end may be after midnight.
    public var from: TimeSpan
    public var to: TimeSpan
    /// In g.
    public var magnitude: Double

    public init(from: TimeSpan, to: TimeSpan, magnitude: Double) {
        self.from = from
        self.to = to
        self.magnitude = magnitude
    }
}

struct DayRhythmPlayer: SampleSource {
    private let begin: TimeSpan
    private let length: TimeSpan
    private let magnitude: Double
    private let timeOfDay: TimeSpan
    private var random: SeededRandom
    private var time = TimeSpan.zero

    init(_ source: DayRhythmSource, _ random: SeededRandom, timeOfDay: TimeSpan) {
        begin = source.from
        length = (source.to - source.from).withinDay
        magnitude = source.magnitude
        self.timeOfDay = timeOfDay
        self.random = random
    }

    mutating func next() -> ActivityRule.Sample? {
        guard time.microseconds < .max else { return nil }
        let passed = (timeOfDay.withinDay + time.withinDay - begin).withinDay
        // Both numbers are drawn at night too, so that a day does not depend on how it began.
        let (chance, strength) = (random.unit(), random.unit())
        let sample = ActivityRule.Sample(
            time: time,
            value: passed < length
                && chance < Mathematics.sin(.pi * (passed.seconds / length.seconds))
                ? magnitude * (0.5 + strength) : 0)
        time = time + .seconds(60)
        return sample
    }
}

extension TimeSpan {
    static let day = TimeSpan.seconds(86_400)

    /// The rest by whole days: 0 s up to but without 24 h.
    var withinDay: TimeSpan {
        let rest = microseconds % Self.day.microseconds
        return TimeSpan(microseconds: rest < 0 ? rest + Self.day.microseconds : rest)
    }
}
