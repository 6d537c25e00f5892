// When the accessory is in use: the two-level detector over a recorded trace.
public import SansIO

/// Whether the accessory is being used.
public enum ActivityState: Equatable, Sendable { case idle, active }

/// A change of the activity state.
public struct ActivityChange: Equatable, Sendable {
    public var at: Instant
    public var state: ActivityState
    public var reason: ActivityReason

    public init(at: Instant, state: ActivityState, reason: ActivityReason) {
        self.at = at
        self.state = state
        self.reason = reason
    }
}

/// Why the activity state changed. Values in g.
public enum ActivityReason: Equatable, Sendable, CustomStringConvertible {
    case above(value: Double, threshold: Double)
    case below(threshold: Double, hold: TimeSpan)

    /// `activity 0.31 g above 0.12 g`, `idle: below 0.05 g for 10 s`.
    public var description: String {
        switch self {
        case .above(let value, let threshold):
            "activity \(number(value)) g above \(number(threshold)) g"
        case .below(let threshold, let hold): "idle: below \(number(threshold)) g for \(hold)"
        }
    }

    private func number(_ value: Double) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// The rule of `ActivityRule`, one value at a time.
///
/// A value at the very instant at which the hold ends counts: it is taken before `expire`.
struct ActivityLevels {
    let activeAbove: Double
    let idleBelow: Double
    let hold: TimeSpan
    private(set) var state = ActivityState.idle
    /// Since when all values were below `idleBelow`.
    private var belowSince: Instant?

    init(_ rule: ActivityRule) {
        activeAbove = rule.activeAbove
        idleBelow = rule.idleBelow
        hold = max(rule.hold, .zero)
    }

    /// When the state becomes idle unless a value comes in between.
    var deadline: Instant? {
        state == .active ? belowSince.map { $0 + hold } : nil
    }

    mutating func take(_ value: Double, at now: Instant) -> ActivityChange? {
        // Not a number is no sample: the value before holds.
        guard !value.isNaN else { return nil }
        if value < idleBelow {
            belowSince = belowSince ?? now
        } else {
            belowSince = nil
        }
        guard state == .idle, value > activeAbove else { return nil }
        state = .active
        // Where the thresholds overlap, the hold counts from here.
        if belowSince != nil { belowSince = now }
        return ActivityChange(
            at: now, state: .active, reason: .above(value: value, threshold: activeAbove))
    }

    mutating func expire(at now: Instant) -> ActivityChange? {
        guard let deadline, deadline <= now else { return nil }
        state = .idle
        return ActivityChange(
            at: deadline, state: .idle, reason: .below(threshold: idleBelow, hold: hold))
    }
}

/// The activity signal of a trace as a machine: it wakes only when the state changes.
///
/// Samples count from `start`. A sample that is earlier than the one before it counts at that one's
/// instant. Each change carries its exact instant; where the driver is so late that several changes
/// are due, only the last is told, and none where the state is the same again.
public struct ActivityDetector: Machine, Sendable {
    public typealias Output = ActivityChange

    /// The state that has been told.
    public private(set) var state = ActivityState.idle
    private let samples: [ActivityRule.Sample]
    private let start: Instant
    private var levels: ActivityLevels
    private var position = 0
    /// The instant of the sample before `position`.
    private var latest: Instant
    private var pending: ActivityChange?

    public init(_ rule: ActivityRule, start: Instant) {
        samples = rule.samples
        self.start = start
        latest = start
        levels = ActivityLevels(rule)
        pending = nextChange()
    }

    /// A trace takes no input.
    public mutating func handle(
        _ input: Never, at now: Instant, emit: inout Outputs<ActivityChange>
    ) {}

    /// When the state changes next; nil once it stays as it is.
    public var deadline: Instant? { pending?.at }

    public mutating func expire(at now: Instant, emit: inout Outputs<ActivityChange>) {
        var last: ActivityChange?
        while let change = pending, change.at <= now {
            last = change
            pending = nextChange()
        }
        guard let last, last.state != state else { return }
        state = last.state
        emit.append(last)
    }

    /// Runs the rule ahead of time over the samples, up to the next change.
    private mutating func nextChange() -> ActivityChange? {
        while position < samples.count {
            let at = max(latest, start + samples[position].time)
            // A hold that ends before this sample comes first; at the same instant the sample does.
            if let due = levels.deadline, due < at { return levels.expire(at: due) }
            latest = at
            position += 1
            if let change = levels.take(samples[position - 1].value, at: at) { return change }
        }
        return levels.deadline.flatMap { levels.expire(at: $0) }
    }
}
