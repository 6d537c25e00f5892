// What the page of a benchmark shows: plain values, made by whoever ran it.

/// The contents of the page. A plot without values is left out.
public struct BenchPage: Equatable, Sendable {
    /// A table for people.
    public struct Table: Equatable, Sendable {
        public var title: String
        public var head: [String]
        public var rows: [[String]]

        public init(title: String, head: [String], rows: [[String]]) {
            self.title = title
            self.head = head
            self.rows = rows
        }
    }

    /// A policy on the plane of life and latency.
    public struct Choice: Equatable, Sendable {
        public var name: String
        /// Years.
        public var life: ClosedRange<Double>
        /// Seconds.
        public var latency: Double
        /// Whether no other is better in both.
        public var isOnFront: Bool

        public init(name: String, life: ClosedRange<Double>, latency: Double, isOnFront: Bool) {
            self.name = name
            self.life = life
            self.latency = latency
            self.isOnFront = isOnFront
        }
    }

    /// A stretch of a day, in hours since its start.
    public struct Span: Equatable, Sendable {
        public var from: Double
        public var to: Double
        /// Milliseconds; 0 for activity.
        public var interval: Double

        public init(from: Double, to: Double, interval: Double = 0) {
            self.from = from
            self.to = to
            self.interval = interval
        }
    }

    /// A curve with a name: a scanner's.
    public struct Curve: Equatable, Sendable {
        public struct Point: Equatable, Sendable {
            public var x: Double
            public var y: Double

            public init(_ x: Double, _ y: Double) {
                self.x = x
                self.y = y
            }
        }

        public var name: String
        public var points: [Point]

        public init(name: String, points: [Point]) {
            self.name = name
            self.points = points
        }
    }

    /// A cause and its mean current.
    public struct Charge: Equatable, Sendable {
        public var cause: String
        /// Microamperes.
        public var current: Double

        public init(cause: String, current: Double) {
            self.cause = cause
            self.current = current
        }
    }

    public var title: String
    /// Sentences below it: what was run, and the main figures.
    public var summary: [String] = []
    public var choices: [Choice] = []
    /// Which latency `choices` are about: `95 of 100 found when picked up, balanced Android`.
    public var choiceLatency = ""
    public var dayIntervals: [Span] = []
    public var dayActivity: [Span] = []
    /// x in seconds, y the share found within it, 0 to 1.
    public var distributions: [Curve] = []
    public var charges: [Charge] = []
    /// x the interval in milliseconds, y the mean latency in seconds.
    public var intervalCurves: [Curve] = []
    public var tables: [Table] = []

    public init(title: String) { self.title = title }

    /// Its plots in the order of the page, those without values left out.
    public var plots: [Plot] {
        [
            choices.isEmpty ? nil : Plot.pareto(choices, latency: choiceLatency),
            dayIntervals.isEmpty ? nil : Plot.day(dayIntervals, dayActivity),
            distributions.isEmpty ? nil : Plot.distribution(distributions),
            charges.isEmpty ? nil : Plot.charge(charges),
            intervalCurves.isEmpty ? nil : Plot.intervals(intervalCurves),
        ].compactMap { $0 }
    }
}
