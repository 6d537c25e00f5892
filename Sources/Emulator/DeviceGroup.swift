// One or several devices behind one controller's byte stream.
import Advertising
import BLEHost
import HCI
import Profiles
public import SansIO
public import Wire

/// What one of several devices tells.
public struct AccessoryEvent: Sendable {
    /// The device's number in its group.
    public var number: Int
    public var event: DeviceEvent

    public init(_ number: Int, _ event: DeviceEvent) {
        self.number = number
        self.event = event
    }
}

/// The devices of a run on one controller. Several share it: each has its advertising sets, and the
/// links that come by them.
public struct DeviceGroup: Sendable {
    /// By number; one at least.
    public private(set) var ports: [DevicePort]
    private var share: SharedController?
    /// Of the stream that is shared.
    private var framer = H4Framer()
    private var capture: BtsnoopWriter?
    /// Whether the controller was refused.
    private var isRefused = false
    private var events = Outputs<DeviceEvent>()
    private var up = ByteBlock(capacity: 4096)
    private var down = ByteBlock(capacity: 4096)

    public init(_ devices: [EmulatedDevice], capture: BtsnoopWriter? = nil) {
        precondition(!devices.isEmpty, "a group has a device")
        if devices.count == 1 {
            ports = [DevicePort(device: devices[0], capture: capture)]
        } else {
            ports = devices.map { device in
                var sharing = device
                sharing.shareController()
                return DevicePort(device: sharing)
            }
            share = SharedController(
                sets: devices.map { device in
                    let sets = device.profile.advertising
                    return sets.count { $0.fallback != .skip }...sets.count
                })
            self.capture = capture
        }
    }

    public var count: Int { ports.count }

    /// Whether any device has ever advertised.
    public mutating func hasEverAdvertised() -> Bool {
        ports.indices.contains { number in ports.ask(number) { $0.device.host.hasEverAdvertised } }
    }

    /// Whether nothing is on the air any more.
    public var isQuiet: Bool { ports.allSatisfy { $0.device.host.isQuiet } }

    // MARK: the stream

    /// The stream begins (anew): the controller is reset and brought up.
    public mutating func powerOn(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<AccessoryEvent>
    ) {
        framer.reset()
        share?.start()
        isRefused = false
        for number in ports.indices {
            act(on: number, at: now, &out, &emit) { port, out, events in
                port.powerOn(at: now, sending: &out, emit: &events)
            }
        }
    }

    /// Takes what was read from the stream.
    /// - Returns: the octet at which the stream stopped being H4; nil while it is well.
    public mutating func receive(
        _ chunk: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<AccessoryEvent>
    ) -> UInt8? {
        guard share != nil else {
            let rubbish = ports[0].receive(chunk, at: now, sending: &out, emit: &events)
            tell(0, &emit)
            return rubbish
        }
        var offset = 0
        while true {
            switch framer.next(in: chunk, offset: &offset) {
            case .inChunk(let range):
                take(chunk.extracting(range), at: now, &out, &emit)
            case .gathered:
                let gathered = framer.gathered
                take(gathered.span, at: now, &out, &emit)
            case .needMore: return nil
            case .unknownType(let octet): return octet
            }
        }
    }

    /// One packet of the controller that is shared.
    private mutating func take(
        _ packet: Span<UInt8>, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<AccessoryEvent>
    ) {
        capture?.append(packet, isReceived: true, at: now)
        let before = out.count
        share?.receive(packet, sending: &out)
        capture?.appendSent(out, from: before, at: now)
        settle(at: now, &out, &emit)
        guard !isRefused, let refusal = share?.refusal else { return }
        isRefused = true
        emit.append(
            AccessoryEvent(0, .host(.failed(.cannotAdvertise(refusal)), peer: nil)))
    }

    /// Carries packets to the devices until none is under way.
    private mutating func settle(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<AccessoryEvent>
    ) {
        var moved = true
        while moved {
            moved = false
            for number in ports.indices where share?.hasOutput(number) == true {
                moved = true
                share?.drain(number, into: &down)
                let packets = down.bytes
                down.removeAll()
                _ = ports[number].receive(packets.span, at: now, sending: &up, emit: &events)
                tell(number, &emit)
                send(from: number, at: now, &out)
            }
        }
    }

    /// Gives the controller what a device has to say.
    private mutating func send(from number: Int, at now: Instant, _ out: inout ByteBlock) {
        let packets = up.bytes
        up.removeAll()
        let before = out.count
        var offset = 0
        while case .packet(_, let end) = H4.frame(packets.span, from: offset) {
            share?.send(packets.span.extracting(offset..<end), from: number, sending: &out)
            offset = end
        }
        capture?.appendSent(out, from: before, at: now)
    }

    private mutating func tell(_ number: Int, _ emit: inout Outputs<AccessoryEvent>) {
        for event in events.elements { emit.append(AccessoryEvent(number, event)) }
        events.removeAll()
    }

    private mutating func act(
        on number: Int, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<AccessoryEvent>,
        _ action: (inout DevicePort, inout ByteBlock, inout Outputs<DeviceEvent>) -> Void
    ) {
        guard share != nil else {
            action(&ports[number], &out, &events)
            return tell(number, &emit)
        }
        action(&ports[number], &up, &events)
        tell(number, &emit)
        send(from: number, at: now, &out)
        settle(at: now, &out, &emit)
    }

    /// The controller or the way to it is gone: links are over, nothing can be sent.
    public mutating func controllerIsGone(
        at now: Instant, emit: inout Outputs<AccessoryEvent>
    ) {
        framer.reset()
        share?.start()
        for number in ports.indices {
            ports[number].controllerIsGone(at: now, emit: &events)
            tell(number, &emit)
        }
    }

    // MARK: time and the world

    /// When something is due next.
    public mutating func nextDeadline() -> Instant? {
        var first: Instant?
        for number in ports.indices { first = earliest(first, ports.ask(number) { $0.deadline }) }
        return first
    }

    /// Whether jumps of the clock matter to any of the devices.
    public mutating func followsTimeOfDay() -> Bool {
        ports.indices.contains { number in ports.ask(number) { $0.device.followsTimeOfDay } }
    }

    /// Whether any of the devices waits for a person's answer.
    public mutating func awaitsAnswer() -> Bool {
        ports.indices.contains { number in ports.ask(number) { $0.device.awaitsAnswer } }
    }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<AccessoryEvent>
    ) {
        for number in ports.indices {
            guard let deadline = ports.ask(number, { $0.deadline }), deadline <= now else {
                continue
            }
            act(on: number, at: now, &out, &emit) { port, out, events in
                port.expire(at: now, sending: &out, emit: &events)
            }
        }
    }

    /// Does something to a device that may send packets.
    public mutating func perform(
        on number: Int = 0, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<AccessoryEvent>,
        _ action: (inout EmulatedDevice, inout ByteBlock, inout Outputs<DeviceEvent>) -> Void
    ) {
        act(on: number, at: now, &out, &emit) { port, out, events in
            port.perform(at: now, sending: &out) { device, out in action(&device, &out, &events) }
        }
    }

    /// What is to be stored of a device.
    public mutating func takeStateChanges(of number: Int) -> [StateChange] {
        ports[number].device.takeStateChanges()
    }

    /// What is to be appended to the capture file; empty without a capture.
    public mutating func takeCapture() -> [UInt8] {
        guard share != nil else { return ports[0].takeCapture() }
        guard let bytes = capture?.block.bytes, !bytes.isEmpty else { return [] }
        capture?.block.removeAll()
        return bytes
    }
}
