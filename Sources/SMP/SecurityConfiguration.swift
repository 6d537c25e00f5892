// How a device pairs: what its profile says of security.
public import SansIO

/// What a device is told of pairing at power-on.
public struct SecurityConfiguration: Hashable, Sendable {
    /// Who may pair, and how.
    public enum Policy: Sendable, CaseIterable {
        case refused
        /// LE Secure Connections where the central has it, else LE legacy pairing.
        case any
        case legacy
        /// LE legacy pairing and keys of less than 16 octets are refused (Core 6.0, Vol 3, Part C,
        /// 10.2.4).
        case secureConnections
    }

    public var policy = Policy.refused
    /// Whether each central is asked for security as soon as it has connected.
    public var requestsSecurity = false
    /// What the person at the device can do (Core 6.0, Vol 3, Part H, 2.3.2).
    public var io = IOCapability.noInputNoOutput
    /// Whether keys are kept for the next connection, where the central wants it too.
    public var bonding = true
    /// Whether protection against a man in the middle is asked for.
    public var asksAuthentication = false
    /// Whether a pairing without it is refused.
    public var requiresAuthentication = false
    /// Octets, 7 to 16.
    public var keySizeMin: UInt8 = 7
    public var keySizeMax: UInt8 = 16
    /// The keys that are taken from the initiator, and that are given to it.
    public var initiatorKeys: KeyDistribution = [.encryption, .identity, .signing]
    public var responderKeys: KeyDistribution = [.encryption, .identity, .signing]
    /// The passkey that is shown and entered, 0 to 999,999; nil: a random one is shown, and a
    /// person is asked.
    public var passkey: UInt32?
    /// The answer to a numeric comparison; nil: a person is asked.
    public var confirm: Bool?
    /// How long a person has time to answer; less than the protocol's own 30 s.
    public var questionLimit = TimeSpan.seconds(25)
    /// How long after power-on pairing is possible; nil: always.
    public var window: TimeSpan?
    /// How many bonds are kept; the one unused longest gives way.
    public var bondsMax = 16
    /// The address that is told as the own identity, and the key of private addresses.
    public var identity: LinkAddress?
    /// The identity resolving key, 16 octets in wire order.
    public var identityKey = [UInt8](repeating: 0, count: 16)
    /// Out of band data, which both sides have got by another way.
    public var outOfBand: OutOfBandData?

    public init() {}

    /// AuthReq of this side.
    var authReq: AuthenticationRequirements {
        var authReq: AuthenticationRequirements = []
        if bonding { authReq.insert(.bonding) }
        if asksAuthentication { authReq.insert(.mitm) }
        if policy != .legacy { authReq.insert(.secureConnections) }
        return authReq
    }

    /// The least key size: LE Secure Connections alone means the largest.
    public var leastKeySize: UInt8 { policy == .secureConnections ? 16 : keySizeMin }
}

/// Out of band data (Core 6.0, Vol 3, Part H, 2.3.5.4 and 2.3.5.6.4). Octets are in wire order.
public struct OutOfBandData: Hashable, Sendable {
    /// The temporary key of LE legacy pairing, 16 octets; nil for none.
    public var temporaryKey: [UInt8]?
    /// What the peer gave: its random value and confirm value; nil for nothing.
    public var peer: (random: [UInt8], confirm: [UInt8])? {
        get { peerRandom.flatMap { random in peerConfirm.map { (random, $0) } } }
        set {
            peerRandom = newValue?.random
            peerConfirm = newValue?.confirm
        }
    }
    private var peerRandom: [UInt8]?
    private var peerConfirm: [UInt8]?
    /// The random value that was given to the peer.
    public var ownRandom: [UInt8]?
    /// The private key whose public key was given to the peer; most significant octet first.
    public var ownPrivateKey: [UInt8]?

    public init() {}
}
