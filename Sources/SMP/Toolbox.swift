// The cryptographic toolbox of the Security Manager over an injected cipher.
import Wire

/// The functions of Core 6.0, Vol 3, Part H, 2.2. Arguments and results are in wire order, least
/// significant octet first; nil where the cipher cannot.
public struct Toolbox: Sendable {
    public let cipher: any SecurityCipher

    public init(_ cipher: any SecurityCipher) { self.cipher = cipher }

    private func code(_ key: [UInt8], _ parts: [UInt8]...) -> [UInt8]? {
        cipher.code(of: parts.flatMap { $0.reversed() }, key: key.reversed())?.reversed()
    }

    /// The security function e (2.2.1).
    public func e(_ key: [UInt8], _ block: [UInt8]) -> [UInt8]? {
        cipher.encrypt(block.reversed(), key: key.reversed())?.reversed()
    }

    /// The random address hash: 3 octets of `prand`, 3 of hash (2.2.2).
    public func ah(_ irk: [UInt8], _ prand: [UInt8]) -> [UInt8]? {
        e(irk, prand + [UInt8](repeating: 0, count: 13)).map { Array($0.prefix(3)) }
    }

    /// The confirm value of LE legacy pairing (2.2.3). `request` and `response` are whole PDUs.
    public func c1(
        _ k: [UInt8], _ r: [UInt8], request: [UInt8], response: [UInt8], initiator: LinkAddress,
        responder: LinkAddress
    ) -> [UInt8]? {
        let p1 = [initiator.isRandom ? 1 : 0, responder.isRandom ? 1 : 0] + request + response
        let p2 = responder.addressOctets + initiator.addressOctets + [0, 0, 0, 0]
        guard let inner = e(k, Self.exclusiveOr(r, p1)) else { return nil }
        return e(k, Self.exclusiveOr(inner, p2))
    }

    /// The short term key of LE legacy pairing (2.2.4): `r1` of the responder, `r2` of the
    /// initiator.
    public func s1(_ k: [UInt8], _ r1: [UInt8], _ r2: [UInt8]) -> [UInt8]? {
        e(k, Array(r2.prefix(8)) + Array(r1.prefix(8)))
    }

    /// The confirm value of LE Secure Connections (2.2.6).
    public func f4(_ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ z: UInt8) -> [UInt8]? {
        code(x, u, v, [z])
    }

    /// MacKey and LTK of LE Secure Connections (2.2.7).
    public func f5(
        _ w: [UInt8], _ n1: [UInt8], _ n2: [UInt8], _ a1: LinkAddress, _ a2: LinkAddress
    ) -> (macKey: [UInt8], ltk: [UInt8])? {
        let salt: [UInt8] = [
            0xBE, 0x83, 0x60, 0x5A, 0xDB, 0x0B, 0x37, 0x60, 0x38, 0xA5, 0xF5, 0xAA, 0x91, 0x83,
            0x88, 0x6C,
        ]
        // "btle" and the length of 256 bits.
        let (keyID, length): ([UInt8], [UInt8]) = ([0x65, 0x6C, 0x74, 0x62], [0x00, 0x01])
        guard let t = code(salt, w),
            let macKey = code(t, [0], keyID, n1, n2, a1.octets, a2.octets, length),
            let ltk = code(t, [1], keyID, n1, n2, a1.octets, a2.octets, length)
        else { return nil }
        return (macKey, ltk)
    }

    /// The check value of LE Secure Connections (2.2.8).
    public func f6(
        _ w: [UInt8], _ n1: [UInt8], _ n2: [UInt8], _ r: [UInt8], ioCap: [UInt8],
        _ a1: LinkAddress, _ a2: LinkAddress
    ) -> [UInt8]? {
        code(w, n1, n2, r, ioCap, a1.octets, a2.octets)
    }

    /// The number of six digits that both users compare (2.2.9).
    public func g2(_ u: [UInt8], _ v: [UInt8], _ x: [UInt8], _ y: [UInt8]) -> UInt32? {
        guard let code = code(x, u, v, y), code.count == 16 else { return nil }
        let value = (0..<4).reduce(UInt32(0)) { $0 | UInt32(code[$1]) << UInt32(8 * $1) }
        return value % 1_000_000
    }

    /// Link key conversion with a key identifier (2.2.10).
    public func h6(_ w: [UInt8], keyID: [UInt8]) -> [UInt8]? { code(w, keyID) }

    /// Link key conversion with a salt (2.2.11).
    public func h7(salt: [UInt8], _ w: [UInt8]) -> [UInt8]? { code(salt, w) }

    static func exclusiveOr(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        zip(left, right).map { $0 ^ $1 }
    }

    /// Compares secrets in a time that does not tell where they differ.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
