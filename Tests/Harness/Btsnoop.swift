// Reads captures back, and captured packets as text.
import HCI
public import SansIO
public import Wire

/// One record of a btsnoop file of datalink 1002.
public struct CapturedPacket: Equatable, Sendable {
    public var isReceived: Bool
    public var flags: UInt32
    /// Since 2000-01-01T00:00:00Z.
    public var time: Instant
    /// The H4 packet, type octet included.
    public var octets: [UInt8]

    public init(isReceived: Bool, flags: UInt32, time: Instant, octets: [UInt8]) {
        self.isReceived = isReceived
        self.flags = flags
        self.time = time
        self.octets = octets
    }
}

/// A reader of btsnoop files for tests; nil where the octets are none.
public enum BtsnoopFile {
    /// Microseconds from the year 0 to 2000.
    static let epoch2000: Int64 = 0x00E0_3AB4_4A67_6000

    public static func packets(_ bytes: [UInt8]) -> [CapturedPacket]? {
        guard bytes.starts(with: Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]) else {
            return nil
        }
        var packets: [CapturedPacket] = []
        var offset = 16
        while offset < bytes.count {
            guard offset + 24 <= bytes.count else { return nil }
            let length = Int(bigEndian(bytes[offset..<offset + 4]))
            let start = offset + 24
            guard bigEndian(bytes[offset + 4..<offset + 8]) == UInt64(length),
                start + length <= bytes.count
            else { return nil }
            let flags = UInt32(bigEndian(bytes[offset + 8..<offset + 12]))
            let time = Int64(bitPattern: bigEndian(bytes[offset + 16..<start]))
            packets.append(
                CapturedPacket(
                    isReceived: flags & 1 == 1, flags: flags,
                    time: Instant(microseconds: time - epoch2000),
                    octets: Array(bytes[start..<start + length])))
            offset = start + length
        }
        return packets
    }

    private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The whole H4 packets of `block`; precondition: nothing is left over.
public func h4Packets(_ block: borrowing ByteBlock) -> [[UInt8]] {
    let bytes = block.bytes
    var packets: [[UInt8]] = []
    var offset = 0
    while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
        packets.append(Array(bytes[offset..<end]))
        offset = end
    }
    precondition(offset == bytes.count, "an H4 stream ends with a whole packet")
    return packets
}
