// Encryption of BTHome: AES-CCM over a block cipher that comes from outside.
public import SansIO
public import Wire

/// AES-128 of one block of 16 octets, most significant first; nil where there is no cipher.
public typealias BlockCipher = (_ block: [UInt8], _ key: [UInt8]) -> [UInt8]?

/// What encrypts a beacon, and what it has made last.
public struct BeaconKey: Equatable, Sendable {
    /// 16 octets.
    public let octets: [UInt8]
    /// All octets behind the format's prefix, encrypted.
    fileprivate(set) var sealed: [UInt8]?

    /// How long what was encrypted stays at least: the counter is the time, in steps of this.
    public static let updateMin = TimeSpan.milliseconds(250)

    public init(_ octets: [UInt8]) { self.octets = octets }

    /// The place of what is encrypted: device information, objects, counter and code.
    static func unsealed(_ plain: [UInt8]) -> [UInt8] {
        [(plain.first ?? 0) | encryptedBit] + [UInt8](repeating: 0, count: plain.count - 1 + 8)
    }

    /// In the octet of device information.
    fileprivate static let encryptedBit: UInt8 = 0x01
    fileprivate static let codeOctets = 4
}

extension Beacon {
    /// Encrypts the items as the device with this address does, under a counter that must not come
    /// again (bthome.io/encryption); a beacon without a key stays as it is.
    public mutating func seal(address: DeviceAddress, counter: UInt32, cipher: BlockCipher) {
        guard let key else { return }
        let plain = itemOctets
        let information = (plain.first ?? 0) | BeaconKey.encryptedBit
        let count = (0..<4).map { UInt8(truncatingIfNeeded: counter >> UInt32(8 * $0)) }
        let ccm = CCM(
            key: key.octets, nonce: Self.nonce(address, format, information, count),
            codeOctets: BeaconKey.codeOctets)
        guard let (encrypted, code) = ccm.seal(Array(plain.dropFirst()), cipher: cipher) else {
            return
        }
        self.key?.sealed = [information] + encrypted + count + code
    }

    /// The beacon in the clear of an encrypted one; nil where address or key are not its own.
    public func opened(
        key: [UInt8], address: DeviceAddress, cipher: BlockCipher
    ) -> Beacon? {
        let octets = Array(octets.dropFirst(format.prefix.count))
        guard format == .bthomeEncrypted, octets.count >= 9, key.count == 16 else { return nil }
        let end = octets.count - 8
        let ccm = CCM(
            key: key,
            nonce: Self.nonce(address, format, octets[0], Array(octets[end..<end + 4])),
            codeOctets: BeaconKey.codeOctets)
        let plain = ccm.open(
            Array(octets[1..<end]), code: Array(octets[(end + 4)...]), cipher: cipher)
        return plain.flatMap {
            Beacon(.bthome, format.prefix + [octets[0] & ~BeaconKey.encryptedBit] + $0)
        }
    }

    private static func nonce(
        _ address: DeviceAddress, _ format: BeaconFormat, _ information: UInt8, _ count: [UInt8]
    ) -> [UInt8] {
        let octets = (0..<6).reversed().map {
            UInt8(truncatingIfNeeded: address.littleEndian >> UInt64(8 * $0))
        }
        return octets + format.prefix + [information] + count
    }
}

/// AES-CCM without additional data (RFC 3610), for messages of less than 64 KiB.
struct CCM {
    let key: [UInt8]
    /// 13 octets: two are left for the message's length.
    let nonce: [UInt8]
    /// 4 to 16, even.
    let codeOctets: Int

    /// Nil where the cipher cannot.
    func seal(
        _ plain: [UInt8], cipher: BlockCipher
    ) -> (encrypted: [UInt8], code: [UInt8])? {
        guard let encrypted = stream(plain, cipher: cipher),
            let code = code(of: plain, cipher: cipher)
        else { return nil }
        return (encrypted, code)
    }

    /// Nil where the code is not the message's.
    func open(_ encrypted: [UInt8], code: [UInt8], cipher: BlockCipher) -> [UInt8]? {
        guard let plain = stream(encrypted, cipher: cipher),
            self.code(of: plain, cipher: cipher) == code
        else { return nil }
        return plain
    }

    private func counterBlock(_ index: Int) -> [UInt8] {
        [0x01] + nonce + [UInt8(truncatingIfNeeded: index >> 8), UInt8(truncatingIfNeeded: index)]
    }

    private func stream(_ message: [UInt8], cipher: BlockCipher) -> [UInt8]? {
        var result: [UInt8] = []
        for start in stride(from: 0, to: message.count, by: 16) {
            guard let block = cipher(counterBlock(start / 16 + 1), key), block.count == 16 else {
                return nil
            }
            result += zip(message[start...], block).map { $0 ^ $1 }
        }
        return result
    }

    private func code(of plain: [UInt8], cipher: BlockCipher) -> [UInt8]? {
        let first =
            [UInt8((codeOctets - 2) / 2) << 3 | 0x01] + nonce
            + [UInt8(truncatingIfNeeded: plain.count >> 8), UInt8(truncatingIfNeeded: plain.count)]
        guard var chain = cipher(first, key), chain.count == 16 else { return nil }
        for start in stride(from: 0, to: plain.count, by: 16) {
            for (index, octet) in plain[start...].prefix(16).enumerated() {
                chain[index] ^= octet
            }
            guard let next = cipher(chain, key), next.count == 16 else { return nil }
            chain = next
        }
        guard let mask = cipher(counterBlock(0), key), mask.count == 16 else { return nil }
        return zip(chain, mask).prefix(codeOctets).map { $0 ^ $1 }
    }
}
