// The steps of a pairing that both kinds share: the request, the dispatch, a person's answers.
public import SansIO
import Wire

extension SecurityManager {
    /// Takes one SMP command of the peer.
    public mutating func receive(
        _ pdu: Span<UInt8>, from link: Int, at now: Instant, emit: inout Outputs<SecurityEvent>
    ) {
        guard isConnected(link), !links[link].isSilent, pdu.count > 0 else { return }
        let code = SMPCode(rawValue: pdu[0])
        let body = pdu.extracting(1..<pdu.count)
        do throws(SMPReason) {
            switch code {
            case .pairingRequest:
                guard links[link].pairing == nil else { throw .unspecifiedReason }
                try begin(link, try decode(body), at: now, &emit)
            case .pairingFailed:
                // It is never answered (3.5.5).
                guard links[link].pairing != nil else { return }
                let reason = (try? PairingFailed(decoding: body))?.reason ?? .unspecifiedReason
                end(link, .failedByPeer(reason), at: now, &emit)
            case .pairingResponse, .securityRequest:
                // Only a central takes them.
                throw .commandNotSupported
            case .pairingConfirm, .pairingRandom, .encryptionInformation, .centralIdentification,
                .identityInformation, .identityAddressInformation, .signingInformation,
                .pairingPublicKey, .pairingDHKeyCheck:
                // What follows a pairing that has failed here is not answered once more.
                guard links[link].pairing != nil else { return }
                try proceed(link, code, body, at: now, &emit)
            // Keypress Notification, and what is reserved for future use (3.3).
            default: return
            }
        } catch {
            refuse(link, error, at: now, &emit)
        }
    }

    /// Says that the pairing has failed. A request that was refused is no failed pairing.
    private mutating func refuse(
        _ link: Int, _ reason: SMPReason, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) {
        if links[link].pairing != nil { return fail(link, reason, at: now, &emit) }
        emit.append(.send(link: link, PairingFailed(reason).pdu))
        emit.append(.ended(link: link, .failed(reason)))
    }

    func decode<PDU: Record>(_ body: Span<UInt8>) throws(SMPReason) -> PDU {
        do { return try PDU(decoding: body) } catch { throw .invalidParameters }
    }

    // MARK: the request

    private mutating func begin(
        _ link: Int, _ request: PairingFeatures, at now: Instant,
        _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        try check(request, from: links[link].peer, at: now)
        var pairing = Pairing(
            request: request, response: response(to: request), initiator: links[link].peer,
            responder: links[link].own, deadline: now + Self.timeout)
        try check(pairing, on: link)
        if pairing.isSecure {
            try makeKeyPair(for: &pairing)
        } else if pairing.method == .outOfBand, configuration.outOfBand?.temporaryKey == nil {
            throw .oobNotAvailable
        }
        links[link].pairing = pairing
        emit.append(.send(link: link, pairing.responsePDU))
        emit.append(
            .started(link: link, pairing.method, isSecureConnections: pairing.isSecure))
        // In LE Secure Connections the passkey is asked for once the public keys are exchanged.
        if !pairing.isSecure { askForPasskey(link, at: now, &emit) }
    }

    /// Checks what can be told from the request alone.
    private func check(
        _ request: PairingFeatures, from peer: LinkAddress, at now: Instant
    ) throws(SMPReason) {
        // What a later specification means by these Bonding_Flags is not known here.
        guard !request.authReq.contains(.reservedBonding) else { throw .commandNotSupported }
        guard IOCapability(rawValue: request.ioCapability) != nil, request.oobDataFlag <= 1,
            request.maximumEncryptionKeySize <= 16
        else { throw .invalidParameters }
        guard request.maximumEncryptionKeySize >= max(configuration.leastKeySize, 7) else {
            throw .encryptionKeySize
        }
        guard isPairable(at: now) else { throw .pairingNotSupported }
        guard !mustWait(peer, at: now) else { throw .repeatedAttempts }
    }

