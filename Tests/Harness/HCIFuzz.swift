// Octets from the controller to a device at work on the sample profile.
import Emulator
import GATT
import HCI
import Profiles
import SansIO
import Wire

enum HCIFuzz {
    /// A whole session, and each of its packets to a device that is followed.
    static func seeds() -> [[UInt8]] {
        guard let device = try? SampleProfile.device() else { return [] }
        var world = GuestWorld.session(of: device)
        let packets = world.takePackets().filter(\.isReceived).map(\.octets)
        let kinds = packets + h4Packets(setEvents)
        return [[0x20] + packets.joined()] + kinds.map { [0x3B] + $0 }
    }

    /// Events of advertising sets, extended scanning and periodic advertising.
    private static var setEvents: ByteBlock {
        var block = ByteBlock()
        var terminated = LEAdvertisingSetTerminated()
        terminated.status = .limitReached
        block.append(event: terminated)
        block.append(event: LEScanRequestReceived())
        var report = LEExtendedAdvertisingReport.Report()
        report.eventType = [.connectable, .moreToCome]
        report.data = [2, 1, 6]
        block.append(event: LEExtendedAdvertisingReport([report, report]))
        block.append(event: LEScanTimeout())
        block.append(event: LEPeriodicAdvertisingSyncEstablished())
        var train = LEPeriodicAdvertisingReport()
        train.data = [2, 1, 6]
        block.append(event: train)
        block.append(event: LEPeriodicAdvertisingSyncLost())
        block.append(event: LEChannelSelectionAlgorithm())
        return block
    }

    /// Octet 0: bits 0 to 2 the size of chunks, 3 and 4 how far the device has come, 5 whether
    /// deadlines pass between chunks, 6 whether the controller is lost after half of the octets, 7
    /// whether a new controller follows, which takes longest.
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
        if header & 0x80 != 0 { run.recover() }
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
