// A virtual world with a central that does what a test tells it, on the other side of the air.
public import Advertising
public import BLEHost
public import Emulator
public import GATT
import HCI
public import Profiles
public import SansIO
public import Simulation
public import VirtualController
import Wire

/// A device and a central of the test's own on one air, in virtual time.
public struct GuestWorld: Sendable {
    public private(set) var world: World
    public private(set) var central: CentralHost
    public private(set) var now = Instant.zero
    /// What the central has told, oldest first.
    public private(set) var heard: [CentralEvent] = []
    /// The device's lines, oldest first.
    public private(set) var lines: [String] = []
    private let guest: Int
    private var up = ByteBlock()
    private var down = ByteBlock()
    private var events = Outputs<CentralEvent>()

    /// Puts `device` on an air; its packets are captured.
    public init(
        _ device: EmulatedDevice, seed: UInt64 = 1, timing: Air.Timing = .ideal, loss: Double = 0,
        mtu: UInt16 = 247
    ) {
        world = World(port: DevicePort(device: device), seed: seed, timing: timing, loss: loss)
        world.capture(epoch: BtsnoopWriter.virtualEpoch)
        central = CentralHost(
            randomAddress: DeviceAddress(littleEndian: 0xC0FF_EE00_0001), mtu: mtu)
        guest = world.addHost() ?? 0
    }

    public var port: DevicePort { world.port }

    // MARK: time

    /// Runs until `isDone` or for `limit`.
    /// - Returns: whether it was done.
    @discardableResult
    public mutating func run(
        within limit: TimeSpan, until isDone: (GuestWorld) -> Bool
    ) -> Bool {
        let end = now + limit
        while !isDone(self) {
            guard let next = earliest(world.deadline, central.deadline), next <= end else {
                now = end
                return false
            }
            now = max(now, next)
            if let deadline = world.deadline, deadline <= now { world.run(at: now) }
            if let deadline = central.deadline, deadline <= now {
                central.expire(at: now, sending: &up, emit: &events)
            }
            exchange()
        }
        return true
    }

    /// Runs for `span`.
    public mutating func run(for span: TimeSpan) { run(within: span) { _ in false } }

    private mutating func exchange() {
        var moved = true
        while moved {
            moved = false
            for packet in h4Packets(up) {
                moved = true
                world.receive(packet.span, from: guest, at: now)
            }
            up.removeAll()
            world.drain(guest, into: &down)
            for packet in h4Packets(down) {
                moved = true
                central.receive(packet.span, at: now, sending: &up, emit: &events)
            }
            down.removeAll()
        }
        heard += events.elements
        events.removeAll()
        for case .device(let event, _) in world.events.elements {
            if let line = world.port.device.line(for: event, upTo: .debug) {
                lines.append(line.text)
            }
        }
        world.events.removeAll()
    }

    // MARK: what the central does

    /// Switches device and central on; returns once both are ready.
    @discardableResult
    public mutating func powerOn() -> Bool {
        world.powerOn(at: now)
        central.start(at: now, sending: &up)
        exchange()
        return run(within: .seconds(5)) { world in
            world.port.device.host.hasEverAdvertised
                && world.heard.contains { if case .ready = $0 { true } else { false } }
        }
    }

    /// Scans until the device is heard, and connects.
    @discardableResult
    public mutating func connect() -> Bool {
        let count = heard.count
        central.startScanning(interval: 0x60, window: 0x60, at: now, sending: &up)
        exchange()
        var found: HeardAdvertisement?
        let isFound = run(within: .seconds(10)) { world in
            for case .report(let report) in world.heard[count...]
            where report.address == world.port.device.randomAddress { found = report }
            return found != nil
        }
        guard isFound, let found else { return false }
        central.stopScanning(at: now, sending: &up)
        central.connect(to: found, at: now, sending: &up)
        exchange()
        return run(within: .seconds(10)) {
            $0.heard[count...].contains { if case .connected = $0 { true } else { false } }
        }
    }