    private func response(to request: PairingFeatures) -> PairingFeatures {
        var response = PairingFeatures()
        response.ioCapability = configuration.io.rawValue
        response.authReq = configuration.authReq
        let outOfBand = configuration.outOfBand
        let isSecure = Pairing.isSecure(request, response)
        let hasData = isSecure ? outOfBand?.peer != nil : outOfBand?.temporaryKey != nil
        response.oobDataFlag = hasData ? 1 : 0
        response.maximumEncryptionKeySize = configuration.keySizeMax
        // Without bonding on both sides nothing is kept, so nothing is given (2.3.1).
        if request.authReq.contains(.bonding), configuration.bonding {
            response.initiatorKeyDistribution = request.initiatorKeyDistribution
                .intersection(configuration.initiatorKeys)
            response.responderKeyDistribution = request.responderKeyDistribution
                .intersection(configuration.responderKeys)
        }
        return response
    }

    /// Checks what the two sides together come to.
    private func check(_ pairing: Pairing, on link: Int) throws(SMPReason) {
        if configuration.policy == .secureConnections, !pairing.isSecure {
            throw .authenticationRequirements
        }
        if configuration.requiresAuthentication, !pairing.method.isAuthenticated {
            throw .authenticationRequirements
        }
        // Whoever has only the address of a bonded peer must not put a weaker key in its place.
        if let bond = bond(of: link), !pairing.bond.quality.isAtLeast(bond.quality) {
            throw .authenticationRequirements
        }
    }

    // MARK: a person's answers

    /// Shows or asks for the passkey, where the method is Passkey Entry.
    mutating func askForPasskey(
        _ link: Int, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) {
        guard let method = links[link].pairing?.method else { return }
        switch method {
        case .passkeyShown:
            let passkey = configuration.passkey ?? randomPasskey()
            links[link].pairing?.passkey = passkey
            emit.append(.question(link: link, .showPasskey(passkey), isAnswered: true))
        case .passkeyEntered:
            let passkey = configuration.passkey
            links[link].pairing?.passkey = passkey
            let isShown =
                links[link].pairing?.request.ioCapability != IOCapability.keyboardOnly.rawValue
            let question = SecurityQuestion.enterPasskey(isShown: isShown)
            if passkey == nil { ask(question, link, at: now) }
            emit.append(.question(link: link, question, isAnswered: passkey != nil))
        case .justWorks, .numericComparison, .outOfBand: break
        }
    }

    /// Waits for the person's answer.
    mutating func ask(_ question: SecurityQuestion, _ link: Int, at now: Instant) {
        let limit = now + configuration.questionLimit
        links[link].pairing?.asked = OpenQuestion(question: question, deadline: limit)
    }

    /// 0 to 999,999, each as likely as the others.
    private mutating func randomPasskey() -> UInt32 {
        while true {
            let octets = random.octets(4, for: .passkey)
            let value = octets.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0xFFFFF
            if value <= 999_999 { return value }
        }
    }

    /// Whether the person at the device is asked for something on `link`.
    public func awaitsAnswer(on link: Int) -> Bool {
        isConnected(link) && links[link].pairing?.asked != nil
    }

    /// Whether the person at the device is asked for anything.
    public var awaitsAnswer: Bool { links.indices.contains { awaitsAnswer(on: $0) } }

    /// What the person at the device is asked on `link`, or is to enter at the peer; nil where
    /// that is nothing.
    public func question(on link: Int) -> OpenQuestion? {
        guard isConnected(link), let pairing = links[link].pairing else { return nil }
        if let asked = pairing.asked { return asked }
        guard pairing.method == .passkeyShown, pairing.key == nil, let passkey = pairing.passkey
        else { return nil }
        return OpenQuestion(question: .showPasskey(passkey), deadline: pairing.deadline)
    }

