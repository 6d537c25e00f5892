// What advertising intervals were in force in a run, for how long, and why they changed.
public import HCI
public import SansIO

/// Keeps account of what the controller has confirmed. The caller says each instant; one that is
/// earlier than the one before counts as that one.
public struct IntervalHistory: Sendable {
    /// A change of the interval, once the controller has confirmed it.
    public struct Change: Equatable, Sendable {
        public var at: Instant
        public var from: AdvertisingInterval
        public var to: AdvertisingInterval
        public var reason: String
        /// How long nothing was advertised for the change; nil where it was not on the air before.
        public var gap: TimeSpan?
    }

    /// How long an interval was in force on the air.
    public struct Share: Equatable, Sendable {
        public var interval: AdvertisingInterval
        public var time: TimeSpan
    }

    /// The times off the air for changes.
    public struct Gaps: Equatable, Sendable {
        /// How many there were; the other members are zero where it is 0.
        public var count = 0
        public var shortest = TimeSpan.zero
        public var longest = TimeSpan.zero
        public var sum = TimeSpan.zero
    }

    private enum Air: Equatable {
        case silent
        case on(AdvertisingInterval)
        /// Off for a change.
        case between(AdvertisingInterval)
    }

    /// How many changes are kept, the latest ones: a change a minute for a day and a half.
    public static let changesMax = 2000

    /// Power-on.
    public let start: Instant
    /// The latest, at most `changesMax`.
    public var changes: ArraySlice<Change> { kept.suffix(Self.changesMax) }
    /// Up to twice as many: letting go of one at each change would move all others.
    private var kept: [Change] = []
    /// All, also those that are not kept.
    public private(set) var changeCount = 0
    /// Of all changes, also those that are not kept.
    public private(set) var gaps = Gaps()
    private var air = Air.silent
    private var latest: Instant
    private var interval: AdvertisingInterval?
    private var firstReason = ""
    /// By interval.
    private var shares: [Share] = []

    /// - Parameter start: power-on.
    public init(start: Instant) {
        self.start = start
        latest = start
    }

    /// The controller advertises with `interval` from now on.
    public mutating func isAdvertising(
        _ interval: AdvertisingInterval, reason: String, at now: Instant
    ) {
        let before = latest
        advance(to: now)
        var gap: TimeSpan?
        if case .between = air {
            let span = latest - before
            gap = span
            gaps.shortest = gaps.count == 0 ? span : min(gaps.shortest, span)
            gaps.longest = max(gaps.longest, span)
            gaps.sum = gaps.sum + span
            gaps.count += 1
        } else if case .on = air {
            gap = .zero
        }
        if let from = self.interval, from != interval {
            if kept.count == 2 * Self.changesMax { kept.removeFirst(Self.changesMax) }
            kept.append(
                Change(at: latest, from: from, to: interval, reason: reason, gap: gap))
            changeCount += 1
        } else if self.interval == nil {
            firstReason = reason
        }
        self.interval = interval
        air = .on(interval)
    }

    /// The controller has stopped advertising, to go on with another interval at once.
    public mutating func isChanging(at now: Instant) {
        guard case .on(let interval) = air else { return }
        advance(to: now)
        air = .between(interval)
    }

    /// The controller has stopped advertising: for a connection, or for good.
    public mutating func isSilent(at now: Instant) {
        // A connection made in the middle of a change: that time is no gap.
        if case .on = air { advance(to: now) }
        air = .silent
    }

    private mutating func advance(to now: Instant) {
        let now = max(latest, now)
        if case .on(let interval) = air { Self.add(now - latest, to: interval, in: &shares) }
        latest = now
    }

    private static func add(
        _ time: TimeSpan, to interval: AdvertisingInterval, in shares: inout [Share]
    ) {
        let index = shares.firstIndex { $0.interval >= interval } ?? shares.count
        if index == shares.count || shares[index].interval != interval {
            shares.insert(Share(interval: interval, time: .zero), at: index)
        }
        shares[index].time = shares[index].time + time
    }

