// The interval policies once more, asked at every millisecond: what the tests compare with.
import Advertising
import HCI
import SansIO

/// What a policy says, asked at every millisecond; written without looking at deadlines.
struct IntervalReference {
    /// In milliseconds.
    typealias Event = (at: Int64, input: IntervalInput)

    let policy: IntervalPolicy
    /// Rising in time; the first one is power-on.
    let events: [Event]

    /// The events up to and at `now`, the latest first.
    private func past(_ now: Int64) -> [Event] { events.filter { $0.at <= now }.reversed() }

    private func isPowerOn(_ event: Event) -> Bool { event.input == .powerOn }
    private func begins(_ event: Event) -> Bool {
        event.input == .powerOn || event.input == .disconnected
    }

    private func isIn(_ phase: IntervalPhase, _ now: Int64) -> Bool {
        past(now).contains { begins($0) && now < $0.at + phase.span.microseconds / 1000 }
    }

    func wanted(_ now: Int64) -> AdvertisingInterval {
        if let boost = policy.boost, isIn(boost, now) { return boost.interval }
        switch policy.rule {
        case .fixed(let interval): return interval
        case .twoPhase(let boost, let slow): return isIn(boost, now) ? boost.interval : slow
        case .loop(let phases):
            guard let start = past(now).first(where: isPowerOn)?.at else {
                return phases[0].interval
            }
            var end = start
            while true {
                for phase in phases {
                    end += phase.span.microseconds / 1000
                    if now < end { return phase.interval }
                }
            }
        case .steps(let phases):
            let start = past(now).first {
                if case .activity(let change) = $0.input { return change.state == .active }
                return begins($0)
            }
            guard let start else { return phases[0].interval }
            var end = start.at
            for phase in phases.dropLast() {
                end += phase.span.microseconds / 1000
                if now < end { return phase.interval }
            }
            return phases[phases.count - 1].interval
        case .schedule(let entries): return scheduled(entries, now)
        case .activity(let response): return answer(response, now)
        }
    }

    /// Counts back minute by minute, and then further, to the entry in force.
    private func scheduled(_ entries: [ScheduleEntry], _ now: Int64) -> AdvertisingInterval {
        for event in past(now) {
            guard case .timeOfDay(let time) = event.input else { continue }
            let day: Int64 = 86_400_000
            let time_ = ((time.microseconds / 1000 + now - event.at) % day + day) % day
            let age = { (entry: ScheduleEntry) in
                (time_ - entry.from.microseconds / 1000 + day) % day
            }
            return entries.min { age($0) < age($1) }?.interval ?? .minimum
        }
        return policy.fallback ?? entries.map(\.interval).max() ?? .minimum
    }

    private func answer(_ response: ActivityResponse, _ now: Int64) -> AdvertisingInterval {
        let history = events.filter { $0.at <= now }.map(\.input)
        let isLost =
            history.last {
                if case .signalLost = $0 { return true }
                return $0 == .signalReturned
            }.map { $0 != .signalReturned } ?? false
        let idles = isLost ? policy.fallback : nil
        let levels = history.compactMap { if case .level(let level) = $0 { level } else { nil } }
        switch response {
        case .states(let active, let idle, let asleep):
            let state =
                history.compactMap {
                    if case .activity(let change) = $0 { change.state } else { nil }
                }.last ?? .idle
            if state == .active { return active }
            return idles ?? (state == .asleep ? asleep ?? idle : idle)
        case .levels(let base, let steps, let hysteresis):
            var interval: AdvertisingInterval?
            var floor = 0.0
            for level in levels {
                let best = steps.filter { $0.from <= level }.max { $0.from < $1.from }
                if let best, best.from > floor || interval == nil {
                    (interval, floor) = (best.interval, best.from)
                } else if level < floor - hysteresis {
                    // Down step by step, each with its own slack.
                    let kept = steps.filter { $0.from - hysteresis <= level && $0.from < floor }
                    let next = kept.max { $0.from < $1.from }
                    (interval, floor) = (next?.interval, next?.from ?? 0)
                }
            }
            return interval ?? idles ?? base
        case .curve(let slow, let fast):
            let level = levels.last ?? 0
            guard level > 0 else { return idles ?? slow }
            // The twentieth root by bisection, without a power function.
            let (from, to) = (Double(slow.steps), Double(fast.steps))
            var (low, high) = (0.0, 2.0)
            for _ in 0..<200 {
                let middle = (low + high) / 2
                var power = 1.0
                for _ in 0..<20 { power *= middle }
                if power < to / from { low = middle } else { high = middle }
            }
            var value = from
            for _ in 0..<Int((level * 20).rounded()) { value *= low }
            return AdvertisingInterval(steps: UInt16(value.rounded()))
        }
    }

    /// Before power-on, what power-on begins with.
    private var first: AdvertisingInterval {
        if let boost = policy.boost { return boost.interval }
        if case .twoPhase(let boost, _) = policy.rule { return boost.interval }
        return wanted(-1)
    }

    func decisions(until end: Int64) -> [String] {
        let limits = policy.limits
        var inForce = limits.allowed(first)
        // The first event is power-on.
        var since = events[0].at
        var changes: [Int64] = []
        var result: [String] = []
        for now in since...end {
            let interval = limits.allowed(wanted(now))
            guard interval != inForce else { continue }
            if now - since < limits.dwell.microseconds / 1000 { continue }
            if let rate = limits.rate {
                let span = rate.per.microseconds / 1000
                if changes.filter({ $0 > now - span }).count >= rate.count { continue }
            }
            result.append("\(now) \(inForce) -> \(interval)")
            inForce = interval
            changes.append(now)
            since = now
        }
        return result
    }
}
