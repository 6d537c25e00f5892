// Several sets in virtual time: each follows its policy, and a change takes none other off the air.
import Emulator
import HCI
import Harness
import Profiles
import SansIO
import Simulation
import Testing
import VirtualController
import Wire

@Suite struct SetIntervalTests {
    /// A run of a profile on the own controller, captured and recorded.
    private struct Run {
        var capture: [UInt8] = []
        var stretches: [AdvertisedStretch] = []
        var lines: [String] = []
        var report: [String] = []

        init(_ text: String, trace: String, seed: UInt64, for span: TimeSpan) throws {
            let profile = try SampleProfile.load(text, trace: trace)
            let device = EmulatedDevice(profile: profile, seed: seed)
            var world = World(port: DevicePort(device: device), seed: seed, timing: .radio)
            world.capture(epoch: BtsnoopWriter.virtualEpoch)
            world.recordAdvertising()
            world.powerOn(at: .zero)
            take(&world)
            while let deadline = world.deadline, deadline < .zero + span {
                world.run(at: deadline)
                take(&world)
            }
            world.closeAdvertised(at: .zero + span)
            take(&world)
            report = world.port.device.intervalReport(until: .zero + span)
        }

        private mutating func take(_ world: inout World) {
            for case .device(let event, _) in world.events.elements {
                if let line = world.port.device.line(for: event, upTo: .info) {
                    lines.append(line.text)
                }
            }
            world.events.removeAll()
            capture += world.takeCapture()
            stretches += world.takeAdvertised()
        }

        /// What a set's host did between its first enabling and the end: the times between a
        /// disabling and the enabling that follows.
        func gaps(of set: UInt8) throws -> [TimeSpan] {
            var off: Instant?
            var gaps: [TimeSpan] = []
            for packet in try #require(BtsnoopFile.packets(capture)) where !packet.isReceived {
                if packet.octets.starts(with: [0x01, 0x39, 0x20, 0x06, 0x00, 0x01, set]) {
                    off = packet.time
                } else if packet.octets.starts(with: [0x01, 0x39, 0x20, 0x06, 0x01, 0x01, set]),
                    let begin = off
                {
                    gaps.append(packet.time - begin)
                    off = nil
                }
            }
            #expect(off == nil, "set \(set) was not enabled again")
            return gaps
        }

