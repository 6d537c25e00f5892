// The kernel as a host on the virtual air: adapters hciN that are made through /dev/vhci.
import Glibc
import HCI
import Wire

/// Adapters of this machine whose controllers are on the air. They are there as long as this is.
public final class VirtualAdapters {
    /// One host each, in the order they were made; named `hciN` once the kernel has said N.
    public let peers: [AirPeer]

    /// The kernel's most adapters are far more; these are enough for every test.
    public static let countMax = 16
    private static let path = "/dev/vhci"
    /// The packet type of the driver's own packets (drivers/bluetooth/hci_vhci.c).
    private static let vendorPacket: UInt8 = 0xFF
    /// Its only command: make an adapter, the octet 0 being its type, primary.
    private static let create: [UInt8] = [vendorPacket, 0]

    /// Makes `count` adapters.
    public init(count: Int, loop: inout EventLoop) throws(SystemError) {
        var peers: [AirPeer] = []
        for _ in 0..<count {
            let descriptor = try Self.open()
            _ = try descriptor.write(Self.create, 0..<Self.create.count, to: Self.path)
            let peer = AirPeer(token: loop.makeToken(), name: Self.path, descriptor: descriptor)
            try loop.watch(descriptor, as: peer.token, for: .readable)
            peers.append(peer)
        }
        self.peers = peers
    }

    private static func open() throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return Descriptor(
                try systemCall("open", path) {
                    unsafe Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
                })
        } catch {
            let advice: String? =
                switch error.code {
                case ENOENT, ENODEV, ENXIO:
                    "load the kernel's driver: sudo modprobe hci_vhci; kernels of containers and "
                        + "of the cloud lack it"
                case EACCES, EPERM: "run as root, or be given the device by its group"
                default: nil
                }
            throw error.advising(advice)
        }
    }

    /// Handles an event of the loop: one packet of the kernel, or the number of a new adapter.
    public func handle(_ event: ReadyEvent, buffer: inout ReadBuffer) throws(SystemError)
        -> AirEvent
    {
        guard let peer = peers.first(where: { $0.token == event.token }) else { return .nothing }
        switch try buffer.fill(from: peer.descriptor, peer.name) {
        case .wouldBlock, .count(0): return .nothing
        case .count(let count):
            guard buffer.bytes[0] == Self.vendorPacket else { return .bytes(peer, count) }
            // The type, the octet of the command, and the number (little-endian).
            guard count == 4 else { return .nothing }
            peer.name = "hci\(UInt16(buffer.bytes[2]) | UInt16(buffer.bytes[3]) << 8)"
            return .opened(peer)
        }
    }

    /// Writes out what the peers' blocks hold; the driver takes one packet a write.
    public func flush() throws(SystemError) {
        for peer in peers where !peer.output.isEmpty {
            let packets = peer.output.bytes
            var start = 0
            while case .packet(_, let end) = H4.frame(packets.span, from: start) {
                _ = try peer.descriptor.write(packets, start..<end, to: peer.name)
                start = end
            }
            peer.output.removeFirst(start)
        }
    }
}
