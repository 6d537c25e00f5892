// UUIDs of 16, 32 and 128 bits, compared as the 128-bit value they stand for.

/// A Bluetooth UUID (Core 6.0, Vol 3, Part B, 2.5.1). Short ones are aliases under the Base UUID,
/// so
/// 0x180F equals its 128-bit form; `width` keeps the form that goes on the wire.
public struct BluetoothUUID: Sendable {
    /// How many octets the UUID takes: 2, 4 or 16.
    public enum Width: Int, Sendable { case short = 2, medium = 4, full = 16 }

    /// The most and the least significant 64 bits of the 128-bit value.
    public let high: UInt64
    public let low: UInt64
    public let width: Width

    /// 00000000-0000-1000-8000-00805F9B34FB without its first 32 bits.
    static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    public init(_ short: UInt16) {
        high = UInt64(short) << 32 | Self.baseHigh
        low = Self.baseLow
        width = .short
    }

    public init(medium: UInt32) {
        high = UInt64(medium) << 32 | Self.baseHigh
        low = Self.baseLow
        width = .medium
    }

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        width = .full
    }

    /// Reads 2, 4 or 16 little-endian octets; nil for any other count.
    public init?(littleEndian bytes: Span<UInt8>) {
        switch bytes.count {
        case 2: self.init(bytes.uint16(at: 0))
        case 4: self.init(medium: UInt32(bytes.uint16(at: 0)) | UInt32(bytes.uint16(at: 2)) << 16)
        case 16:
            var high: UInt64 = 0
            var low: UInt64 = 0
            for index in 0..<8 {
                low |= UInt64(bytes[index]) << UInt64(8 * index)
                high |= UInt64(bytes[8 + index]) << UInt64(8 * index)
            }
            self.init(high: high, low: low)
        default: return nil
        }
    }

    /// Reads the usual 128-bit form with hyphens; nil for anything else.
    @inlinable
    public init?(_ text: some StringProtocol) { self.init(utf8: Array(text.utf8)) }

    /// Where the hyphens of the usual form stand.
    private static let hyphens = [8, 13, 18, 23]

    @usableFromInline
    init?(utf8 text: [UInt8]) {
        let hyphen = UInt8(ascii: "-")
        guard text.count == 36, Self.hyphens.allSatisfy({ text[$0] == hyphen }),
            let bytes = Hex.bytes(utf8: text.filter { $0 != hyphen }), bytes.count == 16
        else { return nil }
        let reversed = [UInt8](bytes.reversed())
        self.init(littleEndian: reversed.span)
    }

    /// The 16-bit alias, where the value has one, whatever its width.
    public var short: UInt16? {
        guard low == Self.baseLow, high & 0xFFFF_0000_FFFF_FFFF == Self.baseHigh else { return nil }
        return UInt16(truncatingIfNeeded: high >> 32)
    }

    /// The octets as on the wire, in this width.
    public var littleEndian: [UInt8] {
        switch width {
        case .short: (0..<2).map { UInt8(truncatingIfNeeded: high >> UInt64(32 + 8 * $0)) }
        case .medium: (0..<4).map { UInt8(truncatingIfNeeded: high >> UInt64(32 + 8 * $0)) }
        case .full: fullLittleEndian
        }
    }

    /// The 16 octets of the 128-bit value, as on the wire.
    public var fullLittleEndian: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: low >> UInt64(8 * $0)) }
            + (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(8 * $0)) }
    }
}

extension BluetoothUUID: Hashable {
    public static func == (left: BluetoothUUID, right: BluetoothUUID) -> Bool {
        left.high == right.high && left.low == right.low
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension BluetoothUUID: CustomStringConvertible {
    /// `0x180F` for a 16-bit UUID, the hyphenated form for any other.
    public var description: String {
        if width == .short, let short { return Hex.code(short) }
        var text = Array(Hex.string([UInt8](fullLittleEndian.reversed())).utf8)
        for place in Self.hyphens { text.insert(UInt8(ascii: "-"), at: place) }
        return String(decoding: text, as: UTF8.self)
    }
}
