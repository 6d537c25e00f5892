// A GATT server whose every answer is checked against what must hold for all of them.
import GATT
import SansIO
import Wire

/// A server with every kind of attribute, and the invariants of its answers.
struct ServerRig {
    var server: GATTServer
    var now = Instant.zero
    private var events = Outputs<ServerEvent>()
    private var reply = ByteBlock(capacity: 1024)
    /// Clients whose bearer has ended by a time-out: nothing more may go to them.
    private var timedOut = Set<Int>()
    /// For each client the handles whose CCCD bits 1 and 2 it has written since it connected.
    private var asked: [[UInt16: UInt8]] = Array(repeating: [:], count: GATTServer.clientsMax)
    /// Clients that have been bonded: their configuration may come from an earlier link.
    private var everBonded = Set<Int>()

    init(settings: ServerSettings = ServerSettings()) {
        server = GATTServer(table: Self.table, settings: settings)
        server.reportsAccess = true
    }

    /// Opens and secured values, long ones, CCCDs of both kinds, gaps between handles.
    static let table: AttributeTable = {
        do throws(AttributeTableError) {
            return try makeTable()
        } catch {
            preconditionFailure("the table is in order: \(error)")
        }
    }()

    /// The same, with the characteristics of 0xA000 two handles later.
    static let otherTable: AttributeTable = {
        do throws(AttributeTableError) {
            return try makeTable(offset: 2)
        } catch {
            preconditionFailure("the table is in order: \(error)")
        }
    }()