    /// The person has entered the passkey, 0 to 999,999; nil: has given up.
    /// - Returns: false where nothing of this kind was asked.
    @discardableResult
    public mutating func enter(
        passkey: UInt32?, on link: Int, at now: Instant, emit: inout Outputs<SecurityEvent>
    ) -> Bool {
        guard awaitsAnswer(on: link), let pairing = links[link].pairing,
            pairing.method == .passkeyEntered
        else { return false }
        links[link].pairing?.asked = nil
        guard let passkey, passkey <= 999_999 else {
            fail(link, .passkeyEntryFailed, at: now, &emit)
            return true
        }
        links[link].pairing?.passkey = passkey
        guard pairing.hasHeldConfirm else { return true }
        links[link].pairing?.hasHeldConfirm = false
        attempt(link, at: now, &emit) { manager, emit throws(SMPReason) in
            try manager.sendConfirm(link, &emit)
        }
        return true
    }

    /// The person says whether the peer shows the same number.
    /// - Returns: false where nothing of this kind was asked.
    @discardableResult
    public mutating func compare(
        matches: Bool, on link: Int, at now: Instant, emit: inout Outputs<SecurityEvent>
    ) -> Bool {
        guard awaitsAnswer(on: link), let pairing = links[link].pairing,
            pairing.method == .numericComparison
        else { return false }
        links[link].pairing?.asked = nil
        guard matches else {
            fail(link, .numericComparisonFailed, at: now, &emit)
            return true
        }
        links[link].pairing?.isConfirmed = true
        guard let check = pairing.heldCheck else { return true }
        links[link].pairing?.heldCheck = nil
        attempt(link, at: now, &emit) { manager, emit throws(SMPReason) in
            try manager.take(check: check, link, &emit)
        }
        return true
    }

    private mutating func attempt(
        _ link: Int, at now: Instant, _ emit: inout Outputs<SecurityEvent>,
        _ step: (inout SecurityManager, inout Outputs<SecurityEvent>) throws(SMPReason) -> Void
    ) {
        do throws(SMPReason) {
            try step(&self, &emit)
            links[link].pairing?.deadline = now + Self.timeout
        } catch {
            refuse(link, error, at: now, &emit)
        }
    }

    // MARK: what follows the request

    private mutating func proceed(
        _ link: Int, _ code: SMPCode, _ body: Span<UInt8>, at now: Instant,
        _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard let pairing = links[link].pairing else { return }
        switch (pairing.phase, code) {
        case (.publicKey, .pairingPublicKey):
            try take(publicKey: try decode(body), link, at: now, &emit)
        case (.confirm, .pairingConfirm):
            let confirm: SMPValue = try decode(body)
            try take(confirm: confirm.value, link, &emit)
        case (.random, .pairingRandom):
            let random: SMPValue = try decode(body)
            if pairing.isSecure {
                try take(secureRandom: random.value, link, at: now, &emit)
            } else {
                try take(legacyRandom: random.value, link, &emit)
            }
        case (.check, .pairingDHKeyCheck):
            let check: SMPValue = try decode(body)
            try take(check: check.value, link, &emit)
        case (.keys, _):
            guard code == pairing.awaitedKeys.first else { throw .unspecifiedReason }
            try take(key: code, body, link, &emit)
        case (.publicKey, _), (.confirm, _), (.random, _), (.check, _), (.encryption, _):
            throw .unspecifiedReason
        }
        links[link].pairing?.deadline = now + Self.timeout
    }

    /// Takes the initiator's confirm value; this side's follows once it knows the passkey.
    private mutating func take(
        confirm: [UInt8], _ link: Int, _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard let pairing = links[link].pairing, !pairing.hasHeldConfirm else {
            throw .unspecifiedReason
        }
        links[link].pairing?.peerConfirm = confirm
        if pairing.asked != nil {
            links[link].pairing?.hasHeldConfirm = true
        } else {
            try sendConfirm(link, &emit)
        }
    }

    mutating func sendConfirm(
        _ link: Int, _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing else { return }
        pairing.ownRandom = random.octets(16, for: .pairingRandom)
        let confirm = pairing.isSecure ? secureConfirm(of: pairing) : legacyConfirm(of: pairing)
        guard let confirm else { throw .unspecifiedReason }
        pairing.phase = .random
        links[link].pairing = pairing
        emit.append(.send(link: link, [SMPCode.pairingConfirm.rawValue] + confirm))
    }
}
