// A periodic train with live data: on the air at once, without a pause of the train or its set.
import Emulator
import HCI
import Harness
import Profiles
import SansIO
import Simulation
import Testing
import VirtualController
import Wire

/// A host that follows the first train that it finds.
private struct Follower {
    let port: Int
    /// What the train said, and when.
    private(set) var heard: [(at: Instant, data: [UInt8])] = []

    init(_ world: inout World, of advertiser: DeviceAddress, sid: UInt8) throws {
        let host = world.addHost()
        port = try #require(host)
        send(Reset(), in: &world)
        var mask = SetEventMask()
        mask.eventMask = .max
        send(mask, in: &world)
        var leMask = LESetEventMask()
        leMask.leEventMask = .max
        send(leMask, in: &world)
        var sync = LEPeriodicAdvertisingCreateSync()
        (sync.advertisingSid, sync.syncTimeout) = (sid, 100)
        (sync.advertiserAddressType, sync.advertiserAddress) = (.randomDevice, advertiser)
        send(sync, in: &world)
        var scan = LESetExtendedScanParameters()
        scan.scanningPHYs = 1
        var entry = LESetExtendedScanParameters.Entry()
        (entry.scanInterval, entry.scanWindow) = (96, 96)
        scan.entries = [entry]
        send(scan, in: &world)
        var enable = LESetExtendedScanEnable()
        enable.enable = 1
        send(enable, in: &world)
    }

    private func send(_ command: some HCICommand, in world: inout World) {
        var block = ByteBlock()
        block.append(command: command)
        world.receive(block.bytes.span, from: port, at: world.now)
    }

    mutating func collect(_ world: inout World) throws {
        var block = ByteBlock()
        world.drain(port, into: &block)
        var offset = 0
        let bytes = block.bytes
        while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
            if bytes[offset + 1] == EventCode.leMeta.rawValue,
                bytes[offset + 3] == LESubevent.periodicAdvertisingReport.rawValue
            {
                let report = try LEPeriodicAdvertisingReport(
                    hci: bytes.span.extracting(offset + 4..<end))
                heard.append((world.now, report.data))
            }
            offset = end
        }
    }
}

@Suite struct LiveTrainTests {
    private static let profile = """
        peripheral-emu: 1
        device: {name: Train}
        advertising:
          - set: main
            type: non-connectable
            interval: 100 ms
            pdu: extended
            sid: 3
            update: every 1 s
            data: [{name: complete}]
            periodic:
              interval: 100 ms
              data:
                - manufacturer:
                    company: 0xFFFF
                    fields: [{format: uint8, value: {counter: {}}}]
        """

    @Test("whoever follows a train hears each new value with the next event, and misses none")
    func heard() throws {
        let profile = try SampleProfile.load(Self.profile)
        let device = EmulatedDevice(profile: profile, seed: 1)
        let address = try #require(device.randomAddress)
        var world = World(port: DevicePort(device: device), seed: 1, timing: .radio)
        world.capture(epoch: BtsnoopWriter.virtualEpoch)
        var follower = try Follower(&world, of: address, sid: 3)
        world.powerOn(at: .zero)
        var capture: [UInt8] = []
        let span = TimeSpan.milliseconds(20_050)
        while let deadline = world.deadline, deadline <= .zero + span {
            world.run(at: deadline)
            world.events.removeAll()
            try follower.collect(&world)
            capture += world.takeCapture()
        }
        // Found within the first second, then ten events a second.
        #expect(follower.heard.count > 190)
        let values = follower.heard.compactMap(\.data.last)
        #expect(follower.heard.allSatisfy { $0.data.starts(with: [4, 0xFF, 0xFF, 0xFF]) })
        for (at, value) in zip(follower.heard.map(\.at), values) {
            // A PDU that began before the update has the old value.
            let seconds = at.microseconds / 1_000_000
            let isFresh = at.microseconds % 1_000_000 < 1_000
            let offset = Int64(value) - Int64(values[0]) - seconds
            #expect(offset == 0 || isFresh && offset == -1, "\(at): \(value)")
        }
        let commands = try #require(BtsnoopFile.packets(capture)).filter { !$0.isReceived }
        func count(_ opcode: UInt8) -> Int {
            commands.count { $0.octets.starts(with: [0x01, opcode, 0x20]) }
        }
        // LE Set Periodic Advertising Data, and the two Enable.
        #expect(count(0x3F) == 21 && count(0x40) == 1 && count(0x39) == 1)
    }

    @Test("a flash changes, adds and takes a train, which ends with its set and with the device")
    func flash() throws {
        func run(_ world: inout World, for span: TimeSpan) -> [AdvertisedStretch] {
            let end = world.now + span
            while let deadline = world.deadline, deadline < end { world.run(at: deadline) }
            world.run(at: end)
            world.closeAdvertised(at: end)
            world.events.removeAll()
            return world.takeAdvertised().filter { $0.isTrain && $0.events > 0 }
        }
        let first = try SampleProfile.load(Self.profile)
        let slower = try SampleProfile.load(
            Self.profile.replacing("      interval: 100 ms", with: "      interval: 500 ms"))
        let without = try SampleProfile.load(
            Self.profile.components(before: "    periodic:").replacing(
                "    update: every 1 s\n", with: ""))
        var world = World(
            port: DevicePort(device: EmulatedDevice(profile: first, seed: 1)), seed: 1,
            timing: .radio)
        world.capture(epoch: BtsnoopWriter.virtualEpoch)
        world.recordAdvertising()
        world.powerOn(at: .zero)
        func flash(_ profile: DeviceProfile, _ world: inout World) {
            let now = world.now
            world.perform(at: now) { device, out, events in
                device.replace(profile: profile, at: now, sending: &out, emit: &events)
            }
        }
        var intervals: [[Int64]] = []
        for next in [slower, without, first, nil] {
            intervals.append(run(&world, for: .seconds(10)).map(\.interval))
            if let next { flash(next, &world) } else { world.powerOff(at: world.now) }
        }
        intervals.append(run(&world, for: .seconds(10)).map(\.interval))
        #expect(intervals == [[100_000], [500_000], [], [100_000], []])
        let capture = world.takeCapture()
        let refusals = try #require(BtsnoopFile.packets(capture)).filter {
            $0.isReceived && $0.octets[1] == 0x0E && $0.octets[6] != 0
        }
        #expect(refusals.isEmpty)
    }
}

extension String {
    /// What stands before the first place of `text`.
    fileprivate func components(before text: String) -> String {
        firstRange(of: text).map { String(self[..<$0.lowerBound]) } ?? self
    }
}
