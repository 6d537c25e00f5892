// What an advertiser did on the air over a run, for the discovery sampler.

/// Stretches of advertising in the order of time: one interval, one length of PDU each.
///
/// Arrays side by side rather than an array of stretches: a search touches only the ends. Times in
/// microseconds since the run's start; no stretch begins before the one before it has ended.
public struct AdvertisingTimeline: Equatable, Sendable {
    /// What stretches have in common; a run has few of them.
    struct Kind: Equatable, Sendable {
        /// advInterval, without advDelay.
        var interval: Int64
        /// Of one PDU.
        var airTime: Int64
    }

    /// The start of each stretch's first advertising event.
    private(set) var starts: [Int64] = []
    /// From here on nothing of the stretch is on the air.
    private(set) var ends: [Int64] = []
    /// Of each stretch, its place in `kinds`.
    private(set) var kindIndices: [Int32] = []
    private(set) var kinds: [Kind] = []

    public init() {}

    /// One interval from the start and without an end.
    /// - Parameters: in microseconds.
    public static func endless(interval: Int64, airTime: Int64 = 376) -> AdvertisingTimeline {
        var timeline = AdvertisingTimeline()
        timeline.append(start: 0, end: .max, interval: interval, airTime: airTime)
        return timeline
    }

    public var count: Int { starts.count }

    /// The air time of the first stretch's PDUs in microseconds; nil where there is none.
    public var firstAirTime: Int64? { kinds.first?.airTime }

    /// Adds a stretch; one without a length is left out.
    /// - Parameters:
    ///   - start: of the first event, not before the last stretch's end.
    ///   - interval: 1 µs to 100 s, advDelay not included.
    ///   - airTime: of one PDU, 1 µs to 20 ms.
    public mutating func append(start: Int64, end: Int64, interval: Int64, airTime: Int64) {
        let start = max(start, ends.last ?? 0)
        guard end > start else { return }
        starts.append(start)
        ends.append(end)
        let kind = Kind(
            interval: min(max(interval, 1), 100_000_000), airTime: min(max(airTime, 1), 20_000))
        kindIndices.append(Int32(kinds.firstIndex(of: kind) ?? kinds.count))
        if kindIndices[kindIndices.count - 1] == kinds.count { kinds.append(kind) }
    }

    /// The last stretch goes on without an end: what follows a run is as its end was.
    public mutating func extendLast() {
        if !ends.isEmpty { ends[ends.count - 1] = .max }
    }

    /// From `end` on it is again as it was at first, for as long as anybody searches.
    mutating func repeatBegin(from end: Int64) {
        for index in starts.indices where starts[index] < Self.repeated {
            let kind = kinds[Int(kindIndices[index])]
            append(
                start: starts[index] + end, end: ends[index] + end, interval: kind.interval,
                airTime: kind.airTime)
        }
    }

    /// An hour: searches end then.
    private static let repeated: Int64 = 3_600_000_000

    public mutating func removeAll() { self = AdvertisingTimeline() }

    /// The first stretch that ends after `time`; `count` where none does.
    func index(after time: Int64) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] > time { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// When a scanner may be started: spans, each instant of which is as likely as any other.
public struct StartSpans: Equatable, Sendable {
    private(set) var begins: [Int64] = []
    /// The length of all spans up to and with this one.
    private(set) var sums: [Int64] = []

    public init() {}

    /// In microseconds.
    public init(from begin: Int64, to end: Int64) { append(from: begin, to: end) }

    /// Adds a span; one without a length is left out.
    public mutating func append(from begin: Int64, to end: Int64) {
        guard end > begin else { return }
        let (sum, overflow) = total.addingReportingOverflow(end - begin)
        guard !overflow else { return }
        begins.append(begin)
        sums.append(sum)
    }

    /// Adds one instant; all instants are as likely.
    public mutating func append(_ instant: Int64) { append(from: instant, to: instant + 1) }

    /// Of the last span; 0 without one.
    var end: Int64 {
        guard let begin = begins.last, let sum = sums.last else { return 0 }
        return begin + sum - (sums.dropLast().last ?? 0)
    }

    public var count: Int { begins.count }
    public var isEmpty: Bool { begins.isEmpty }
    /// The length of all spans in microseconds; the number of instants where they are those.
    public var total: Int64 { sums.last ?? 0 }

    /// The instant at `place`, 0 up to but without `total`, of all spans laid end to end.
    func instant(_ place: Int64) -> Int64 {
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > place { high = middle } else { low = middle + 1 }
        }
        let before = low > 0 ? sums[low - 1] : 0
        return begins[low] + (place - before)
    }
}
