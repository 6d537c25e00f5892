// The policy `steps`: back off step by step, and begin anew when something happens.
import HCI
import SansIO

struct StepsPolicy: IntervalChooser {
    private let phases: [IntervalPhase]
    private var index = 0
    private var end: Instant?
    private var cause = "power-on"

    init(_ phases: [IntervalPhase]) { self.phases = phases }

    var choice: IntervalChoice {
        guard phases.indices.contains(index) else {
            return IntervalChoice(interval: .minimum, reason: "no steps")
        }
        return IntervalChoice(
            interval: phases[index].interval,
            reason: "step \(index + 1) of \(phases.count) after \(cause)")
    }

    var deadline: Instant? { end }

    mutating func take(_ input: IntervalInput, at now: Instant) {
        switch input {
        case .powerOn: restart("power-on", at: now)
        case .disconnected: restart("disconnection", at: now)
        case .activity(let change):
            if change.state == .active { restart(change.reason.description, at: now) }
        case .connected, .level, .signalLost, .signalReturned, .timeOfDay: break
        }
    }

    private mutating func restart(_ cause: String, at now: Instant) {
        self.cause = cause
        index = 0
        end = now
        place(at: now)
    }

    mutating func expire(at now: Instant) {
        guard let end, end <= now else { return }
        index += 1
        place(at: now)
    }

    /// `end` is where step `index` begins: goes to the step that is in force at `now`.
    private mutating func place(at now: Instant) {
        while index + 1 < phases.count, let begin = end {
            let next = begin + max(phases[index].span, .zero)
            end = next
            if next > now { return }
            index += 1
        }
        end = nil
    }
}
