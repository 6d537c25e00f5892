// What one operation costs inside the process, without a socket: nanoseconds and allocations.
//
//   in-process PROFILE [OPERATIONS]
//
// PROFILE is Profiles/load-test.yaml, whose value handles are looked up. One line a kind of
// operation, as JSON, then one a speed of the power benchmark. The device runs on the virtual
// controller until it advertises; then it gets a link and its packets from here.
import CAllocations
import Emulator
import HCI
import LinuxIO
import Profiles
import SansIO
import VirtualController
import Wire

@main
enum InProcess {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count > 1, let profile = load(arguments[1]) else {
            print("in-process: give a profile that loads")
            return
        }
        let operations = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 100_000
        var bench = Bench(device: EmulatedDevice(profile: profile, seed: 1))
        bench.connect()
        bench.exchange(Bench.packet([0x02, 0xF7, 0x00]))
        let handles = bench.valueHandles
        guard handles.count == 7 else {
            print("in-process: the profile is not Profiles/load-test.yaml")
            return
        }
        let read = Bench.packet(Bench.pdu(0x0A, handles[0]))
        bench.measure("read20", operations) { $0.exchange(read) }
        let write = Bench.packet(
            Bench.pdu(0x52, handles[2]) + [UInt8](repeating: 0x5A, count: 244))
        bench.measure("write-command", operations) { $0.exchange(write) }
        // The configuration stands behind the value; from here each freed buffer is filled again.
        bench.exchange(Bench.packet(Bench.pdu(0x12, handles[3] + 1) + [1, 0]))
        bench.measure("notify", operations) { $0.free() }
        let folder = arguments[1].split(separator: "/", omittingEmptySubsequences: false)
        PowerSpeeds(folder: folder.dropLast().joined(separator: "/")).measure()
    }

    private static func load(_ path: String) -> DeviceProfile? {
        guard let bytes = try? readFile(path, octetsMax: 1 << 20) else { return nil }
        return try? ProfileLoader.load(path: path, bytes: bytes) { _ in
            .failure(FileFailure(reason: "it names a file"))
        }
    }
}

/// A device with one link, and what goes in and out.
struct Bench {
    private static let link: UInt16 = 0x0EFF
    private var port: DevicePort
    private var now = Instant.zero
    private var out = ByteBlock(capacity: 1 << 20)
    private var events = Outputs<DeviceEvent>()
    /// ACL packets that the device has sent and not got back.
    private var used = 0
    private let oneIsFree: [UInt8]
    private var sent = 0

    init(device: EmulatedDevice) {
        port = DevicePort(device: device)
        var block = ByteBlock()
        block.append(
            event: NumberOfCompletedPackets([.init(ConnectionHandle(rawValue: Self.link), 1)]))
        oneIsFree = block.bytes
    }

    /// The value handles, in the order of the profile, without those of GAP and GATT.
    var valueHandles: [UInt16] { port.device.plan.bindings.map(\.valueHandle).suffix(7) }

    /// Brings the device up on a controller of its own, and a central onto it.
    mutating func connect() {
        var air = Air(seed: 1, timing: .ideal)
        let controller = air.addController()
        port.powerOn(at: now, sending: &out, emit: &events)
        for _ in 0..<64 {
            var offset = 0
            let up = out.bytes
            out.removeAll()
            while case .packet(_, let end) = H4.frame(up.span, from: offset) {
                air.receive(up.span.extracting(offset..<end), from: controller, at: now)
                offset = end
            }
            guard air.hasOutput(controller) else { break }
            var down = ByteBlock()
            air.drain(controller, into: &down)
            let octets = down.bytes
            _ = port.receive(octets.span, at: now, sending: &out, emit: &events)
        }
        var connection = LEConnectionComplete()
        connection.connectionHandle = ConnectionHandle(rawValue: Self.link)
        connection.role = 1
        connection.connectionInterval = 6
        connection.supervisionTimeout = 100
        var event = ByteBlock()
        event.append(event: connection)
        take(event.bytes)
    }

    static func pdu(_ opcode: UInt8, _ handle: UInt16) -> [UInt8] {
        [opcode, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)]
    }

    /// One ATT PDU of the central in one ACL packet.
    static func packet(_ pdu: [UInt8]) -> [UInt8] {
        var block = ByteBlock()
        block.append(H4PacketType.acl.rawValue)
        block.append(link | 0x2000)
        block.append(UInt16(pdu.count + 4))
        block.append(UInt16(pdu.count))
        block.append(UInt16(0x0004))
        block.append(pdu)
        return block.bytes
    }

    /// Hands one packet to the device, takes what it answers and gives the buffers back.
    mutating func exchange(_ packet: [UInt8]) {
        take(packet)
        // What is freed may be used again at once, by notifications.
        for _ in 0..<used { free() }
    }

    /// Gives one buffer of the controller back.
    mutating func free() {
        used -= 1
        take(oneIsFree)
    }

    private mutating func take(_ packets: [UInt8]) {
        _ = port.receive(packets.span, at: now, sending: &out, emit: &events)
        events.removeAll()
        let octets = out.bytes
        var offset = 0
        while case .packet(_, let end) = H4.frame(octets.span, from: offset) {
            if octets[offset] == H4PacketType.acl.rawValue { used += 1; sent += 1 }
            offset = end
        }
        out.removeAll()
    }

    /// Does something often, once to warm up and once that counts, and prints what it cost.
    mutating func measure(_ name: String, _ operations: Int, _ body: (inout Bench) -> Void) {
        for _ in 0..<1_000 { body(&self) }
        sent = 0
        let memory = allocations()
        let start = cpu_nanoseconds()
        for _ in 0..<operations { body(&self) }
        let elapsed = cpu_nanoseconds() - start
        let allocated = allocations() - memory
        let nanoseconds = elapsed / UInt64(max(operations, 1))
        print(
            "{\"test\":\"\(name)\",\"operations\":\(operations),\"nanoseconds\":\(nanoseconds),"
                + "\"allocations\":\(allocated),\"sent\":\(sent)}")
    }
}
