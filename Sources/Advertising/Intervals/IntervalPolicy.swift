// How the advertising interval is chosen, as the profile declares it.
public import HCI
public import SansIO

/// A rule, and what holds for every rule: a boost, a fallback and limits.
public struct IntervalPolicy: Equatable, Sendable {
    public var rule: IntervalRule
    /// In force for a while after power-on and after each disconnection, whatever the rule says.
    public var boost: IntervalPhase?
    /// While the activity signal is lost, or the time of day unknown to a schedule. Where it is
    /// nil, that is as at rest, or the schedule's slowest.
    public var fallback: AdvertisingInterval?
    public var limits = IntervalLimits()

    public init(
        _ rule: IntervalRule, boost: IntervalPhase? = nil, fallback: AdvertisingInterval? = nil,
        limits: IntervalLimits = IntervalLimits()
    ) {
        self.rule = rule
        self.boost = boost
        self.fallback = fallback
        self.limits = limits
    }

    /// One interval for ever, by no rule and without limits.
    public static func fixed(_ interval: AdvertisingInterval) -> IntervalPolicy {
        IntervalPolicy(.fixed(interval))
    }

    /// Whether the rule follows the level of the activity, not only its state.
    public var usesLevel: Bool {
        switch rule {
        case .activity(.levels), .activity(.curve): true
        case .activity(.states), .fixed, .loop, .schedule, .steps, .twoPhase: false
        }
    }

    /// The fastest and the slowest interval that can be in force; 20 ms where the rule has none.
    public var range: ClosedRange<AdvertisingInterval> {
        let all = (rule.intervals + [boost?.interval, fallback].compactMap { $0 }).map {
            limits.allowed($0)
        }
        let slowest = all.max() ?? .minimum
        return min(all.min() ?? slowest, slowest)...slowest
    }
}

/// The policies.
public enum IntervalRule: Equatable, Sendable {
    case activity(ActivityResponse)
    case fixed(AdvertisingInterval)
    /// The phases in turn, from power-on, and again from the first.
    case loop([IntervalPhase])
    /// By the time of day.
    case schedule([ScheduleEntry])
    /// The phases in turn; the last one stays. From the first again at power-on, at a disconnection
    /// and when the accessory becomes active.
    case steps([IntervalPhase])
    /// `boost` after power-on and after each disconnection, else `slow`.
    case twoPhase(boost: IntervalPhase, slow: AdvertisingInterval)

    /// All intervals that the rule can ask for; of a curve its ends.
    public var intervals: [AdvertisingInterval] {
        switch self {
        case .activity(.states(let active, let idle, let asleep)):
            [active, idle] + (asleep.map { [$0] } ?? [])
        case .activity(.levels(let base, let steps, _)): [base] + steps.map(\.interval)
        case .activity(.curve(let slow, let fast)): [slow, fast]
        case .fixed(let interval): [interval]
        case .loop(let phases), .steps(let phases): phases.map(\.interval)
        case .schedule(let entries): entries.map(\.interval)
        case .twoPhase(let boost, let slow): [boost.interval, slow]
        }
    }
}

/// How the interval answers to activity.
public enum ActivityResponse: Equatable, Sendable {
    /// By the detector's state; `asleep` is as `idle` where it is nil.
    case states(
        active: AdvertisingInterval, idle: AdvertisingInterval, asleep: AdvertisingInterval?)
    /// By the detector's level: the interval of the highest step that it has reached, else `base`.
    /// A step is left once the level is more than `hysteresis` below its threshold.
    case levels(base: AdvertisingInterval, [ActivityStep], hysteresis: Double)
    /// By the detector's level, from `slow` at 0 to `fast` at 1: slow · (fast / slow)^level, in
    /// steps of 0.625 ms.
    case curve(slow: AdvertisingInterval, fast: AdvertisingInterval)
}

/// An interval from a level of activity on.
public struct ActivityStep: Equatable, Sendable {
    /// Above 0, at most 1; the detector's level has steps of 1/20.
    public var from: Double
    public var interval: AdvertisingInterval

    public init(from: Double, interval: AdvertisingInterval) {
        self.from = from
        self.interval = interval
    }
}

/// An interval for a while.
public struct IntervalPhase: Equatable, Sendable {
    public var interval: AdvertisingInterval
    /// Above 0 s; the last of the steps has no end.
    public var span: TimeSpan

    public init(interval: AdvertisingInterval, for span: TimeSpan) {
        self.interval = interval
        self.span = span
    }
}

/// An interval from a time of day on, until the next entry's.
public struct ScheduleEntry: Equatable, Sendable {
    /// Since midnight, less than 24 h.
    public var from: TimeSpan
    public var interval: AdvertisingInterval

    public init(from: TimeSpan, interval: AdvertisingInterval) {
        self.from = from
        self.interval = interval
    }
}

/// What every change of the interval must keep.
public struct IntervalLimits: Equatable, Sendable {
    /// An interval stays in force at least so long, the first one from power-on.
    public var dwell: TimeSpan
    /// How many changes there may be in a span; nil for any number.
    public var rate: RateLimit?
    /// Which intervals are chosen among; nil for all of 20 ms to 10.24 s.
    public var snap: IntervalSnap?

    public init(dwell: TimeSpan = .zero, rate: RateLimit? = nil, snap: IntervalSnap? = nil) {
        self.dwell = dwell
        self.rate = rate
        self.snap = snap
    }

    /// What is in force where a rule asks for `interval`: snapped, and 20 ms to 10.24 s.
    public func allowed(_ interval: AdvertisingInterval) -> AdvertisingInterval {
        let legal = min(max(interval, .minimum), .maximum)
        return switch snap {
        case .apple: AppleIntervals.nearest(to: legal)
        case nil: legal
        }
    }
}

/// At most `count` changes in any span of `per`.
public struct RateLimit: Equatable, Sendable {
    /// 1 to 1000.
    public var count: Int
    /// Any span of this length, wherever it begins.
    public var per: TimeSpan

    public init(count: Int, per: TimeSpan) {
        self.count = count
        self.per = per
    }

    static let countMax = 1000
}

/// A list of intervals to keep to.
public enum IntervalSnap: Equatable, Sendable { case apple }
