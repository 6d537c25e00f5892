// The GATT server of one accessory: links, their state, and the dispatch of what clients send.
public import SansIO
public import Wire

/// A GATT server (Core 6.0, Vol 3, Parts F and G). It is pure: PDUs, security and time come in,
/// answers and events go out. Requests are answered at once, so that one at a time is served.
public struct GATTServer: Sendable {
    /// How many clients may be connected: what small controllers support, and twice that.
    public static let clientsMax = 16
    /// How many bonded clients are remembered; the one unused longest is forgotten first.
    public static let bondedClientsMax = 64

    /// Whether reads are reported as events; writes always are.
    public var reportsAccess = false
    /// What the Database Hash is computed with; without one it has no value.
    public var authenticator: (any MessageAuthenticator)?
    public internal(set) var settings: ServerSettings
    public internal(set) var table: AttributeTable
    /// When `expire` must be called next: the end of an indication's 30 s.
    public internal(set) var deadline: Instant?
    /// What is kept of bonded clients, to be stored.
    public internal(set) var bondedClients: [BondedClient] = []
    /// Whether `keptClients` may have changed; whoever stores them sets it back.
    public var hasNewsOfClients = false

    /// What the application refuses of writes; few values have rules.
    var writeRules: [WriteRules] = []
    /// Control points at work, and the op code that is written to them all the same.
    var busy: [(handle: UInt16, opcode: UInt8, error: ATTError)] = []
    var links: [ServerLink]
    /// For each client the bits of each managed CCCD: 0 notify, 1 indicate, 7 written on this link.
    var configurations: [UInt8]
    var queues: [PrepareQueue]
    /// What each client signs with; nil where nothing is known.
    var signatureKeys: [SignatureKey?]
    /// The counters of signatures that have been taken, to be stored.
    public internal(set) var signCounters: [SignCounter] = []
    /// For each client the handles that wait to be indicated, each at most once.
    var waiting: [[UInt16]]
    /// Values put together from prepared parts, reused.
    var assembly = ByteBlock(capacity: 0)

    /// - Parameter settings: its MTU is kept within 23 to 517.
    public init(table: AttributeTable, settings: ServerSettings = ServerSettings()) {
        self.settings = settings.bounded
        self.table = table
        links = Array(repeating: ServerLink(), count: Self.clientsMax)
        configurations = Array(repeating: 0, count: Self.clientsMax * table.configurationCount)
        queues = Array(repeating: PrepareQueue(), count: Self.clientsMax)
        signatureKeys = Array(repeating: nil, count: Self.clientsMax)
        waiting = Array(repeating: [], count: Self.clientsMax)
    }

    // MARK: Values

    /// The value of `handle` as the application sees it; nil where there is no such attribute.
    public func value(of handle: UInt16) -> [UInt8]? {
        table.index(of: handle).map { table.value(at: $0) }
    }

    /// The value of `handle` as this client would read it; some are each client's own.
    public func value(of handle: UInt16, for client: Int) -> [UInt8]? {
        guard let index = table.index(of: handle) else { return nil }
        var block = ByteBlock(capacity: 64)
        appendValue(at: index, for: client, limit: ATTLimit.valueMax, to: &block)
        return block.bytes
    }

    /// Replaces the value of `handle`.
    /// - Returns: false, and nothing changed, where there is no such attribute or it is too long.
    @discardableResult
    public mutating func setValue(_ bytes: Span<UInt8>, of handle: UInt16) -> Bool {
        guard let index = table.index(of: handle) else { return false }
        return table.store(bytes, at: index)
    }

    /// Replaces the value of `handle`.
    /// - Returns: false, and nothing changed, where there is no such attribute or it is too long.
    @discardableResult
    public mutating func setValue(_ bytes: [UInt8], of handle: UInt16) -> Bool {
        setValue(bytes.span, of: handle)
    }

    /// The client's value of the CCCD with `handle`; nil where that is not a managed CCCD.
    public func cccd(of handle: UInt16, client: Int) -> UInt16? {
        guard let index = table.index(of: handle), table.attributes[index].configuration >= 0 else {
            return nil
        }
        return UInt16(configurations[slot(of: index, client: client)] & 3)
    }

    // MARK: Links

    /// The ATT_MTU of the client's bearer, in octets.
    public func mtu(of client: Int) -> UInt16 { links[client].mtu }

    /// Whether the client, 0 up to but without `clientsMax`, has a bearer now.
    public func isConnected(_ client: Int) -> Bool { links[client].isConnected }

