// The detector of one source of motion: hysteresis, hold, wake and sleep, one value at a time.
import SansIO

/// What is known of one source, or of all together.
struct ActivityStatus: Equatable, Sendable {
    var state = ActivityState.idle
    /// 0 to `levelsMax`.
    var level = 0
    /// Why the source is lost; nil while it is not.
    var loss: String?

    static let levelsMax = 20
}

/// The rule of `ActivityRule`.
///
/// Whoever drives it calls `expire` at each deadline's own instant. A value at the very instant of
/// a deadline is taken before it.
struct MotionDetector: Sendable {
    private(set) var status = ActivityStatus()
    /// Why the state is as it is, once it has changed.
    private(set) var reason: ActivityReason?
    private var rule: ActivityRule
    private let tellsLevel: Bool
    private var window: MotionWindow?
    /// Since when the signal has been below `idleBelow`; nil while it is not.
    private var belowSince: Instant?
    private var idleSince: Instant
    private var isAbove = false
    private var wakingSamples = 0

    init(_ rule: ActivityRule, start: Instant, tellsLevel: Bool) {
        self.rule = rule
        // A threshold that is not a number is never passed.
        if rule.activeAbove.isNaN { self.rule.activeAbove = .infinity }
        if rule.idleBelow.isNaN { self.rule.idleBelow = -.infinity }
        self.tellsLevel = tellsLevel
        idleSince = start
        if rule.window > .zero { window = MotionWindow(span: rule.window, start: start) }
    }

    private var hold: TimeSpan { max(rule.hold, .zero) }

    /// When the state or the level may change without another value.
    var deadline: Instant? {
        let due: Instant? =
            switch status.state {
            case .active: belowSince.map { $0 + hold }
            case .idle: rule.asleepAfter.map { idleSince + max($0, .zero) }
            case .asleep: nil
            }
        guard let window, status.state != .asleep else { return due }
        return earliest(due, earliest(window.edge, crossing(of: window)))
    }

    /// When the window's signal crosses a threshold that matters in this state.
    private func crossing(of window: MotionWindow) -> Instant? {
        let idle = window.energy(of: rule.idleBelow)
        var next: Instant?
        if status.state == .idle {
            next = isAbove ? nil : window.instant(above: window.energy(of: rule.activeAbove))
        } else if belowSince == nil {
            next = window.instant(below: idle)
        } else {
            next = window.instant(above: idle - 1)
        }
        guard tellsLevel else { return next }
        let up = window.instant(above: energy(of: status.level + 1, in: window) - 1)
        let down = window.instant(below: energy(of: status.level, in: window))
        return earliest(next, earliest(up, down))
    }

    /// The least energy of a level.
    private func energy(of level: Int, in window: MotionWindow) -> Int128 {
        let levels = Int128(ActivityStatus.levelsMax)
        let value = scale * Int128(level)
        let energy = value * value * Int128(window.span.microseconds)
        return (energy + levels * levels - 1) / (levels * levels)
    }

    private var scale: Int128 { max(MotionWindow.quantised(rule.fullScale), 1) }

    mutating func take(_ value: Double, at now: Instant) {
        // Not a number is no sample: the value before holds.
        guard !value.isNaN else { return }
        window?.take(value, at: now)
        measure(value, at: now)
        switch status.state {
        case .active: break
        case .idle:
            guard isAbove else { break }
            activate(
                at: now,
                window == nil
                    ? .above(value: value, threshold: rule.activeAbove)
                    : .rmsAbove(threshold: rule.activeAbove, window: rule.window))
        case .asleep:
            wakingSamples = value > rule.activeAbove ? wakingSamples + 1 : 0
            guard wakingSamples >= max(rule.wakeSamples, 1) else { break }
            activate(
                at: now,
                wakingSamples == 1
                    ? .above(value: value, threshold: rule.activeAbove)
                    : .woken(samples: wakingSamples, threshold: rule.activeAbove))
        }
        tellLevel(of: value)
    }

    mutating func expire(at now: Instant) {
        guard let deadline, deadline <= now else { return }
        if window != nil {
            let wasAbove = isAbove
            window?.advance(to: now)
            measure(0, at: now)
            if status.state == .idle, isAbove, !wasAbove {
                activate(at: now, .rmsAbove(threshold: rule.activeAbove, window: rule.window))
            }
        }
        switch status.state {
        case .active:
            guard let belowSince, belowSince + hold <= now else { break }
            status.state = .idle
            idleSince = now
            reason = .below(threshold: rule.idleBelow, hold: hold)
        case .idle:
            guard let asleepAfter = rule.asleepAfter, idleSince + asleepAfter <= now else { break }
            status.state = .asleep
            reason = .idle(asleepAfter)
            wakingSamples = 0
        case .asleep: break
        }
        if window != nil || status.state == .asleep { tellLevel(of: 0) }
    }

    /// Active as before a restart, until the hold is over.
    mutating func resume(at now: Instant) {
        belowSince = now
        activate(at: now, .resumed)
    }

    /// The source is gone: there is no signal until its next value.
    mutating func lose(_ loss: String, at now: Instant) {
        window = window.map { MotionWindow(span: $0.span, start: max(now, $0.at)) }
        belowSince = nil
        isAbove = false
        wakingSamples = 0
        status.level = 0
        guard status.state == .active else { return }
        status.state = .idle
        idleSince = now
        reason = .lost(loss)
    }

    private mutating func activate(at now: Instant, _ reason: ActivityReason) {
        status.state = .active
        self.reason = reason
        // Where the signal is below all the same, the hold counts from here.
        if belowSince != nil { belowSince = now }
    }

    /// Compares the signal with the thresholds; it is `value` where there is no window.
    private mutating func measure(_ value: Double, at now: Instant) {
        let isBelow: Bool
        if let window {
            isAbove = window.energy > window.energy(of: rule.activeAbove)
            isBelow = window.energy < window.energy(of: rule.idleBelow)
        } else {
            isAbove = value > rule.activeAbove
            isBelow = value < rule.idleBelow
        }
        belowSince = isBelow ? belowSince ?? now : nil
    }

    private mutating func tellLevel(of value: Double) {
        guard tellsLevel, status.state != .asleep else { return status.level = 0 }
        let levels = ActivityStatus.levelsMax
        guard let window else {
            let steps = MotionWindow.quantised(value) * Int128(levels) / scale
            return status.level = Int(min(max(steps, 0), Int128(levels)))
        }
        var level = status.level
        while level < levels, window.energy >= energy(of: level + 1, in: window) { level += 1 }
        while level > 0, window.energy < energy(of: level, in: window) { level -= 1 }
        status.level = level
    }
}