        /// The statuses of Command Complete, and of Command Status, that are not success.
        func refusals() throws -> [UInt8] {
            try #require(BtsnoopFile.packets(capture)).filter(\.isReceived).compactMap { packet in
                let octets = packet.octets
                guard octets.count > 6, octets[0] == 0x04 else { return nil }
                let status = octets[1] == 0x0E ? octets[6] : octets[1] == 0x0F ? octets[3] : 0
                return status == 0 ? nil : status
            }
        }
    }

    /// Values on both thresholds, between, above and below them, for two minutes.
    private static func trace(
        _ seed: UInt64
    ) -> (text: String, samples: [(milliseconds: Int64, value: Double)]) {
        var random = SeededRandom(seed: seed, stream: "trace of sets")
        var samples: [(milliseconds: Int64, value: Double)] = []
        var time: Int64 = 0
        var text = "time,magnitude\n"
        while time < 120_000 {
            let value = [0, 0.01, 0.05, 0.08, 0.12, 0.13, 0.3][Int(random.below(7))]
            samples.append((time, random.below(3) > 0 ? 0.02 : value))
            text += "\(Double(time) / 1_000),\(samples[samples.count - 1].value)\n"
            time += 10 + random.below(250) * 10
        }
        return (text, samples)
    }

    private static let span = TimeSpan.seconds(130)

    /// By its place: following the activity, with live data, in a loop, and quite still.
    private static func set(_ place: Int) -> String {
        let pdu = place % 8 < 4 ? "extended" : "legacy"
        let head = "  - {set: s\(place), type: non-connectable, pdu: \(pdu), "
        switch place % 4 {
        case 0:
            return head + "interval: {policy: activity, active: 100 ms, idle: 500 ms}, "
                + "data: [{raw: {type: 0xFF, data: {hex: \"FFFF01\"}}}]}"
        case 1:
            return head + "interval: 300 ms, update: every 2 s, data: [{manufacturer: "
                + "{company: 0xFFFF, fields: [{format: uint8, value: {counter: {}}}]}}]}"
        case 2:
            return head + "interval: {policy: loop, phases: [{interval: 200 ms, for: 7 s}, "
                + "{interval: 1 s, for: 13 s}]}}"
        default: return head + "interval: 400 ms}"
        }
    }

    private static func profile(sets count: Int) -> String {
        """
        peripheral-emu: 1
        device: {name: Shelf}
        activity:
          source: {csv: trace.csv, column: magnitude}
          active-above: 0.12 g
          idle-below: 0.05 g
          hold: 5 s
        advertising:

        """ + (0..<count).map { set($0) }.joined(separator: "\n") + "\n"
    }

    /// The loop's intervals: 7 s of 200 ms, 13 s of 1 s.
    private static var loop: [IntervalTests.Change] {
        (0..<14).map {
            .init(
                milliseconds: $0 / 2 * 20_000 + ($0 % 2 == 0 ? 0 : 7_000),
                steps: $0 % 2 == 0 ? 320 : 1_600)
        }
    }

    @Test(
        "each set's intervals are those of its policy, and its changes are its own alone",
        arguments: [(4, 1), (4, 2), (4, 3), (32, 4), (32, 5)] as [(Int, UInt64)])
    func policies(count: Int, seed: UInt64) throws {
        let (trace, samples) = Self.trace(seed)
        let run = try Run(
            Self.profile(sets: count), trace: trace, seed: seed, for: Self.span)
        let felt = IntervalTests.expected(
            samples, above: 0.12, below: 0.05, hold: 5_000, end: 130_000, step: 10, active: 160,
            idle: 800)
        #expect(felt.count > 3, "the trace has something to tell")
        for place in 0..<count {
            let set = UInt8(place)
            let changes = try IntervalTests.changes(in: run.capture, of: set)
            let stretches = run.stretches.filter { $0.handle == set }
            let gaps = try run.gaps(of: set)
            switch place % 4 {
            case 0: #expect(changes == felt, "set \(place)")
            case 2: #expect(changes == Self.loop, "set \(place)")
            default:
                // Off at no time, whatever the others do, and its data change meanwhile.
                #expect(changes == [.init(milliseconds: 0, steps: place % 4 == 1 ? 480 : 640)])
                #expect(gaps.isEmpty && stretches.count == 1)
                let period = Double(stretches[0].interval) / 1e6 + 0.005
                #expect(abs(Double(stretches[0].events) - Self.span.seconds / period) < 5)
            }
            // One disabling a change, and enabled again at the same instant.
            #expect(gaps == [TimeSpan](repeating: .zero, count: changes.count - 1))
            #expect(stretches.first?.begin == .zero && stretches.last?.end == .zero + Self.span)
            for (one, next) in zip(stretches, stretches.dropFirst()) {
                #expect(one.end == next.begin)
            }
        }
        #expect(try run.refusals().isEmpty)
        Self.check(run, count, felt.count - 1)
    }

    /// What people are told of a change says whose it is, and how long the set was off.
    private static func check(_ run: Run, _ count: Int, _ changes: Int) {
        for place in stride(from: 0, to: count, by: 4) {
            let told = run.lines.count {
                $0.hasPrefix("s\(place): advertising") && $0.contains("after 0 us off the air")
            }
            #expect(told == changes, "set \(place)")
        }
        let head = run.report.firstIndex { $0.contains("set s0") }
        #expect(head != nil && run.report.contains { $0.contains("set s\(count - 1)") })
        #expect(
            run.report.count { $0.contains("\(changes) changes, 0 us off the air each") } > 0)
    }
}
