// What the activity signal is told and what it tells.
public import SansIO

/// Whether the accessory is being used, the least active state first.
public enum ActivityState: Int, Comparable, Sendable {
    case asleep, idle, active

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A change of the activity state.
public struct ActivityChange: Equatable, Sendable {
    public var at: Instant
    public var state: ActivityState
    public var reason: ActivityReason

    public init(at: Instant, state: ActivityState, reason: ActivityReason) {
        self.at = at
        self.state = state
        self.reason = reason
    }
}

/// Why the activity state changed. Values in g.
public enum ActivityReason: Equatable, Sendable, CustomStringConvertible {
    case above(value: Double, threshold: Double)
    case rmsAbove(threshold: Double, window: TimeSpan)
    case woken(samples: Int, threshold: Double)
    case below(threshold: Double, hold: TimeSpan)
    case used(ActivityUse)
    case unused(TimeSpan)
    case idle(TimeSpan)
    case lost(String)
    /// It was in use before the device was started again.
    case resumed
    /// Another profile feels it so.
    case reflashed(ActivityState)

    /// `activity 0.31 g above 0.12 g`, `idle: below 0.05 g for 10 s`.
    public var description: String {
        switch self {
        case .above(let value, let threshold):
            "activity \(number(value)) g above \(number(threshold)) g"
        case .rmsAbove(let threshold, let window):
            "activity above \(number(threshold)) g RMS over \(window)"
        case .woken(let samples, let threshold):
            "woken: \(samples) values above \(number(threshold)) g"
        case .below(let threshold, let hold): "idle: below \(number(threshold)) g for \(hold)"
        case .used(let use): "in use: \(use.rawValue)"
        case .unused(let hold): "idle: not used for \(hold)"
        case .idle(let span): "asleep: idle for \(span)"
        case .lost(let reason): "idle: source lost: \(reason)"
        case .resumed: "in use before the restart"
        case .reflashed(let state): "\(state) by the new profile"
        }
    }

    private func number(_ value: Double) -> String {
        let text = "\(value)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// What a central or a scanner did.
public enum ActivityUse: String, Sendable {
    case connection, read, write
    case scanRequest = "scan request"
}

/// What an activity signal is told. `source` is the index in the rule's sources; what a source
/// other than a live one is told is ignored.
public enum ActivityInput: Equatable, Sendable {
    /// Magnitude without gravity, in g.
    case sample(Double, source: Int = 0)
    /// In g, with gravity.
    case acceleration(x: Double, y: Double, z: Double, source: Int = 0)
    /// The source has ended, failed or sent what cannot be read. Its next value brings it back.
    case sourceLost(reason: String, source: Int = 0)
    /// Counts where the rule has the source `gatt`, or `scan-requests` for that of a scanner.
    case use(ActivityUse)

    /// The source that is meant; nil for all.
    var source: Int? {
        switch self {
        case .sample(_, let source), .acceleration(_, _, _, let source),
            .sourceLost(_, let source):
            source
        case .use: nil
        }
    }
}

/// What an activity signal tells.
public enum ActivityEvent: Equatable, Sendable {
    case changed(ActivityChange)
    /// 0 to 1 in steps of 1/20.
    case level(Double, at: Instant)
    case sourceLost(source: Int, reason: String, at: Instant)
    case sourceReturned(source: Int, at: Instant)
    /// No source of motion is left: all live ones are lost, and there is no recorded or made one.
    case signalLost(reason: String, at: Instant)
    case signalReturned(at: Instant)
}
