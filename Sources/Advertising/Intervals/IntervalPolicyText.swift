// An interval policy in words, for the check report.
import SansIO

extension IntervalPolicy: CustomStringConvertible {
    /// `152.5 ms while active, 1285 ms while idle; boost 20 ms for 30 s`.
    public var description: String { parts.joined(separator: "; ") }

    /// The rule, then what holds besides, one each.
    public var parts: [String] {
        var parts = ["\(rule)"]
        if let boost { parts.append("boost \(boost)") }
        if let fallback { parts.append("fallback \(fallback)") }
        if limits.dwell > .zero { parts.append("each for \(limits.dwell) or longer") }
        if let rate = limits.rate {
            parts.append("at most \(rate.count) changes in \(rate.per)")
        }
        switch limits.snap {
        case .apple: parts.append("snapped to Apple's list")
        case nil: break
        }
        return parts
    }
}

extension IntervalRule: CustomStringConvertible {
    public var description: String {
        switch self {
        case .activity(let response): "\(response)"
        case .fixed(let interval): "\(interval)"
        case .loop(let phases): words(phases) + ", and again"
        case .schedule(let entries):
            entries.map { "\($0.interval) from \($0.from.clockText)" }.joined(separator: ", ")
        case .steps(let phases):
            words(phases.dropLast()) + ", then "
                + (phases.last.map { "\($0.interval)" } ?? "nothing")
        case .twoPhase(let boost, let slow):
            "\(boost) after power-on and disconnection, then \(slow)"
        }
    }

    private func words(_ phases: some Sequence<IntervalPhase>) -> String {
        phases.map { "\($0)" }.joined(separator: ", ")
    }
}

extension ActivityResponse: CustomStringConvertible {
    public var description: String {
        switch self {
        case .states(let active, let idle, let asleep):
            "\(active) while active, \(idle) while idle"
                + (asleep.map { ", \($0) while asleep" } ?? "")
        case .levels(let base, let steps, _):
            steps.reduce("\(base)") { $0 + ", \($1.interval) from level \($1.from)" }
        case .curve(let slow, let fast): "\(slow) at rest to \(fast) at level 1"
        }
    }
}

extension IntervalPhase: CustomStringConvertible {
    /// `20 ms for 30 s`.
    public var description: String { "\(interval) for \(span)" }
}
