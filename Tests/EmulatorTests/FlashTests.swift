// A new version of the profile in a device with a connected and subscribed client.
import BLEHost
import Emulator
import GATT
import Harness
import Profiles
import SansIO
import Testing
import VirtualController
import Wire

/// Not a cipher: equal messages, equal codes, which is all that these tests need.
struct FoldingAuthenticator: MessageAuthenticator {
    func cmac(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in message { hash = (hash ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        return (0..<16).map { UInt8(truncatingIfNeeded: hash >> UInt64(4 * $0)) }
    }
}

extension GuestWorld {
    /// The ranges that Service Changed has told since `start` events were heard.
    func changes(since start: Int) -> [ClosedRange<UInt16>] {
        let handle = port.device.host.server.serviceChangedHandle
        return heard[start...].compactMap {
            guard case .client(.indication(let told, let value)) = $0, told == handle,
                value.count == 4
            else { return nil }
            let (low, high) = (value.span.uint16(at: 0), value.span.uint16(at: 2))
            return low <= high ? low...high : nil
        }
    }

    /// The values of `handle` that have been notified since `start` events were heard.
    func notified(_ handle: UInt16, since start: Int) -> [[UInt8]] {
        heard[start...].compactMap {
            if case .client(.notification(handle, let value)) = $0 { value } else { nil }
        }
    }

    var isConnected: Bool {
        port.device.host.links.contains(where: \.isOpen)
            && !heard.contains { if case .disconnected = $0 { true } else { false } }
    }

    /// The client's number at the server.
    var client: Int { port.device.host.links.firstIndex(where: \.isOpen) ?? 0 }

    mutating func subscribe(_ cccd: UInt16?, notify: Bool = true) {
        perform(.subscribe(cccd: cccd ?? 0, notify: notify, indicate: !notify))
    }

    mutating func read(_ handle: UInt16) -> [UInt8]? {
        for case .value(handle, let value) in perform(.read(handle: handle)) { return value }
        return nil
    }
}

@Suite struct FlashTests {
    static let services = """
        services:
          - service: battery
            characteristics:
              - {characteristic: battery-level, read: open, notify: open, value: 50}
          - service: 0xA000
            characteristics:
              - characteristic: 0xB000
                label: mode
                read: open
                write: open
                format: uint8
                value: 1
                descriptors:
                  - {descriptor: 0x2901, read: open, write: open, value: {text: A}}
              - characteristic: 0xB001
                label: count
                read: open
                notify: open
                format: uint8
                value: {counter: {start: 0, step: 1}}
                update: every 1 s

        """
    static let head = """
        peripheral-emu: 1
        device: {name: Flashed}
        advertising:
          - type: connectable
            interval: 100 ms
            data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]

        """

    static func load(_ text: String) throws -> DeviceProfile {
        try ProfileLoader.load(path: "p.yaml", bytes: Array(text.utf8)) { _ in
            .success(Array("time,magnitude\n0,0.5\n".utf8))
        }
    }

    /// Connected, and subscribed to Service Changed, the level and the count.
    static func world(_ text: String = head + services) throws -> GuestWorld {
        let device = EmulatedDevice(
            profile: try load(text), seed: 1, authenticator: FoldingAuthenticator())
        var world = GuestWorld(device)
        world.powerOn()
        world.connect()
        world.subscribe(device.cccdHandle("service-changed"), notify: false)
        world.subscribe(device.cccdHandle("battery-level"))
        world.subscribe(device.cccdHandle("count"))
        return world
    }

    private func expect(
        _ world: inout GuestWorld, reads value: [UInt8], at handle: UInt16,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let seen = world.read(handle)
        #expect(seen == value, sourceLocation: sourceLocation)
    }

    private func edited(_ pairs: (String, String)...) -> String {
        var text = Self.head + Self.services
        for (from, to) in pairs {
            let parts = text.split(separator: from, maxSplits: 1, omittingEmptySubsequences: false)
            text = parts.map { String($0) }.joined(separator: to)
        }
        return text
    }

    @Test("another value is notified and read; what was written and what counts goes on")
    func values() throws {
        var world = try Self.world()
        let device = world.port.device
        world.perform(.write(handle: device.valueHandle("mode"), value: [9]))
        let description = device.valueHandle("mode") + 1
        world.perform(.write(handle: description, value: [0x42]))
        world.run(for: .milliseconds(3500))
        let start = world.heard.count
        world.flash(try Self.load(edited(("value: 50", "value: 51"))))
        world.run(for: .milliseconds(1500))
        #expect(world.isConnected && world.changes(since: start).isEmpty)
        #expect(world.notified(device.valueHandle("battery-level"), since: start) == [[51]])
        #expect(world.notified(device.valueHandle("count"), since: start).first == [4])
        expect(&world, reads: [9], at: device.valueHandle("mode"))
        expect(&world, reads: [0x42], at: description)
        #expect(
            world.lines.contains(
                "flashed p.yaml: the attribute table is the same; new values of battery-level"))
        // Another declaration takes the place of what was written.
        world.flash(try Self.load(edited(("value: 1", "value: 2"), ("text: A", "text: C"))))
        expect(&world, reads: [2], at: device.valueHandle("mode"))
        expect(&world, reads: [0x43], at: description)
    }

    @Test("a service before others moves them: their values go on, their subscriptions end")
    func moved() throws {
        var world = try Self.world()
        world.perform(.write(handle: world.port.device.valueHandle("mode"), value: [9]))
        world.run(for: .milliseconds(3500))
        let start = world.heard.count
        let old = world.port.device
        let added = """
            services:
              - service: device-information
                characteristics:
                  - {characteristic: manufacturer-name-string, read: open, value: Acme}

            """
        world.flash(try Self.load(edited(("services:\n", added))))
        let device = world.port.device
        #expect(device.valueHandle("mode") == old.valueHandle("mode") + 3)
        let end = device.plan.table.attributes.last?.handle ?? 0
        #expect(world.changes(since: start) == [old.valueHandle("battery-level") - 2...end])
        #expect(device.host.server.cccd(of: device.cccdHandle("count"), client: world.client) == 0)
        expect(&world, reads: [9], at: device.valueHandle("mode"))
        expect(&world, reads: [3], at: device.valueHandle("count"))
        #expect(
            world.lines.contains {
                $0.hasSuffix(" for 1 link, ended 2 subscriptions")
                    && $0.hasPrefix("flashed p.yaml: the attribute table changed, Service Changed")
            })
        let count = world.heard.count
        world.run(for: .milliseconds(1500))
        #expect(world.notified(device.valueHandle("count"), since: count).isEmpty)
        world.subscribe(device.cccdHandle("count"))
        world.run(for: .milliseconds(1500))
        #expect(!world.notified(device.valueHandle("count"), since: count).isEmpty)
        guard case .discovered(let services)? = world.perform(.discover).last else {
            Issue.record("nothing is discovered")
            return
        }
        #expect(services.count == 5)
    }

