// The discovery sampler against an independent simulation, row by row.
import Glibc
import PowerModel
import SansIO
import TestFiles
import Testing

struct DiscoveryReferenceTests {
    /// One row of the reference; times in microseconds.
    private struct Row: Sendable, CustomTestStringConvertible {
        var scanner: ScannerModel
        var interval: Int64
        var mean: Double
        var meanError: Double
        var quantiles: [(rank: Double, latency: Double)]

        init?(_ line: Substring) {
            let columns = line.split(separator: " ")
            let numbers = columns.dropFirst().compactMap { Double($0).map { $0 * 1_000 } }
            guard numbers.count == 9, let name = columns.first else { return nil }
            scanner = ScannerModel(
                name: String(name), title: String(name), window: Int64(numbers[1]),
                interval: Int64(numbers[0]))
            interval = Int64(numbers[2])
            mean = numbers[3]
            meanError = numbers[4]
            quantiles = Array(zip([0.5, 0.9, 0.95, 0.99], numbers[5...]))
        }

        var testDescription: String { "\(scanner.name) at \(interval) us" }
    }

    private static let rows = SourceTree.text("Tests/PowerModelTests/Vectors/discovery.txt").split(
        separator: "\n"
    ).filter { !$0.hasPrefix("#") }.compactMap { Row($0) }

    /// As many as the reference's where there is time for them.
    private static let samples = getenv("PERIPHERAL_EMU_LONG") != nil ? 2_000_000 : 40_000

    @Test("The reference has all its rows")
    func count() { #expect(Self.rows.count == 104) }

    @Test("Mean and quantiles are those of the reference", arguments: rows)
    private func row(_ row: Row) throws {
        let sampler = DiscoverySampler(
            row.scanner, on: .endless(interval: row.interval),
            from: StartSpans(from: 0, to: 1_000_000_000_000))
        var random = SeededRandom(seed: 8, stream: "\(row.scanner.name) \(row.interval)")
        var sums = LatencySums()
        sampler.sample(Self.samples, &random, into: &sums)
        #expect(sums.found == Self.samples)
        let mean = try #require(sums.mean)
        let error = (mean.high - mean.low) / 2 / 1.96 * 1e6
        let spread = (error * error + row.meanError * row.meanError).squareRoot()
        #expect(abs(mean.value * 1e6 - row.mean) <= 0.005 * row.mean + 3 * spread)
        for (rank, latency) in row.quantiles {
            // Half a percentage point, and what so few samples may be off by.
            let chance = 3.5 * (rank * (1 - rank) / Double(Self.samples)).squareRoot()
            #expect(abs(sums.share(within: latency) - rank) <= 0.005 + chance, "\(rank)")
        }
    }
}
