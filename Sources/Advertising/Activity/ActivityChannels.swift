// One source at work: played ahead, fed from outside, or the centrals' use.
import SansIO

/// One source with its detector.
enum ActivityChannel: Sendable {
    case played(PlayedChannel)
    case fed(FedChannel)
    case used(UsedChannel)

    var status: ActivityStatus {
        switch self {
        case .played(let channel): channel.status
        case .fed(let channel): channel.status
        case .used(let channel): channel.status
        }
    }

    /// Why the state is as it is, once it has changed.
    var reason: ActivityReason? {
        switch self {
        case .played(let channel): channel.reason
        case .fed(let channel): channel.motion.reason
        case .used(let channel): channel.reason
        }
    }

    var deadline: Instant? {
        switch self {
        case .played(let channel): channel.ahead?.at
        case .fed(let channel): channel.deadline
        case .used(let channel): channel.deadline
        }
    }

    /// Does one step that is due at `now`, which is the deadline.
    mutating func expire(at now: Instant) {
        switch self {
        case .played(var channel):
            channel.expire(at: now)
            self = .played(channel)
        case .fed(var channel):
            channel.expire(at: now)
            self = .fed(channel)
        case .used(var channel):
            channel.expire(at: now)
            self = .used(channel)
        }
    }
}

/// A source that knows its values: the detector runs ahead to its next change, so that nothing
/// wakes for values that change nothing.
struct PlayedChannel: Sendable {
    /// How many values and deadlines one step looks through; then it wakes to go on. More than the
    /// rows of a day at one in two seconds.
    static let stepsMax = 65_536

    struct Ahead: Sendable {
        var at: Instant
        var status: ActivityStatus
        var reason: ActivityReason?
    }

    private(set) var status = ActivityStatus()
    private(set) var reason: ActivityReason?
    /// The next change.
    private(set) var ahead: Ahead?
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
struct FedChannel: Sendable {
    private(set) var motion: MotionDetector
    private(set) var loss: String?
    private let gravity: Double
    private let stallAfter: TimeSpan?
    /// The latest value's instant, or that of the start.
    private var heard: Instant
    private var latest: Instant

    init(_ rule: ActivityRule, _ motion: MotionDetector, start: Instant) {
        self.motion = motion
        gravity = rule.gravity
        stallAfter = rule.stallAfter
        heard = start
        latest = start
    }

    var status: ActivityStatus {
        var status = motion.status
        status.loss = loss
        return status
    }

    private var stall: Instant? {
        guard loss == nil, let stallAfter else { return nil }
        return heard + max(stallAfter, .microseconds(1))
    }

    var deadline: Instant? { earliest(motion.deadline, stall) }

    mutating func take(_ value: Double, at now: Instant) {
        guard !value.isNaN else { return }
        loss = nil
        latest = max(latest, now)
        heard = latest
        motion.take(value, at: latest)
    }

    mutating func take(x: Double, y: Double, z: Double, at now: Instant) {
        take(abs((x * x + y * y + z * z).squareRoot() - gravity), at: now)
    }

    mutating func lose(_ reason: String, at now: Instant) {
        guard loss == nil else { return }
        loss = reason
        latest = max(latest, now)
        motion.lose(reason, at: latest)
    }

    mutating func expire(at now: Instant) {
        latest = max(latest, now)
        if let due = motion.deadline, due <= now { motion.expire(at: now) }
        guard let stall, let stallAfter, stall <= now else { return }
        lose("no value for \(stallAfter)", at: now)
    }
}

/// The source `gatt`: each use makes active for the rule's hold.
struct UsedChannel: Sendable {
    private(set) var status = ActivityStatus()
    private(set) var reason: ActivityReason?
    private let hold: TimeSpan
    private let asleepAfter: TimeSpan?
    private let tellsLevel: Bool
    /// The latest use, or since when there has been none.
    private var since: Instant

    init(_ rule: ActivityRule, start: Instant, tellsLevel: Bool) {
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

    mutating func use(_ use: ActivityUse, at now: Instant) {
        since = max(since, now)
        guard status.state != .active else { return }
        status.state = .active
        status.level = tellsLevel ? ActivityStatus.levelsMax : 0
        reason = .used(use)
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
