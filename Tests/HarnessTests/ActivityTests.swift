// A device on the virtual controller whose use changes at any moment.
import Advertising
import Emulator
import HCI
import Harness
import Profiles
import SansIO
import Testing
import Wire

@Suite struct ActivityTests {
    static let profile = """
        peripheral-emu: 1
        device: {name: T, connections: 1}
        activity:
          source: [stdin, gatt]
          active-above: 0.12 g
          idle-below: 0.05 g
          hold: 200 ms
        advertising:
          - type: connectable
            interval:
              policy: activity
              idle: 500 ms
              levels: [{from: 0.1, interval: 250 ms}, {from: 0.5, interval: 60 ms}]
              boost: {interval: 20 ms, for: 500 ms}
            data: [{flags: [general-discoverable, no-br-edr]}]

        """

    /// The statuses of all answers in a capture.
    static func statuses(_ packets: [CapturedPacket]) -> [UInt8] {
        packets.compactMap { packet in
            guard packet.isReceived, packet.octets.count > 6, packet.octets[0] == 4 else {
                return nil
            }
            switch packet.octets[1] {
            case 0x0E: return packet.octets[6]
            case 0x0F: return packet.octets[3]
            default: return nil
            }
        }
    }

    @Test("thousands of changes, connections and disconnections earn no Command Disallowed")
    func neverDisallowed() throws {
        let profile = try SampleProfile.load(Self.profile)
        var (answers, changes) = (0, 0)
        for seed in 0..<8 {
            var world = GuestWorld(
                EmulatedDevice(profile: profile, seed: UInt64(seed)), seed: UInt64(seed),
                timing: .radio)
            var random = SeededRandom(seed: UInt64(seed), stream: "use")
            let isOn = world.powerOn()
            #expect(isOn)
            for step in 0..<1600 {
                world.feel(.sample(random.unit()))
                world.run(for: .microseconds(random.below(60_000)))
                if step % 40 == 20 { world.connect() }
                if step % 40 == 35 { world.disconnect() }
            }
            let statuses = Self.statuses(world.takePackets())
            #expect(statuses.allSatisfy { $0 == 0 })
            answers += statuses.count
            changes += world.port.device.history?.changeCount ?? 0
        }
        #expect(answers > 4000)
        #expect(changes > 1000)
    }

    @Test("the interval follows the values at their instants, and a connection ends its time")
    func follows() throws {
        let profile = try SampleProfile.load(Self.profile)
        var world = GuestWorld(EmulatedDevice(profile: profile, seed: 1))
        let isOn = world.powerOn()
        #expect(isOn)
        world.run(for: .seconds(2))
        world.feel(.sample(0.3))
        world.run(for: .seconds(1))
        world.feel(.sample(0))
        world.run(for: .seconds(1))
        world.feel(.sourceLost(reason: "gone"))
        let history = try #require(world.port.device.history)
        #expect(
            history.changes.map { "\(($0.at - history.start).microseconds) \($0.from) \($0.to)" }
                == [
                    "500000 20 ms 500 ms", "2000000 500 ms 60 ms", "3000000 60 ms 500 ms",
                ])
        #expect(history.changes.allSatisfy { $0.gap == .zero })
        #expect(
            world.lines.contains("activity source stdin is lost: gone"))
        let isConnected = world.connect()
        #expect(isConnected)
        let isOver = world.disconnect()
        #expect(isOver)
        world.run(for: .milliseconds(100))
        // The boost begins at the disconnection, without a moment of the interval before.
        let after = try #require(world.port.device.history).changes.suffix(1)
        #expect(after.map { "\($0.to) \($0.gap == nil)" } == ["20 ms true"])
    }
}

extension ActivityTests {
    @Test("a central that listens all the time misses nothing but the gap of a change")
    func nothingLost() throws {
        var world = GuestWorld(
            EmulatedDevice(profile: try SampleProfile.load(Self.profile), seed: 3), seed: 3,
            timing: .ideal)
        let isOn = world.powerOn()
        #expect(isOn)
        world.startListening()
        var random = SeededRandom(seed: 3, stream: "use")
        var heardAt: [Instant] = []
        for _ in 0..<60 {
            world.feel(.sample(random.unit()))
            let end = world.now + .milliseconds(500 + random.below(1000))
            while world.now < end {
                let count = world.reportCount
                if world.run(within: end - world.now, until: { $0.reportCount > count }) {
                    heardAt.append(world.now)
                }
            }
        }
        let history = try #require(world.port.device.history)
        #expect(history.changeCount > 10)
        // The interval in force when an event was, and its advDelay of up to 10 ms; a change begins
        // anew at once. The air time of a report is well within 1 ms.
        for (earlier, later) in zip(heardAt, heardAt.dropFirst()) {
            let before = history.changes.last { $0.at <= earlier }?.to
            let interval = before ?? AdvertisingInterval(steps: 32)
            let limit = TimeSpan(microseconds: interval.microseconds) + .milliseconds(11)
            #expect(later - earlier <= limit, "at \(earlier)")
        }
        #expect(heardAt.count > 200)
    }
}

extension ActivityTests {
    @Test("live fields reach the air at each update, and advertising goes on meanwhile")
    func liveData() throws {
        let text =
            Self.profile.replacing(
                "[{flags: [general-discoverable, no-br-edr]}]",
                with: """
                    [{manufacturer: {company: 0xFFFF, fields: [{activity: level},
                      {value-of: count}, {format: uint8, value: {counter: {start: 3, step: 2}}},
                      {format: uint8, value: {activity: active}}]}}]
                        update: every 10 s
                    """)
                + """
                services:
                  - service: 0x1234
                    characteristics:
                      - {characteristic: 0x5678, label: count, read: open, write: open,
                         format: uint8, value: 9}

                """
        let device = EmulatedDevice(profile: try SampleProfile.load(text), seed: 1)
        var world = GuestWorld(device)
        let isOn = world.powerOn()
        #expect(isOn)
        world.run(for: .seconds(5))
        world.feel(.sample(0.25))
        world.run(for: .seconds(10))
        let packets = world.takePackets()
        // Command opcode 0x2037, LE Set Extended Advertising Data: its length and data.
        let data = packets.filter { !$0.isReceived && $0.octets.starts(with: [1, 0x37, 0x20]) }
        #expect(
            data.map { Hex.string(Array($0.octets[7..<16])) } == [
                "0807FFFFFF00090300", "0807FFFFFF32090501",
            ])
        #expect(data.last?.time == Instant.zero + .seconds(10))
        // Enable is not sent for it.
        let index = packets.lastIndex { $0.octets.starts(with: [1, 0x37, 0x20]) } ?? 0
        let next = packets[(index + 1)...].prefix(3)
        #expect(next.allSatisfy { !$0.octets.starts(with: [1, 0x39, 0x20]) })
        #expect(Self.statuses(packets).allSatisfy { $0 == 0 })
    }
}
