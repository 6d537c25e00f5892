// The device's own code in virtual time: what the benchmark takes from the air.
import Advertising
import HCI
import Profiles
import SansIO
import Simulation
import TestFiles
import Testing
import Wire

@testable import Bench
@testable import Emulator
@testable import PowerModel

struct DeviceRunTests {
    static func profile(_ name: String) throws -> DeviceProfile {
        let path = "Profiles/\(name).yaml"
        return try ProfileLoader.load(path: path, bytes: SourceTree.bytes(path) ?? []) { file in
            SourceTree.bytes("Profiles/" + file).map { .success($0) }
                ?? SourceTree.bytes(file).map { .success($0) }
                ?? .failure(FileFailure(reason: "it is not there"))
        }
    }

    static func fixed(_ steps: UInt16) throws -> DeviceProfile {
        var profile = try profile("battery")
        profile.advertising[0].policy = .fixed(AdvertisingInterval(steps: steps))
        return profile
    }

    @Test("An interval of 1022.5 ms is advertised every 1027.5 ms on average, by its own event")
    func fixed() throws {
        var run = DeviceRun(try Self.fixed(1_636), seed: 1, duration: .seconds(86_400))
        let record = run.run()
        #expect(record.uses.map(\.interval) == [1_022_500])
        #expect(abs(Double(record.events) - 86_400 / 1.0275) < 5)
        #expect(record.meter.time == .seconds(86_400))
        let data = try Self.fixed(1_636).advertising[0].data
        #expect(
            record.meter.events.map(\.event) == [
                .legacy(data: advertisingBytes(data).count, listens: true)
            ])
        #expect(record.meter.events.map(\.count) == [record.events])
        #expect(record.advertising.timeline.count == 1)
        #expect(record.dayIntervals.count == 1)
        #expect(record.activations == 0 && record.advertising.whileActive.isEmpty)
    }

    @Test("An interval that the device's code sets wrongly is the one that is measured")
    func wrongInterval() throws {
        let profile = try Self.fixed(1_636)
        var right = DeviceRun(profile, seed: 1, duration: .seconds(3_600))
        let before = right.run()
        var wrong = DeviceRun(profile, seed: 1, duration: .seconds(3_600))
        // The policy is as before; the code below it tells the controller something else.
        var hasMeddled = false
        let after = wrong.run { world, now in
            guard !hasMeddled, !world.port.device.host.isQuiet else { return }
            hasMeddled = true
            world.perform(at: now) { device, out, _ in
                device.setWrongInterval(AdvertisingInterval(steps: 160), at: now, &out)
            }
        }
        #expect(before.uses.map(\.interval) == [1_022_500])
        #expect(after.uses.map(\.interval) == [100_000])
        #expect(after.events > 9 * before.events)
        #expect(after.advertising.timeline.kinds.map(\.interval) == [100_000])
        let scanner = try ScannerFileTests.scanner("android-13-balanced")
        let latencies = [before, after].map { record in
            DiscoveryEstimate.run(
                DiscoverySampler(
                    scanner, on: record.advertising.timeline, from: record.advertising.anyTime),
                start: .anyTime, point: "x", seed: 1, precision: 0.05)
        }
        #expect((latencies[1].mean?.high ?? 9) < (latencies[0].mean?.low ?? 0))
    }

    @Test("A day of the adaptive tag: fast after power-on, as its policy says afterwards")
    func adaptive() throws {
        let profile = try Self.profile("adaptive-tag")
        var run = DeviceRun(profile, seed: 1, duration: .seconds(86_400))
        let record = run.run()
        #expect(record.uses.map(\.interval) == [20_000, 152_500, 546_250, 1_285_000])
        #expect(abs(record.uses[0].time.seconds - 30) < 1)
        let whole = record.uses.reduce(TimeSpan.zero) { $0 + $1.time }
        #expect(whole == .seconds(86_400))
        #expect(record.activations > 50)
        #expect(record.advertising.becomingActive.count == record.activations)
        #expect(
            abs(
                Double(record.advertising.whileActive.total) / 1e6
                    - record.activeTime.seconds) < 0.001)
        // Activity that the trace has, and no more: 5 to 10 % of a working day.
        #expect((0.03...0.15).contains(record.activeTime.seconds / 86_400))
        let sorted = zip(record.dayIntervals.dropFirst(), record.dayIntervals)
        #expect(sorted.allSatisfy { $0.from >= $1.to })
        var again = DeviceRun(profile, seed: 1, duration: .seconds(86_400))
        #expect(again.run() == record)
        var other = DeviceRun(profile, seed: 2, duration: .seconds(86_400))
        #expect(other.run() != record)
    }

    @Test("A year of changes every few seconds fits into the memory of a month's")
    func bounded() {
        for days in [30, 365 as Int64] {
            var recorder = TimelineRecorder(duration: days * 86_400_000_000)
            var time: Int64 = 0
            while time < days * 86_400_000_000 {
                recorder.append(
                    start: time, end: time + 5_000_000, interval: 152_500, airTime: 376)
                recorder.append(
                    start: time + 5_000_000, end: time + 25_000_000, interval: 1_022_500,
                    airTime: 376)
                time += 25_000_000
            }
            let recorded = recorder.recorded
            #expect(recorded.timeline.count <= TimelineRecorder.weightMax + 8_192)
            #expect(recorder.share < 1)
            // What is kept is as the whole: a fifth of the time fast.
            var fast: Int64 = 0
            let last = recorded.timeline.count - 1
            for index in 0..<last
            where recorded.timeline.kinds[Int(recorded.timeline.kindIndices[index])].interval
                == 152_500
            {
                fast += recorded.timeline.ends[index] - recorded.timeline.starts[index]
            }
            let share = Double(fast) / Double(recorded.anyTime.total)
            #expect(abs(share - 0.2) < 0.002)
        }
    }

    @Test("Rounds of a repeated trace begin at other times, and stay near where they were")
    func jitter() throws {
        var trace = TraceSource(samples: [
            .init(time: .seconds(0), value: 0), .init(time: .seconds(600), value: 1),
            .init(time: .seconds(660), value: 0), .init(time: .seconds(3_600), value: 0),
        ])
        trace.repeats = true
        trace.jitter = .seconds(75)
        var profile = try Self.profile("environment-sensor")
        profile.activity?.sources = [.trace(trace)]
        var run = DeviceRun(profile, seed: 1, duration: .seconds(86_400))
        let record = run.run()
        #expect(record.activations == 24)
        let begins = record.dayActivity.map { $0.from.seconds }
        let offsets = begins.enumerated().map { $1 - Double($0) * 3_600 - 600 }
        #expect(offsets[0] == 0)
        #expect(offsets.allSatisfy { abs($0) <= 75 })
        #expect(Set(offsets.map { Int($0) }).count > 15)
    }
}

extension EmulatedDevice {
    /// What a mistake in the device's code could do.
    fileprivate mutating func setWrongInterval(
        _ interval: AdvertisingInterval, at now: Instant, _ out: inout ByteBlock
    ) {
        host.setInterval(interval, at: now, sending: &out)
    }
}
