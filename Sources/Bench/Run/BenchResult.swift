// What a benchmark found: figures of each policy, against each scanner.
public import PowerModel
public import SansIO

/// All figures of a benchmark, or of a part of it.
public struct BenchResult: Equatable, Sendable {
    public var settings: [BenchRequest.Setting]
    /// For tables.
    public var scanners: [String]
    /// In the order of the request.
    public var points: [PolicyResult]
}

/// The figures of one policy.
public struct PolicyResult: Equatable, Sendable {
    public var name: String
    /// In words.
    public var text: String
    /// As the value of a profile's `interval:`, one line each.
    public var yaml: [String]
    public var energy: EnergyReport
    public var uses: [DeviceRecord.Use]
    public var duration: TimeSpan
    public var activeTime: TimeSpan
    public var activations: Int
    public var keptShare: Double
    public var dayIntervals: [DeviceRecord.Span]
    public var dayActivity: [DeviceRecord.Span]
    /// By scanner; nil where another part has it.
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