    /// Begins a link: MTU 23, nothing subscribed unless the client is bonded.
    /// - Parameters:
    ///   - client: 0 to 15, chosen by the host, free until now.
    ///   - peer: the identity bonds are kept under; nil: the client's number stands for it.
    public mutating func connect(
        _ client: Int, peer: DeviceAddress? = nil, security: LinkSecurity = .plain
    ) {
        precondition((0..<Self.clientsMax).contains(client), "a client's number is 0 to 15")
        reset(client)
        links[client].isConnected = true
        links[client].peer = peer ?? DeviceAddress(littleEndian: UInt64(client))
        setSecurity(security, of: client)
    }

    /// Ends a link. What a bonded client configured is kept, all else is forgotten.
    public mutating func disconnect(_ client: Int) {
        guard links[client].isConnected else { return }
        if links[client].isRecalled, links[client].security.bonded { remember(client) }
        reset(client)
    }

    /// Says how the link is secured now, and who the client is where that has become known.
    public mutating func setSecurity(
        _ security: LinkSecurity, of client: Int, peer: DeviceAddress? = nil
    ) {
        guard links[client].isConnected else { return }
        links[client].security = security
        if let peer, peer != links[client].peer {
            links[client].peer = peer
            links[client].isRecalled = false
        }
        // Once a link: what the client does from then on counts. Before the link is encrypted, it
        // is anybody with a bonded client's address.
        if security.bonded, security.encrypted, !links[client].isRecalled {
            links[client].isRecalled = true
            hasNewsOfClients = true
            recall(client)
        }
    }

    /// Says that the MTU was agreed by a request of this side's own client.
    public mutating func setMTU(_ mtu: UInt16, of client: Int) {
        links[client].mtu = max(min(mtu, settings.mtu), ATTLimit.mtuDefault)
    }

    private mutating func reset(_ client: Int) {
        links[client] = ServerLink()
        signatureKeys[client] = nil
        let count = table.configurationCount
        for slot in client * count..<(client + 1) * count { configurations[slot] = 0 }
        queues[client].removeAll()
        waiting[client].removeAll()
        findDeadline()
    }

    func slot(of index: Int, client: Int) -> Int {
        client * table.configurationCount + Int(table.attributes[index].configuration)
    }

    // MARK: Time

    mutating func findDeadline() {
        deadline = nil
        for link in links where link.indicated != 0 && !link.isTimedOut {
            deadline = earliest(deadline, link.indicationDeadline)
        }
    }

    /// Closes the bearers whose indication was not confirmed in time.
    public mutating func expire(at now: Instant, emit: inout Outputs<ServerEvent>) {
        guard let deadline, deadline <= now else { return }
        for client in links.indices
        where links[client].indicated != 0 && !links[client].isTimedOut
            && links[client].indicationDeadline <= now
        {
            links[client].isTimedOut = true
            emit.append(.timeout(client: client))
        }
        findDeadline()
    }

    // MARK: Dispatch

    /// Takes one ATT PDU of a client and appends the answer, if there is one, to `reply`.
    public mutating func receive(
        _ pdu: Span<UInt8>, from client: Int, at now: Instant, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) {
        guard links[client].isConnected, !links[client].isTimedOut else { return }
        let start = reply.count
        let request: ATTPDU
        do throws(ATTPDUError) {
            request = try ATTPDU(decoding: pdu)
        } catch {
            return refuse(error, from: client, reply: &reply, emit: &emit)
        }
        do throws(Refusal) {
            if !links[client].isAware { try checkAwareness(of: client, request, pdu) }
            try answer(request, pdu, from: client, reply: &reply, emit: &emit)
        } catch {
            reply.truncate(to: start)
            let opcode = ATTOpcode(rawValue: pdu[0])
            if opcode.isRequest {
                reply.appendError(error.error, handle: error.handle, request: opcode)
            }
            emit.append(
                .refused(client: client, opcode: opcode, handle: error.handle, error: error.error))
        }
    }

    /// Answers what is not a PDU: an unknown or malformed request by an error, all else by silence.
    private mutating func refuse(
        _ error: ATTPDUError, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) {
        let (opcode, code): (ATTOpcode, ATTError)
        switch error {
        case .empty: return
        case .unknown(let unknown):
            (opcode, code) = (unknown, .requestNotSupported)
            if !unknown.isCommand { reply.appendError(code, handle: 0, request: opcode) }
        case .invalid(let invalid):
            (opcode, code) = (invalid, .invalidPDU)
            if invalid.isRequest { reply.appendError(code, handle: 0, request: opcode) }
        }
        emit.append(.refused(client: client, opcode: opcode, handle: 0, error: code))
    }

