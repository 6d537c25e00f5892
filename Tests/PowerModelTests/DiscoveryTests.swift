// Discovery latency where its closed form is known, over changing intervals and bad parameters.
import SansIO
import Testing

@testable import PowerModel

struct DiscoveryTests {
    private static let always = ScannerModel(
        name: "always", title: "Continuous scanning", window: 60_000_000, interval: 60_000_000)

    private func sums(
        _ scanner: ScannerModel, _ timeline: AdvertisingTimeline,
        from starts: StartSpans = StartSpans(from: 0, to: 1 << 40),
        _ reception: Reception = Reception(), samples: Int = 40_000, seed: UInt64 = 1
    ) -> LatencySums {
        var random = SeededRandom(seed: seed)
        var sums = LatencySums()
        DiscoverySampler(scanner, on: timeline, from: starts, reception).sample(
            samples, &random, into: &sums)
        return sums
    }

    /// From a random instant to an event's start, seconds: (E[X]² + Var X) / 2 E[X].
    private func wait(_ interval: Double) -> Double {
        let mean = interval + 0.005
        return (mean * mean + 0.01 * 0.01 / 12) / (2 * mean)
    }

    /// The middle of the three PDUs is the mean one of those that a channel hears.
    private let pdu = 676e-6 + 376e-6

