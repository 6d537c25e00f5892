// What a benchmark found: figures of each policy, against each scanner.
public import PowerModel
public import SansIO

/// All figures of a benchmark, or of one shard of it.
public struct BenchResult: Equatable, Sendable {
    /// Which shard's; all of them where it is whole.
    public var shard = BenchShard.all
    public var settings: [BenchRequest.Setting]
    /// Without their sources.
    public var scanners: [ScannerModel]
    /// How many policies the whole benchmark has.
    public var policyCount: Int
    /// In the order of the request.
    public var points: [PolicyResult]

    /// How a start is weighed where nobody says how: when picked up, where it ever is.
    public var usualStart: StartRule {
        let isFelt = points.contains { $0.slowest(.becomingActive) != nil }
        return isFelt ? .becomingActive : .anyTime
    }
}

/// The figures of one policy.
public struct PolicyResult: Equatable, Sendable {
    /// Its place in the request, from 0.
    public var index: Int
    public var name: String
    /// In words.
    public var text: String
    /// As the value of a profile's `interval:`, one line each.
    public var yaml: [String]
    public var energy: EnergyFigures
    public var uses: [DeviceRecord.Use]
    public var duration: TimeSpan
    public var activeTime: TimeSpan
    public var activations: Int
    /// Of one PDU, in microseconds.
    public var airTime: Int64
    /// The share of the run that latencies were drawn from, 0 to 1.
    public var keptShare: Double
    public var dayIntervals: [DeviceRecord.Span]
    public var dayActivity: [DeviceRecord.Span]
    /// By scanner; nil where another shard has it.
    public var latencies: [[LatencyResult]?]

    public var events: Int64 { uses.reduce(0) { $0 + $1.events } }

    /// What one scanner saw of starts by this rule.
    public func latency(_ scanner: Int, _ start: StartRule) -> LatencyResult? {
        guard latencies.indices.contains(scanner) else { return nil }
        return latencies[scanner]?.first { $0.start == start }
    }

    /// The scanner that takes longest to find 95 of 100, and how long; infinite where it finds
    /// fewer. nil where nothing is known of such starts.
    public func slowest(_ start: StartRule) -> (scanner: Int, p95: Double)? {
        var slowest: (scanner: Int, p95: Double)?
        for scanner in latencies.indices {
            guard let latency = latency(scanner, start) else { continue }
            let p95 = latency.p95?.value ?? .infinity
            if p95 > slowest?.p95 ?? -1 { slowest = (scanner, p95) }
        }
        return slowest
    }
}

/// What a policy costs.
public struct EnergyFigures: Equatable, Sendable {
    public struct Share: Equatable, Sendable {
        public var cause: String
        /// Mean microamperes.
        public var current: Double
    }

    public var shares: [Share]
    /// Mean microamperes, without the battery's own loss.
    public var current: Double
    /// Years, as a band.
    public var life: ClosedRange<Double>
    /// The share of the battery's capacity that can be used.
    public var usable: ClosedRange<Double>
    public var isLimitedByShelfLife: Bool

    /// Whether the battery cannot feed the largest pulse even when it is new.
    public var isTooWeak: Bool { usable.upperBound <= 0 }

    init(_ report: EnergyReport) {
        shares = report.shares.map { Share(cause: $0.cause.name, current: $0.current) }
        current = report.current
        life = report.life
        usable = report.usable
        isLimitedByShelfLife = report.isLimitedByShelfLife
    }

    init(
        shares: [Share], current: Double, life: ClosedRange<Double>, usable: ClosedRange<Double>,
        isLimitedByShelfLife: Bool
    ) {
        self.shares = shares
        self.current = current
        self.life = life
        self.usable = usable
        self.isLimitedByShelfLife = isLimitedByShelfLife
    }
}