    /// Does one GATT procedure and returns what the client told until it was over.
    @discardableResult
    public mutating func perform(_ procedure: GATTClient.Procedure) -> [GATTClientEvent] {
        let count = heard.count
        central.perform(procedure, at: now, sending: &up, emit: &events)
        exchange()
        run(within: .seconds(31)) { $0.central.client.isIdle }
        return heard[count...].compactMap { if case .client(let event) = $0 { event } else { nil } }
    }

    /// Ends the connection; returns once the central knows.
    @discardableResult
    public mutating func disconnect() -> Bool {
        let count = heard.count
        central.disconnect(at: now, sending: &up)
        exchange()
        return run(within: .seconds(10)) {
            $0.heard[count...].contains { if case .disconnected = $0 { true } else { false } }
        }
    }

    /// Listens all the time, to every advertisement.
    public mutating func startListening() {
        central.startScanning(interval: 0x60, window: 0x60, at: now, sending: &up)
        exchange()
    }

    /// How many advertising reports the central has had.
    public var reportCount: Int {
        heard.count { if case .report = $0 { true } else { false } }
    }

    /// Something is felt by the device.
    public mutating func feel(_ input: ActivityInput) {
        let now = now
        world.perform(at: now) { device, out, events in
            device.feel(input, at: now, sending: &out, emit: &events)
        }
        exchange()
    }

    /// Gives the device a new version of its profile.
    /// - Returns: why the device cannot have it; nil once it is at work.
    @discardableResult
    public mutating func flash(_ profile: DeviceProfile) -> String? {
        if let refusal = port.device.refusal(of: profile) { return refusal }
        let now = now
        world.perform(at: now) { device, out, events in
            device.replace(profile: profile, at: now, sending: &out, emit: &events)
        }
        exchange()
        return nil
    }

    private static let names = AccessoryNames(files: ["device"])

    /// Sends the device a line of the control socket; returns the answer.
    public mutating func ask(_ session: inout ControlSession, _ line: String) -> String? {
        ask(&session, Array(line.utf8))
    }

    /// The same of octets that need not be text.
    public mutating func ask(_ session: inout ControlSession, _ octets: [UInt8]) -> String? {
        let now = now
        let answer = session.answer(octets.span, of: Self.names, at: now) { number, action in
            world.perform(on: number, at: now, action)
        }
        exchange()
        return answer
    }

    /// Forgets what was heard and said, which a long run need not keep.
    public mutating func forget() {
        heard.removeAll()
        lines.removeAll()
    }

    /// The packets between controller and device since the last call.
    public mutating func takePackets() -> [CapturedPacket] {
        let bytes = world.takeCapture()
        let header = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
        return BtsnoopFile.packets(bytes.starts(with: header) ? bytes : header + bytes) ?? []
    }
}

extension GuestWorld {
    /// A whole session on the sample: found, connected, discovered, read, written, followed, ended,
    /// advertising again.
    public static func session(of device: EmulatedDevice) -> GuestWorld {
        var world = GuestWorld(device)
        world.powerOn()
        world.connect()
        world.perform(.exchangeMTU)
        world.perform(.discover)
        for name in ["temperature", "humidity", "setting", "count"] {
            world.perform(.read(handle: device.valueHandle(name)))
        }
        let setting = device.valueHandle("setting")
        world.perform(.write(handle: setting, value: [1, 2, 3]))
        world.perform(.writeCommand(handle: setting, value: [4, 5]))
        // Longer than the MTU: by Prepare and Execute Write, and read back in parts.
        world.perform(.write(handle: setting, value: Array(repeating: 0xA5, count: 300)))
        world.perform(.read(handle: setting))
        for (name, notify) in [("temperature", true), ("humidity", false), ("count", true)] {
            let cccd = device.cccdHandle(name)
            world.perform(.subscribe(cccd: cccd, notify: notify, indicate: !notify))
        }
        world.run(for: .seconds(4))
        world.disconnect()
        world.run(for: .seconds(1))
        return world
    }
}
