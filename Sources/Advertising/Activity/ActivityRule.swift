// What the device feels and how: the activity signal as the profile declares it, as a data sheet.
public import SansIO

/// The activity signal: where it comes from, and how it is detected.
///
/// Each source is detected by itself; the accessory is as active as its most active source.
///
/// | parameter     | default | range          | unit | meaning                               |
/// |---------------|---------|----------------|------|---------------------------------------|
/// | `activeAbove` |         | 0 to 1000      | g    | active from the first signal above it |
/// | `idleBelow`   |         | 0 to 1000      | g    | idle after a hold of signals below it |
/// | `hold`        |         | 0 s and more   | time | what comes at its very end counts     |
/// | `window`      | 0 s     | 0 s to 1 h     | time | of the RMS; 0 s: the value itself     |
/// | `asleepAfter` | never   | 0 s and more   | time | idle for so long, it is asleep        |
/// | `wakeSamples` | 1       | 1 to 1000      |      | values above `activeAbove` to wake    |
/// | `stallAfter`  | never   | above 0 s      | time | a live source so long silent is lost  |
/// | `gravity`     | 1       | 0 to 1000      | g    | taken off the magnitude of x, y, z    |
/// | `fullScale`   | 0.5     | 0.0001 to 1000 | g    | the signal at level 1                 |
///
/// - Value: the magnitude of the acceleration without gravity, in g; of x, y and z it is
///   |√(x² + y² + z²) − `gravity`|. A value holds until the source's next one; before the first
///   it is 0. One that is not a number is none. A value earlier than the one before counts at
///   that one's instant; of several at one instant the last one holds, and each is looked at.
/// - Signal: without a window, the value. With one, at each instant the square root of the mean
///   of value² over the window that ends there; resolution 0.0001 g, values above 1000 g count
///   as 1000 g. Beyond 4096 values in a window the oldest are averaged.
/// - Hysteresis: a signal between the two thresholds, or equal to one, changes nothing but
///   restarts the hold.
/// - Asleep: only values in a row that are themselves above `activeAbove` wake, whatever the
///   window.
/// - Level: signal / `fullScale`, at most 1, in steps of 1/20 rounded down; 0 while asleep.
/// - Source lost: its value is taken for none, and it is idle at once.
public struct ActivityRule: Equatable, Sendable {
    /// One value of the signal: the time from power-on, and the acceleration in g without gravity.
    public struct Sample: Equatable, Sendable {
        public var time: TimeSpan
        public var value: Double
        public init(time: TimeSpan, value: Double) {
            self.time = time
            self.value = value
        }
    }

    public var sources: [ActivitySource]
    /// In g.
    public var activeAbove: Double
    /// In g.
    public var idleBelow: Double
    public var hold: TimeSpan
    public var window = TimeSpan.zero
    public var asleepAfter: TimeSpan?
    public var wakeSamples = 1
    public var stallAfter: TimeSpan?
    /// In g.
    public var gravity = 1.0
    /// In g.
    public var fullScale = 0.5

    public init(
        sources: [ActivitySource], activeAbove: Double, idleBelow: Double, hold: TimeSpan
    ) {
        self.sources = sources
        self.activeAbove = activeAbove
        self.idleBelow = idleBelow
        self.hold = hold
    }
}

/// Where an activity signal comes from.
public enum ActivitySource: Equatable, Sendable {
    case trace(TraceSource)
    case bursts(BurstSource)
    case dayRhythm(DayRhythmSource)
    case random(RandomSource)
    /// Values come in from outside while the accessory runs.
    case live(LiveSource)
    /// What centrals do counts as use: a connection, a read, a write.
    case gatt
    /// A scanner that asks for a scan response is near: that counts as use.
    case scanRequests

    /// Whether it is use, which has no magnitude.
    public var isUse: Bool { self == .gatt || self == .scanRequests }
}

/// Where the values of a live source are read; whoever owns the descriptors reads them.
public enum LiveSource: Equatable, Sendable, CustomStringConvertible {
    /// A Linux IIO accelerometer by its name or its folder, read at each period.
    case iio(name: String, every: TimeSpan = iioPeriod)
    case fifo(path: String)
    case socket(path: String)
    case stdin

    /// 25 Hz: enough to notice a hand.
    public static let iioPeriod = TimeSpan.milliseconds(40)

    /// As `--activity` takes it: `fifo:PATH`.
    public var description: String {
        switch self {
        case .iio(let name, _): "iio:\(name)"
        case .fifo(let path): "fifo:\(path)"
        case .socket(let path): "socket:\(path)"
        case .stdin: "stdin"
        }
    }
}

/// A source that knows its values ahead, in the order of their times.
protocol SampleSource: Sendable {
    /// The next value; nil at the end.
    mutating func next() -> ActivityRule.Sample?
}

extension ActivitySource {
    /// The registry of sources.
    ///
    /// - Parameters:
    ///   - timeOfDay: at `start`, since midnight.
    ///   - stream: what random numbers are for, different for each source.
    func channel(
        _ rule: ActivityRule, start: Instant, timeOfDay: TimeSpan, seed: UInt64, stream: String,
        tellsLevel: Bool
    ) -> any ActivityChannel {
        let random = SeededRandom(seed: seed, stream: stream)
        let motion = MotionDetector(rule, start: start, tellsLevel: tellsLevel)
        func played(_ source: some SampleSource) -> PlayedChannel {
            PlayedChannel(source, motion, start: start)
        }
        return switch self {
        case .bursts(let bursts): played(BurstPlayer(bursts, random))
        case .dayRhythm(let rhythm):
            played(DayRhythmPlayer(rhythm, random, timeOfDay: timeOfDay))
        case .gatt:
            UsedChannel(
                rule, by: [.connection, .read, .write], start: start, tellsLevel: tellsLevel)
        case .live: FedChannel(rule, motion, start: start)
        case .random(let noise): played(RandomPlayer(noise, random))
        case .scanRequests:
            UsedChannel(rule, by: [.scanRequest], start: start, tellsLevel: tellsLevel)
        case .trace(let trace): played(TracePlayer(trace, random))
        }
    }
}
