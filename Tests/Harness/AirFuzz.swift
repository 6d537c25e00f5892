// Hosts that send anything to their virtual controllers, on one air.
import Emulator
import HCI
import OpenSSLCrypto
import SansIO
import VirtualController
import Wire

enum AirFuzz {
    /// Octet 0: bit 0 the timing, bit 1 loss, bit 2 privacy, bit 3 whether two of the four
    /// controllers have nothing but legacy advertising. Then steps: bits 0 and 1 the host, 2
    /// and 3 what it does, the rest how much; packets are always whole, as the framer hands them
    /// out.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let header = input.octet()
        var air = Air(seed: 1, timing: header & 1 == 0 ? .ideal : .radio)
        if header & 2 != 0 { air.loss = 0.3 }
        if header & 4 != 0 { air.cipher = OpenSSLCipher() }
        var now = Instant.zero
        var hosts = (0..<4).map { host in
            air.addController(features: header & 8 != 0 && host > 1 ? [] : .all)
        }
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
        return [one, both, [1] + one.dropFirst(), privacy, sets(0), sets(0b1011)]
    }

    /// One host with a set that is connectable and one with a train, the other one scans, follows
    /// and connects.
    private static func sets(_ header: UInt8) -> [UInt8] {
        var blocks = [ByteBlock(), ByteBlock()]
        for handle in 0...1 as ClosedRange<UInt8> {
            appendSet(handle, to: &blocks[0])
        }
        var parameters = LESetPeriodicAdvertisingParameters()
        (parameters.advertisingHandle, parameters.intervalMin, parameters.intervalMax) = (1, 8, 8)
        blocks[0].append(command: parameters)
        var data = LESetPeriodicAdvertisingData()
        (data.advertisingHandle, data.operation) = (1, AdvertisingDataOperation.complete)
        data.data = [UInt8](repeating: 5, count: 100)
        blocks[0].append(command: data)
        var train = LESetPeriodicAdvertisingEnable()
        (train.enable, train.advertisingHandle) = (3, 1)
        blocks[0].append(command: train)

        var scan = LESetExtendedScanParameters()
        scan.scanningPHYs = 1
        var mode = LESetExtendedScanParameters.Entry()
        (mode.scanType, mode.scanInterval, mode.scanWindow) = (1, 0x10, 0x10)
        scan.entries = [mode]
        blocks[1].append(command: scan)
        var enable = LESetExtendedScanEnable()
        (enable.enable, enable.filterDuplicates, enable.duration, enable.period) = (1, 2, 20, 1)
        blocks[1].append(command: enable)
        let peer = DeviceAddress(littleEndian: 0x0200_0000_0001)
        var sync = LEPeriodicAdvertisingCreateSync()
        (sync.advertiserAddress, sync.advertisingSid, sync.syncTimeout) = (peer, 1, 10)
        blocks[1].append(command: sync)
        var create = LEExtendedCreateConnection()
        (create.peerAddress, create.initiatingPHYs) = (peer, 1)
        var entry = LEExtendedCreateConnection.Entry()
        (entry.scanInterval, entry.scanWindow, entry.supervisionTimeout) = (0x10, 0x10, 500)
        (entry.intervalMin, entry.intervalMax) = (24, 24)
        create.entries = [entry]
        blocks[1].append(command: create)
        var bytes = [header]
        for host in 0...1 {
            for packet in h4Packets(blocks[host]) { bytes += [UInt8(host)] + packet[1...] }
        }
        return bytes + [0xF8, 0xF8]
    }

    /// Set 0 is connectable, set 1 may have a train.
    private static func appendSet(_ handle: UInt8, to block: inout ByteBlock) {
        var parameters = LESetExtendedAdvertisingParameters()
        parameters.advertisingHandle = handle
        parameters.eventProperties = handle == 0 ? 1 : 0
        (parameters.intervalMin, parameters.intervalMax) = (0x20, 0x20)
        (parameters.channelMap, parameters.advertisingSid) = (7, handle)
        (parameters.primaryPHY, parameters.secondaryPHY) = (1, 1)
        block.append(command: parameters)
        var data = LESetExtendedAdvertisingData()
        (data.advertisingHandle, data.operation) = (handle, AdvertisingDataOperation.complete)
        data.data = [UInt8](repeating: handle, count: 200)
        block.append(command: data)
        var enable = LESetExtendedAdvertisingEnable()
        var entry = LESetExtendedAdvertisingEnable.Entry()
        entry.advertisingHandle = handle
        (enable.enable, enable.sets) = (1, [entry])
        block.append(command: enable)
    }

    /// Two hosts that know each other's keys, one advertising, one connecting.
    private static var privacy: [UInt8] {
        let identities = (1...2).map { DeviceAddress(littleEndian: 0x0200_0000_0000 + $0) }
        var blocks = [ByteBlock(), ByteBlock()]
        for host in 0...1 {
            var add = LEAddDeviceToResolvingList()
            add.peerIdentityAddress = identities[1 - host]
            add.peerIRK = [UInt8](repeating: UInt8(2 - host), count: 16)
            add.localIRK = [UInt8](repeating: UInt8(1 + host), count: 16)
            blocks[host].append(command: add)
            var enable = LESetAddressResolutionEnable()
            enable.addressResolutionEnable = 1
            blocks[host].append(command: enable)
        }
        var parameters = LESetAdvertisingParameters()
        (parameters.intervalMin, parameters.intervalMax) = (0x20, 0x20)
        parameters.ownAddressType = .publicIdentity
        parameters.peerAddress = identities[1]
        parameters.channelMap = 7
        blocks[0].append(command: parameters)
        var advertise = LESetAdvertisingEnable()
        advertise.enable = 1
        blocks[0].append(command: advertise)
        var create = LECreateConnection()
        (create.scanInterval, create.scanWindow) = (0x10, 0x10)
        create.peerAddressType = .publicIdentity
        create.peerAddress = identities[0]
        create.ownAddressType = .publicIdentity
        (create.intervalMin, create.intervalMax) = (24, 24)
        create.supervisionTimeout = 500
        blocks[1].append(command: create)
        var bytes: [UInt8] = [4]
        for host in 0...1 {
            for packet in h4Packets(blocks[host]) { bytes += [UInt8(host)] + packet[1...] }
        }
        return bytes + [0xF8]
    }
}
