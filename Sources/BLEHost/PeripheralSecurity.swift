// Between the Security Manager, the controller and the GATT server.
public import GATT
import HCI
import L2CAP
public import SMP
public import SansIO
public import Wire

extension PeripheralHost {
    /// A link begins: the server serves it as a stranger's, or a bonded peer's without its key.
    mutating func secure(_ link: Int, _ information: ConnectionInformation) {
        let isRandom = information.peerAddressType.rawValue & 1 == 1
        let told = LinkAddress(information.peerAddress, isRandom: isRandom)
        // Pairing is about the addresses on the air, the bond about identities.
        security.connect(
            link, own: ownLinkAddress(of: link),
            peer: information.peerPrivateAddress.map { LinkAddress($0, isRandom: true) } ?? told,
            identity: information.isPeerIdentity ? told : nil)
        let peer = security.bond(of: link)?.peer.address ?? information.peerAddress
        isAuthorized[link] = false
        server.connect(link, peer: peer, security: linkSecurity(of: link))
        setSignatureKey(of: link)
        if security.configuration.requestsSecurity {
            security.requestSecurity(of: link, emit: &securityEvents)
        }
    }

    /// Puts stored bonds back, before power-on.
    public mutating func restore(_ bonds: [Bond]) { security.restore(bonds) }

    /// What an open link is worth.
    public func linkSecurity(of link: Int) -> LinkSecurity {
        var result = LinkSecurity(
            bonded: security.bond(of: link) != nil, authorized: isAuthorized[link])
        guard let key = security.encryption(of: link) else { return result }
        result.encrypted = true
        result.authenticated = key.isAuthenticated
        result.secureConnections = key.isSecureConnections
        result.keySize = key.size
        return result
    }

    /// Does what the Security Manager says, and tells what people should know.
    mutating func processSecurity(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<PeripheralEvent>
    ) {
        for event in securityEvents.elements {
            switch event {
            case .send(let link, let pdu):
                session.send(
                    pdu.span, cid: L2CAPChannel.securityManager, on: link, at: now,
                    sending: &out, emit: &sessionEvents)
                continue
            case .key(let link, let key):
                session.answerKey(key, on: link, at: now, sending: &out)
                continue
            case .encryption(let link, _):
                setSecurity(of: link)
                mustSettle = mustSettle || usesResolvingList
                // What a bonded client missed while it was away, such as a Service Changed.
                sendPendingIndication(to: link, at: now, &out, &emit)
            case .paired(let link, let bond):
                mustSettle = mustSettle || usesResolvingList
                if let bond { server.forgetCounter(of: bond.peer.address) }
                setSecurity(of: link)
                sendPendingIndication(to: link, at: now, &out, &emit)
            case .forgotten(let peer):
                server.forget(peer.address)
                server.forgetCounter(of: peer.address)
            case .ended(let link, .failed(.pairingNotSupported)):
                emit.append(.pairingRefused(link: link))
                continue
            case .started, .question, .ended: break
            }
            emit.append(.security(event))
        }
        securityEvents.removeAll()
    }

    /// Says whether the user has authorized the client of an open link (Core 6.0, Vol 3, Part C,
    /// 10.5); the next link begins without.
    public mutating func setAuthorized(_ isAuthorized: Bool, of link: Int) {
        guard links.indices.contains(link), links[link].isOpen else { return }
        self.isAuthorized[link] = isAuthorized
        setSecurity(of: link)
    }

    private mutating func setSecurity(of link: Int) {
        server.setSecurity(
            linkSecurity(of: link), of: link, peer: security.bond(of: link)?.peer.address)
        setSignatureKey(of: link)
    }

    private mutating func setSignatureKey(of link: Int) {
        let bond = security.bond(of: link)
        let key = bond?.peerSignatureKey.map {
            SignatureKey($0, isAuthenticated: bond?.quality.isAuthenticated ?? false)
        }
        server.setSignatureKey(key, of: link)
    }

    // MARK: what is kept

    /// Takes up what was stored of bonded peers; before the first link.
    public mutating func restore(
        bonds: [Bond], clients: [BondedClient], counters: [SignCounter]
    ) {
        security.restore(bonds)
        server.restore(clients)
        server.restore(counters: counters)
        server.hasNewsOfClients = true
    }

    // MARK: a person's answers

    /// The person has entered the passkey, 0 to 999,999; nil: has given up.
    /// - Returns: false where nothing of this kind was asked.
    public mutating func enter(
        passkey: UInt32?, on link: Int, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) -> Bool {
        let isAsked = security.enter(
            passkey: passkey, on: link, at: now, emit: &securityEvents)
        process(at: now, &out, &emit)
        return isAsked
    }

    /// The person says whether the central shows the same number.
    /// - Returns: false where nothing of this kind was asked.
    public mutating func compare(
        matches: Bool, on link: Int, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) -> Bool {
        let isAsked = security.compare(
            matches: matches, on: link, at: now, emit: &securityEvents)
        process(at: now, &out, &emit)
        return isAsked
    }

    /// Forgets a bond; a link that is encrypted with it ends.
    public mutating func forget(
        _ peer: LinkAddress, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        for link in session.table.links.indices where security.bond(of: link)?.peer == peer {
            server.setSecurity(.plain, of: link)
            session.disconnect(link, .remoteUserTerminated, at: now, sending: &out)
        }
        security.forget(peer)
        mustSettle = mustSettle || usesResolvingList
        server.forget(peer.address)
        process(at: now, &out, &emit)
    }
}
