// The virtual world: devices, the air, and whoever else is on it, driven by deadlines.
import BLEHost
public import Emulator
import HCI
import Profiles
public import SMP
public import SansIO
public import VirtualController
public import Wire

/// What happened in the world.
public enum WorldEvent: Sendable {
    /// `number` is the device's.
    case device(DeviceEvent, number: Int)
    /// `number` is that of the device that it has to do with.
    case central(CentralFinding, number: Int)
}

/// Devices, each on a virtual controller of its own, the air, the built-in central if asked for,
/// and the hosts that joined from outside.
///
/// The same world runs live (a driver calls `run` when `deadline` has come) and in virtual time
/// (the driver jumps from deadline to deadline). Nothing here knows which it is.
public struct World: Sendable {
    public private(set) var air: Air
    /// The devices by their numbers, each with its wire; the first is what a run is about.
    public private(set) var ports: [DevicePort]
    /// Visits one device after the other.
    public private(set) var central: ScriptedCentral?
    /// The device that it has to do with.
    public private(set) var visited = 0
    /// What happened since the driver emptied it.
    public var events = Outputs<WorldEvent>()
    /// The latest instant that was run.
    public private(set) var now = Instant.zero
    /// How long a device that is switched off waits for its links to end.
    public static let farewellLimit = TimeSpan.milliseconds(500)
    /// The controllers' numbers on the air.
    private let devicePorts: [Int]
    private var centralPort: Int?
    /// When something is due for each device.
    private var due = DeadlineQueue()
    /// Devices whose controllers tell them what they have not asked for. The others, beacons that
    /// nobody connects to, have their answers at once: a thousand are not looked at for one packet.
    private var reachable: [Int] = []
    private var deviceEvents = Outputs<DeviceEvent>()
    private var findings = Outputs<CentralFinding>()
    /// Packets from the air to a host, and from a host to the air.
    private var down = ByteBlock(capacity: 4096)
    private var up = ByteBlock(capacity: 4096)

    /// - Parameter others: further devices; with the first one at most 1,023.
    public init(
        port: DevicePort, others: [DevicePort] = [], seed: UInt64, timing: Air.Timing,
        loss: Double = 0,
        central: ScriptedCentral? = nil, cipher: (any SecurityCipher)? = nil
    ) {
        air = Air(seed: seed, timing: timing)
        air.cipher = cipher
        air.loss = loss
        ports = [port] + others
        self.central = central
        var controllers: [Int] = []
        for _ in ports { controllers.append(air.addController()) }
        devicePorts = controllers
        findReachable()
        if central != nil { centralPort = air.addController() }
    }

    private mutating func findReachable() {
        reachable = ports.indices.filter { ports.count == 1 || ports[$0].device.isReachable }
    }

    /// The first device, with its wire.
    public var port: DevicePort { ports[0] }

    /// Whether jumps of the clock matter to any of the devices.
    public mutating func followsTimeOfDay() -> Bool {
        ports.indices.contains { number in ports.ask(number) { $0.device.followsTimeOfDay } }
    }

    /// Whether any device waits for a person's answer.
    public mutating func awaitsAnswer() -> Bool {
        ports.indices.contains { number in ports.ask(number) { $0.device.awaitsAnswer } }
    }

    /// Whether no device is on the air any more.
    public var isQuiet: Bool { ports.allSatisfy { $0.device.host.isQuiet } }

    // MARK: time

    /// When something happens next.
    public var deadline: Instant? {
        earliest(air.deadline, earliest(due.first?.deadline, central?.deadline))
    }

    /// Switches everything on.
    public mutating func powerOn(at now: Instant) {
        for number in ports.indices {
            ports[number].powerOn(at: now, sending: &up, emit: &deviceEvents)
            deliverFromDevice(number, at: now)
        }
        guard ports.count > 1, central != nil else {
            central?.powerOn(at: now, sending: &up)
            deliverFromCentral(at: now)
            return settle(at: now)
        }
        // Of several, the one to be visited is known by its address.
        settle(at: now)
        visit(0, at: now)
        settle(at: now)
    }

    /// Does what is due at `now`, the moment of `deadline` or later.
    public mutating func run(at now: Instant) {
        self.now = now
        if let deadline = air.deadline, deadline <= now { air.expire(at: now) }
        // Each at most once: what is due again at once comes with the next call.
        var left = ports.count
        while left > 0, let (number, deadline) = due.first, deadline <= now {
            left -= 1
            ports[number].expire(at: now, sending: &up, emit: &deviceEvents)
            deliverFromDevice(number, at: now)
        }
        if let deadline = central?.deadline, deadline <= now {
            central?.expire(at: now, sending: &up, emit: &findings)
            deliverFromCentral(at: now)
        }
        settle(at: now)
    }

    /// Switches the devices off: links end and advertising stops.
    public mutating func powerOff(at now: Instant) {
        for number in ports.indices {
            perform(on: number, at: now) { device, out, events in
                device.powerOff(at: now, sending: &out, emit: &events)
            }
        }
    }

    /// Tells the devices the time since midnight.
    public mutating func setTimeOfDay(_ time: TimeSpan, at now: Instant) {
        for number in ports.indices {
            perform(on: number, at: now) { device, out, events in
                device.setTimeOfDay(time, at: now, sending: &out, emit: &events)
            }
        }
    }

