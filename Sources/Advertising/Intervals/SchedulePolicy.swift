// The policy `schedule`: an interval for each time of day.
import HCI
public import SansIO

struct SchedulePolicy: IntervalChooser {
    /// By time of day.
    private let entries: [ScheduleEntry]
    private let fallback: AdvertisingInterval
    /// A midnight; nil while the time of day is not known.
    private var midnight: Instant?
    private var index: Int?
    private var end: Instant?

    init(_ entries: [ScheduleEntry], fallback: AdvertisingInterval?) {
        let entries = entries.map {
            ScheduleEntry(from: $0.from.withinDay, interval: $0.interval)
        }
        self.entries = entries.enumerated().sorted {
            ($0.element.from, $0.offset) < ($1.element.from, $1.offset)
        }.map(\.element)
        self.fallback = fallback ?? entries.map(\.interval).max() ?? .minimum
    }

    var choice: IntervalChoice {
        guard let index, entries.indices.contains(index) else {
            return IntervalChoice(interval: fallback, reason: "time of day not known")
        }
        let entry = entries[index]
        return IntervalChoice(
            interval: entry.interval, reason: "schedule, from \(entry.from.clockText)")
    }

    var deadline: Instant? { end }

    mutating func take(_ input: IntervalInput, at now: Instant) {
        guard case .timeOfDay(let time) = input else { return }
        midnight = now - time.withinDay
        place(at: now)
    }

    mutating func expire(at now: Instant) { place(at: now) }

    private mutating func place(at now: Instant) {
        guard let midnight, !entries.isEmpty else { return }
        let time = (now - midnight).withinDay
        // Before the day's first entry the last one of the day before holds.
        let index = entries.lastIndex { $0.from <= time } ?? entries.count - 1
        self.index = index
        let next = entries.first { $0.from > time }?.from ?? entries[0].from + .day
        let end = now + (next - time)
        self.end = entries.count > 1 && end > now ? end : nil
    }
}

extension TimeSpan {
    /// The time of day: `07:00`, `07:00:30`.
    public var clockText: String {
        let seconds = withinDay.microseconds / 1_000_000
        let pair = { (value: Int64) in value < 10 ? "0\(value)" : "\(value)" }
        let minutes = pair(seconds / 3600) + ":" + pair(seconds / 60 % 60)
        return seconds % 60 == 0 ? minutes : minutes + ":" + pair(seconds % 60)
    }
}