    @Test("another table has another hash, and a client with robust caching keeps its link")
    func robustCaching() throws {
        var world = try Self.world()
        let device = world.port.device
        let features = device.valueHandle("client-supported-features")
        let hash = device.valueHandle("database-hash")
        world.perform(.write(handle: features, value: [1]))
        let before = world.read(hash)
        world.flash(try Self.load(edited(("label: count", "label: total"), ("0xB001", "0xB002"))))
        let after = world.read(hash)
        #expect(after != before && before?.count == 16)
        #expect(world.isConnected)
    }

    @Test("interval, advertising data, name, type and connections follow without a new start")
    func advertising() throws {
        var world = try Self.world()
        let phases = "[{interval: 200 ms, for: 10 s}, {interval: 300 ms, for: 10 s}]"
        let loop = "interval: {policy: loop, phases: \(phases)}"
        world.flash(
            try Self.load(edited(("interval: 100 ms", loop), ("name: Flashed", "name: Other"))))
        #expect(world.isConnected)
        #expect(world.lines.contains { $0.hasPrefix("not before the next start: the address ") })
        #expect(world.lines.contains { $0.hasPrefix("interval 100 ms -> 200 ms: ") })
        world.disconnect()
        world.run(for: .seconds(11))
        #expect(world.lines.contains { $0.hasPrefix("advertising connectable every 300 ms") })
        world.flash(try Self.load(edited(("type: connectable", "type: non-connectable"))))
        world.run(for: .seconds(1))
        #expect(world.lines.contains { $0.hasPrefix("advertising non-connectable every 100 ms") })
        // The latest parameters of the set: ADV_NONCONN_IND.
        let parameters = world.takePackets().last { $0.octets.starts(with: [1, 0x36, 0x20]) }
        #expect(parameters?.octets[5...6] == [0x10, 0])
        world.flash(try Self.load(Self.head + Self.services))
        let isFound = world.connect()
        #expect(isFound)
    }

