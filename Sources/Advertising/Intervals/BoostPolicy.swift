// The boost before any policy, and with it the policy `two-phase`: fast for a while, then slow.
import HCI
import SansIO

/// The boost is in force from power-on, and from each disconnection, for its span.
struct BoostPolicy: IntervalChooser {
    private let boost: IntervalPhase
    private var base: any IntervalChooser
    private var isBoosted = true
    /// When it ends; nil before power-on.
    private var end: Instant?
    private var cause = "power-on"
    /// Whether nothing but the boost's end has happened since.
    private var isJustOver = false

    init(_ boost: IntervalPhase, before base: any IntervalChooser) {
        self.boost = boost
        self.base = base
    }

    var choice: IntervalChoice {
        if isBoosted {
            return IntervalChoice(
                interval: boost.interval, reason: "boost for \(boost.span) after \(cause)")
        }
        let choice = base.choice
        guard isJustOver else { return choice }
        return IntervalChoice(
            interval: choice.interval, reason: "boost of \(boost.span) over, \(choice.reason)")
    }

    var deadline: Instant? { earliest(isBoosted ? end : nil, base.deadline) }

    mutating func take(_ input: IntervalInput, at now: Instant) {
        let before = base.choice
        base.take(input, at: now)
        if base.choice != before { isJustOver = false }
        switch input {
        case .powerOn: begin("power-on", at: now)
        case .disconnected: begin("disconnection", at: now)
        case .activity, .connected, .level, .signalLost, .signalReturned, .timeOfDay: break
        }
    }

    private mutating func begin(_ cause: String, at now: Instant) {
        isBoosted = true
        end = now + max(boost.span, .zero)
        self.cause = cause
    }

    mutating func expire(at now: Instant) {
        if let due = base.deadline, due <= now {
            base.expire(at: now)
            isJustOver = false
        }
        guard isBoosted, let end, end <= now else { return }
        isBoosted = false
        isJustOver = true
    }
}
