// A central at the HCI of a virtual controller, for tests: it finds, connects, pairs and encrypts.
public import HCI
import L2CAP
public import SMP
import SansIO
import Wire

/// A host without credits, time-outs or mistrust: commands and data out, events and data in.
public struct PairingCentral: Sendable {
    /// What has come in.
    public struct Received: Sendable {
        public var advertisers: [LinkAddress] = []
        /// PDUs of the attribute channel.
        public var attribute: [[UInt8]] = []
        public var disconnections: [HCIStatus] = []
        /// Encryption Change and Encryption Key Refresh Complete.
        public var encryptions: [HCIStatus] = []
    }

    public var received = Received()
    /// The link, once the controller has told of it.
    public private(set) var handle: ConnectionHandle?
    public var initiator: PairingInitiator?
    /// What the initiator has said, but for what was sent.
    public private(set) var outputs: [PairingInitiator.Output] = []
    /// The passkey that the device shows, as the central's person reads it.
    public var shownPasskey: UInt32?
    /// What that person says of two numbers.
    public var agrees = true
    /// H4 packets to the controller.
    var sent: [[UInt8]] = []
    private var recombiner = Recombiner()

    public init() {}

    // MARK: commands

    mutating func send<Command: HCICommand>(
        _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) {
        var copy = command
        change(&copy)
        var block = ByteBlock()
        block.append(command: copy)
        sent.append(block.bytes)
    }

    mutating func start() {
        send(Reset())
        send(SetEventMask()) { $0.eventMask = 0x3FFF_FFFF_FFFF_FFFF }
        send(LESetEventMask()) { $0.leEventMask = 0x1F }
        (handle, initiator, received, outputs) = (nil, nil, Received(), [])
    }

    mutating func scan(_ on: Bool) {
        if on {
            send(LESetScanParameters()) {
                $0.scanInterval = 0x10
                $0.scanWindow = 0x10
            }
        }
        send(LESetScanEnable()) { $0.enable = on ? 1 : 0 }
    }

    /// - Parameter own: nil for the public address.
    mutating func connect(to peer: LinkAddress, as own: DeviceAddress?) {
        if let own { send(LESetRandomAddress()) { $0.randomAddress = own } }
        send(LECreateConnection()) {
            $0.scanInterval = 0x10
            $0.scanWindow = 0x10
            $0.peerAddressType = peer.isRandom ? .randomDevice : .publicDevice
            $0.peerAddress = peer.address
            $0.ownAddressType = own == nil ? .publicDevice : .randomDevice
            $0.intervalMin = 24
            $0.intervalMax = 24
            $0.supervisionTimeout = 500
        }
    }

    mutating func disconnect() {
        guard let handle else { return }
        send(Disconnect()) {
            $0.connectionHandle = handle
            $0.reason = .remoteUserTerminated
        }
    }

    mutating func encrypt(ediv: UInt16, rand: UInt64, key: [UInt8]) {
        guard let handle else { return }
        send(LEEnableEncryption()) {
            $0.connectionHandle = handle
            $0.encryptedDiversifier = ediv
            $0.randomNumber = rand
            $0.longTermKey = key
        }
    }

    mutating func send(_ pdu: [UInt8], cid: UInt16) {
        guard let handle else { return }
        var block = ByteBlock()
        block.append(
            acl: ACLHeader(handle: handle, boundary: .firstFromHost, length: pdu.count + 4))
        block.appendL2CAPHeader(length: pdu.count, cid: cid)
        block.append(pdu)
        sent.append(block.bytes)
    }

    // MARK: pairing

    mutating func pair(_ initiator: PairingInitiator) {
        self.initiator = initiator
        outputs = []
        shownPasskey = nil
        act { $0.start() }
    }

    /// Lets the initiator do something and does what it says.
    mutating func act(_ body: (inout PairingInitiator) -> [PairingInitiator.Output]) {
        guard var initiator else { return }
        let new = body(&initiator)
        self.initiator = initiator
        for output in new {
            switch output {
            case .send(let pdu): send(pdu, cid: L2CAPChannel.securityManager)
            case .encrypt(let ediv, let rand, let key):
                encrypt(ediv: ediv, rand: rand, key: key)
            case .compares: act { [agrees] in $0.compare(matches: agrees) }
            case .needsPasskey: enterPasskey()
            case .shows, .paired, .failed: break
            }
            outputs.append(output)
        }
    }

    /// The person enters what the device has shown, as soon as both are so far.
    mutating func enterPasskey() {
        if let shownPasskey { act { $0.enter(shownPasskey) } }
    }

    public var bond: Bond? {
        for case .paired(let bond) in outputs { return bond }
        return nil
    }

    // MARK: packets

    mutating func receive(_ packet: [UInt8]) {
        switch packet.first.flatMap({ H4PacketType(rawValue: $0) }) {
        case .event where packet.count >= 3:
            receive(EventCode(rawValue: packet[1]), Array(packet[3...]))
        case .acl: receive(acl: packet)
        case .event, .command, .synchronous, .isochronous, nil: break
        }
    }

    private mutating func receive(_ code: EventCode, _ parameters: [UInt8]) {
        switch code {
        case .disconnectionComplete:
            guard let event = try? DisconnectionComplete(hci: parameters.span) else { return }
            handle = nil
            received.disconnections.append(event.reason)
            act { $0.fail(nil) }
        case .encryptionChange:
            guard let event = try? EncryptionChange(hci: parameters.span) else { return }
            encrypted(event.status)
        case .encryptionKeyRefreshComplete:
            guard let event = try? EncryptionKeyRefreshComplete(hci: parameters.span) else {
                return
            }
            encrypted(event.status)
        case .leMeta where !parameters.isEmpty:
            receive(LESubevent(rawValue: parameters[0]), Array(parameters.dropFirst()))
        default: break
        }
    }

    private mutating func encrypted(_ status: HCIStatus) {
        received.encryptions.append(status)
        act { $0.encrypted(status.isSuccess) }
    }

    private mutating func receive(_ subevent: LESubevent, _ parameters: [UInt8]) {
        switch subevent {
        case .connectionComplete:
            guard let event = try? LEConnectionComplete(hci: parameters.span),
                event.status.isSuccess
            else { return }
            handle = event.connectionHandle
            recombiner.reset()
        case .advertisingReport:
            guard let event = try? LEAdvertisingReport(hci: parameters.span) else { return }
            received.advertisers += event.reports.map {
                LinkAddress($0.address, isRandom: $0.addressType.rawValue & 1 == 1)
            }
        default: break
        }
    }

    private mutating func receive(acl packet: [UInt8]) {
        guard let header = ACLHeader(packet: packet.span), header.handle == handle else { return }
        let fragment = Array(packet[ACLHeader.octets...])
        switch recombiner.handle(fragment.span, isStart: header.isStart) {
        case .frame(let cid, let range): deliver(Array(fragment[range]), cid: cid)
        case .recombined(let cid): deliver(recombiner.payload.bytes, cid: cid)
        case .incomplete, .dropped: break
        }
    }

    private mutating func deliver(_ pdu: [UInt8], cid: UInt16) {
        switch cid {
        case L2CAPChannel.securityManager: act { $0.receive(pdu) }
        case L2CAPChannel.attribute: received.attribute.append(pdu)
        default: break
        }
    }
}
