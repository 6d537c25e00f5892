// Private addresses: how they are made, and whose they are.
public import Wire

/// The two kinds of private address (Core 6.0, Vol 6, Part B, 1.3.2.2).
public enum PrivateAddressKind: Sendable {
    /// Whoever has the IRK knows whose it is.
    case resolvable
    case nonResolvable
}

extension Toolbox {
    /// The resolvable private address that `irk` makes of a random number: of `random` the low 22
    /// bits count (Core 6.0, Vol 6, Part B, 1.3.2.2). nil where the cipher cannot.
    public func resolvableAddress(_ irk: [UInt8], random: UInt32) -> DeviceAddress? {
        let bits = random & 0x3F_FFFF
        let prand = (bits == 0 || bits == 0x3F_FFFF ? 1 : bits) | 0x40_0000
        guard let hash = ah(irk, (0..<3).map { UInt8(truncatingIfNeeded: prand >> (8 * $0)) })
        else { return nil }
        let low = hash.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return DeviceAddress(littleEndian: UInt64(prand) << 24 | low)
    }

    /// Whether `address` is resolvable and made with `irk` (Core 6.0, Vol 6, Part B, 1.3.2.3). A
    /// key of zeros resolves nothing: it stands for none.
    public func resolves(_ address: LinkAddress, with irk: [UInt8]) -> Bool {
        guard address.isResolvable, irk.contains(where: { $0 != 0 }) else { return false }
        let octets = address.addressOctets
        guard let hash = ah(irk, Array(octets[3..<6])) else { return false }
        return Self.isEqual(hash, Array(octets[..<3]))
    }
}

extension SecurityManager {
    /// A new private address of this device; nil where the cipher cannot make one.
    public mutating func privateAddress(_ kind: PrivateAddressKind) -> DeviceAddress? {
        let octets = random.octets(8, for: .privateAddress)
        let number = octets.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch kind {
        case .resolvable:
            return toolbox.resolvableAddress(
                configuration.identityKey, random: UInt32(truncatingIfNeeded: number))
        case .nonResolvable:
            let bits = number & 0x3FFF_FFFF_FFFF
            return DeviceAddress(littleEndian: bits == 0 || bits == 0x3FFF_FFFF_FFFF ? 1 : bits)
        }
    }
}