    private static func makeTable(
        offset: UInt16 = 0
    ) throws(AttributeTableError) -> AttributeTable {
        var builder = AttributeTableBuilder()
        let cccd = Permissions(read: .open, write: .open)
        try builder.addService(BluetoothUUID(0x1801))
        try builder.addCharacteristic(
            GATTType.serviceChanged, properties: .indicate,
            permissions: Permissions(indicate: .open), kind: .serviceChanged)
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, value: [0, 0],
            kind: .clientConfiguration)
        try builder.addCharacteristic(
            GATTType.clientSupportedFeatures, properties: [.read, .write],
            permissions: Permissions(read: .open, write: .open), value: [0],
            kind: .clientSupportedFeatures)
        try builder.addCharacteristic(
            GATTType.databaseHash, properties: .read, permissions: Permissions(read: .open),
            value: Array(repeating: 7, count: 16), kind: .databaseHash)
        try builder.addService(BluetoothUUID(0xA000), handle: 0x0010, end: 0x001F)
        let everything = Permissions(
            read: .open, write: .open, writeCommand: .open, notify: .open, indicate: .open)
        try builder.addCharacteristic(
            BluetoothUUID(0xB000), properties: [.read, .write, .notify, .indicate],
            handle: 0x0011 + offset, permissions: everything, value: Array(0..<100))
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, value: [0, 0],
            kind: .clientConfiguration)
        try builder.addDescriptor(
            GATTType.extendedProperties, permissions: Permissions(read: .open), value: [1, 0])
        try builder.addCharacteristic(
            BluetoothUUID(0xB001), properties: [.read, .notify],
            permissions: Permissions(read: .encrypted, notify: .encrypted), value: [1, 2])
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, value: [0, 0],
            kind: .clientConfiguration)
        try builder.addService(BluetoothUUID(0xA001), isSecondary: true, handle: 0x0030)
        for (uuid, access) in [
            (UInt16(0xB000), Access.authenticated), (0xB000, .secure),
            (0xB000, Access(.open, authorization: true)),
            (0xB002, Access(.encrypted, keySizeMin: 12)),
        ] {
            try builder.addCharacteristic(
                BluetoothUUID(uuid), properties: [.read, .write],
                permissions: Permissions(read: access, write: access), value: [3], maximumLength: 20
            )
        }
        try builder.addService(
            BluetoothUUID(high: 1, low: 2), handle: 0xFFF0, end: 0xFFFF)
        try builder.addInclude(of: 0x0030)
        try builder.addCharacteristic(
            BluetoothUUID(high: 1, low: 3), properties: .indicate,
            permissions: Permissions(indicate: .open), value: [9])
        // A CCCD that is an ordinary value, the same for all.
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, value: [0, 0], maximumLength: 2)
        try builder.addDescriptor(
            BluetoothUUID(high: 1, low: 4), handle: 0xFFFF,
            permissions: Permissions(read: .open, write: .open), value: [], maximumLength: 512)
        return try builder.build()
    }

    // MARK: links

    mutating func connect(_ client: Int, security: LinkSecurity) {
        guard !server.isConnected(client) else { return }
        timedOut.remove(client)
        asked[client] = [:]
        if security.bonded { everBonded.insert(client) }
        server.connect(client, security: security)
        precondition(server.mtu(of: client) == ATTLimit.mtuDefault, "a link begins at MTU 23")
    }

    mutating func disconnect(_ client: Int) {
        server.disconnect(client)
        precondition(!server.isConnected(client), "a link that ended is over")
    }

    mutating func secure(_ client: Int, _ security: LinkSecurity) {
        guard server.isConnected(client) else { return }
        if security.bonded { everBonded.insert(client) }
        server.setSecurity(security, of: client)
    }

    // MARK: PDUs

    /// Gives the server a client's PDU and checks the answer.
    mutating func receive(_ pdu: [UInt8], from client: Int) {
        let mtu = server.mtu(of: client)
        reply.removeAll()
        server.receive(pdu.span, from: client, at: now, reply: &reply, emit: &events)
        let answer = reply.bytes
        takeEvents()
        let isAnswered =
            Self.expectsAnswer(pdu) && server.isConnected(client)
            && !timedOut.contains(client)
        precondition(answer.isEmpty == !isAnswered, "a request has one answer, all else none")
        guard isAnswered else { return }
        // The answer to Exchange MTU fits any MTU, an Error Response too.
        precondition(answer.count <= Int(mtu), "no PDU is above the MTU")
        let decoded: ATTPDU
        do throws(ATTPDUError) {
            decoded = try ATTPDU(decoding: answer.span)
        } catch {
            preconditionFailure("an answer is a PDU: \(Hex.string(answer)), \(error)")
        }
        if case .errorResponse(let request, _, let error) = decoded {
            precondition(request.rawValue == pdu[0], "an error names its request")
            precondition(error.rawValue != 0, "0 is no error")
        } else if pdu[0] == ATTOpcode.handleValueIndication.rawValue {
            precondition(answer == [0x1E], "an indication is confirmed")
        } else {
            precondition(answer[0] == pdu[0] + 1, "a response answers its request")
        }
    }

    /// Requests, also malformed and unknown ones, and whole indications; not commands,
    /// confirmations and what a server sends.
    private static func expectsAnswer(_ pdu: [UInt8]) -> Bool {
        guard let opcode = pdu.first, opcode & 0x40 == 0 else { return false }
        switch opcode {
        case 0x1E: return false
        case 0x1D: return pdu.count >= 3
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1B, 0x21,
            0x23:
            return false
        default: return true
        }
    }

    /// Has the value of `handle` sent to a client and checks that the client has asked for it.
    mutating func notify(_ handle: UInt16, to client: Int) {
        reply.removeAll()
        let mtu = Int(server.mtu(of: client))
        let result = server.notification(of: handle, to: client, at: now, into: &reply)
        let pdu = reply.bytes
        switch result {
        case .notification: check(pdu, 0x1B, handle, bit: 1, client)
        case .indication: check(pdu, 0x1D, handle, bit: 2, client)
        case .pending, .notSubscribed, .refused, .tooLong, .unavailable:
            precondition(pdu.isEmpty, "nothing is written where nothing is sent")
        }
        precondition(pdu.count <= mtu, "no PDU is above the MTU")
    }

    private func check(
        _ pdu: [UInt8], _ opcode: UInt8, _ handle: UInt16, bit: UInt8, _ client: Int
    ) {
        precondition(server.isConnected(client), "only a connected client is sent to")
        precondition(!timedOut.contains(client), "nothing goes over a bearer that timed out")
        precondition(pdu.count >= 3 && pdu[0] == opcode, "it is what it is said to be")
        precondition(pdu.span.uint16(at: 1) == handle, "it names the value's handle")
        // The CCCD that is an ordinary value is nobody's own.
        guard handle != 0xFFF3, !everBonded.contains(client) else { return }
        precondition(
            (asked[client][handle] ?? 0) & bit != 0, "nothing is sent without a subscription")
    }

    mutating func notifySeveral(_ handles: [UInt16], to client: Int) {
        reply.removeAll()
        let result = server.multipleNotification(of: handles, to: client, into: &reply)
        precondition(reply.count <= Int(server.mtu(of: client)), "no PDU is above the MTU")
        if case .notification = result {
            precondition(reply.bytes[0] == 0x23, "it is what it is said to be")
        } else {
            precondition(reply.isEmpty, "nothing is written where nothing is sent")
        }
    }

    /// What a client had asked for stays only where it can be that it did.
    mutating func replaceTable(_ table: AttributeTable) {
        let old = server.table
        let report = server.replaceTable(table)
        precondition((report.changed == nil) == (old.changes(to: table) == nil), "one range")
        guard report.changed != nil else { return }
        for client in asked.indices {
            asked[client] = asked[client].filter { handle, _ in
                old.index(of: handle).map { old.attributes[$0].type }
                    == table.index(of: handle).map { table.attributes[$0].type }
            }
        }
    }

    mutating func pass(_ span: TimeSpan) {
        now = now + span
        server.expire(at: now, emit: &events)
        takeEvents()
        if let deadline = server.deadline {
            precondition(deadline > now, "a deadline that has passed was served")
        }
    }

    private mutating func takeEvents() {
        for event in events.elements {
            switch event {
            case .subscribed(let client, let handle, let notify, let indicate):
                asked[client][handle] = (notify ? 1 : 0) | (indicate ? 2 : 0)
            case .timeout(let client): timedOut.insert(client)
            case .mtu(_, let mtu):
                precondition((23...517).contains(mtu), "an MTU is 23 to 517")
            case .read, .written, .features, .confirmed, .indicationReady, .refused,
                .peerIndication:
                break
            }
        }
        events.removeAll()
    }
}
