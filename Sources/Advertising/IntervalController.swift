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
    case activity(ActivityChange)
}

/// An interval with the reason for it.
struct IntervalChoice: Equatable {
    var interval: AdvertisingInterval
    var reason: String
}

/// One interval policy at work: a file with such a type, and a line in `intervalChooser`.
protocol IntervalChooser: Sendable {
    /// The interval at power-on.
    var first: IntervalChoice { get }
    /// What `input` asks for; nil where it does not concern the policy.
    mutating func choice(for input: IntervalInput, at now: Instant) -> IntervalChoice?
}

extension IntervalPolicy {
    /// The registry of policies.
    var intervalChooser: any IntervalChooser {
        switch self {
        case .activity(let active, let idle): ActivityPolicy(active: active, idle: idle)
        case .fixed(let interval): FixedPolicy(interval: interval)
        }
    }
}

/// A set's interval policy as a machine: it tells each change of the interval, once.
public struct IntervalController: Machine, Sendable {
    public typealias Output = IntervalDecision

    /// The interval in force.
    public private(set) var interval: AdvertisingInterval
    /// Why it is in force, for people.
    public private(set) var reason: String
    private var chooser: any IntervalChooser

    public init(_ policy: IntervalPolicy) {
        chooser = policy.intervalChooser
        interval = chooser.first.interval
        reason = chooser.first.reason
    }

    public mutating func handle(
        _ input: IntervalInput, at now: Instant, emit: inout Outputs<IntervalDecision>
    ) {
        guard let choice = chooser.choice(for: input, at: now), choice.interval != interval else {
            return
        }
        emit.append(IntervalDecision(
            at: now, from: interval, to: choice.interval, reason: choice.reason))
        interval = choice.interval
        reason = choice.reason
    }

    /// No policy here depends on time alone.
    public var deadline: Instant? { nil }

    public mutating func expire(at now: Instant, emit: inout Outputs<IntervalDecision>) {}
}
