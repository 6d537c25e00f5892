// What the Security Manager needs from outside: a cipher and random octets.

/// The cipher behind the Security Manager's functions. Octets are most significant first, as the
/// specification prints them; nil where the cipher cannot.
public protocol SecurityCipher: Sendable {
    /// The function e: AES-128 of one block of 16 octets (Core 6.0, Vol 3, Part H, 2.2.1).
    func encrypt(_ block: [UInt8], key: [UInt8]) -> [UInt8]?
    /// AES-CMAC with a key of 16 octets (RFC 4493).
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]?
    /// The P-256 public key of a private key of 32 octets; nil where that is not within the curve's
    /// order.
    func publicKey(of privateKey: [UInt8]) -> PublicKey?
    /// The X coordinate that both sides share, 32 octets (2.2.5); nil for a public key that is not
    /// a point of the curve.
    func sharedSecret(_ privateKey: [UInt8], with publicKey: PublicKey) -> [UInt8]?
}

/// The cipher of a device that has none: it cannot pair.
struct NoCipher: SecurityCipher {
    func encrypt(_ block: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    func code(of message: [UInt8], key: [UInt8]) -> [UInt8]? { nil }
    func publicKey(of privateKey: [UInt8]) -> PublicKey? { nil }
    func sharedSecret(_ privateKey: [UInt8], with publicKey: PublicKey) -> [UInt8]? { nil }
}

/// A point of P-256: two coordinates of 32 octets, most significant first.
public struct PublicKey: Hashable, Sendable {
    public var x: [UInt8]
    public var y: [UInt8]

    public init(x: [UInt8], y: [UInt8]) {
        self.x = x
        self.y = y
    }
}

/// What random octets are for.
public enum RandomUse: Sendable {
    case privateKey, pairingRandom, passkey, longTermKey, diversifier, rand, signatureKey,
        identityKey, privateAddress
}

/// Where keys come from: the system's random source on a real controller, a seed only in virtual
/// time.
public protocol SecurityRandom: Sendable {
    mutating func octets(_ count: Int, for use: RandomUse) -> [UInt8]
}

/// The source of a device that has none: it cannot pair.
struct NoRandom: SecurityRandom {
    func octets(_ count: Int, for use: RandomUse) -> [UInt8] { [] }
}

/// Random octets of any generator.
public struct GeneratorRandom<Generator: RandomNumberGenerator & Sendable>: SecurityRandom {
    private var generator: Generator

    public init(_ generator: Generator) { self.generator = generator }

    /// The next octets, eight of each number, lowest first; what they are for makes no difference.
    public mutating func octets(_ count: Int, for use: RandomUse) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count {
            let word = generator.next()
            for index in 0..<8 where octets.count < count {
                octets.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * index)))
            }
        }
        return octets
    }
}
