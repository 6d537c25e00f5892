// An interval policy as a profile writes it.
public import Advertising
import HCI
import SansIO

extension IntervalPolicy {
    /// The value of `interval:`; one line where it is one interval, else a line a key.
    public var yaml: [String] {
        if case .fixed(let interval) = rule, boost == nil, fallback == nil,
            limits == IntervalLimits()
        {
            return ["\(limits.allowed(interval))"]
        }
        var lines = rule.yaml
        if let boost { lines.append("boost: \(boost.yaml)") }
        if let fallback { lines.append("fallback: \(fallback)") }
        if limits.dwell > .zero { lines.append("dwell: \(limits.dwell)") }
        if let rate = limits.rate {
            lines.append("rate-limit: {changes: \(rate.count), per: \(rate.per)}")
        }
        if limits.snap == .apple { lines.append("snap: apple") }
        return lines
    }
}

extension IntervalPhase {
    fileprivate var yaml: String { "{interval: \(interval), for: \(span)}" }
}

extension IntervalRule {
    fileprivate var yaml: [String] {
        switch self {
        case .fixed(let interval): ["policy: fixed", "interval: \(interval)"]
        case .twoPhase(let boost, let slow):
            ["policy: two-phase", "boost: \(boost.yaml)", "slow: \(slow)"]
        case .loop(let phases):
            ["policy: loop", "phases: [\(phases.map(\.yaml).joined(separator: ", "))]"]
        case .steps(let phases):
            [
                "policy: steps",
                "steps: ["
                    + (phases.dropLast().map(\.yaml)
                    + phases.suffix(1).map { "{interval: \($0.interval)}" })
                    .joined(separator: ", ") + "]",
            ]
        case .schedule(let entries):
            [
                "policy: schedule",
                "times: ["
                    + entries.map { entry in
                        "{from: \"\(entry.from.clockText)\", interval: \(entry.interval)}"
                    }.joined(separator: ", ") + "]",
            ]
        case .activity(let response): ["policy: activity"] + response.yaml
        }
    }
}

extension ActivityResponse {
    fileprivate var yaml: [String] {
        switch self {
        case .states(let active, let idle, let asleep):
            ["active: \(active)", "idle: \(idle)"] + (asleep.map { ["asleep: \($0)"] } ?? [])
        case .levels(let base, let steps, let hysteresis):
            [
                "idle: \(base)",
                "levels: ["
                    + steps.map { "{from: \($0.from), interval: \($0.interval)}" }
                    .joined(separator: ", ") + "]",
                "hysteresis: \(hysteresis)",
            ]
        case .curve(let slow, let fast): ["curve: {slow: \(slow), fast: \(fast)}"]
        }
    }
}
