// Sums and histogram of latencies: buckets, quantiles, confidence, parts.
import Testing

@testable import PowerModel

struct LatencySumsTests {
    private func sums(_ latencies: some Sequence<Int64>) -> LatencySums {
        var sums = LatencySums()
        for latency in latencies { sums.add(latency) }
        return sums
    }

    @Test("Buckets follow one another without a gap, and none is wider than 0.2 %")
    func buckets() {
        for bucket in 0..<LatencySums.bucketCount {
            let (from, to) = (LatencySums.latency(of: bucket), LatencySums.latency(of: bucket + 1))
            #expect(to > from)
            #expect(LatencySums.bucket(of: from) == bucket)
            #expect(LatencySums.bucket(of: to - 1) == bucket)
            #expect(Double(to - from) <= max(1, 0.002 * Double(from)))
        }
    }

    @Test("Mean, quantiles and shares of a thousand latencies")
    func figures() throws {
        let sums = sums((1...1_000).map { Int64($0) * 1_000 })
        let mean = try #require(sums.mean)
        #expect(abs(mean.value - 0.5005) < 1e-9)
        // The standard deviation is 288.8 ms.
        #expect(abs(mean.high - mean.value - 1.96 * 0.2888 / 31.62) < 1e-4)
        for rank in [0.01, 0.5, 0.9, 0.99, 1] {
            let quantile = try #require(sums.quantile(rank))
            #expect(abs(quantile.value - rank) <= 0.003)
            #expect(quantile.low <= quantile.value && quantile.value <= quantile.high)
        }
        #expect(abs(sums.share(within: 250_000) - 0.25) < 0.002)
        #expect(sums.share(within: -1) == 0)
        #expect(sums.share(within: .infinity) == 1)
    }

    @Test("Parts add up to the same in any order")
    func parts() {
        let (one, two) = (sums((1...500).map { $0 * 777 }), sums((1...900).map { $0 * 12_345_678 }))
        var (forth, back) = (one, two)
        forth.add(two)
        back.add(one)
        #expect(forth == back)
        #expect(forth.samples == 1_400)
    }

    @Test("The longest latencies count as twelve days, negative ones as none")
    func extremes() {
        let sums = sums([.max, .min, LatencySums.latencyMax])
        #expect(sums.found == 3)
        #expect(sums.quantile(1)?.value ?? 0 > 1e6)
        #expect(sums.quantile(0.01)?.value ?? 1 < 1e-5)
    }
}
