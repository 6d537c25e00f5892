// The central role: scanning, one connection, and a GATT client on it.
public import GATT
public import HCI
import L2CAP
public import SansIO
public import Wire

/// What a central host tells its owner.
public enum CentralEvent: Sendable {
    case ready(ControllerInformation)
    case failed(ControllerFailure)
    case note(ControllerNote)
    case report(HeardAdvertisement)
    case connected(ConnectionInformation)
    case connectionFailed(HCIStatus)
    case disconnected(HCIStatus)
    case client(GATTClientEvent)
}

/// A controller's central, for the built-in tools: sans-IO, whole H4 packets in and out.
public struct CentralHost: Sendable {
    public private(set) var session: ControllerSession
    public private(set) var client: GATTClient
    private var link: Int?
    private let mtu: UInt16
    private var sessionEvents = Outputs<SessionEvent>()
    private var clientEvents = Outputs<GATTClientEvent>()
    private var reply = ByteBlock(capacity: 1024)

    /// - Parameters:
    ///   - randomAddress: the address to scan and connect with; nil for the public one.
    ///   - mtu: the largest ATT MTU to offer, 23 to 517.
    public init(randomAddress: DeviceAddress?, mtu: UInt16 = 247) {
        session = ControllerSession(randomAddress: randomAddress)
        hasRandomAddress = randomAddress != nil
        self.mtu = mtu
        client = GATTClient(mtu: mtu)
    }

    private let hasRandomAddress: Bool
    private var ownAddressType: AddressType { hasRandomAddress ? .randomDevice : .publicDevice }

    /// Resets the controller and brings it up; `ready` follows.
    public mutating func start(at now: Instant, sending out: inout ByteBlock) {
        link = nil
        session.start(at: now, sending: &out)
    }

    // MARK: scanning and connecting

    /// Scans actively without a duplicate filter, for extended PDUs too where the controller can.
    /// - Parameters: `interval` and `window` in steps of 0.625 ms, 4 to 16,384.
    public mutating func startScanning(
        interval: UInt16, window: UInt16, at now: Instant, sending out: inout ByteBlock
    ) {
        guard !isExtended else {
            return startExtendedScanning(interval, window, at: now, &out)
        }
        var parameters = LESetScanParameters()
        parameters.scanType = 1
        parameters.scanInterval = interval
        parameters.scanWindow = window
        parameters.ownAddressType = ownAddressType
        session.send(parameters, .essential, at: now, sending: &out)
        enableScan(true, at: now, sending: &out)
    }

    private var isExtended: Bool { session.information.hasExtendedAdvertising }

    /// One bit a PHY: LE 1M, and LE Coded where the controller has it.
    private var scanningPHYs: UInt8 {
        session.information.hasFeature(LEFeature.leCoded) ? 0b101 : 0b001
    }

    private mutating func startExtendedScanning(
        _ interval: UInt16, _ window: UInt16, at now: Instant, _ out: inout ByteBlock
    ) {
        var mask = LESetEventMask()
        // LE Extended Advertising Report (7.8.1).
        mask.leEventMask = InitialisationStep.leEvents(session.information) | 1 << 12
        session.send(mask, .essential, at: now, sending: &out)
        var entry = LESetExtendedScanParameters.Entry()
        entry.scanType = 1
        entry.scanInterval = interval
        // Two PHYs share the time.
        entry.scanWindow = window / UInt16(scanningPHYs.nonzeroBitCount)
        var parameters = LESetExtendedScanParameters()
        parameters.ownAddressType = ownAddressType
        parameters.scanningPHYs = scanningPHYs
        parameters.entries = Array(repeating: entry, count: scanningPHYs.nonzeroBitCount)
        session.send(parameters, .essential, at: now, sending: &out)
        enableScan(true, at: now, sending: &out)
    }

    /// Ends scanning, whether or not it has begun.
    public mutating func stopScanning(at now: Instant, sending out: inout ByteBlock) {
        enableScan(false, at: now, sending: &out)
    }

    private mutating func enableScan(
        _ on: Bool, at now: Instant, sending out: inout ByteBlock
    ) {
        guard !isExtended else {
            var enable = LESetExtendedScanEnable()
            enable.enable = on ? 1 : 0
            return session.send(enable, .essential, at: now, sending: &out)
        }
        var enable = LESetScanEnable()
        enable.enable = on ? 1 : 0
        session.send(enable, .essential, at: now, sending: &out)
    }

    /// Connects to what was heard, with a 30 ms interval, as phones do after finding a device.
    public mutating func connect(
        to heard: HeardAdvertisement, at now: Instant, sending out: inout ByteBlock
    ) {
        guard !isExtended else { return connectExtended(to: heard, at: now, &out) }
        var command = LECreateConnection()
        command.scanInterval = 0x60
        command.scanWindow = 0x60
        command.peerAddressType = heard.addressType
        command.peerAddress = heard.address
        command.ownAddressType = ownAddressType
        command.intervalMin = 24
        command.intervalMax = 24
        command.supervisionTimeout = 500
        session.send(command, .essential, at: now, sending: &out)
    }