    @Test("Continuous scanning without loss takes (E[X]² + Var X) / 2 E[X]")
    func continuous() throws {
        for interval in [20_000, 152_500, 1_022_500, 10_240_000 as Int64] {
            let mean = try #require(
                sums(Self.always, .endless(interval: interval), samples: 400_000).mean)
            let expected = wait(Double(interval) / 1e6) + pdu
            let error = (mean.high - mean.low) / 2
            #expect(abs(mean.value - expected) <= 0.003 * expected + error, "\(interval)")
        }
    }

    @Test("Loss adds E[X] p / (1 - p)", arguments: [0.1, 0.5, 0.9])
    func loss(_ loss: Double) throws {
        let mean = try #require(
            sums(
                Self.always, .endless(interval: 100_000), Reception(loss: loss), samples: 200_000
            ).mean)
        let expected = wait(0.1) + 0.105 * loss / (1 - loss) + pdu
        let error = (mean.high - mean.low) / 2
        #expect(abs(mean.value - expected) <= 0.003 * expected + error)
    }

    @Test("Of N advertisers none collides with probability (1 - 2a / (T + 5))^(N - 1)")
    func collisions() {
        for (others, interval) in [(9, 100_000), (99, 1_022_500), (199, 1_022_500)] {
            var random = SeededRandom(seed: 3)
            var crowd = Crowd(count: others, interval: Int64(interval))
            var clear = 0
            let rounds = 6_000
            for _ in 0..<rounds {
                crowd.forget()
                if crowd.isClear(at: 5_000_000, airTime: 376, &random) { clear += 1 }
            }
            let each = 1 - 2 * 376 / (Double(interval) + 5_000)
            let expected = (0..<others).reduce(1.0) { product, _ in product * each }
            let error = 2 * (expected * (1 - expected) / Double(rounds)).squareRoot()
            let share = Double(clear) / Double(rounds)
            #expect(abs(share - expected) <= 0.003 * expected + error, "\(others)")
        }
    }

    @Test("Collisions stay as likely from event to event, and come in rows")
    func collisionsInRows() {
        var random = SeededRandom(seed: 4)
        var crowd = Crowd(count: 20, interval: 100_000)
        var (clear, again, collided) = (0, 0, 0)
        var wasClear = true
        let events = 60_000
        var time: Int64 = 1_000_000
        for _ in 0..<events {
            let isClear = crowd.isClear(at: time, airTime: 376, &random)
            if isClear { clear += 1 } else { collided += 1 }
            if !isClear, !wasClear { again += 1 }
            wasClear = isClear
            time += 100_000 + random.below(10_001)
        }
        let each = 1 - 2 * 376 / 105_000.0
        let expected = (0..<20).reduce(1.0) { product, _ in product * each }
        #expect(abs(Double(clear) / Double(events) - expected) <= 0.01)
        // Who has collided is near, and most likely still near at the next event.
        #expect(Double(again) / Double(collided) > 1.2 * (1 - expected))
    }

    @Test("A crowd makes finding take longer")
    func crowd() throws {
        let alone = try #require(sums(Self.always, .endless(interval: 100_000)).mean)
        let crowded = try #require(
            sums(
                Self.always, .endless(interval: 100_000),
                Reception(crowd: 50, crowdInterval: 100_000), samples: 4_000
            ).mean)
        #expect(crowded.low > alone.high)
    }

    @Test("What is not found within patience is counted as never found")
    func patience() {
        let balanced = ScannerModel(name: "", title: "", window: 183_000, interval: 730_000)
        let reception = Reception(patience: 1_000_000)
        let short = sums(balanced, .endless(interval: 1_022_500), reception)
        #expect(short.samples == 40_000)
        #expect(short.found < 20_000)
        #expect(short.neverFound.value > 0.5)
        #expect(short.quantile(0.95) == nil)
        #expect((short.mean?.value ?? 2) < 1.1)
        let share = sums(balanced, .endless(interval: 1_022_500)).share(within: 1_000_000)
        #expect(abs(1 - share - short.neverFound.value) < 0.015)
    }

    @Test("A window shorter than a PDU never finds anything")
    func noWindow() {
        let scanner = ScannerModel(name: "", title: "", window: 375, interval: 10_000)
        let found = sums(
            scanner, .endless(interval: 20_000), Reception(patience: 10_000_000), samples: 100)
        #expect(found.found == 0)
        #expect(found.mean == nil)
        #expect(found.neverFound.low > 0.9)
    }

    // MARK: timelines

    @Test("At the begin of a stretch the first PDU is found at once")
    func beginOfStretch() throws {
        var timeline = AdvertisingTimeline()
        timeline.append(start: 0, end: 60_000_000, interval: 10_240_000, airTime: 376)
        timeline.append(start: 60_000_500, end: .max, interval: 20_000, airTime: 376)
        var starts = StartSpans()
        starts.append(60_000_000)
        let found = sums(Self.always, timeline, from: starts)
        let slowest = try #require(found.quantile(1))
        #expect(slowest.value < 0.0025)
        #expect(found.found == found.samples)
    }

    @Test("A gap in advertising is waited for")
    func gap() throws {
        var timeline = AdvertisingTimeline()
        timeline.append(start: 0, end: 10_000_000, interval: 100_000, airTime: 376)
        timeline.append(start: 70_000_000, end: .max, interval: 100_000, airTime: 376)
        let found = sums(Self.always, timeline, from: StartSpans(from: 40_000_000, to: 40_000_001))
        let mean = try #require(found.mean)
        #expect(abs(mean.value - 30 - pdu) < 0.001)
    }

    @Test("In a stretch's first events, as later, it takes half an interval on average")
    func phases() throws {
        var timeline = AdvertisingTimeline()
        timeline.append(start: 0, end: .max, interval: 1_000_000, airTime: 376)
        for begin in [0, 4_000_000, 100_000_000 as Int64] {
            let starts = StartSpans(from: begin, to: begin + 1_005_000)
            let mean = try #require(sums(Self.always, timeline, from: starts).mean)
            #expect(abs(mean.value - wait(1) - pdu) < 0.02, "\(begin)")
        }
    }

    @Test("Without advertising nothing is found, and nothing begins where no start is")
    func empty() {
        let never = sums(Self.always, AdvertisingTimeline(), samples: 10)
        #expect(never.samples == 10 && never.found == 0)
        let none = sums(Self.always, .endless(interval: 20_000), from: StartSpans(), samples: 10)
        #expect(none.samples == 0)
        #expect(none.mean == nil && none.quantile(0.5) == nil)
    }

    @Test("Stretches out of order and parameters out of range are taken as the nearest legal ones")
    func limits() {
        var timeline = AdvertisingTimeline()
        timeline.append(start: 5, end: 5, interval: 1, airTime: 1)
        #expect(timeline.count == 0)
        timeline.append(start: 0, end: 100_000_000, interval: -3, airTime: .max)
        timeline.append(start: 50_000_000, end: 200_000_000, interval: .max, airTime: -1)
        #expect(timeline.starts == [0, 100_000_000])
        #expect(timeline.kinds.map(\.interval) == [1, 100_000_000])
        let scanner = ScannerModel(name: "", title: "", window: .max, interval: .max)
        #expect(scanner.window == scanner.interval)
        #expect(scanner.interval == ScannerModel.intervalMax)
        _ = sums(scanner, timeline, from: StartSpans(from: 0, to: .max), samples: 100)
    }
}