    @Test("an activity that is declared later is felt, and the policy that asks for it follows")
    func activity() throws {
        var world = try Self.world()
        let activity = """
            activity:
              source: {csv: t.csv, column: magnitude}
              active-above: 0.12 g
              idle-below: 0.05 g
              hold: 5 s
            advertising:
              - type: connectable
                interval: {policy: activity, active: 50 ms, idle: 500 ms}

            """
        let data = "data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]"
        let old = "advertising:\n  - type: connectable\n    interval: 100 ms\n"
        world.flash(try Self.load(edited((old, activity), (data, data))))
        world.run(for: .seconds(1))
        #expect(world.lines.contains { $0.hasPrefix("interval 100 ms -> 500 ms: ") })
        #expect(world.lines.contains { $0.contains("-> 50 ms: activity 0.5 g above 0.12 g") })
        #expect(world.port.device.host.interval?.microseconds == 50_000)
    }

    @Test("reactions to writes are those of the new version")
    func reactions() throws {
        var world = try Self.world()
        let rule = "value: 1\n        on-write: [{when: {is: 7}, do: {reject: 0x80}}]"
        world.flash(try Self.load(edited(("value: 1", rule))))
        let mode = world.port.device.valueHandle("mode")
        let answer = world.perform(.write(handle: mode, value: [7]))
        #expect(
            answer.contains {
                if case .failed(_, .error(ATTError(rawValue: 0x80), handle: mode)) = $0 {
                    true
                } else {
                    false
                }
            })
        world.flash(try Self.load(Self.head + Self.services))
        let answers = world.perform(.write(handle: mode, value: [7]))
        #expect(answers == [.written(handle: mode)])
    }

    @Test("before power-on the device is the new one altogether")
    func beforePowerOn() throws {
        var device = EmulatedDevice(profile: try Self.load(Self.head + Self.services), seed: 1)
        var out = ByteBlock()
        var events = Outputs<DeviceEvent>()
        let other = try Self.load(edited(("name: Flashed", "name: Other")))
        device.replace(profile: other, at: .zero, sending: &out, emit: &events)
        #expect(out.isEmpty && events.count == 1)
        #expect(device.randomAddress == EmulatedDevice(profile: other, seed: 1).randomAddress)
        #expect(device.profile == other && !device.isOn)
    }

    @Test("the bundled kinds of profile can follow one another in any order")
    func samples() throws {
        var world = try Self.world()
        for text in [SampleProfile.text, Self.head + Self.services, SampleProfile.text] {
            let profile = try SampleProfile.load(text)
            world.flash(profile)
            world.run(for: .seconds(3))
            #expect(world.isConnected)
            #expect(world.port.device.plan.table.changes(to: AttributePlan(profile).table) == nil)
        }
    }
}
