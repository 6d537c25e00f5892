// A central that pairs, for tests: the initiator's side of the Security Manager Protocol.
public import SMP
import SansIO
import Wire

/// The initiator of a pairing. It is written apart from the responder and shares only the toolbox
/// and the table of methods with it.
public struct PairingInitiator: Sendable {
    public enum Output: Equatable, Sendable {
        case send([UInt8])
        /// LE Enable Encryption with this key.
        case encrypt(ediv: UInt16, rand: UInt64, key: [UInt8])
        /// The person is to enter the passkey that the responder shows.
        case needsPasskey
        /// The person is to enter this passkey at the responder.
        case shows(UInt32)
        case compares(UInt32)
        case paired(Bond)
        case failed(SMPReason?)
    }

    enum Phase: Equatable {
        case idle, response, publicKey, legacyConfirm, legacyRandom, commitment, random
        case roundConfirm, roundRandom, comparison, check, encryption, keys, paired, failed
    }

    public let features: PairingFeatures
    let own: LinkAddress
    let peer: LinkAddress
    let toolbox: Toolbox
    var random: any SecurityRandom
    /// What the peer's out of band data and the own ones are.
    public var outOfBand = OutOfBandData()
    public var identityKey = [UInt8](repeating: 0x77, count: 16)
    /// The address that is told as the own identity; nil: the one it pairs with.
    public var identity: LinkAddress?
    /// What the peer has told as its own.
    public private(set) var peerIdentity: LinkAddress?
    /// The own private key; nil: a random one.
    public var privateKey: [UInt8]?
    var phase = Phase.idle
    var response = PairingFeatures()
    public private(set) var method = PairingMethod.justWorks
    public private(set) var key: [UInt8]?
    public var bond: Bond
    public var passkey: UInt32?
    var isAgreed = false
    var round = 0
    var ownKey = PairingPublicKey()
    var peerKey = PairingPublicKey()
    var secret: [UInt8] = []
    var ownRandom: [UInt8] = []
    var peerRandom: [UInt8] = []
    var peerConfirm: [UInt8] = []
    var checkKeys: (macKey: [UInt8], ltk: [UInt8])?
    var awaited: [SMPCode] = []

    public init(
        _ features: PairingFeatures, own: LinkAddress, peer: LinkAddress,
        cipher: any SecurityCipher, random: any SecurityRandom
    ) {
        self.features = features
        self.own = own
        self.peer = peer
        self.random = random
        toolbox = Toolbox(cipher)
        bond = Bond(
            peer: peer, longTermKey: [],
            quality: KeyQuality(isAuthenticated: false, isSecureConnections: false, size: 16))
    }

    public var isOver: Bool { phase == .paired || phase == .failed }
    var isSecure: Bool { bond.quality.isSecureConnections }
    var requestPDU: [UInt8] { [1] + features.encoded }

    public mutating func start() -> [Output] {
        phase = .response
        return [.send(requestPDU)]
    }

    public mutating func fail(_ reason: SMPReason?) -> [Output] {
        guard !isOver else { return [] }
        phase = .failed
        return (reason.map { [.send(PairingFailed($0).pdu)] } ?? []) + [.failed(reason)]
    }

    public mutating func receive(_ pdu: [UInt8]) -> [Output] {
        guard let code = pdu.first, !isOver, phase != .idle else { return [] }
        let body = Array(pdu.dropFirst())
        switch (phase, SMPCode(rawValue: code)) {
        case (_, .pairingFailed):
            phase = .failed
            return [.failed(body.first.map { SMPReason(rawValue: $0) })]
        case (_, .securityRequest): return []
        case (.response, .pairingResponse): return take(response: body)
        case (.publicKey, .pairingPublicKey): return take(publicKey: body)
        case (.legacyConfirm, .pairingConfirm), (.roundConfirm, .pairingConfirm):
            peerConfirm = body
            phase = phase == .legacyConfirm ? .legacyRandom : .roundRandom
            return [.send([4] + ownRandom)]
        case (.commitment, .pairingConfirm):
            peerConfirm = body
            phase = .random
            ownRandom = random.octets(16, for: .pairingRandom)
            return [.send([4] + ownRandom)]
        case (.legacyRandom, .pairingRandom): return take(legacyRandom: body)
        case (.random, .pairingRandom): return take(random: body)
        case (.roundRandom, .pairingRandom): return take(roundRandom: body)
        case (.check, .pairingDHKeyCheck): return take(check: body)
        case (.keys, let code) where code == awaited.first: return take(key: code, body)
        default: return fail(.unspecifiedReason)
        }
    }

