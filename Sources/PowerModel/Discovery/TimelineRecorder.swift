// Keeps of a run's advertising what the discovery sampler needs, in bounded memory.

/// Stretches of advertising and spans of activity as a run brings them; times in microseconds.
///
/// The run is cut into windows. Where their stretches become too many, every second window is
/// dropped, and later ones are kept at that distance: a sample of the whole run, laid end to end.
/// A window is no divisor of a day, so that all times of day are among them.
public struct TimelineRecorder: Sendable {
    /// What of a run lies in one window.
    private struct Window: Sendable {
        var stretches: [Stretch] = []
        var active: [(from: Int64, to: Int64)] = []
        var becameActive: [Int64] = []

        var weight: Int { stretches.count + active.count + becameActive.count }
    }

    fileprivate struct Stretch: Sendable {
        var start: Int64
        var end: Int64
        var interval: Int64
        var airTime: Int64
        /// Whether it is the rest of one that began in the window before.
        var isRest: Bool
    }

    /// Stretches, spans and instants kept; 32 octets each.
    public static let weightMax = 1 << 17
    private static let windowCount: Int64 = 4_096

    private let duration: Int64
    private let repeats: Bool
    private let length: Int64
    /// The distance of the windows that are kept.
    private var stride = 1
    private var windows: [Window] = []
    private var weight = 0

    /// - Parameters:
    ///   - duration: of the run, above 0.
    ///   - repeats: whether it is on the air now and then, and so after the run as before.
    public init(duration: Int64, repeats: Bool = false) {
        self.duration = max(duration, 1)
        self.repeats = repeats
        length = max(1_000_000, self.duration / Self.windowCount + 1)
    }

    /// A stretch of advertising from its first event on.
    public mutating func append(start: Int64, end: Int64, interval: Int64, airTime: Int64) {
        cut(start, end) { window, from, to in
            window.stretches.append(
                Stretch(
                    start: from, end: to, interval: interval, airTime: airTime,
                    isRest: from != start))
        }
    }

    /// A span in which the accessory was active.
    public mutating func appendActive(from begin: Int64, to end: Int64) {
        cut(begin, end) { window, from, to in window.active.append((from, to)) }
    }

    /// The accessory became active.
    public mutating func appendBecameActive(at instant: Int64) {
        cut(instant, instant + 1) { window, at, _ in window.becameActive.append(at) }
    }

    private mutating func cut(
        _ begin: Int64, _ end: Int64, _ body: (inout Window, Int64, Int64) -> Void
    ) {
        let end = min(end, duration)
        var from = max(begin, 0)
        while from < end {
            let index = Int(from / length)
            let to = min(end, Int64(index + 1) * length)
            if index % stride == 0 {
                let place = index / stride
                while windows.count <= place { windows.append(Window()) }
                weight -= windows[place].weight
                body(&windows[place], from, to)
                weight += windows[place].weight
                if weight > Self.weightMax, windows.count > 1 { thin() }
            }
            from = to
        }
    }

    private mutating func thin() {
        stride *= 2
        windows = windows.indices.filter { $0 % 2 == 0 }.map { windows[$0] }
        weight = windows.reduce(0) { $0 + $1.weight }
    }

    /// The share of the run that is kept, 0 to 1.
    public var share: Double { 1 / Double(stride) }

    /// What is kept, and when scanners may start.
    public var recorded: RecordedTimeline {
        var recorded = RecordedTimeline()
        var pending: Stretch?
        // It may have gone silent before the end.
        let count = windows.isEmpty ? 0 : Int((duration - 1) / length) / stride + 1
        for place in 0..<max(windows.count, count) {
            let window = place < windows.count ? windows[place] : Window()
            let begin = Int64(place * stride) * length
            // Windows are laid end to end.
            let shift = begin - Int64(place) * length
            recorded.anyTime.append(
                from: begin - shift, to: min(begin + length, duration) - shift)
            for var stretch in window.stretches {
                stretch.start -= shift
                stretch.end -= shift
                if stretch.isRest, let before = pending, before.end == stretch.start,
                    before.interval == stretch.interval, before.airTime == stretch.airTime
                {
                    pending?.end = stretch.end
                } else {
                    if let before = pending { recorded.append(before) }
                    pending = stretch
                }
            }
            for (from, to) in window.active {
                recorded.whileActive.append(from: from - shift, to: to - shift)
            }
            for instant in window.becameActive { recorded.becomingActive.append(instant - shift) }
        }
        if let last = pending { recorded.append(last) }
        let end = recorded.anyTime.end
        if repeats {
            recorded.timeline.repeatBegin(from: end)
        } else if pending?.end == end {
            recorded.timeline.extendLast()
        }
        return recorded
    }
}

/// The advertising of a run, and when scanners may start.
public struct RecordedTimeline: Equatable, Sendable {
    public fileprivate(set) var timeline = AdvertisingTimeline()
    public fileprivate(set) var anyTime = StartSpans()
    public fileprivate(set) var whileActive = StartSpans()
    public fileprivate(set) var becomingActive = StartSpans()

    public init() {}

    fileprivate mutating func append(_ stretch: TimelineRecorder.Stretch) {
        timeline.append(
            start: stretch.start, end: stretch.end, interval: stretch.interval,
            airTime: stretch.airTime)
    }
}