    /// Does something to a device that may send packets.
    public mutating func perform(
        on number: Int = 0, at now: Instant,
        _ action: (inout EmulatedDevice, inout ByteBlock, inout Outputs<DeviceEvent>) -> Void
    ) {
        let before = ports[number].device.isReachable
        ports[number].perform(at: now, sending: &up) { device, out in
            action(&device, &out, &deviceEvents)
        }
        if ports[number].device.isReachable != before { findReachable() }
        deliverFromDevice(number, at: now)
        settle(at: now)
    }

    /// Says the wall clock to the devices; before power-on.
    /// - Parameter epoch: microseconds since 1970 at `Instant.zero`.
    public mutating func setClock(epoch: Int64) {
        for number in ports.indices { ports[number].device.setClock(epoch: epoch) }
    }

    /// Captures the devices' packets from here on, each by itself.
    /// - Parameter epoch: microseconds since 1970 at `Instant.zero`.
    public mutating func capture(epoch: Int64) {
        for number in ports.indices { ports[number].capture = BtsnoopWriter(epoch: epoch) }
    }

    /// What is to be appended to the capture file of a device.
    public mutating func takeCapture(of number: Int = 0) -> [UInt8] { ports[number].takeCapture() }

    /// What is to be stored of a device before packets go out to hosts from outside.
    public mutating func takeStateChanges(of number: Int = 0) -> [StateChange] {
        ports[number].device.takeStateChanges()
    }

    /// From now on keeps account of what the first device's controller advertises.
    public mutating func recordAdvertising() { air.recordAdvertising(of: devicePorts[0]) }

    /// Whether something was advertised with parameters that are no longer in force.
    public var hasAdvertised: Bool { air.hasAdvertised }

    /// What the device's controller has advertised since this was asked for last.
    public mutating func takeAdvertised() -> [AdvertisedStretch] { air.takeAdvertised() }

    /// Ends what is on the air now as a stretch, to be taken.
    public mutating func closeAdvertised(at now: Instant) { air.closeAdvertised(at: now) }

    // MARK: hosts from outside

    /// A host joins the air; its controller's number is returned, nil where the air is full.
    public mutating func addHost() -> Int? { air.isFull ? nil : air.addController() }

    /// A host has gone, without a word on the air.
    public mutating func removeHost(_ host: Int, at now: Instant) {
        air.removeController(host, at: now)
        settle(at: now)
    }

    /// Takes one whole H4 packet of a host from outside.
    public mutating func receive(_ packet: Span<UInt8>, from host: Int, at now: Instant) {
        air.receive(packet, from: host, at: now)
        settle(at: now)
    }

    /// Moves what the air has for a host from outside.
    public mutating func drain(_ host: Int, into block: inout ByteBlock) {
        air.drain(host, into: &block)
    }

    // MARK: moving packets

    /// Carries packets between the air and the hosts in the process until none is under way.
    ///
    /// Each round answers what the last one brought; a controller's credits bound how much that is.
    private mutating func settle(at now: Instant) {
        var moved = true
        while moved {
            moved = false
            for number in reachable where air.hasOutput(devicePorts[number]) {
                moved = true
                deliverToDevice(number, at: now)
                deliverFromDevice(number, at: now)
            }
            if let centralPort, air.hasOutput(centralPort) {
                moved = true
                air.drain(centralPort, into: &down)
                let packets = down.bytes
                central?.receive(packets.span, at: now, sending: &up, emit: &findings)
                down.removeAll()
                deliverFromCentral(at: now)
            }
        }
    }

    private mutating func deliverFromDevice(_ number: Int, at now: Instant) {
        for event in deviceEvents.elements { events.append(.device(event, number: number)) }
        deviceEvents.removeAll()
        let (deadline, isReachable) = ports.ask(number) { ($0.deadline, $0.device.isReachable) }
        due.set(number, to: deadline)
        deliver(to: devicePorts[number], at: now)
        guard ports.count > 1, !isReachable, air.hasOutput(devicePorts[number]) else {
            return
        }
        deliverToDevice(number, at: now)
        deliverFromDevice(number, at: now)
    }

    private mutating func deliverToDevice(_ number: Int, at now: Instant) {
        air.drain(devicePorts[number], into: &down)
        let packets = down.bytes
        _ = ports[number].receive(packets.span, at: now, sending: &up, emit: &deviceEvents)
        down.removeAll()
    }

    private mutating func deliverFromCentral(at now: Instant) {
        // All is seen once the last device is.
        let isSeen = findings.elements.contains(.finished) && visited + 1 < ports.count
        for finding in findings.elements where !isSeen || finding != .finished {
            events.append(.central(finding, number: visited))
        }
        findings.removeAll()
        guard let centralPort else { return }
        deliver(to: centralPort, at: now)
        if isSeen { visit(visited + 1, at: now) }
    }

    /// The central turns to a device.
    private mutating func visit(_ number: Int, at now: Instant) {
        guard let centralPort else { return }
        visited = number
        let (addresses, sets) = ports.ask(number) { port in
            // Without sets there is the device's address, which nobody will hear.
            let sets = max(port.device.profile.advertising.count, 1)
            return (
                (0..<sets).map { port.device.host.address(of: $0) },
                port.device.profile.setsForAnyone
            )
        }
        central?.visit(addresses, sets: sets, at: now, sending: &up)
        deliver(to: centralPort, at: now)
    }

    private mutating func deliver(to controller: Int, at now: Instant) {
        let packets = up.bytes
        var offset = 0
        while case .packet(_, let end) = H4.frame(packets.span, from: offset) {
            air.receive(packets.span.extracting(offset..<end), from: controller, at: now)
            offset = end
        }
        up.removeAll()
    }
}
