// What is kept of many latencies: exact sums and a histogram, which add up in any order.
import Wire

/// A figure and its confidence interval of 95 %.
public struct Estimate: Equatable, Sendable {
    public var value: Double
    public var low: Double
    public var high: Double

    public init(_ value: Double, _ low: Double, _ high: Double) {
        self.value = value
        self.low = low
        self.high = high
    }

    /// Half the interval's width in parts of the value; 0 for a value of 0.
    public var relativeError: Double { value > 0 ? (high - low) / 2 / value : 0 }
}

/// Latencies in microseconds: their number, sum, sum of squares and a histogram.
///
/// All whole numbers, so that parts add up to the same whatever their order. Buckets are 1 µs up
/// to 1 ms and at most 0.2 % of the latency beyond.
public struct LatencySums: Equatable, Sendable {
    /// Latencies, found or not.
    public private(set) var samples: Int = 0
    public private(set) var found: Int = 0
    private(set) var sum: Int64 = 0
    private(set) var squares: Int128 = 0
    private(set) var counts: [UInt32]
    /// Beyond the last bucket that has been used.
    private(set) var bucketsUsed = 0

    /// Twelve days; longer ones count as so long.
    public static let latencyMax: Int64 = 1 << 40
    /// Halves of an octave are cut into so many buckets: 2 to the power of this.
    private static let bucketBits = 9
    static let bucketCount = bucket(of: latencyMax) + 1

    public init() { counts = [UInt32](repeating: 0, count: Self.bucketCount) }

    static func bucket(of latency: Int64) -> Int {
        let bits = Int64.bitWidth - (latency | 1).leadingZeroBitCount
        let shift = max(0, bits - bucketBits - 1)
        return shift << bucketBits + Int(latency >> Int64(shift))
    }

    /// The first latency of a bucket.
    static func latency(of bucket: Int) -> Int64 {
        let shift = max(0, bucket >> bucketBits - 1)
        return Int64(bucket - shift << bucketBits) << Int64(shift)
    }

    mutating func add(_ latency: Int64) {
        let latency = min(max(latency, 0), Self.latencyMax)
        samples += 1
        found += 1
        sum &+= latency
        squares &+= Int128(latency) * Int128(latency)
        let bucket = Self.bucket(of: latency)
        counts[bucket] &+= 1
        bucketsUsed = max(bucketsUsed, bucket + 1)
    }

    mutating func addNeverFound() { samples += 1 }

    public mutating func add(_ other: LatencySums) {
        samples += other.samples
        found += other.found
        sum &+= other.sum
        squares &+= other.squares
        for bucket in 0..<other.bucketsUsed { counts[bucket] &+= other.counts[bucket] }
        bucketsUsed = max(bucketsUsed, other.bucketsUsed)
    }

    // MARK: figures, in seconds

    /// 1.96 standard errors make an interval of 95 %.
    private static let deviations = 1.959964

    /// Of those that were found; nil where fewer than two were.
    public var mean: Estimate? {
        guard found > 1 else { return nil }
        let count = Double(found)
        let mean = Double(sum) / count
        let variance = max(0, Double(squares) / count - mean * mean) * count / (count - 1)
        let half = Self.deviations * (variance / count).squareRoot()
        return Estimate(mean / 1e6, max(0, mean - half) / 1e6, (mean + half) / 1e6)
    }

    /// The latency that the share `rank`, 0 to 1, of all samples does not exceed; nil where so many
    /// were not found.
    public func quantile(_ rank: Double) -> Estimate? {
        let count = Double(samples)
        guard samples > 1, let value = value(atRank: rank * count) else { return nil }
        let half = Self.deviations * (count * rank * (1 - rank)).squareRoot()
        let low = self.value(atRank: max(0, rank * count - half)) ?? value
        // Where the upper rank was never found, the largest latency says the least.
        let high = self.value(atRank: rank * count + half) ?? largest
        return Estimate(value / 1e6, low / 1e6, high / 1e6)
    }

    /// The share of samples that were not found, by Wilson's interval.
    public var neverFound: Estimate {
        guard samples > 0 else { return Estimate(0, 0, 1) }
        let count = Double(samples)
        let share = Double(samples - found) / count
        let z = Self.deviations
        let centre = (share + z * z / (2 * count)) / (1 + z * z / count)
        let spread =
            (share * (1 - share) / count + z * z / (4 * count * count)).squareRoot() * z
            / (1 + z * z / count)
        return Estimate(share, max(0, centre - spread), min(1, centre + spread))
    }

    /// The share of all samples found within `latency` microseconds, 0 to 1.
    public func share(within latency: Double) -> Double {
        guard samples > 0, latency > 0 else { return 0 }
        let whole = Int64(min(latency, Double(Self.latencyMax)))
        let last = Self.bucket(of: whole)
        var below = 0
        for bucket in 0..<min(last, bucketsUsed) { below += Int(counts[bucket]) }
        let (from, to) = (Self.latency(of: last), Self.latency(of: last + 1))
        let part = (latency - Double(from)) / Double(to - from)
        return (Double(below) + Double(counts[last]) * min(max(part, 0), 1)) / Double(samples)
    }

    private var largest: Double { Double(Self.latency(of: bucketsUsed)) }

    /// Interpolated within its bucket; nil beyond what was found.
    private func value(atRank rank: Double) -> Double? {
        guard found > 0, rank <= Double(found) else { return nil }
        var below = 0.0
        for bucket in 0..<bucketsUsed where counts[bucket] > 0 {
            let count = Double(counts[bucket])
            if below + count >= rank {
                let (from, to) = (Self.latency(of: bucket), Self.latency(of: bucket + 1))
                return Double(from) + Double(to - from) * max(0, rank - below) / count
            }
            below += count
        }
        return largest
    }
}
