// A whole device and a central that pairs, at the HCIs of one air, in virtual time.
public import BLEHost
public import Emulator
public import HCI
import OpenSSLCrypto
public import Profiles
public import SMP
public import SansIO
import VirtualController
public import Wire

/// A device that keeps its state, and a central. H4 packets of both hosts, either way, can be lost
/// or come twice.
public struct PairingWorld: Sendable {
    public private(set) var port: DevicePort
    public private(set) var central = PairingCentral()
    /// What has been stored of the device.
    public private(set) var state: DeviceState
    public private(set) var now = Instant.zero
    /// What the device has told since its power-on, but for notes.
    public private(set) var events: [PeripheralEvent] = []
    public private(set) var lines: [String] = []
    public var faults = PairingRig.Faults()
    /// The central's person misreads the passkey.
    public var misreads = false
    public var agrees: Bool {
        get { central.agrees }
        set { central.agrees = newValue }
    }
    /// How many packets were lost and how many came twice.
    public private(set) var lost = 0
    public private(set) var twice = 0
    /// Whether the device has given up its controller.
    public private(set) var hasFailed = false
    private let profile: DeviceProfile
    private let seed: UInt64
    private let hasPrivacy: Bool
    private var air: Air
    private var chance: SeededRandom
    private var up = ByteBlock()
    private var down = ByteBlock()
    private var deviceEvents = Outputs<DeviceEvent>()

    /// - Parameter hasPrivacy: whether the controllers resolve addresses.
    public init(_ profile: DeviceProfile, seed: UInt64 = 1, hasPrivacy: Bool = true) {
        self.profile = profile
        self.seed = seed
        self.hasPrivacy = hasPrivacy
        state = DeviceState()
        chance = SeededRandom(seed: seed, stream: "faults")
        (port, air) = Self.made(profile, state, seed, hasPrivacy)
    }

    private static func made(
        _ profile: DeviceProfile, _ state: DeviceState, _ seed: UInt64, _ hasPrivacy: Bool
    ) -> (DevicePort, Air) {
        var air = Air(seed: seed, timing: .ideal)
        if hasPrivacy { air.cipher = OpenSSLCipher() }
        for _ in 0..<2 { _ = air.addController() }
        let device = EmulatedDevice(
            profile: profile, seed: seed, authenticator: OpenSSLAuthenticator(),
            cipher: OpenSSLCipher(), state: state)
        return (DevicePort(device: device), air)
    }

    public var device: EmulatedDevice { port.device }

    /// Switches device and central on.
    public mutating func powerOn() {
        port.powerOn(at: now, sending: &up, emit: &deviceEvents)
        central.start()
        exchange()
    }

    /// The power is cut: what was stored is all that is left. Device and central are switched on
    /// again.
    public mutating func restart() {
        (port, air) = Self.made(profile, state, seed, hasPrivacy)
        (up, down) = (ByteBlock(), ByteBlock())
        deviceEvents.removeAll()
        (events, lines, hasFailed) = ([], [], false)
        powerOn()
    }

    // MARK: time

    /// Runs until `isDone` or for `limit`; whether it was done.
    @discardableResult
    public mutating func run(
        within limit: TimeSpan, until isDone: (PairingWorld) -> Bool = { _ in false }
    ) -> Bool {
        let end = now + limit
        while !isDone(self) {
            guard let next = earliest(air.deadline, port.deadline), next <= end else {
                now = end
                return isDone(self)
            }
            now = max(now, next)
            if let deadline = air.deadline, deadline <= now { air.expire(at: now) }
            if let deadline = port.deadline, deadline <= now {
                port.expire(at: now, sending: &up, emit: &deviceEvents)
            }
            exchange()
        }
        return true
    }

    /// Nothing, the packet, or the packet twice.
    private mutating func faulty(_ packet: [UInt8]) -> [[UInt8]] {
        if faults.lost > 0, chance.below(1_000) < faults.lost {
            lost += 1
            return []
        }
        if faults.twice > 0, chance.below(1_000) < faults.twice {
            twice += 1
            return [packet, packet]
        }
        return [packet]
    }

