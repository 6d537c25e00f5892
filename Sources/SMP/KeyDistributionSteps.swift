// From the controller's request for a key to the last key of a pairing.
public import SansIO
import Wire

extension SecurityManager {
    // MARK: the controller's side

    /// The controller asks for the key that the central wants to encrypt the link with (Core 6.0,
    /// Vol 4, Part E, 7.7.65.5). A `.key` answers it, always.
    public mutating func keyRequested(
        on link: Int, ediv: UInt16, rand: UInt64, at now: Instant,
        emit: inout Outputs<SecurityEvent>
    ) {
        guard isConnected(link) else { return emit.append(.key(link: link, nil)) }
        if let pairing = links[link].pairing {
            guard pairing.phase == .encryption, !pairing.isKeyGiven, ediv == 0, rand == 0,
                let key = pairing.key
            else {
                // Before both sides are sure of each other there is no key (CVE-2019-19194).
                emit.append(.key(link: link, nil))
                return fail(link, .unspecifiedReason, at: now, &emit)
            }
            links[link].pairing?.isKeyGiven = true
            links[link].pairing?.deadline = now + Self.timeout
            links[link].offered = pairing.bond.quality
            return emit.append(.key(link: link, key))
        }
        guard let bond = bond(of: link), bond.ediv == ediv, bond.rand == rand else {
            return emit.append(.key(link: link, nil))
        }
        links[link].offered = bond.quality
        emit.append(.key(link: link, bond.longTermKey))
    }

    /// The encryption of the link has changed, or its key was refreshed (Core 6.0, Vol 4, Part E,
    /// 7.7.8 and 7.7.39).
    public mutating func encryptionChanged(
        on link: Int, isSuccess: Bool, isEnabled: Bool, at now: Instant,
        emit: inout Outputs<SecurityEvent>
    ) {
        guard isConnected(link) else { return }
        let offered = links[link].offered
        links[link].offered = nil
        guard isSuccess else {
            if links[link].pairing?.isKeyGiven == true { end(link, .notEncrypted, at: now, &emit) }
            return
        }
        guard isEnabled else {
            if links[link].pairing?.phase == .keys { end(link, .notEncrypted, at: now, &emit) }
            guard links[link].encryption != nil else { return }
            links[link].encryption = nil
            return emit.append(.encryption(link: link, nil))
        }
        // Without a key that was given here, nothing is known of what the link is encrypted with.
        guard let offered else { return }
        links[link].encryption = offered
        emit.append(.encryption(link: link, offered))
        if links[link].pairing?.isKeyGiven == true, links[link].pairing?.phase == .encryption {
            distribute(link, at: now, &emit)
        } else if let bond = bond(of: link) {
            // Used last: the last to be forgotten.
            keep(bond, &emit)
            pardon(links[link].peer)
        }
    }

    // MARK: keys

    /// Sends this side's keys and says which of the initiator's are awaited (3.6.1).
    private mutating func distribute(
        _ link: Int, at now: Instant, _ emit: inout Outputs<SecurityEvent>
    ) {
        guard var pairing = links[link].pairing else { return }
        if pairing.givenKeys.contains(.encryption) {
            pairing.bond.longTermKey = pairing.shortened(random.octets(16, for: .longTermKey))
            pairing.bond.ediv = random.octets(2, for: .diversifier).span.uint16(at: 0)
            pairing.bond.rand = random.octets(8, for: .rand).enumerated().reduce(0) {
                $0 | UInt64($1.element) << UInt64(8 * $1.offset)
            }
            send(link, .encryptionInformation, pairing.bond.longTermKey, &emit)
            let identification = CentralIdentification(
                ediv: pairing.bond.ediv, rand: pairing.bond.rand)
            emit.append(.send(link: link, identification.pdu))
        }
        if pairing.givenKeys.contains(.identity) {
            send(link, .identityInformation, configuration.identityKey, &emit)
            // Behind a private address there is another; a set's own is what it goes by.
            let responder = pairing.responder
            let identity =
                responder.isIdentity ? responder : configuration.identity ?? responder
            emit.append(.send(link: link, IdentityAddressInformation(identity).pdu))
        }
        if pairing.givenKeys.contains(.signing) {
            let key = random.octets(16, for: .signatureKey)
            pairing.bond.ownSignatureKey = key
            send(link, .signingInformation, key, &emit)
        }
        if pairing.takenKeys.contains(.encryption) {
            pairing.awaitedKeys += [.encryptionInformation, .centralIdentification]
        }
        if pairing.takenKeys.contains(.identity) {
            pairing.awaitedKeys += [.identityInformation, .identityAddressInformation]
        }
        if pairing.takenKeys.contains(.signing) { pairing.awaitedKeys.append(.signingInformation) }
        pairing.phase = .keys
        pairing.deadline = now + Self.timeout
        links[link].pairing = pairing
        if pairing.awaitedKeys.isEmpty { complete(link, &emit) }
    }

    private func send(
        _ link: Int, _ code: SMPCode, _ value: [UInt8], _ emit: inout Outputs<SecurityEvent>
    ) {
        emit.append(.send(link: link, [code.rawValue] + SMPValue(value).encoded))
    }

    /// Takes the initiator's next key.
    mutating func take(
        key code: SMPCode, _ body: Span<UInt8>, _ link: Int,
        _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing else { return }
        switch code {
        case .identityInformation:
            let key: SMPValue = try decode(body)
            pairing.bond.peerIdentityKey = key.value
        case .identityAddressInformation:
            let identity: IdentityAddressInformation = try decode(body)
            let address = LinkAddress(identity.address, isRandom: identity.addressType == 1)
            guard identity.addressType <= 1, address.isIdentity else { throw .invalidParameters }
            // Whoever claims to be a bonded peer must not put a weaker key in its place.
            if let bond = bonds.first(where: { $0.peer == address }),
                !pairing.bond.quality.isAtLeast(bond.quality)
            {
                throw .keyRejected
            }
            pairing.bond.peer = address
            let paired = pairing.initiator
            pairing.bond.alias = paired != address && paired.isIdentity ? paired : nil
        case .signingInformation:
            let key: SMPValue = try decode(body)
            pairing.bond.peerSignatureKey = key.value
        case .centralIdentification:
            // The initiator's own LTK serves the exchange of roles, which this side never does.
            let _: CentralIdentification = try decode(body)
        default: let _: SMPValue = try decode(body)
        }
        pairing.awaitedKeys.removeFirst()
        links[link].pairing = pairing
        if pairing.awaitedKeys.isEmpty { complete(link, &emit) }
    }

    /// Every key is there: the bond is whole.
    private mutating func complete(_ link: Int, _ emit: inout Outputs<SecurityEvent>) {
        guard let pairing = links[link].pairing else { return }
        links[link].pairing = nil
        pardon(links[link].peer)
        // LE legacy pairing without a distributed LTK leaves nothing to come back with.
        guard pairing.isBonding, !pairing.bond.longTermKey.isEmpty else {
            return emit.append(.paired(link: link, nil))
        }
        keep(pairing.bond, &emit)
        links[link].bonded = pairing.bond.peer
        emit.append(.paired(link: link, pairing.bond))
    }
}
