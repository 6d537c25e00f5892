// A device at the mercy of its controller, and what must hold whatever that does.
import BLEHost
public import Emulator
import HCI
public import SansIO
import VirtualController
import Wire

/// A device whose controller does what it likes, and what must hold whatever that is.
public struct DeviceRun: Sendable {
    public private(set) var port: DevicePort
    private var now: Instant
    private var out = ByteBlock()
    private var events = Outputs<DeviceEvent>()
    private var isLost = false

    /// - Parameter now: when the port was last touched, or later.
    public init(port: DevicePort, now: Instant = .zero) {
        self.port = port
        self.now = now
    }

    /// A device that is just being switched on.
    public init(device: EmulatedDevice) {
        self.init(port: DevicePort(device: device))
        port.powerOn(at: now, sending: &out, emit: &events)
        settle()
    }

    /// The device's next octets from the controller. Behind one that is no packet type the stream
    /// begins anew, as a driver would have it.
    public mutating func receive(_ chunk: [UInt8]) {
        guard !isLost else { return }
        let rubbish = port.receive(chunk.span, at: now, sending: &out, emit: &events)
        settle()
        if rubbish != nil { lose() }
    }

    /// Lets time pass to `now`, with what is due on the way.
    public mutating func advance(to now: Instant) {
        while let deadline = port.deadline, deadline <= now { passDeadlines(1) }
        self.now = max(self.now, now)
    }

    /// Lets the next `count` deadlines pass.
    public mutating func passDeadlines(_ count: Int) {
        for _ in 0..<count {
            guard let deadline = port.deadline else { return }
            now = max(now, deadline)
            port.expire(at: now, sending: &out, emit: &events)
            settle()
        }
    }

    /// The controller is gone.
    public mutating func lose() {
        port.controllerIsGone(at: now, emit: &events)
        isLost = true
        settle()
        precondition(
            port.device.host.links.allSatisfy { !$0.isOpen }, "no link outlives its controller")
    }

    /// A well-behaved controller takes the place of the last one: the device advertises on it.
    public mutating func recover() {
        if !isLost { lose() }
        isLost = false
        var air = Air(seed: 1, timing: .ideal)
        let controller = air.addController()
        port.powerOn(at: now, sending: &out, emit: &events)
        var isAdvertising = false
        for _ in 0..<64 {
            for packet in h4Packets(out) { air.receive(packet.span, from: controller, at: now) }
            out.removeAll()
            for case .advertising in events.elements { isAdvertising = true }
            events.removeAll()
            guard air.hasOutput(controller) else { break }
            var down = ByteBlock()
            air.drain(controller, into: &down)
            let octets = down.bytes
            let rubbish = port.receive(octets.span, at: now, sending: &out, emit: &events)
            precondition(rubbish == nil, "the virtual controller speaks H4")
        }
        precondition(isAdvertising, "the device advertises again on a new controller")
    }

    /// Checks what the device sent and said, and forgets it.
    private mutating func settle() {
        for packet in h4Packets(out) {
            precondition(packet[0] == 1 || packet[0] == 2, "a host sends commands and ACL data")
        }
        out.removeAll()
        for event in events.elements {
            if let line = port.device.line(for: event, upTo: .debug) {
                precondition(!line.text.isEmpty, "a line has text")
            }
        }
        events.removeAll()
    }
}
