// Sets with a duration: on the air for it, off until their period or a disconnection brings them
// back.
import Emulator
import Harness
import Profiles
import SansIO
import Simulation
import Testing
import VirtualController
import Wire

@Suite struct AirTimesTests {
    /// A run on the own controller.
    private struct Run {
        var world: World
        var lines: [String] = []
        var stretches: [AdvertisedStretch] = []

        init(_ sets: String, central: Bool = false) throws {
            let profile = try SampleProfile.load(
                "peripheral-emu: 1\ndevice: {name: Burst}\nadvertising:\n" + sets)
            let device = EmulatedDevice(profile: profile, seed: 1)
            let other = ScriptedCentral(
                targets: [device.randomAddress].compactMap { $0 },
                address: DeviceAddress(littleEndian: 0xC0FF_EE00_0001))
            world = World(
                port: DevicePort(device: device), seed: 1, timing: .radio,
                central: central ? other : nil)
            world.recordAdvertising()
            world.powerOn(at: .zero)
        }

        mutating func run(until end: Instant) {
            take()
            while let deadline = world.deadline, deadline < end {
                world.run(at: deadline)
                take()
            }
            world.run(at: end)
            world.closeAdvertised(at: end)
            take()
        }

        private mutating func take() {
            for case .device(let event, _) in world.events.elements {
                if let line = world.port.device.line(for: event, upTo: .info) {
                    lines.append("\(world.now - .zero) \(line.text)")
                }
            }
            world.events.removeAll()
            stretches += world.takeAdvertised()
        }

        /// When each set was on the air, in seconds, and where it was a train.
        var spans: [String] {
            stretches.filter { $0.end > $0.begin }.map {
                "\($0.handle ?? 0)\($0.isTrain ? " train" : "") "
                    + "\($0.begin.microseconds / 1_000_000)-\($0.end.microseconds / 1_000_000)"
            }
        }
    }

    private static let train =
        "pdu: extended, periodic: {interval: 100 ms, data: [{name: complete}]}, "

    @Test("a burst beacon is on the air for its duration once in each period, its train with it")
    func period() throws {
        var run = try Run(
            "  - {set: burst, type: non-connectable, interval: 200 ms, \(Self.train)"
                + "duration: 10 s, period: 1 min}\n"
                + "  - {set: still, type: non-connectable, interval: 300 ms}\n")
        run.run(until: .zero + .seconds(150))
        let own = run.stretches.filter { $0.handle == 0 && !$0.isTrain && $0.end > $0.begin }
        #expect(
            own.map(\.begin) == [.zero, .zero + .seconds(60), .zero + .seconds(120)])
        #expect(own.allSatisfy { $0.end - $0.begin == .seconds(10) })
        // The other one knows nothing of it.
        #expect(run.spans.filter { $0.hasPrefix("1") } == ["1 0-150"])
        #expect(
            run.spans.filter { $0.contains("train") } == [
                "0 train 0-10", "0 train 60-70", "0 train 120-130",
            ])
        #expect(
            run.lines.filter { $0.contains("burst") } == [
                "0 s burst: advertising non-connectable every 200 ms: fixed",
                "10 s burst: advertising stopped",
                "60 s burst: advertising non-connectable every 200 ms: fixed",
                "70 s burst: advertising stopped",
                "120 s burst: advertising non-connectable every 200 ms: fixed",
                "130 s burst: advertising stopped",
            ])
        let report = run.world.port.device.intervalReport(until: .zero + .seconds(150))
        #expect(report.contains { $0.contains("not advertising") && $0.contains("80.0 %") })
    }

    @Test("without a period it is once, and again after each disconnection where one can connect")
    func once() throws {
        var beacon = try Run(
            "  - {type: non-connectable, interval: 200 ms, duration: 10 s}\n")
        beacon.run(until: .zero + .seconds(100))
        #expect(beacon.spans == ["0 0-10"])
        var accessory = try Run(
            "  - {type: connectable, interval: 200 ms, duration: 10 s}\n", central: true)
        accessory.run(until: .zero + .seconds(100))
        let spans = accessory.stretches.filter { $0.end > $0.begin }
        #expect(spans.count == 2, "\(accessory.spans) \(accessory.lines)")
        #expect(spans[0].end < .zero + .seconds(10))
        #expect(spans[1].end - spans[1].begin == .seconds(10))
        #expect(accessory.lines.contains { $0.hasSuffix("advertising stopped") })
    }

    @Test("a change of the interval in the pause holds from the next time on")
    func intervals() throws {
        var run = try Run(
            "  - {type: non-connectable, duration: 2 s, period: 10 s, interval: {policy: loop, "
                + "phases: [{interval: 200 ms, for: 5 s}, {interval: 1 s, for: 10 s}]}}\n")
        run.run(until: .zero + .seconds(30))
        let seen = run.stretches.filter { $0.end > $0.begin }.map {
            "\($0.begin.microseconds / 1_000_000) \($0.interval / 1_000)"
        }
        // 200 ms to 5 s, 1 s to 15 s, 200 ms to 20 s.
        #expect(seen == ["0 200", "10 1000", "20 1000"])
    }

    @Test("a flash gives other times, which begin with it; the same ones go on")
    func flash() throws {
        let text = "  - {type: non-connectable, interval: 200 ms, duration: 10 s, period: 1 min}\n"
        var run = try Run(text)
        func flash(_ sets: String) throws {
            let profile = try SampleProfile.load(
                "peripheral-emu: 1\ndevice: {name: Burst}\nadvertising:\n" + sets)
            let now = run.world.now
            run.world.perform(at: now) { device, out, events in
                device.replace(profile: profile, at: now, sending: &out, emit: &events)
            }
        }
        run.run(until: .zero + .seconds(30))
        try flash(text.replacing("200 ms", with: "400 ms"))
        run.run(until: .zero + .seconds(65))
        try flash("  - {type: non-connectable, interval: 400 ms, duration: 5 s}\n")
        run.run(until: .zero + .seconds(80))
        try flash("  - {type: non-connectable, interval: 400 ms}\n")
        run.run(until: .zero + .seconds(90))
        #expect(run.spans == ["0 0-10", "0 60-65", "0 65-70", "0 80-90"])
    }
}