    private mutating func take(response body: [UInt8]) -> [Output] {
        guard let response = try? PairingFeatures(decoding: body.span) else {
            return fail(.invalidParameters)
        }
        self.response = response
        method = PairingMethod(request: features, response: response)
        let both = features.authReq.intersection(response.authReq)
        bond.quality = KeyQuality(
            isAuthenticated: method.isAuthenticated,
            isSecureConnections: both.contains(.secureConnections),
            size: min(
                features.maximumEncryptionKeySize, response.maximumEncryptionKeySize))
        guard isSecure else { return takePasskey(then: []) }
        let own = method == .outOfBand ? outOfBand.ownPrivateKey : nil
        let privateKey = own ?? privateKey ?? random.octets(32, for: .privateKey)
        guard let key = toolbox.cipher.publicKey(of: privateKey) else {
            return fail(.unspecifiedReason)
        }
        self.privateKey = privateKey
        ownKey = PairingPublicKey(x: key.x.reversed(), y: key.y.reversed())
        phase = .publicKey
        return [.send(ownKey.pdu)]
    }

    private mutating func take(publicKey body: [UInt8]) -> [Output] {
        guard let key = try? PairingPublicKey(decoding: body.span), let privateKey,
            let shared = toolbox.cipher.sharedSecret(
                privateKey, with: PublicKey(x: key.x.reversed(), y: key.y.reversed()))
        else { return fail(.dhKeyCheckFailed) }
        peerKey = key
        secret = shared.reversed()
        switch method {
        case .justWorks, .numericComparison:
            phase = .commitment
            return []
        case .passkeyShown, .passkeyEntered: return takePasskey(then: [])
        case .outOfBand:
            if let peer = outOfBand.peer, toolbox.f4(key.x, key.x, peer.random, 0) != peer.confirm {
                return fail(.confirmValueFailed)
            }
            phase = .random
            ownRandom = random.octets(16, for: .pairingRandom)
            return [.send([4] + ownRandom)]
        }
    }

