// Whole benchmarks: equal however they are shared out, policies swept, targets met or missed.
import Advertising
import HCI
import PowerModel
import Profiles
import SansIO
import TestFiles
import Testing
import Wire

@testable import Bench

struct BenchRunTests {
    static func request(
        _ profile: String = "environment-sensor", sweep: [String] = [],
        scanners: [String] = ["android-13-balanced", "ios-foreground"],
        duration: TimeSpan = .seconds(7_200)
    ) throws -> BenchRequest {
        func bytes(_ kind: ModelKind, _ name: String) -> (String, [UInt8]) {
            let path = "Profiles/" + kind.file(of: name)
            return (path, SourceTree.bytes(path) ?? [])
        }
        let chip = bytes(.soc, "nrf52832")
        let battery = bytes(.battery, "cr2032")
        let sensor = bytes(.sensor, "lis2dw12")
        let profile = try DeviceRunTests.profile(profile)
        let radio = try #require(
            Radio(
                try ModelLoader.chip(path: chip.0, bytes: chip.1).chip, voltage: 3, power: 0))
        return BenchRequest(
            profile: profile,
            policies: try Sweep.policies(
                try sweep.map { try SweepOption($0) }, of: profile.advertising[0].policy,
                hasActivity: profile.activity != nil),
            scanners: try scanners.map { try ScannerFileTests.scanner($0) }, radio: radio,
            battery: try ModelLoader.battery(path: battery.0, bytes: battery.1),
            sensors: [try ModelLoader.sensor(path: sensor.0, bytes: sensor.1)],
            duration: duration, precision: 0.1,
            settings: [.init("profile", "x", isDefault: false)])
    }

    private static let sweep = ["policy=fixed,activity", "interval=apple", "active=20ms,152.5ms"]

    @Test("Shards, written and read, join to what one process finds", arguments: [1, 2, 4, 7, 30])
    func shards(_ count: Int) throws {
        for sweep in [[], Self.sweep] {
            let request = try Self.request(sweep: sweep)
            let alone = try BenchRun.run(request)
            var parts: [(name: String, result: BenchResult)] = []
            for number in (1...count).reversed() {
                let part = try BenchRun.run(
                    request, shard: BenchShard(number: number, count: count))
                let text = part.json.text()
                let read = try #require(
                    BenchResult(try JSONValue(Array(text.utf8).span)), "part \(number)")
                #expect(read == part)
                parts.append(("\(number)", read))
            }
            let merged = try BenchMerge.merge(parts)
            #expect(merged == alone)
            #expect(merged.json.text() == alone.json.text())
            #expect(merged.csv == alone.csv)
            let texts = [merged, alone].map {
                BenchText.text($0, targets: [.life(years: 2)], start: .anyTime)
            }
            #expect(texts[0] == texts[1])
        }
    }

    @Test("A policy's figures are the same alone and among others")
    func alone() throws {
        let many = try BenchRun.run(try Self.request(sweep: ["policy=profile,fixed,two-phase"]))
        let one = try BenchRun.run(try Self.request(sweep: ["policy=two-phase"]))
        #expect(many.points.count == 3)
        var last = many.points[2]
        last.index = 0
        #expect(last == one.points[0])
    }

    @Test("Parts that do not belong together are refused, each with the reason")
    func refusals() throws {
        let request = try Self.request(sweep: Self.sweep)
        let parts = try (1...3).map { number in
            (
                name: "part-\(number)",
                result: try BenchRun.run(request, shard: BenchShard(number: number, count: 3))
            )
        }
        func message(_ parts: [(name: String, result: BenchResult)]) -> String {
            do {
                _ = try BenchMerge.merge(parts)
                return ""
            } catch { return "\(error)" }
        }
        #expect(message(parts) == "")
        #expect(message([]).contains("there is no part"))
        #expect(message([parts[0], parts[2]]).contains("1 of 3 parts are missing: 2"))
        #expect(message(parts + [parts[1]]).contains("part-2 and part-2 are the same part"))
        var other = parts
        other[1].result.settings[0].value = "y"
        #expect(message(other).contains("profile is y, not x"))
        other = parts
        other[2].result.points[0].latencies[0] = nil
        #expect(message(other).contains("lacks figures"))
    }

    @Test("What is no part of a benchmark is not read as one")
    func notAPart() throws {
        let text = try BenchRun.run(try Self.request()).json.text()
        #expect(BenchResult(.null) == nil)
        #expect(BenchResult(.members(("bench", .integer(1)))) == nil)
        for (old, new) in [
            ("\"bench\":1", "\"bench\":2"), ("\"shard\":\"1/1\"", "\"shard\":\"2/1\""),
            ("\"policies\":1", "\"policies\":0"), ("\"index\":0", "\"index\":7"),
            ("\"rough\":false", "\"rough\":0"), ("\"start\":\"any\"", "\"start\":\"x\""),
        ] {
            #expect(text.contains(old), "\(old)")
            let octets = Array(text.replacing(old, with: new).utf8)
            #expect(BenchResult(try JSONValue(octets.span)) == nil, "\(new)")
        }
    }

    // MARK: targets

    @Test("The cheapest policy that meets the targets is found, and is on the front")
    func advice() throws {
        let result = try BenchRun.run(try Self.request(sweep: Self.sweep))
        let targets: [BenchTarget] = [
            try .life("6mon"), try .p95("1s@active", usual: .anyTime),
        ]
        let advice = try #require(result.advice(for: targets))
        let best = result.points[advice.place]
        #expect(advice.isMet)
        #expect(best.energy.life.lowerBound >= 0.5)
        #expect(try #require(best.slowest(.whileActive)).p95 <= 1)
        for point in result.points where point.energy.current < best.energy.current {
            #expect(targets.contains { $0.miss(point) > 1 })
        }
        #expect(result.front(.whileActive).contains(advice.place))
        let text = BenchText.text(result, targets: targets, start: .whileActive)
        #expect(text.contains("The cheapest policy with a life of 0.5 years"))
        #expect(text.contains("interval:\n  policy: activity\n  active: 152.5 ms"))
    }

    @Test("Where nothing meets a target, it is said by how much")
    func missed() throws {
        let result = try BenchRun.run(try Self.request(sweep: Self.sweep))
        let targets: [BenchTarget] = [.life(years: 50), .p95(seconds: 0.001, .anyTime)]
        let advice = try #require(result.advice(for: targets))
        #expect(!advice.isMet)
        let text = BenchText.text(result, targets: targets, start: .anyTime)
        #expect(text.contains("No policy has a life of 50 years, and 95 of 100 found"))
        #expect(text.contains("off by"))
    }

    @Test("The front has those policies that no other beats in both, the cheapest first")
    func front() throws {
        let result = try BenchRun.run(try Self.request(sweep: Self.sweep))
        let front = result.front(.anyTime)
        #expect(!front.isEmpty && front.count < result.points.count)
        for (place, point) in result.points.enumerated() {
            let isBeaten = result.points.contains { other in
                other.energy.current <= point.energy.current
                    && (other.slowest(.anyTime)?.p95 ?? 0) < (point.slowest(.anyTime)?.p95 ?? 0)
            }
            #expect(front.contains(place) == !isBeaten)
        }
    }

    @Test("Targets that are no times are refused")
    func targets() throws {
        #expect(try BenchTarget.life("400d") == .life(years: 400 / 365.0))
        #expect(try BenchTarget.p95("500ms", usual: .anyTime) == .p95(seconds: 0.5, .anyTime))
        for text in ["", "2", "y", "0y", "-1y", "nan y", "1e400y", "2s"] {
            #expect(throws: BenchError.self, "\(text)") { try BenchTarget.life(text) }
        }
        for text in ["", "1", "1s@", "1s@night", "0s", "@any", "1h"] {
            #expect(throws: BenchError.self, "\(text)") {
                try BenchTarget.p95(text, usual: .anyTime)
            }
        }
    }

    // MARK: bad input

    private func message(_ change: (inout BenchRequest) -> Void) throws -> String {
        var request = try Self.request()
        change(&request)
        do {
            _ = try BenchRun.run(request)
            return ""
        } catch { return "\(error)" }
    }

    @Test("A trace with a gap, a live source and nothing to measure are refused, each so")
    func badInput() throws {
        let rows = (0..<100 as Range<Int64>).map {
            ActivityRule.Sample(time: .seconds($0 * 10 + ($0 > 50 ? 9_000 : 0)), value: 0.1)
        }
        #expect(
            try message { $0.profile.activity?.sources = [.trace(TraceSource(samples: rows))] }
                .contains("says nothing from 500 s to 9510 s, where its rows are 10 s apart"))
        #expect(
            try message { $0.profile.activity?.sources = [.live(.stdin)] }
                .contains("bench cannot follow stdin"))
        #expect(try message { $0.profile.advertising = [] }.contains("does not advertise"))
        #expect(try message { $0.scanners = [] }.contains("no duration, no policy or no scanner"))
        #expect(try message { $0.duration = .zero }.contains("no duration"))
    }

    @Test("Traces of NaN, backward time and no rows do not get as far as the benchmark")
    func badTraces() {
        for (text, problem) in [
            ("time,magnitude\n0,nan\n", "'nan' is no decimal number"),
            ("time,magnitude\n5,0\n4,0\n", "the time does not rise"),
            ("time,magnitude\n", "the trace has no rows"),
            ("time,magnitude\nnan,0\n", "is no decimal number"),
        ] {
            let error = #expect(throws: ProfileErrors.self) {
                try ProfileLoader.trace(path: "t.csv", column: nil, bytes: Array(text.utf8))
            }
            let said = error?.list.first.map { "\($0)" } ?? ""
            #expect(said.contains(problem))
        }
    }
}
