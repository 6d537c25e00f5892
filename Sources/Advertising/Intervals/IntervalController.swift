// Which advertising interval is in force, and why.
public import HCI
public import SansIO

/// A change of the advertising interval and its reason.
public struct IntervalDecision: Equatable, Sendable {
    public var at: Instant
    public var from: AdvertisingInterval
    public var to: AdvertisingInterval
    /// For people: `activity 0.31 g above 0.12 g`.
    public var reason: String

    public init(
        at: Instant, from: AdvertisingInterval, to: AdvertisingInterval, reason: String
    ) {
        self.at = at
        self.from = from
        self.to = to
        self.reason = reason
    }
}

/// What an interval policy is told.
public enum IntervalInput: Equatable, Sendable {
    /// Phases, dwell and boost count from here.
    case powerOn
    case connected
    case disconnected
    case activity(ActivityChange)
    /// 0 to 1.
    case level(Double)
    case signalLost(reason: String)
    case signalReturned
    /// The time since midnight, now: at power-on, and again after each jump of the clock.
    case timeOfDay(TimeSpan)

    /// What an event of the activity signal is to a policy; nil where it is nothing.
    public init?(_ event: ActivityEvent) {
        switch event {
        case .changed(let change): self = .activity(change)
        case .level(let level, _): self = .level(level)
        case .signalLost(let reason, _): self = .signalLost(reason: reason)
        case .signalReturned: self = .signalReturned
        case .sourceLost, .sourceReturned: return nil
        }
    }
}

/// An interval with the reason for it.
struct IntervalChoice: Equatable {
    var interval: AdvertisingInterval
    var reason: String
}

/// One interval policy at work: a file with such a type, and a line in `intervalChooser`.
protocol IntervalChooser: Sendable {
    /// What the policy asks for now; before power-on, what it begins with.
    var choice: IntervalChoice { get }
    mutating func take(_ input: IntervalInput, at now: Instant)
    /// When the policy may ask for something else by itself.
    var deadline: Instant? { get }
    mutating func expire(at now: Instant)
}

extension IntervalPolicy {
    /// The registry of policies.
    var intervalChooser: any IntervalChooser {
        let chooser: any IntervalChooser =
            switch rule {
            case .activity(let response): ActivityPolicy(response, fallback: fallback)
            case .fixed(let interval): FixedPolicy(interval: interval)
            case .loop(let phases): LoopPolicy(phases)
            case .schedule(let entries): SchedulePolicy(entries, fallback: fallback)
            case .steps(let phases): StepsPolicy(phases)
            case .twoPhase(let boost, let slow):
                BoostPolicy(boost, before: FixedPolicy(interval: slow))
            }
        return boost.map { BoostPolicy($0, before: chooser) } ?? chooser
    }
}

/// A set's interval policy as a machine: it tells each change of the interval, once.
///
/// A change that the limits do not allow yet waits; when its time comes, what the policy asks for
/// then is in force. Where the driver is late, what was due in between is skipped.
public struct IntervalController: Machine, Sendable {
    public typealias Output = IntervalDecision

    /// The interval in force.
    public private(set) var interval: AdvertisingInterval
    /// Why it is in force, for people.
    public private(set) var reason: String
    private var chooser: any IntervalChooser
    private let limits: IntervalLimits
    /// The latest instant told.
    private var latest: Instant?
    /// When the interval came into force; nil before power-on.
    private var since: Instant?
    /// The latest changes, as many as the rate limit counts, oldest first.
    private var changes: [Instant] = []

    public init(_ policy: IntervalPolicy) {
        chooser = policy.intervalChooser
        limits = policy.limits
        interval = limits.allowed(chooser.choice.interval)
        reason = chooser.choice.reason
    }

    public mutating func handle(
        _ input: IntervalInput, at now: Instant, emit: inout Outputs<IntervalDecision>
    ) {
        let now = notBefore(now)
        // What was due before comes first; at the same instant the input does.
        if let due = chooser.deadline, due < now { chooser.expire(at: now) }
        if input == .powerOn, since == nil { since = now }
        let before = chooser.choice
        chooser.take(input, at: now)
        // A boost that begins anew keeps the interval and has another reason.
        if input == .disconnected, wanted == interval, chooser.choice != before {
            reason = chooser.choice.reason
        }
        if let due = chooser.deadline, due <= now { chooser.expire(at: now) }
        settle(at: now, &emit)
    }

    public var deadline: Instant? {
        guard wanted != interval, let allowed else { return chooser.deadline }
        return earliest(chooser.deadline, allowed.at)
    }

    public mutating func expire(at now: Instant, emit: inout Outputs<IntervalDecision>) {
        let now = notBefore(now)
        if let due = chooser.deadline, due <= now { chooser.expire(at: now) }
        settle(at: now, &emit)
    }

    /// A clock that jumps back stands still here until it has caught up.
    private mutating func notBefore(_ now: Instant) -> Instant {
        let now = max(latest ?? now, now)
        latest = now
        return now
    }

    private var wanted: AdvertisingInterval { limits.allowed(chooser.choice.interval) }

    /// When the limits allow the next change, and which one decides; nil where none does.
    private var allowed: (at: Instant, by: String)? {
        let dwell = since.map { (at: $0 + max(limits.dwell, .zero), by: "dwell") }
        guard let rate = limits.rate, changes.count >= rate.changes else { return dwell }
        let free = changes[changes.count - rate.changes] + rate.per
        if let dwell, dwell.at >= free { return dwell }
        return (free, "rate limit")
    }

    private mutating func settle(at now: Instant, _ emit: inout Outputs<IntervalDecision>) {
        guard wanted != interval else { return heldBack = nil }
        if let allowed, allowed.at > now {
            heldBack = allowed.by
            return
        }
        reason = chooser.choice.reason + (heldBack.map { ", held back by the \($0)" } ?? "")
        heldBack = nil
        emit.append(IntervalDecision(at: now, from: interval, to: wanted, reason: reason))
        interval = wanted
        if since != nil { since = now }
        guard let rate = limits.rate else { return }
        if changes.count >= rate.changes { changes.removeFirst() }
        changes.append(now)
    }

    /// Which limit keeps the change that is wanted waiting.
    private var heldBack: String?
}

extension RateLimit {
    fileprivate var changes: Int { min(max(count, 1), Self.countMax) }
}
