// The 48-bit address of a Bluetooth device, and its kinds.

/// A Bluetooth device address (Core 6.0, Vol 6, Part B, 1.3), without its type.
public struct DeviceAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 48 bits; the octet sent first is the least significant.
    public let littleEndian: UInt64

    public init(littleEndian: UInt64 = 0) { self.littleEndian = littleEndian & 0xFFFF_FFFF_FFFF }

    /// Reads the usual form `C0:11:22:33:44:55`, most significant octet first; nil for anything
    /// else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.utf8.allSatisfy({ $0 != UInt8(ascii: "+") }),
                let octet = UInt8(part, radix: 16)
            else { return nil }
            value = value << 8 | UInt64(octet)
        }
        self.init(littleEndian: value)
    }

    public var description: String {
        (0..<6).reversed().map {
            Hex.string(UInt8(truncatingIfNeeded: littleEndian >> UInt64(8 * $0)))
        }
        .joined(separator: ":")
    }

    /// Whether this can be a random static address: both top bits set, and the other 46 neither all
    /// zero nor all one (Core 6.0, Vol 6, Part B, 1.3.2.1).
    public var isRandomStatic: Bool {
        let random = littleEndian & 0x3FFF_FFFF_FFFF
        return littleEndian >> 46 == 0b11 && random != 0 && random != 0x3FFF_FFFF_FFFF
    }

    /// The random static address made of the low 46 bits of `random`.
    public static func randomStatic(from random: UInt64) -> DeviceAddress {
        let bits = random & 0x3FFF_FFFF_FFFF
        let usable = bits == 0 || bits == 0x3FFF_FFFF_FFFF ? 1 : bits
        return DeviceAddress(littleEndian: usable | 0b11 << 46)
    }
}

/// Own_Address_Type and Peer_Address_Type of HCI (Core 6.0, Vol 4, Part E, 7.8.5).
public struct AddressType: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let publicDevice = AddressType(rawValue: 0x00)
    public static let randomDevice = AddressType(rawValue: 0x01)
    public static let publicIdentity = AddressType(rawValue: 0x02)
    public static let randomIdentity = AddressType(rawValue: 0x03)
    /// In reports and in the filter accept list: an advertiser that does not say who it is.
    public static let anonymous = AddressType(rawValue: 0xFF)

    public var description: String {
        switch self {
        case .publicDevice: "public"
        case .randomDevice: "random"
        case .publicIdentity: "public-identity"
        case .randomIdentity: "random-identity"
        default: Hex.code(rawValue)
        }
    }
}
