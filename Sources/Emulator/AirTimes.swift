// When a set with a duration is on the air, and when it rests.
import Advertising
import SansIO

/// The times of one set. They begin when the controller says that the set is on the air: bringing a
/// slow one up takes none of them.
struct AirTimes: Equatable, Sendable {
    let duration: TimeSpan
    let period: TimeSpan?
    /// Whether a disconnection begins them anew.
    let returns: Bool
    private(set) var isOn = true
    /// Of the latest time on the air; nil until it has begun.
    private var begin: Instant?

    /// nil of a set that is always on the air.
    init?(_ set: AdvertisingSet) {
        guard let duration = set.duration else { return nil }
        self.duration = duration
        period = set.period
        returns = set.kind.isConnectable && set.period == nil
    }

    /// When it changes next.
    var deadline: Instant? {
        guard let begin else { return nil }
        return isOn ? begin + duration : period.map { begin + $0 }
    }

    /// Whether both are of the same rule, wherever they stand.
    func isLike(_ other: AirTimes) -> Bool {
        (duration, period, returns) == (other.duration, other.period, other.returns)
    }

    /// The set is on the air.
    mutating func hasBegun(at now: Instant) {
        if isOn, begin == nil { begin = now }
    }

    /// - Returns: whether it has changed.
    mutating func expire(at now: Instant) -> Bool {
        guard let begin, let deadline, deadline <= now else { return false }
        isOn.toggle()
        if isOn, let period {
            // By the whole periods that are over, so that none is late for another.
            let periods = (now - begin).microseconds / max(period.microseconds, 1)
            self.begin = begin + period * periods
        }
        return true
    }

    /// A central has gone.
    mutating func disconnected() {
        guard returns else { return }
        (isOn, begin) = (true, nil)
    }
}