    /// Goes on where the passkey is known, else asks for it.
    private mutating func takePasskey(then outputs: [Output]) -> [Output] {
        phase = isSecure ? .roundConfirm : .legacyConfirm
        switch method {
        case .passkeyShown where passkey == nil: return outputs + [.needsPasskey]
        case .passkeyEntered where passkey == nil:
            let octets = random.octets(4, for: .passkey)
            let shown = octets.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } % 1_000_000
            passkey = shown
            return outputs + [.shows(shown)] + sendConfirm()
        default: return outputs + sendConfirm()
        }
    }

    /// The person has entered the passkey.
    public mutating func enter(_ passkey: UInt32) -> [Output] {
        guard phase == .legacyConfirm || phase == .roundConfirm, self.passkey == nil else {
            return []
        }
        self.passkey = passkey
        return sendConfirm()
    }

    /// The person has compared the numbers.
    public mutating func compare(matches: Bool) -> [Output] {
        guard phase == .comparison else { return [] }
        return matches ? sendCheck() : fail(.numericComparisonFailed)
    }

    private var temporaryKey: [UInt8] {
        if method == .outOfBand { return outOfBand.temporaryKey ?? [] }
        let passkey = passkey ?? 0
        return (0..<16).map { $0 < 4 ? UInt8(truncatingIfNeeded: passkey >> UInt32(8 * $0)) : 0 }
    }

    private var z: UInt8 { 0x80 | UInt8((passkey ?? 0) >> UInt32(round) & 1) }

    private mutating func sendConfirm() -> [Output] {
        ownRandom = random.octets(16, for: .pairingRandom)
        let confirm =
            isSecure
            ? toolbox.f4(ownKey.x, peerKey.x, ownRandom, z)
            : toolbox.c1(
                temporaryKey, ownRandom, request: requestPDU, response: [2] + response.encoded,
                initiator: own, responder: peer)
        return confirm.map { [.send([3] + $0)] } ?? fail(.unspecifiedReason)
    }

    private mutating func take(legacyRandom body: [UInt8]) -> [Output] {
        let confirm = toolbox.c1(
            temporaryKey, body, request: requestPDU, response: [2] + response.encoded,
            initiator: own, responder: peer)
        guard confirm == peerConfirm, let key = toolbox.s1(temporaryKey, body, ownRandom) else {
            return fail(.confirmValueFailed)
        }
        return encrypt(with: key)
    }

    private mutating func take(random body: [UInt8]) -> [Output] {
        peerRandom = body
        guard method == .outOfBand || toolbox.f4(peerKey.x, ownKey.x, body, 0) == peerConfirm
        else { return fail(.confirmValueFailed) }
        guard method == .numericComparison else { return sendCheck() }
        phase = .comparison
        let number = toolbox.g2(ownKey.x, peerKey.x, ownRandom, peerRandom)
        return number.map { [.compares($0)] } ?? fail(.unspecifiedReason)
    }

    private mutating func take(roundRandom body: [UInt8]) -> [Output] {
        peerRandom = body
        guard toolbox.f4(peerKey.x, ownKey.x, body, z) == peerConfirm else {
            return fail(.confirmValueFailed)
        }
        guard round < 19 else { return sendCheck() }
        round += 1
        phase = .roundConfirm
        return sendConfirm()
    }

    private var checkRandoms: (a: [UInt8], b: [UInt8]) {
        let zero = [UInt8](repeating: 0, count: 16)
        switch method {
        case .justWorks, .numericComparison: return (zero, zero)
        case .passkeyShown, .passkeyEntered: return (temporaryKey, temporaryKey)
        case .outOfBand:
            let own = response.oobDataFlag == 1 ? outOfBand.ownRandom : nil
            let peer = features.oobDataFlag == 1 ? outOfBand.peer?.random : nil
            return (own ?? zero, peer ?? zero)
        }
    }

    private mutating func sendCheck() -> [Output] {
        phase = .check
        guard let keys = toolbox.f5(secret, ownRandom, peerRandom, own, peer) else {
            return fail(.unspecifiedReason)
        }
        checkKeys = keys
        let ioCap = [features.ioCapability, features.oobDataFlag, features.authReq.rawValue]
        let check = toolbox.f6(
            keys.macKey, ownRandom, peerRandom, checkRandoms.b, ioCap: ioCap, own, peer)
        return check.map { [.send([13] + $0)] } ?? fail(.unspecifiedReason)
    }

    private mutating func take(check body: [UInt8]) -> [Output] {
        let ioCap = [response.ioCapability, response.oobDataFlag, response.authReq.rawValue]
        guard let keys = checkKeys,
            toolbox.f6(
                keys.macKey, peerRandom, ownRandom, checkRandoms.a, ioCap: ioCap, peer, own)
                == body
        else { return fail(.dhKeyCheckFailed) }
        bond.longTermKey = shortened(keys.ltk)
        return encrypt(with: keys.ltk)
    }

    private func shortened(_ key: [UInt8]) -> [UInt8] {
        let size = Int(bond.quality.size)
        return key.indices.map { $0 < size ? key[$0] : 0 }
    }

    private mutating func encrypt(with key: [UInt8]) -> [Output] {
        phase = .encryption
        self.key = shortened(key)
        return [.encrypt(ediv: 0, rand: 0, key: shortened(key))]
    }

    /// The link is encrypted, or could not be.
    public mutating func encrypted(_ isSuccess: Bool) -> [Output] {
        guard phase == .encryption else { return [] }
        guard isSuccess else { return fail(nil) }
        phase = .keys
        let given = response.responderKeyDistribution
        if !isSecure, given.contains(.encryption) {
            awaited += [.encryptionInformation, .centralIdentification]
        }
        if given.contains(.identity) {
            awaited += [.identityInformation, .identityAddressInformation]
        }
        if given.contains(.signing) { awaited.append(.signingInformation) }
        return awaited.isEmpty ? sendKeys() : []
    }

    private mutating func take(key code: SMPCode, _ body: [UInt8]) -> [Output] {
        awaited.removeFirst()
        switch code {
        case .encryptionInformation: bond.longTermKey = body
        case .centralIdentification:
            guard let id = try? CentralIdentification(decoding: body.span) else {
                return fail(.invalidParameters)
            }
            (bond.ediv, bond.rand) = (id.ediv, id.rand)
        case .identityInformation: bond.peerIdentityKey = body
        case .identityAddressInformation:
            guard let told = try? IdentityAddressInformation(decoding: body.span) else {
                return fail(.invalidParameters)
            }
            peerIdentity = LinkAddress(told.address, isRandom: told.addressType == 1)
        case .signingInformation: bond.peerSignatureKey = body
        default: break
        }
        return awaited.isEmpty ? sendKeys() : []
    }

    private mutating func sendKeys() -> [Output] {
        phase = .paired
        var outputs: [Output] = []
        let given = response.initiatorKeyDistribution
        if !isSecure, given.contains(.encryption) {
            outputs.append(.send([6] + random.octets(16, for: .longTermKey)))
            outputs.append(.send([7] + random.octets(10, for: .rand)))
        }
        if given.contains(.identity) {
            outputs.append(.send([8] + identityKey))
            outputs.append(.send(IdentityAddressInformation(identity ?? own).pdu))
        }
        if given.contains(.signing) {
            let key = random.octets(16, for: .signatureKey)
            bond.ownSignatureKey = key
            outputs.append(.send([10] + key))
        }
        return outputs + [.paired(bond)]
    }
}
