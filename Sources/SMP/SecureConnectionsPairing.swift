// LE Secure Connections pairing: public keys, commitments, the check of both.
import SansIO

extension SecurityManager {
    /// How many private keys are tried: one in 2^32 is not within the curve's order.
    private static let privateKeyTriesMax = 4

    /// Makes the key pair of one pairing; each has its own (Core 6.0, Vol 3, Part H, 2.3.6).
    mutating func makeKeyPair(for pairing: inout Pairing) throws(SMPReason) {
        // The peer may have got this side's key out of band.
        let given = pairing.method == .outOfBand ? configuration.outOfBand?.ownPrivateKey : nil
        for _ in 0..<Self.privateKeyTriesMax {
            let privateKey = given ?? random.octets(32, for: .privateKey)
            guard let key = toolbox.cipher.publicKey(of: privateKey) else { continue }
            pairing.privateKey = privateKey
            pairing.publicKey = PairingPublicKey(x: key.x.reversed(), y: key.y.reversed())
            return
        }
        throw .unspecifiedReason
    }

    /// Checks the initiator's public key and answers with the own one (2.3.5.6.1).
    mutating func take(
        publicKey: PairingPublicKey, _ link: Int, at now: Instant,
        _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing else { return }
        // The own coordinate would be reflected, with either sign of Y (CVE-2020-26558).
        let isReflected = publicKey.x == pairing.publicKey.x
        let key = PublicKey(x: publicKey.x.reversed(), y: publicKey.y.reversed())
        guard !isReflected,
            let secret = toolbox.cipher.sharedSecret(pairing.privateKey, with: key)
        else { throw .dhKeyCheckFailed }
        pairing.peerPublicKey = publicKey
        pairing.sharedSecret = secret.reversed()
        if pairing.method == .outOfBand { try checkOutOfBand(pairing) }
        emit.append(.send(link: link, pairing.publicKey.pdu))
        switch pairing.method {
        case .justWorks, .numericComparison:
            links[link].pairing = pairing
            try sendConfirm(link, &emit)
        case .passkeyShown, .passkeyEntered:
            pairing.phase = .confirm
            links[link].pairing = pairing
            askForPasskey(link, at: now, &emit)
        case .outOfBand:
            pairing.ownRandom = random.octets(16, for: .pairingRandom)
            pairing.phase = .random
            links[link].pairing = pairing
        }
    }

    /// Whether the peer's public key is the one whose confirm value came out of band (2.3.5.6.4).
    private func checkOutOfBand(_ pairing: Pairing) throws(SMPReason) {
        guard pairing.response.oobDataFlag == 1 else { return }
        guard let peer = configuration.outOfBand?.peer else { throw .oobNotAvailable }
        let x = pairing.peerPublicKey.x
        guard let confirm = toolbox.f4(x, x, peer.random, 0),
            Toolbox.isEqual(confirm, peer.confirm)
        else { throw .confirmValueFailed }
    }

    /// The octet of a round's bit of the passkey; 0 where the method has none (2.2.6).
    private func z(of pairing: Pairing) -> UInt8 {
        guard let passkey = pairing.passkey else { return 0 }
        return 0x80 | UInt8(passkey >> UInt32(pairing.round) & 1)
    }

    func secureConfirm(of pairing: Pairing) -> [UInt8]? {
        toolbox.f4(
            pairing.publicKey.x, pairing.peerPublicKey.x, pairing.ownRandom, z(of: pairing))
    }

    /// Takes the initiator's random value; in Passkey Entry that of one round (2.3.5.6.3).
    mutating func take(
        secureRandom random: [UInt8], _ link: Int, at now: Instant,
        _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing else { return }
        pairing.peerRandom = random
        pairing.phase = .check
        switch pairing.method {
        case .passkeyShown, .passkeyEntered:
            let confirm = toolbox.f4(
                pairing.peerPublicKey.x, pairing.publicKey.x, random, z(of: pairing))
            guard let confirm, Toolbox.isEqual(confirm, pairing.peerConfirm) else {
                throw .confirmValueFailed
            }
            if pairing.round < 19 {
                pairing.round += 1
                pairing.phase = .confirm
            }
        case .justWorks, .numericComparison, .outOfBand: break
        }
        links[link].pairing = pairing
        emit.append(.send(link: link, [SMPCode.pairingRandom.rawValue] + pairing.ownRandom))
        if pairing.method == .numericComparison { try askForComparison(link, at: now, &emit) }
    }

    private mutating func askForComparison(
        _ link: Int, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard let pairing = links[link].pairing,
            let number = toolbox.g2(
                pairing.peerPublicKey.x, pairing.publicKey.x, pairing.peerRandom,
                pairing.ownRandom)
        else { throw .unspecifiedReason }
        let isAnswered = configuration.confirm != nil
        emit.append(.question(link: link, .compare(number), isAnswered: isAnswered))
        switch configuration.confirm {
        case true: links[link].pairing?.isConfirmed = true
        case false: throw .numericComparisonFailed
        default: ask(.compare(number), link, at: now)
        }
    }

    /// The values that enter the checks: the initiator's and the responder's (2.3.5.6.5).
    private func checkRandoms(of pairing: Pairing) -> (a: [UInt8], b: [UInt8]) {
        switch pairing.method {
        case .justWorks, .numericComparison: return (Pairing.octets(0), Pairing.octets(0))
        case .passkeyShown, .passkeyEntered:
            let passkey = Pairing.octets(pairing.passkey ?? 0)
            return (passkey, passkey)
        case .outOfBand:
            let data = configuration.outOfBand
            let peer = pairing.response.oobDataFlag == 1 ? data?.peer?.random : nil
            let own = pairing.request.oobDataFlag == 1 ? data?.ownRandom : nil
            return (peer ?? Pairing.octets(0), own ?? Pairing.octets(0))
        }
    }

    /// Compares the initiator's check and answers with the own one, once the person has agreed.
    mutating func take(
        check: [UInt8], _ link: Int, _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing, pairing.heldCheck == nil else {
            throw .unspecifiedReason
        }
        if pairing.method == .numericComparison, !pairing.isConfirmed {
            links[link].pairing?.heldCheck = check
            return
        }
        let (a, b) = (pairing.initiator, pairing.responder)
        let (na, nb) = (pairing.peerRandom, pairing.ownRandom)
        let randoms = checkRandoms(of: pairing)
        guard let keys = toolbox.f5(pairing.sharedSecret, na, nb, a, b),
            let expected = toolbox.f6(
                keys.macKey, na, nb, randoms.b, ioCap: pairing.request.ioCap, a, b),
            let answer = toolbox.f6(
                keys.macKey, nb, na, randoms.a, ioCap: pairing.response.ioCap, b, a)
        else { throw .unspecifiedReason }
        guard Toolbox.isEqual(expected, check) else { throw .dhKeyCheckFailed }
        let key = pairing.shortened(keys.ltk)
        pairing.key = key
        pairing.bond.longTermKey = key
        pairing.phase = .encryption
        links[link].pairing = pairing
        emit.append(.send(link: link, [SMPCode.pairingDHKeyCheck.rawValue] + answer))
    }
}