    private mutating func answer(
        _ request: ATTPDU, _ pdu: Span<UInt8>, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        switch request {
        case .readRequest(let handle):
            try read(handle, from: client, reply: &reply, emit: &emit)
        case .writeCommand(let handle, let value):
            let value = pdu.extracting(value.range)
            try write(value, to: handle, from: client, isCommand: true, emit: &emit)
        case .writeRequest(let handle, let value):
            let value = pdu.extracting(value.range)
            try write(value, to: handle, from: client, isCommand: false, emit: &emit)
            reply.append(ATTOpcode.writeResponse.rawValue)
        case .readBlobRequest(let handle, let offset):
            try readBlob(handle, offset: offset, from: client, reply: &reply, emit: &emit)
        case .readMultipleRequest(let handles):
            let handles = pdu.extracting(handles.range)
            try readMultiple(handles, from: client, reply: &reply, emit: &emit)
        case .readMultipleVariableRequest(let handles):
            let handles = pdu.extracting(handles.range)
            try readMultipleVariable(handles, from: client, reply: &reply, emit: &emit)
        case .prepareWriteRequest(let handle, let offset, let value):
            let part = pdu.extracting(value.range)
            try prepareWrite(part, to: handle, offset: offset, from: client, reply: &reply)
        case .executeWriteRequest(let flags):
            try executeWrite(flags: flags, from: client, reply: &reply, emit: &emit)
        case .exchangeMTURequest(let mtu):
            exchangeMTU(mtu, from: client, reply: &reply, emit: &emit)
        case .handleValueConfirmation: confirm(client, emit: &emit)
        case .handleValueIndication(let handle, _):
            // Phones are servers too and may indicate their Service Changed to any device.
            reply.append(ATTOpcode.handleValueConfirmation.rawValue)
            emit.append(.peerIndication(client: client, handle: handle))
        case .signedWriteCommand(let handle, let value, _):
            try writeSigned(pdu, to: handle, value: value, from: client, emit: &emit)
        case .findInformationRequest(let start, let end):
            try findInformation(start, end, from: client, reply: &reply)
        case .findByTypeValueRequest(let start, let end, let type, let value):
            let type = BluetoothUUID(type)
            let value = pdu.extracting(value.range)
            try findByTypeValue(start, end, type, value, from: client, reply: &reply)
        case .readByTypeRequest(let start, let end, let type):
            try readByType(start, end, type, from: client, reply: &reply, emit: &emit)
        case .readByGroupTypeRequest(let start, let end, let type):
            try readByGroupType(start, end, type, from: client, reply: &reply)
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse,
            .findByTypeValueResponse, .readByTypeResponse, .readResponse, .readBlobResponse,
            .readMultipleResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse, .handleValueNotification,
            .readMultipleVariableResponse, .multipleHandleValueNotification:
            // What a server sends is not for a server.
            break
        }
    }

    /// Answers with the own receive MTU, not the smaller of both (Vol 3, Part F, 3.4.2.2).
    private mutating func exchangeMTU(
        _ clientRxMTU: UInt16, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) {
        reply.append(ATTOpcode.exchangeMTUResponse.rawValue)
        reply.append(settings.mtu)
        setMTU(clientRxMTU, of: client)
        emit.append(.mtu(client: client, mtu: links[client].mtu))
    }
}

/// A request that is answered by an Error Response, a command that is ignored.
struct Refusal: Error {
    let error: ATTError
    let handle: UInt16

    init(_ error: ATTError, _ handle: UInt16) {
        self.error = error
        self.handle = handle
    }
}

/// The trivial part of what a server knows of one link.
struct ServerLink: Sendable {
    var isConnected = false
    /// After a transaction timeout the bearer stays silent.
    var isTimedOut = false
    var security = LinkSecurity.plain
    var mtu = ATTLimit.mtuDefault
    var peer = DeviceAddress()
    /// Whether the client has got back what it had configured before.
    var isRecalled = false
    /// The handle whose indication awaits its confirmation; 0 for none.
    var indicated: UInt16 = 0
    var indicationDeadline = Instant.zero
    var features: UInt8 = 0
    var awareness = ChangeAwareness.aware
    /// The Service Changed range to be indicated; none where `changedStart` is 0.
    var changedStart: UInt16 = 0
    var changedEnd: UInt16 = 0
    /// Whether the table has changed again since the Service Changed indication in flight was sent.
    var hasChangedAgain = false

    var isAware: Bool { awareness == .aware }
}

/// Whether a client knows the table's changes (Core 6.0, Vol 3, Part G, 2.5.2.1).
enum ChangeAwareness: Sendable {
    case aware
    case unaware
    /// Database Out Of Sync was sent or the hash was read: the next request shows that it knows.
    case informed
}
