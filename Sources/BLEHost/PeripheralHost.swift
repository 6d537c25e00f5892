// The peripheral role: one accessory on one controller, its advertising, links and GATT server.
public import GATT
import HCI
import L2CAP
public import SMP
public import SansIO
public import Wire

/// A controller's peripheral: sans-IO, whole H4 packets in and out.
///
/// A client of the GATT server is the link's index.
public struct PeripheralHost: Sendable {
    public internal(set) var session: ControllerSession
    /// Pairing, and the bonds.
    public internal(set) var security: SecurityManager
    /// Whether the user has authorized the client of each link.
    var isAuthorized = [Bool](repeating: false, count: SecurityManager.linksMax)
    /// The GATT server; its values may be set between calls.
    public var server: GATTServer
    /// Whether each notification and indication is told; its octets are copied for that.
    public var reportsSending = false
    var connectionsMax: Int
    var advertising: AdvertisingSets
    /// Whether other hosts have sets of the same controller, whose legacy family is out of reach
    /// then.
    public var sharesController = false
    /// The set that each link was made from, where that is known.
    var linkSets = [Int?](repeating: nil, count: LinkTable.linksMax)
    /// What was told of the choice of sets since power-on.
    var toldChoice: [ControllerNote] = []
    /// A disconnection, or another list of bonds, calls for advertising anew; `settle` sees to it.
    var mustSettle = false
    let privacy: AddressPrivacy?
    /// The device's random address; nil for the public one.
    var deviceAddress: DeviceAddress?
    /// When the private address is due to change.
    var renewalAt: Instant?
    var connectionRequest: ConnectionParameterUpdateRequest?
    var signalling: [Signalling]
    private var signallingEvents = Outputs<SignallingEvent>()
    var sessionEvents = Outputs<SessionEvent>()
    private var serverEvents = Outputs<ServerEvent>()
    var securityEvents = Outputs<SecurityEvent>()
    /// Whether it has been powered on: the window of pairing begins then.
    private var hasStarted = false
    var reply = ByteBlock(capacity: 1024)
    /// Whose overflow has been told.
    var overflows: [(link: Int, handle: UInt16)] = []

    /// The signalling channel of a link, and when to ask for connection parameters on it.
    struct Signalling: Sendable {
        var channel = SignallingChannel(role: .peripheral)
        var requestAt: Instant?
        var deadline: Instant? { earliest(channel.deadline, requestAt) }
    }

    /// TGAP(conn_pause_peripheral): how long a peripheral waits after a connection was made before
    /// it asks for other parameters (Core 6.0, Vol 3, Part C, 9.3.9 and Appendix A).
    static let requestPause = TimeSpan.seconds(5)

    public init(_ configuration: PeripheralConfiguration, server: GATTServer) {
        let canBond = configuration.security.policy != .refused && configuration.security.bonding
        session = ControllerSession(
            randomAddress: configuration.randomAddress,
            usesResolvingList: canBond && configuration.cipher != nil)
        session.usesSets = configuration.asksForSets
        privacy = configuration.privacy
        deviceAddress = configuration.randomAddress
        security = SecurityManager(
            configuration.security, cipher: configuration.cipher, random: configuration.keys)
        self.server = server
        connectionRequest = configuration.connectionRequest
        signalling = [Signalling](repeating: Signalling(), count: LinkTable.linksMax)
        connectionsMax = min(max(configuration.connectionsMax, 1), LinkTable.linksMax)
        advertising = AdvertisingSets(
            configuration.sets, deviceAddress: configuration.randomAddress)
    }

    /// The links, open and free slots alike.
    public var links: [Link] { session.table.links }

    // MARK: power

    /// Resets the controller and brings it up; advertising follows by itself.
    public mutating func start(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<PeripheralEvent>
    ) {
        closeAllLinks(.connectionTimeout, &emit)
        if !hasStarted { security.start(at: now) }
        hasStarted = true
        toldChoice = []
        renewAddress(at: now)
        renewSetAddresses(at: now, all: true)
        session.randomAddress = deviceAddress
        advertising.controllerWasReset(.legacy)
        advertising.isWanted = true
        session.start(at: now, sending: &out)
    }

    /// The controller or the way to it is gone: all links are over, until the next `start`.
    public mutating func controllerIsGone(emit: inout Outputs<PeripheralEvent>) {
        closeAllLinks(.connectionTimeout, &emit)
        advertising.controllerWasReset(.legacy)
        session.stop()
    }

