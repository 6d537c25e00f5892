// The policy `activity`: the more the accessory is used, the faster it advertises.
import HCI
import SansIO
import Wire

struct ActivityPolicy: IntervalChooser {
    private let response: ActivityResponse
    private let fallback: AdvertisingInterval?
    private var state = ActivityState.idle
    private var level = 0.0
    /// Of `levels`: how many steps are reached.
    private var reached = 0
    private var isLost = false
    private var reason = "idle at power-on"

    /// - Parameter fallback: while the signal is lost; nil for what `idle` or level 0 is.
    init(_ response: ActivityResponse, fallback: AdvertisingInterval?) {
        if case .levels(let base, let steps, let hysteresis) = response {
            self.response = .levels(
                base: base, steps.sorted { $0.from < $1.from }, hysteresis: hysteresis)
        } else {
            self.response = response
        }
        self.fallback = fallback
    }

    var choice: IntervalChoice { IntervalChoice(interval: interval, reason: reason) }
    var deadline: Instant? { nil }

    private var interval: AdvertisingInterval {
        let idles = isLost ? fallback : nil
        switch response {
        case .states(let active, let idle, let asleep):
            switch state {
            case .active: return active
            case .idle: return idles ?? idle
            case .asleep: return idles ?? asleep ?? idle
            }
        case .levels(let base, let steps, _):
            guard reached > 0, reached <= steps.count else { return idles ?? base }
            return steps[reached - 1].interval
        case .curve(let slow, let fast):
            return level > 0 ? Self.curve(slow, fast, level) : idles ?? slow
        }
    }

    mutating func take(_ input: IntervalInput, at now: Instant) {
        let before = interval
        var cause: String?
        switch input {
        case .activity(let change):
            state = change.state
            if case .states = response { cause = change.reason.description }
        case .level(let level):
            set(level)
            cause = "activity level \(hundredths(self.level))"
        case .signalLost(let text):
            isLost = true
            cause = "signal lost: \(text)"
        case .signalReturned:
            isLost = false
            cause = "signal returned"
        case .connected, .disconnected, .powerOn, .timeOfDay: break
        }
        if let cause, interval != before { reason = cause }
    }

    mutating func expire(at now: Instant) {}

    private mutating func set(_ level: Double) {
        self.level = level.isNaN ? 0 : min(max(level, 0), 1)
        guard case .levels(_, let steps, let hysteresis) = response else { return }
        // Thresholds and levels are decimal fractions: 0.4 - 0.1 is not exactly 0.3.
        let rounding = 1e-9
        let slack = max(hysteresis, 0) + rounding
        while reached < steps.count, self.level >= steps[reached].from - rounding { reached += 1 }
        while reached > 0, self.level < steps[reached - 1].from - slack { reached -= 1 }
    }

    /// slow · (fast / slow)^level, within both.
    private static func curve(
        _ slow: AdvertisingInterval, _ fast: AdvertisingInterval, _ level: Double
    ) -> AdvertisingInterval {
        let from = Double(max(slow.steps, 1))
        let steps = from * Mathematics.pow(Double(max(fast.steps, 1)) / from, level)
        let (low, high) = (min(slow, fast), max(slow, fast))
        let bounded = min(max(steps.rounded(), Double(low.steps)), Double(high.steps))
        return AdvertisingInterval(steps: UInt16(bounded))
    }

    /// `0.65`; a level has no finer steps.
    private func hundredths(_ level: Double) -> String {
        let steps = Int((level * 100).rounded())
        let rest = steps % 100
        return "\(steps / 100)." + (rest < 10 ? "0\(rest)" : "\(rest)")
    }
}