    private mutating func exchange() {
        var moved = true
        while moved {
            moved = takeFromDevice()
            let fromCentral = central.sent
            central.sent = []
            for packet in fromCentral.flatMap({ faulty($0) }) {
                moved = true
                air.receive(packet.span, from: 1, at: now)
            }
            for packet in drained(0) {
                moved = true
                _ = port.receive(packet.span, at: now, sending: &up, emit: &deviceEvents)
                _ = takeFromDevice()
            }
            for packet in drained(1) {
                moved = true
                central.receive(packet)
            }
        }
    }

    private mutating func drained(_ controller: Int) -> [[UInt8]] {
        air.drain(controller, into: &down)
        let packets = h4Packets(down).flatMap { faulty($0) }
        down.removeAll()
        return packets
    }

    /// Stores what is to be stored, and only then carries what the device sends.
    private mutating func takeFromDevice() -> Bool {
        for change in port.device.takeStateChanges() { state.apply(change) }
        for event in deviceEvents.elements {
            if let line = port.device.line(for: event, upTo: .debug) { lines.append(line.text) }
            guard case .host(let event, _) = event else { continue }
            if case .failed = event { hasFailed = true }
            if case .security(.question(_, .showPasskey(let passkey), _)) = event {
                let read = misreads ? (passkey + 1) % 1_000_000 : passkey
                central.shownPasskey = central.shownPasskey ?? read
                central.enterPasskey()
            }
            events.append(event)
        }
        deviceEvents.removeAll()
        let packets = h4Packets(up)
        up.removeAll()
        for packet in packets.flatMap({ faulty($0) }) {
            air.receive(packet.span, from: 0, at: now)
        }
        return !packets.isEmpty
    }

    // MARK: what the central does

    /// Scans until an advertiser is heard that is wanted.
    public mutating func find(_ isWanted: (LinkAddress) -> Bool = { _ in true }) -> LinkAddress? {
        central.received.advertisers = []
        central.scan(true)
        exchange()
        run(within: .seconds(10)) { $0.central.received.advertisers.contains(where: isWanted) }
        central.scan(false)
        exchange()
        return central.received.advertisers.first(where: isWanted)
    }

    /// - Parameter own: nil for the public address.
    public mutating func connect(to peer: LinkAddress, as own: DeviceAddress? = nil) -> Bool {
        central.connect(to: peer, as: own)
        exchange()
        return run(within: .seconds(10)) { world in
            world.central.handle != nil && world.device.host.links.contains { $0.isOpen }
        }
    }

    /// Ends the link; whether both sides know.
    @discardableResult
    public mutating func disconnect() -> Bool {
        central.disconnect()
        exchange()
        return run(within: .seconds(10)) { world in
            world.central.handle == nil && !world.device.host.links.contains { $0.isOpen }
        }
    }

    /// Pairs; returns when the central is through, or has waited in vain, and the device as well.
    public mutating func pair(_ initiator: PairingInitiator) {
        central.pair(initiator)
        exchange()
        let isOver = run(within: .seconds(70)) { $0.central.initiator?.isOver ?? true }
        if !isOver { central.act { $0.fail(nil) } }
        run(within: .seconds(31))
    }

    /// Encrypts the link with a bond's key; the status that the central is told, nil for none.
    public mutating func encrypt(_ bond: Bond) -> HCIStatus? {
        let before = central.received.encryptions.count
        central.encrypt(ediv: bond.ediv, rand: bond.rand, key: bond.longTermKey)
        exchange()
        run(within: .seconds(5)) { $0.central.received.encryptions.count > before }
        return central.received.encryptions.dropFirst(before).first
    }

    /// The answer to an ATT request.
    public mutating func request(_ pdu: [UInt8]) -> [UInt8] {
        let before = central.received.attribute.count
        central.send(pdu, cid: 4)
        exchange()
        run(within: .seconds(5)) { $0.central.received.attribute.count > before }
        return central.received.attribute.dropFirst(before).first ?? []
    }

    /// What the device's person does not do, something else does.
    public mutating func perform(
        _ action: (inout EmulatedDevice, inout ByteBlock, inout Outputs<DeviceEvent>) -> Void
    ) {
        port.perform(at: now, sending: &up) { device, out in action(&device, &out, &deviceEvents) }
        exchange()
    }
}