    /// Stops advertising and ends the links, as a device that is switched off would.
    public mutating func stop(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<PeripheralEvent>
    ) {
        advertising.isWanted = false
        guard session.isReady else { return }
        for link in session.table.links.indices {
            session.disconnect(link, .remotePowerOff, at: now, sending: &out)
        }
        reconcile(at: now, &out)
    }

    /// Ends a link; one that is not open, or is being ended, is left alone.
    public mutating func disconnect(
        _ link: Int, at now: Instant, sending out: inout ByteBlock
    ) {
        session.disconnect(link, .remoteUserTerminated, at: now, sending: &out)
    }

    /// Whether nothing is on the air any more.
    public var isQuiet: Bool {
        !session.isReady || (!advertising.isEnabled && session.table.openCount == 0)
    }

    private mutating func closeAllLinks(
        _ reason: HCIStatus, _ emit: inout Outputs<PeripheralEvent>
    ) {
        for link in session.table.links.indices where session.table.links[link].isOpen {
            server.disconnect(link)
            security.drop(link)
            let peer = session.table.links[link].information.peerAddress
            emit.append(.disconnected(link: link, peer: peer, reason))
        }
        overflows.removeAll()
        session.forgetLinks()
    }

    // MARK: advertising

    // MARK: packets

    /// Takes one whole H4 packet from the controller.
    public mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        guard packet.count > 0 else { return }
        switch H4PacketType(rawValue: packet[0]) {
        case .acl: receive(acl: packet, at: now, &out, &emit)
        case .event:
            session.receive(event: packet, at: now, sending: &out, emit: &sessionEvents)
            process(at: now, &out, &emit)
        case .command, .synchronous, .isochronous, nil: break
        }
    }

    private mutating func receive(
        acl packet: Span<UInt8>, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard let (link, result) = session.receive(acl: packet) else { return }
        switch result {
        case .incomplete, .dropped: return
        case .frame(let cid, let range):
            let fragment = packet.extracting(ACLHeader.octets..<packet.count)
            deliver(fragment.extracting(range), cid: cid, from: link, at: now, &out)
        case .recombined(let cid):
            // The payload is moved out for the call, since its link is changed meanwhile.
            let payload = session.takePayload(of: link)
            deliver(payload.bytes.span, cid: cid, from: link, at: now, &out)
            session.returnPayload(payload, of: link)
        }
        report(link, &emit)
        process(at: now, &out, &emit)
    }

    private mutating func deliver(
        _ payload: Span<UInt8>, cid: UInt16, from link: Int, at now: Instant,
        _ out: inout ByteBlock
    ) {
        reply.removeAll()
        switch cid {
        case L2CAPChannel.attribute:
            server.receive(payload, from: link, at: now, reply: &reply, emit: &serverEvents)
        case L2CAPChannel.signalling:
            signalling[link].channel.receive(
                payload, at: now, reply: &reply, emit: &signallingEvents)
        case L2CAPChannel.securityManager:
            security.receive(payload, from: link, at: now, emit: &securityEvents)
        default: return
        }
        sendReply(cid: cid, to: link, at: now, &out)
    }

    mutating func sendReply(
        cid: UInt16, to link: Int, at now: Instant, _ out: inout ByteBlock
    ) {
        let pdu = reply.bytes
        guard !pdu.isEmpty else { return }
        session.send(
            pdu.span, cid: cid, on: link, at: now, sending: &out, emit: &sessionEvents)
    }

    // MARK: time

    public var deadline: Instant? {
        var deadline = earliest(
            earliest(session.deadline, server.deadline), security.deadline)
        for link in session.table.links.indices where session.table.links[link].isOpen {
            deadline = earliest(deadline, signalling[link].deadline)
        }
        guard session.isReady else { return deadline }
        let renewal = earliest(renewalAt, advertising.renewalAt)
        return earliest(deadline, earliest(renewal, advertising.deadline))
    }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<PeripheralEvent>
    ) {
        session.expire(at: now, sending: &out, emit: &sessionEvents)
        server.expire(at: now, emit: &serverEvents)
        security.expire(at: now, emit: &securityEvents)
        if session.isReady {
            expirePrivacy(at: now, &out)
            expireTurn(at: now, &out)
        }
        for link in session.table.links.indices where session.table.links[link].isOpen {
            expireSignalling(of: link, at: now, &out, &emit)
        }
        process(at: now, &out, &emit)
    }

    private mutating func expireSignalling(
        of link: Int, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        if let at = signalling[link].requestAt, at <= now, let request = connectionRequest {
            signalling[link].requestAt = nil
            reply.removeAll()
            if !session.table.links[link].information.satisfies(request),
                signalling[link].channel.requestParameters(request, at: now, into: &reply)
            {
                sendReply(cid: L2CAPChannel.signalling, to: link, at: now, &out)
            }
        }
        signalling[link].channel.expire(at: now, emit: &signallingEvents)
        report(link, &emit)
    }

    private mutating func report(_ link: Int, _ emit: inout Outputs<PeripheralEvent>) {
        for event in signallingEvents.elements {
            switch event {
            case .parametersAnswered(let accepted):
                emit.append(.parametersAnswered(link: link, accepted: accepted))
            case .parametersUnanswered:
                emit.append(.parametersAnswered(link: link, accepted: false))
            case .parametersRequested, .rejected: break
            }
        }
        signallingEvents.removeAll()
    }

    // MARK: what the layers below said

    mutating func process(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<PeripheralEvent>
    ) {
        if !securityEvents.isEmpty { processSecurity(at: now, &out, &emit) }
        // What one event brings about may emit further ones; both lists grow only by bounded steps.
        var index = 0
        while index < sessionEvents.count {
            process(sessionEvents.elements[index], at: now, &out, &emit)
            if !securityEvents.isEmpty { processSecurity(at: now, &out, &emit) }
            index += 1
        }
        sessionEvents.removeAll()
        for event in serverEvents.elements {
            if case .timeout(let client) = event {
                // The fixed ATT channel cannot be closed, so the link goes (Vol 3, Part F, 3.3.3).
                session.disconnect(client, .remoteUserTerminated, at: now, sending: &out)
            }
            switch event {
            case .indicationReady(let client, let handle):
                _ = notify(handle, to: client, at: now, &out, &emit)
            case .subscribed(let client, _, _, indicate: true):
                // A Service Changed may have waited for this.
                sendPendingIndication(to: client, at: now, &out, &emit)
            case .timeout, .mtu, .read, .written, .subscribed, .features, .confirmed, .refused,
                .peerIndication:
                break
            }
            if case .mtu(let client, _) = event { overflows.removeAll { $0.link == client } }
            emit.append(.server(event))
        }
        serverEvents.removeAll()
    }

    private mutating func process(
        _ event: SessionEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        switch event {
        case .ready: beginAdvertising(at: now, &out, &emit)
        case .failed(let failure):
            closeAllLinks(.connectionTimeout, &emit)
            emit.append(.failed(failure))
        case .note(let note): emit.append(.note(note))
        case .answered(let opcode, let status):
            answered(opcode, status, at: now, &out, &emit)
        case .connected(let link, let information):
            let enable = AdvertisingCommand.enable(true).opcode(advertising.family)
            linkSets[link] = advertising.connectionWasMade(cancelled: session.cancelEnable(enable))
            advertising.situationChanged()
            signalling[link] = Signalling()
            if connectionRequest != nil { signalling[link].requestAt = now + Self.requestPause }
            emit.append(.connected(link: link, information))
            if advertising.controls.count > 1, let set = linkSets[link] {
                emit.append(.connectedFrom(set: set, link: link))
            }
            secure(link, information)
            reconcile(at: now, &out)
        case .connectionFailed:
            // High-duty directed advertising ended, or a central gave up: advertise again.
            advertising.connectionFailed()
            reconcile(at: now, &out)
        case .setTerminated(let handle, let link):
            setTerminated(Int(handle), link, at: now, &out, &emit)
        case .scanRequested(let handle, let scanner):
            emit.append(.scanRequested(set: Int(handle), scanner))
        case .disconnected(let link, let peer, let reason):
            server.disconnect(link)
            security.disconnect(link, at: now, emit: &securityEvents)
            overflows.removeAll { $0.link == link }
            advertising.situationChanged()
            emit.append(.disconnected(link: link, peer: peer, reason))
            mustSettle = true
        case .connectionUpdated(let link):
            emit.append(.connectionUpdated(link: link, links[link].information))
        case .phyUpdated(let link):
            emit.append(.phyUpdated(link: link, links[link].information))
        case .keyRequested(let link, let ediv, let rand):
            security.keyRequested(
                on: link, ediv: ediv, rand: rand, at: now, emit: &securityEvents)
        case .encryptionChanged(let link, let isSuccess, let isEnabled):
            security.encryptionChanged(
                on: link, isSuccess: isSuccess, isEnabled: isEnabled, at: now,
                emit: &securityEvents)
        case .report: break
        }
    }
}
