// Mean latency against one fixed interval: the curve on which peaks show.
public import PowerModel
import SansIO

/// Draws the curve of a scanner.
public enum IntervalCurve {
    /// Latencies that are drawn for each point.
    public static let samples = 4_096
    /// From 20 ms on in steps of 20 ms: peaks are wider than that where they matter.
    private static let steps = 125
    private static let step: Int64 = 20_000
    /// Nobody searches longer, so no point takes longer to draw.
    private static let patience: Int64 = 600_000_000

    /// The mean latency of those found within ten minutes, for intervals of 20 ms to 2.5 s and the
    /// ones that Apple recommends.
    ///
    /// - Parameter airTime: of one PDU, in microseconds.
    public static func curve(
        of scanner: ScannerModel, airTime: Int64, seed: UInt64
    ) -> BenchPage.Curve {
        var intervals = (1...Int64(steps)).map { $0 * step }
        intervals += [152_500, 211_250, 318_750, 417_500, 546_250, 852_500, 1_022_500, 1_285_000]
        var points: [BenchPage.Curve.Point] = []
        for interval in intervals.sorted() {
            let sampler = DiscoverySampler(
                scanner, on: .endless(interval: interval, airTime: airTime),
                from: StartSpans(from: 0, to: 86_400_000_000), Reception(patience: patience))
            var random = SeededRandom(seed: seed, stream: "curve \(scanner.name) \(interval)")
            var sums = LatencySums()
            sampler.sample(samples, &random, into: &sums)
            if let mean = sums.mean { points.append(.init(Double(interval) / 1_000, mean.value)) }
        }
        return BenchPage.Curve(name: scanner.title, points: points)
    }
}
