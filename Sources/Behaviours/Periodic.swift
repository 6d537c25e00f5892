// A period without drift.
import SansIO

/// Instants at `start` + n * `period`, n from 1 on.
struct Periodic: Sendable {
    private let start: Instant
    /// Zero for never.
    let period: TimeSpan
    /// The next instant; nil without a positive period.
    private(set) var next: Instant?

    init(start: Instant, period: TimeSpan?) {
        self.start = start
        self.period = max(period ?? .zero, .zero)
        next = self.period > .zero ? start + self.period : nil
    }

    /// The latest instant that is due, or nil. Those missed before it are skipped.
    mutating func fire(at now: Instant) -> Instant? {
        guard let next, next <= now else { return nil }
        let count = (now - start).microseconds / period.microseconds
        let latest = start + period * count
        let following = latest + period
        // Time saturates at its end: nothing follows there.
        self.next = following > now ? following : nil
        return latest
    }
}
