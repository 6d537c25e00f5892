// Octets from the controller to a device at work on the sample profile.
import BLEHost
public import Emulator
import GATT
import HCI
import Profiles
public import SansIO
import VirtualController
import Wire

enum HCIFuzz {
    /// Octet 0: bits 0 to 2 the size of chunks, 3 and 4 how far the device has come, 5 whether
    /// deadlines pass between chunks, 6 whether the controller is lost after half of the octets.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let header = input.octet()
        let stream = input.rest()
        var run = DeviceRun(port: ports[Int(header >> 3 & 3)])
        let size = [stream.count, 1, 2, 3, 7, 16, 64, 255][Int(header & 7)]
        let loss = header & 0x40 != 0 ? stream.count / 2 : Int.max
        var offset = 0
        while offset < stream.count {
            let end = min(offset + max(size, 1), stream.count)
            run.receive(Array(stream[offset..<end]))
            if header & 0x20 != 0 { run.passDeadlines(1) }
            if offset < loss, end >= loss { run.lose() }
            offset = end
        }
        run.passDeadlines(8)
        run.recover()
    }

    /// Before Reset is answered, advertising, connected, and followed with queues in use.
    static let ports: [DevicePort] = {
        do throws(ProfileErrors) {
            let device = try SampleProfile.device()
            var world = GuestWorld(device)
            var ports: [DevicePort] = []
            var port = DevicePort(device: device)
            var out = ByteBlock()
            var events = Outputs<DeviceEvent>()
            port.powerOn(at: .zero, sending: &out, emit: &events)
            ports.append(port)
            world.powerOn()
            ports.append(world.port)
            world.connect()
            ports.append(world.port)
            world.perform(.exchangeMTU)
            for name in ["temperature", "humidity", "count"] {
                let cccd = device.cccdHandle(name)
                world.perform(.subscribe(cccd: cccd, notify: true, indicate: true))
            }
            ports.append(world.port)
            for index in ports.indices { ports[index].capture = nil }
            return ports
        } catch {
            preconditionFailure("the sample loads: \(error)")
        }
    }()
}

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

    /// The device's next octets from the controller. Behind one that is no packet type the stream
    /// begins anew, as a driver would have it.
    public mutating func receive(_ chunk: [UInt8]) {
        guard !isLost else { return }
        let rubbish = port.receive(chunk.span, at: now, sending: &out, emit: &events)
        settle()
        if rubbish != nil { lose() }
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
            for case .host(.advertising) in events.elements { isAdvertising = true }
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
            if let line = port.device.line(for: event) {
                precondition(!line.text.isEmpty, "a line has text")
            }
        }
        events.removeAll()
    }
}
