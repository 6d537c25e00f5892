// Short ways to write rules, policies and steps in tests.
import Advertising
import HCI
import SansIO

extension ActivityRule {
    /// One recorded trace in real time, once.
    init(samples: [Sample], activeAbove: Double, idleBelow: Double, hold: TimeSpan) {
        self.init(
            sources: [.trace(TraceSource(samples: samples))], activeAbove: activeAbove,
            idleBelow: idleBelow, hold: hold)
    }

    /// The rows of the first trace; empty where the signal has none.
    var samples: [Sample] {
        for case .trace(let trace) in sources { return trace.samples }
        return []
    }
}

extension IntervalPolicy {
    /// Two levels: `active` while the activity detector says active, else `idle`.
    static func activity(
        active: AdvertisingInterval, idle: AdvertisingInterval
    ) -> IntervalPolicy {
        IntervalPolicy(.activity(.states(active: active, idle: idle, asleep: nil)))
    }
}

extension ActivityDetector {
    /// `expire`, of which only the changes of the state are told.
    mutating func expire(at now: Instant, emit: inout Outputs<ActivityChange>) {
        var events = Outputs<ActivityEvent>(capacity: 1)
        expire(at: now, emit: &events)
        for case .changed(let change) in events.elements { emit.append(change) }
    }
}
