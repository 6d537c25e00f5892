// How a phone or a gateway listens for advertisements.

/// A scanner that listens for `window` at the start of each `interval`, on the three primary
/// advertising channels in turn (Core 6.0, Vol 6, Part B, 4.4.3).
public struct ScannerModel: Equatable, Sendable {
    /// For options and tables: `android-13-balanced`.
    public var name: String
    /// For people: `Android 13 and later, balanced`.
    public var title: String
    /// In microseconds, above 0 and at most `interval`.
    public var window: Int64
    /// In microseconds, at most `intervalMax`.
    public var interval: Int64
    /// Where the numbers are from.
    public var source: String
    /// What holds only in part, for people; empty where nothing is to be said.
    public var note: String

    /// One minute: more than any platform's.
    public static let intervalMax: Int64 = 60_000_000

    /// A window beyond the interval is the interval; both are within their ranges.
    public init(
        name: String, title: String, window: Int64, interval: Int64, source: String = "",
        note: String = ""
    ) {
        self.name = name
        self.title = title
        self.interval = min(max(interval, 1), Self.intervalMax)
        self.window = min(max(window, 1), self.interval)
        self.source = source
        self.note = note
    }
}