    /// How long each interval has been on the air, the fastest first.
    public func shares(until end: Instant) -> [Share] {
        var shares = shares
        if case .on(let interval) = air {
            Self.add(max(end - latest, .zero), to: interval, in: &shares)
        }
        return shares
    }

    // MARK: the report

    /// The report of a run, in lines of at most 80 columns.
    public func report(until end: Instant) -> [String] {
        guard let interval else { return ["advertising intervals: none was in force"] }
        let total = max(max(end, latest) - start, .zero)
        let shares = shares(until: end)
        var lines = ["advertising intervals, \(Self.clock(total)) in all"]
        var silent = total - gaps.sum
        for share in shares {
            silent = silent - share.time
            lines.append(Self.row("\(share.interval)", share.time, of: total))
        }
        if gaps.sum > .zero { lines.append(Self.row("off for changes", gaps.sum, of: total)) }
        if silent > .zero { lines.append(Self.row("not advertising", silent, of: total)) }
        let first = changes.first?.from ?? interval
        guard changeCount > 0 else {
            return lines + Self.wrapped("no change: \(first), \(firstReason)", indent: 2)
        }
        lines.append("\(changeCount) \(changeCount == 1 ? "change" : "changes")\(gapText)")
        if changeCount == changes.count {
            lines += Self.wrapped("  begins with \(first): \(firstReason)", indent: 15)
        } else {
            lines.append("  the latest \(changes.count) of them:")
        }
        for change in changes {
            let time = Self.padded(Self.clock(change.at - start), to: 13)
            lines += Self.wrapped(
                "\(time)  \(change.from) -> \(change.to): \(change.reason)", indent: 15)
        }
        return lines
    }

    private var gapText: String {
        guard gaps.count > 0 else { return "" }
        let range =
            gaps.shortest == gaps.longest
            ? "\(gaps.shortest.microseconds)"
            : "\(gaps.shortest.microseconds) to \(gaps.longest.microseconds)"
        return ", \(range) us off the air each, \(gaps.sum.microseconds) us in all"
    }

    private static func row(_ name: String, _ time: TimeSpan, of total: TimeSpan) -> String {
        let share = total > .zero ? time.seconds / total.seconds : 0
        let permille = Int((min(max(share, 0), 1) * 1000).rounded())
        let name = name + String(repeating: " ", count: max(16 - name.count, 0))
        return "  \(name) \(padded(clock(time), to: 16)) "
            + padded("\(permille / 10).\(permille % 10) %", to: 8)
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
    }

    /// `1:02:03.456`; a part of a millisecond is cut off.
    static func clock(_ span: TimeSpan) -> String {
        let milliseconds = span.microseconds.magnitude / 1000
        let seconds = milliseconds / 1000
        func digits(_ value: UInt64, _ count: Int) -> String {
            let text = "\(value)"
            return String(repeating: "0", count: max(count - text.count, 0)) + text
        }
        return (span < .zero ? "-" : "") + "\(seconds / 3600):" + digits(seconds / 60 % 60, 2)
            + ":" + digits(seconds % 60, 2) + "." + digits(milliseconds % 1000, 3)
    }

    static let columnsMax = 80

    /// Breaks a line at spaces, and a longer word where it must be.
    static func wrapped(_ text: String, indent: Int) -> [String] {
        var lines: [String] = []
        var rest = Substring(text)
        var margin = ""
        while margin.count + rest.count > columnsMax {
            let head = rest.prefix(columnsMax - margin.count)
            let space = rest.prefix(columnsMax - margin.count + 1).lastIndex(of: " ")
            // Spaces at the line's begin are its indent, no place to break.
            let isInside = space.map { head[..<min($0, head.endIndex)].contains { $0 != " " } }
            let end = isInside == true ? space ?? head.endIndex : head.endIndex
            lines.append(margin + rest[..<end])
            rest = rest[end...].drop { $0 == " " }
            margin = String(repeating: " ", count: indent)
        }
        return lines + (rest.isEmpty ? [] : [margin + rest])
    }
}
