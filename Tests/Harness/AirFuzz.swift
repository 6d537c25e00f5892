// Hosts that send anything to their virtual controllers, on one air.
import Emulator
import HCI
import SansIO
import VirtualController
import Wire

enum AirFuzz {
    /// Octet 0: bit 0 the timing, bit 1 loss. Then steps: bits 0 and 1 the host, 2 and 3 what it
    /// does, the rest how much; packets are always whole, as the framer hands them out.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let header = input.octet()
        var air = Air(seed: 1, timing: header & 1 == 0 ? .ideal : .radio)
        if header & 2 != 0 { air.loss = 0.3 }
        var now = Instant.zero
        var hosts = (0..<4).map { _ in air.addController() }
        while !input.isEmpty {
            let step = input.octet()
            let host = hosts[Int(step & 3)]
            switch step >> 2 & 3 {
            case 0:
                let opcode = input.uint16()
                let parameters = input.octets(Int(input.octet()))
                let packet =
                    [0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)]
                    + parameters
                air.receive(packet.span, from: host, at: now)
            case 1:
                let word = input.uint16()
                let data = input.octets(Int(input.octet()))
                let packet =
                    [0x02, UInt8(word & 0xFF), UInt8(word >> 8), UInt8(data.count), 0] + data
                air.receive(packet.span, from: host, at: now)
            case 2:
                for _ in 0...(step >> 4) {
                    guard let deadline = air.deadline else { break }
                    precondition(deadline >= now, "a deadline lies ahead")
                    now = deadline
                    air.expire(at: now)
                }
            default:
                air.removeController(host, at: now)
                hosts[Int(step & 3)] = air.addController()
            }
            check(&air, hosts)
        }
    }

    private static func check(_ air: inout Air, _ hosts: [Int]) {
        for host in hosts where air.hasOutput(host) {
            var block = ByteBlock()
            air.drain(host, into: &block)
            for packet in h4Packets(block) {
                precondition(packet[0] == 2 || packet[0] == 4, "a controller sends data and events")
            }
        }
    }

    /// The commands of a whole session, of the device and of its central, and what scanning takes.
    static func seeds() -> [[UInt8]] {
        guard let device = try? SampleProfile.device() else { return [] }
        var world = GuestWorld.session(of: device)
        var one: [UInt8] = [0]
        for packet in world.takePackets() where !packet.isReceived {
            let octets = packet.octets
            one += octets[0] == 1 ? [0x00] + octets[1...] : [0x04] + octets[1...3] + octets[5...]
            one.append(0x08)
        }
        var block = ByteBlock()
        var scan = LESetScanParameters()
        scan.scanType = 1
        scan.scanInterval = 0x60
        scan.scanWindow = 0x60
        block.append(command: scan)
        var enable = LESetScanEnable()
        enable.enable = 1
        block.append(command: enable)
        var create = LECreateConnection()
        create.scanInterval = 0x60
        create.scanWindow = 0x60
        create.peerAddressType = .randomDevice
        create.peerAddress = device.randomAddress ?? DeviceAddress()
        create.intervalMin = 24
        create.intervalMax = 24
        create.supervisionTimeout = 500
        block.append(command: create)
        var both = Array(one.prefix(400))
        for packet in h4Packets(block) {
            both.append(0x01)
            both += packet[1...]
            both.append(0xF8)
        }
        return [one, both, [1] + one.dropFirst()]
    }
}
