// The capture file: btsnoop with datalink 1002 (H4), which Wireshark opens.
import HCI
public import SansIO
public import Wire

/// Writes HCI packets as btsnoop records. Integers are big-endian there.
///
/// Source: RFC 1761 (snoop version 2), whose layout btsnoop takes over; flags and datalink
/// numbers as
/// in Wireshark's and BlueZ's readers: bit 0 is received, bit 1 is command or event.
public struct BtsnoopWriter: Sendable {
    /// What is to be appended to the file; the driver empties it.
    public var block = ByteBlock(capacity: 4096)
    /// Microseconds since 1970 at `Instant.zero`.
    private let epoch: Int64

    /// HCI UART (H4).
    private static let datalink: UInt32 = 1002
    /// Microseconds from the year 0 to 1970.
    private static let yearZero: Int64 = 0x00DC_DDB3_0F2F_8000
    /// 2000-01-01T00:00:00Z in microseconds since 1970: where virtual time begins.
    public static let virtualEpoch: Int64 = 946_684_800_000_000

    /// Begins a file.
    /// - Parameter epoch: microseconds since 1970-01-01T00:00:00Z at `Instant.zero`.
    public init(epoch: Int64) {
        self.epoch = epoch
        block.append([UInt8]("btsnoop".utf8) + [0])
        append32(1)
        append32(Self.datalink)
    }

    /// Appends one whole H4 packet, type octet included.
    /// - Parameter isReceived: whether it came from the controller.
    public mutating func append(_ packet: Span<UInt8>, isReceived: Bool, at now: Instant) {
        guard packet.count > 0 else { return }
        let isControl =
            switch H4PacketType(rawValue: packet[0]) {
            case .command, .event: true
            case .acl, .synchronous, .isochronous, nil: false
            }
        append32(UInt32(packet.count))
        append32(UInt32(packet.count))
        append32((isReceived ? 1 : 0) | (isControl ? 2 : 0))
        append32(0)
        let time = UInt64(bitPattern: Self.yearZero &+ epoch &+ now.microseconds)
        append32(UInt32(truncatingIfNeeded: time >> 32))
        append32(UInt32(truncatingIfNeeded: time))
        block.append(packet)
    }

    private mutating func append32(_ value: UInt32) { block.append(value.byteSwapped) }
}