    private mutating func connectExtended(
        to heard: HeardAdvertisement, at now: Instant, _ out: inout ByteBlock
    ) {
        var entry = LEExtendedCreateConnection.Entry()
        entry.scanInterval = 0x60
        entry.scanWindow = 0x60
        entry.intervalMin = 24
        entry.intervalMax = 24
        entry.supervisionTimeout = 500
        var command = LEExtendedCreateConnection()
        command.ownAddressType = ownAddressType
        command.peerAddressType = heard.addressType
        command.peerAddress = heard.address
        // Where it was heard; a connection on LE 2M has parameters of its own.
        command.initiatingPHYs = heard.extended?.primaryPHY == 3 ? 0b100 : 0b001
        if heard.extended?.secondaryPHY == 2 { command.initiatingPHYs |= 0b010 }
        command.entries = Array(repeating: entry, count: command.initiatingPHYs.nonzeroBitCount)
        session.send(command, .essential, at: now, sending: &out)
    }

    /// Ends the link, if there is one; `disconnected` follows.
    public mutating func disconnect(at now: Instant, sending out: inout ByteBlock) {
        guard let link else { return }
        session.disconnect(link, .remoteUserTerminated, at: now, sending: &out)
    }

    // MARK: the client

    /// Begins a GATT procedure; its result comes as `.client`.
    public mutating func perform(
        _ procedure: GATTClient.Procedure, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<CentralEvent>
    ) {
        guard let link else { return }
        reply.removeAll()
        client.start(procedure, at: now, request: &reply, emit: &clientEvents)
        sendReply(L2CAPChannel.attribute, on: link, at: now, &out)
        process(at: now, &out, &emit)
    }

    // MARK: packets and time

    /// Takes one whole H4 packet from the controller.
    public mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<CentralEvent>
    ) {
        guard packet.count > 0 else { return }
        switch H4PacketType(rawValue: packet[0]) {
        case .acl:
            guard let (link, result) = session.receive(acl: packet) else { return }
            switch result {
            case .incomplete, .dropped: return
            case .frame(let cid, let range):
                let fragment = packet.extracting(ACLHeader.octets..<packet.count)
                deliver(fragment.extracting(range), cid: cid, from: link, at: now, &out)
            case .recombined(let cid):
                let payload = session.takePayload(of: link)
                deliver(payload.bytes.span, cid: cid, from: link, at: now, &out)
                session.returnPayload(payload, of: link)
            }
        case .event:
            session.receive(event: packet, at: now, sending: &out, emit: &sessionEvents)
        case .command, .synchronous, .isochronous, nil: return
        }
        process(at: now, &out, &emit)
    }

    private mutating func deliver(
        _ payload: Span<UInt8>, cid: UInt16, from link: Int, at now: Instant,
        _ out: inout ByteBlock
    ) {
        guard cid == L2CAPChannel.attribute else { return }
        reply.removeAll()
        client.receive(payload, at: now, reply: &reply, emit: &clientEvents)
        sendReply(cid, on: link, at: now, &out)
    }

    private mutating func sendReply(
        _ cid: UInt16, on link: Int, at now: Instant, _ out: inout ByteBlock
    ) {
        let pdu = reply.bytes
        guard !pdu.isEmpty else { return }
        session.send(
            pdu.span, cid: cid, on: link, at: now, sending: &out, emit: &sessionEvents)
    }

    public var deadline: Instant? { earliest(session.deadline, client.deadline) }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<CentralEvent>
    ) {
        session.expire(at: now, sending: &out, emit: &sessionEvents)
        client.expire(at: now, emit: &clientEvents)
        process(at: now, &out, &emit)
    }

    private mutating func process(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<CentralEvent>
    ) {
        for event in sessionEvents.elements {
            switch event {
            case .ready: emit.append(.ready(session.information))
            case .failed(let failure):
                link = nil
                emit.append(.failed(failure))
            case .note(let note): emit.append(.note(note))
            case .connected(let index, let information):
                link = index
                client = GATTClient(mtu: mtu)
                emit.append(.connected(information))
            case .connectionFailed(let status): emit.append(.connectionFailed(status))
            case .disconnected(_, _, let reason):
                link = nil
                emit.append(.disconnected(reason))
            case .report(let report): emit.append(.report(report))
            // Only a peripheral is asked for a key.
            case .keyRequested(let link, _, _):
                session.answerKey(nil, on: link, at: now, sending: &out)
            case .answered, .connectionUpdated, .phyUpdated, .encryptionChanged, .setTerminated,
                .scanRequested:
                break
            }
        }
        sessionEvents.removeAll()
        for event in clientEvents.elements { emit.append(.client(event)) }
        clientEvents.removeAll()
    }
}
