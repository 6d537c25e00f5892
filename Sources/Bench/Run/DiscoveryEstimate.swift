// Latency of one device against one scanner, to the precision asked for.
public import PowerModel
import SansIO

/// What was found out about one kind of start.
public struct LatencyResult: Equatable, Sendable {
    public var start: StartRule
    public var samples: Int
    /// Seconds; of those that were found. nil where none was.
    public var mean: Estimate?
    /// Of all: nil where so many were not found.
    public var median: Estimate?
    public var p90: Estimate?
    public var p95: Estimate?
    public var p99: Estimate?
    /// The share that was not found before the scanner gave up.
    public var neverFound: Estimate
    /// Whether the samples were too few for the precision.
    public var isRough: Bool
    /// Shares found within latencies that rise evenly on a scale of logarithms, for plots.
    public var distribution: [Point]

    public struct Point: Equatable, Sendable {
        /// Seconds.
        public var latency: Double
        public var share: Double

        public init(latency: Double, share: Double) {
            self.latency = latency
            self.share = share
        }
    }
}

/// Draws blocks of samples until the mean and the 95th percentile are precise enough.
///
/// Block n of a point has its own random numbers, and the rule looks at blocks 0 to n in turn, so
/// the outcome depends on nothing but the point.
enum DiscoveryEstimate {
    static let blockSamples = 4_096
    /// Fewer say nothing about the 95th percentile.
    private static let blocksMin = 2
    /// Two million samples: what is not precise then is called rough.
    static let blocksMax = 512

    static func run(
        _ sampler: DiscoverySampler, start: StartRule, point: String, seed: UInt64,
        precision: Double
    ) -> LatencyResult {
        var sums = LatencySums()
        var isPrecise = false
        for block in 0..<blocksMax {
            var random = SeededRandom(seed: seed, stream: "discovery \(point) block \(block)")
            sampler.sample(blockSamples, &random, into: &sums)
            guard block + 1 >= blocksMin else { continue }
            isPrecise = Self.isPrecise(sums, precision)
            if isPrecise { break }
        }
        return LatencyResult(
            start: start, samples: sums.samples, mean: sums.mean, median: sums.quantile(0.5),
            p90: sums.quantile(0.9), p95: sums.quantile(0.95), p99: sums.quantile(0.99),
            neverFound: sums.neverFound, isRough: !isPrecise, distribution: distribution(sums))
    }

    private static func isPrecise(_ sums: LatencySums, _ precision: Double) -> Bool {
        guard let mean = sums.mean else { return true }
        guard mean.relativeError <= precision else { return false }
        return sums.quantile(0.95).map { $0.relativeError <= precision } ?? true
    }

    /// Forty points from a thousandth of the largest latency on.
    private static func distribution(_ sums: LatencySums) -> [LatencyResult.Point] {
        let last = (sums.quantile(0.999) ?? sums.quantile(0.99) ?? sums.mean)?.high ?? 0
        guard last > 0 else { return [] }
        return (0...40).map { step in
            let latency = last * tenToThe(Double(step - 40) * 3 / 40)
            return .init(latency: latency, share: sums.share(within: latency * 1e6))
        }
    }
}
