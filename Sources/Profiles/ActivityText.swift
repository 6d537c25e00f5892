// The activity signal in lines for people.
import Advertising
import SansIO

extension ActivityRule {
    /// The rule in one line, then a line for each source.
    var lines: [String] {
        [rule] + sources.map { "  from \($0.text(of: self))" }
    }

    private var isUseAlone: Bool { sources.allSatisfy(\.isUse) }

    private var rule: String {
        let short = DecimalText.short
        guard !isUseAlone else { return "activity: use, idle after \(hold) without" + sleep }
        var parts = [
            "activity above \(short(activeAbove)) g, idle after \(hold) below \(short(idleBelow)) g"
        ]
        if window > .zero { parts.append("RMS over \(window)") }
        if let stallAfter { parts.append("lost after \(stallAfter) without a value") }
        if gravity != 1 { parts.append("gravity \(short(gravity)) g") }
        if fullScale != 0.5 { parts.append("full scale \(short(fullScale)) g") }
        return parts.joined(separator: ", ") + sleep
    }

    private var sleep: String {
        guard let asleepAfter else { return "" }
        return ", asleep after \(asleepAfter)"
            + (wakeSamples > 1 ? ", woken by \(wakeSamples) values in a row" : "")
    }
}

extension ActivitySource {
    fileprivate func text(of rule: ActivityRule) -> String {
        let short = DecimalText.short
        switch self {
        case .trace(let trace):
            return "a trace of \(trace.samples.count) values in "
                + "\(trace.samples.last?.time ?? .zero)"
                + (trace.speed == 1 ? "" : ", at \(short(trace.speed)) times its speed")
                + (trace.repeats ? ", again and again" : "")
        case .bursts(let bursts):
            return "bursts of \(short(bursts.magnitude)) g for \(bursts.length) every "
                + "\(bursts.every)"
        case .dayRhythm(let rhythm):
            return "a day's rhythm of \(short(rhythm.magnitude)) g, "
                + "\(rhythm.from.clockText) to \(rhythm.to.clockText)"
        case .random(let random):
            return "random values up to \(short(random.magnitude)) g every \(random.every)"
        case .live(.iio(let name, let every)): return "the sensor \(name), read every \(every)"
        case .live(let live): return "\(live)"
        case .gatt: return "what centrals do, each for \(rule.hold)"
        case .scanRequests: return "scan requests, each for \(rule.hold)"
        }
    }
}
