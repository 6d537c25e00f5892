// One source at work: played ahead, fed from outside, or the centrals' use.
import SansIO

/// One source with its detector.
protocol ActivityChannel: Sendable {
    var status: ActivityStatus { get }
    /// Why the state is as it is, once it has changed.
    var reason: ActivityReason? { get }
    /// Whether it tells of motion now: it is no other kind of source, and it is not lost.
    var isMotion: Bool { get }
    var deadline: Instant? { get }
    /// Takes what is meant for this source; ignores what is not for its kind.
    mutating func take(_ input: ActivityInput, at now: Instant)
    /// Does one step that is due at `now`, which is the deadline.
    mutating func expire(at now: Instant)
    /// The device was in use before it was started again: active until the hold is over. A source
    /// that knows its values knows better.
    mutating func resume(at now: Instant)
}

/// A source that knows its values: the detector runs ahead to its next change, so that nothing
/// wakes for values that change nothing.
struct PlayedChannel: ActivityChannel {
    /// How many values and deadlines one step looks through; then it wakes to go on. More than the
    /// rows of a day at one in six seconds.
    static let stepsMax = 16_384

    struct Ahead: Sendable {
        var at: Instant
        var status: ActivityStatus
        var reason: ActivityReason?
    }

    private(set) var status = ActivityStatus()
    private(set) var reason: ActivityReason?
    /// The next change.
    private var ahead: Ahead?
    private var motion: MotionDetector
    private var source: any SampleSource
    private var sample: ActivityRule.Sample?
    private let start: Instant
    private var latest: Instant

    init(_ source: some SampleSource, _ motion: MotionDetector, start: Instant) {
        self.source = source
        self.motion = motion
        self.start = start
        latest = start
        sample = self.source.next()
        ahead = lookAhead()
    }

    var isMotion: Bool { true }
    var deadline: Instant? { ahead?.at }

    mutating func take(_ input: ActivityInput, at now: Instant) {}
    mutating func resume(at now: Instant) {}

    mutating func expire(at now: Instant) {
        guard let next = ahead, next.at <= now else { return }
        status = next.status
        reason = next.reason
        ahead = lookAhead()
    }

    private mutating func lookAhead() -> Ahead? {
        let before = motion.status
        for _ in 0..<Self.stepsMax {
            if let sample {
                let at = max(latest, start + sample.time)
                // What is due before this value comes first; at the same instant the value does.
                if let due = motion.deadline, due < at {
                    latest = max(latest, due)
                    motion.expire(at: latest)
                } else {
                    latest = at
                    motion.take(sample.value, at: at)
                    self.sample = source.next()
                }
            } else if let due = motion.deadline {
                latest = max(latest, due)
                motion.expire(at: latest)
            } else {
                return nil
            }
            if motion.status != before { break }
        }
        return Ahead(at: latest, status: motion.status, reason: motion.reason)
    }
}

/// A live source: values come when they come, or stop coming.
struct FedChannel: ActivityChannel {
    private var motion: MotionDetector
    private var loss: String?
    private let gravity: Double
    private let stallAfter: TimeSpan?
    /// The latest value's instant, or that of the start.
    private var heard: Instant

    init(_ rule: ActivityRule, _ motion: MotionDetector, start: Instant) {
        self.motion = motion
        gravity = rule.gravity
        stallAfter = rule.stallAfter.map { max($0, .microseconds(1)) }
        heard = start
    }

    var status: ActivityStatus {
        var status = motion.status
        status.loss = loss
        return status
    }

    var reason: ActivityReason? { motion.reason }
    var isMotion: Bool { loss == nil }

    private var stall: Instant? {
        guard loss == nil, let stallAfter else { return nil }
        return heard + stallAfter
    }

    var deadline: Instant? { earliest(motion.deadline, stall) }

    mutating func take(_ input: ActivityInput, at now: Instant) {
        switch input {
        case .sample(let value, _): take(value, at: now)
        case .acceleration(let x, let y, let z, _):
            take(abs((x * x + y * y + z * z).squareRoot() - gravity), at: now)
        case .sourceLost(let reason, _): lose(reason, at: now)
        case .use: break
        }
    }

    mutating func resume(at now: Instant) { motion.resume(at: now) }

    private mutating func take(_ value: Double, at now: Instant) {
        guard !value.isNaN else { return }
        loss = nil
        heard = now
        motion.take(value, at: now)
    }

    private mutating func lose(_ reason: String, at now: Instant) {
        guard loss == nil else { return }
        loss = reason
        motion.lose(reason, at: now)
    }

    mutating func expire(at now: Instant) {
        if let due = motion.deadline, due <= now { motion.expire(at: now) }
        guard let stall, let stallAfter, stall <= now else { return }
        lose("no value for \(stallAfter)", at: now)
    }
}

/// The sources `gatt` and `scan-requests`: each use makes active for the rule's hold.
struct UsedChannel: ActivityChannel {
    private(set) var status = ActivityStatus()
    private(set) var reason: ActivityReason?
    private let hold: TimeSpan
    private let asleepAfter: TimeSpan?
    private let tellsLevel: Bool
    /// What counts.
    private let uses: [ActivityUse]
    /// The latest use, or since when there has been none.
    private var since: Instant

    init(_ rule: ActivityRule, by uses: [ActivityUse], start: Instant, tellsLevel: Bool) {
        self.uses = uses
        hold = max(rule.hold, .zero)
        asleepAfter = rule.asleepAfter.map { max($0, .zero) }
        self.tellsLevel = tellsLevel
        since = start
    }

    var deadline: Instant? {
        switch status.state {
        case .active: since + hold
        case .idle: asleepAfter.map { since + $0 }
        case .asleep: nil
        }
    }

    var isMotion: Bool { false }

    mutating func take(_ input: ActivityInput, at now: Instant) {
        if case .use(let use) = input, uses.contains(use) { activate(at: now, .used(use)) }
    }

    mutating func resume(at now: Instant) { activate(at: now, .resumed) }

    private mutating func activate(at now: Instant, _ reason: ActivityReason) {
        since = now
        guard status.state != .active else { return }
        status.state = .active
        status.level = tellsLevel ? ActivityStatus.levelsMax : 0
        self.reason = reason
    }

    mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        since = now
        status.level = 0
        if status.state == .active {
            status.state = .idle
            reason = .unused(hold)
        } else {
            status.state = .asleep
            reason = .idle(asleepAfter ?? .zero)
        }
    }
}
