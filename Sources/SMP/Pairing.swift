// One pairing in progress: what it awaits and what it knows.
import SansIO
import Wire

/// A pairing of one link, from its request to its last key. Octets are in wire order.
struct Pairing: Sendable {
    /// Named by what is awaited.
    enum Phase: Sendable {
        case publicKey
        case confirm
        case random
        case check
        /// The controller's request for the new key, then the change of the encryption.
        case encryption
        case keys
    }

    let request: PairingFeatures
    let response: PairingFeatures
    let method: PairingMethod
    let initiator: LinkAddress
    let responder: LinkAddress
    var phase: Phase
    /// The end of the protocol's 30 s.
    var deadline: Instant
    /// What the person is asked; nil where nothing is.
    var asked: OpenQuestion?

    var privateKey: [UInt8] = []
    var publicKey = PairingPublicKey()
    var peerPublicKey = PairingPublicKey()
    var sharedSecret: [UInt8] = []
    /// Passkey Entry: what was shown or entered.
    var passkey: UInt32?
    /// Numeric Comparison: whether the person has found the numbers equal.
    var isConfirmed = false
    /// Passkey Entry of LE Secure Connections: 0 to 19.
    var round = 0
    var ownRandom: [UInt8] = []
    var peerRandom: [UInt8] = []
    var peerConfirm: [UInt8] = []
    /// The peer's DHKey check, which waits for the person.
    var heldCheck: [UInt8]?
    /// Whether the peer's confirm waits for the person.
    var hasHeldConfirm = false
    /// The key this pairing encrypts the link with: STK or LTK.
    var key: [UInt8]?
    /// Whether the controller has been given it.
    var isKeyGiven = false
    /// What the bond will hold.
    var bond: Bond
    /// The commands of the initiator's keys that are still to come, in order.
    var awaitedKeys: [SMPCode] = []

    init(
        request: PairingFeatures, response: PairingFeatures, initiator: LinkAddress,
        responder: LinkAddress, deadline: Instant
    ) {
        self.request = request
        self.response = response
        self.initiator = initiator
        self.responder = responder
        self.deadline = deadline
        method = PairingMethod(request: request, response: response)
        let isSecure = Self.isSecure(request, response)
        phase = isSecure ? .publicKey : .confirm
        bond = Bond(
            peer: initiator, longTermKey: [],
            quality: KeyQuality(
                isAuthenticated: method.isAuthenticated, isSecureConnections: isSecure,
                size: min(
                    request.maximumEncryptionKeySize, response.maximumEncryptionKeySize)))
    }

    static func isSecure(_ request: PairingFeatures, _ response: PairingFeatures) -> Bool {
        request.authReq.contains(.secureConnections)
            && response.authReq.contains(.secureConnections)
    }

    var isSecure: Bool { bond.quality.isSecureConnections }

    var isBonding: Bool {
        request.authReq.contains(.bonding) && response.authReq.contains(.bonding)
    }

    var requestPDU: [UInt8] { [SMPCode.pairingRequest.rawValue] + request.encoded }
    var responsePDU: [UInt8] { [SMPCode.pairingResponse.rawValue] + response.encoded }

    /// The keys this side gives, and those it takes.
    var givenKeys: KeyDistribution { distributed(response.responderKeyDistribution) }
    var takenKeys: KeyDistribution { distributed(response.initiatorKeyDistribution) }

    private func distributed(_ keys: KeyDistribution) -> KeyDistribution {
        let known = keys.intersection([.encryption, .identity, .signing])
        // Both sides hold the LTK of LE Secure Connections already (3.6.1).
        return isSecure ? known.subtracting(.encryption) : known
    }

    /// A passkey as 128 bits.
    static func octets(_ passkey: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: passkey >> UInt32(8 * $0)) }
            + [UInt8](repeating: 0, count: 12)
    }

    /// The key with all but its first `size` octets zero (2.3.4).
    func shortened(_ key: [UInt8]) -> [UInt8] {
        let size = Int(bond.quality.size)
        return key.indices.map { $0 < size ? key[$0] : 0 }
    }

    var nextDeadline: Instant { asked.map { min($0.deadline, deadline) } ?? deadline }
}
