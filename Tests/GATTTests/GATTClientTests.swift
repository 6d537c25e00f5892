// The client against the server, and against servers that answer nonsense.
import GATT
import SansIO
import Testing
import Wire

/// A client and a server with nothing but a call between them.
struct ClientPair {
    var client: GATTClient
    var server: GATTServer
    var now = Instant.zero
    var serverEvents: [ServerEvent] = []
    /// The largest PDU of either side, and how many there were.
    var longest = 0
    var count = 0

    init(_ server: GATTServer, mtu: UInt16 = 247, security: LinkSecurity = .plain) {
        client = GATTClient(mtu: mtu)
        self.server = server
        self.server.connect(0, security: security)
    }

    /// Performs a procedure to its end and gives what it led to.
    mutating func perform(_ procedure: GATTClient.Procedure) -> [GATTClientEvent] {
        var events = Outputs<GATTClientEvent>()
        var request = ByteBlock()
        client.start(procedure, at: now, request: &request, emit: &events)
        exchange(request, &events)
        return events.elements
    }

    /// Carries PDUs to and fro until both are silent.
    private mutating func exchange(_ first: ByteBlock, _ events: inout Outputs<GATTClientEvent>) {
        var request = first
        while !request.isEmpty {
            var reply = ByteBlock()
            var outputs = Outputs<ServerEvent>()
            note(request)
            server.receive(request.bytes.span, from: 0, at: now, reply: &reply, emit: &outputs)
            serverEvents += outputs.elements
            request.removeAll()
            guard !reply.isEmpty else { return }
            note(reply)
            client.receive(reply.bytes.span, at: now, reply: &request, emit: &events)
        }
    }

    private mutating func note(_ pdu: ByteBlock) {
        longest = max(longest, pdu.count)
        count += 1
    }

    /// Has the server send a value, and carries the confirmation back.
    mutating func notify(_ handle: UInt16) -> [GATTClientEvent] {
        var pdu = ByteBlock()
        _ = server.notification(of: handle, to: 0, at: now, into: &pdu)
        var events = Outputs<GATTClientEvent>()
        var reply = ByteBlock()
        client.receive(pdu.bytes.span, at: now, reply: &reply, emit: &events)
        exchange(reply, &events)
        return events.elements
    }
}

struct GATTClientTests {
    /// What discovery must find, taken from the table itself.
    static func expected(_ table: AttributeTable) -> [DiscoveredService] {
        var services: [DiscoveredService] = []
        var characteristics: [DiscoveredCharacteristic] = []
        var descriptors: [DiscoveredDescriptor] = []
        // From the back, so that parts are complete when their whole begins.
        for (index, attribute) in table.attributes.enumerated().reversed() {
            let value = table.value(at: index)
            switch attribute.kind {
            case .service:
                guard let uuid = BluetoothUUID(littleEndian: value.span) else { continue }
                if attribute.type == GATTType.primaryService {
                    services.insert(
                        DiscoveredService(
                            handle: attribute.handle, end: attribute.groupEnd, uuid: uuid,
                            characteristics: characteristics), at: 0)
                }
                characteristics = []
            case .characteristic:
                let next = table.attributes[index + 1]
                descriptors.removeFirst()
                characteristics.insert(
                    DiscoveredCharacteristic(
                        handle: attribute.handle, valueHandle: next.handle, uuid: next.type,
                        properties: CharacteristicProperties(rawValue: value[0]),
                        descriptors: descriptors), at: 0)
                descriptors = []
            case .include: break
            case .value, .clientConfiguration, .serverConfiguration, .clientSupportedFeatures,
                .databaseHash, .serviceChanged:
                descriptors.insert(
                    DiscoveredDescriptor(handle: attribute.handle, uuid: attribute.type), at: 0)
            }
        }
        return services
    }

    @Test("Discovery finds services, characteristics and descriptors, at any MTU")
    func discovery() throws {
        for mtu in [UInt16(23), 48, 185, 517] {
            var settings = ServerSettings()
            settings.mtu = 517
            var pair = ClientPair(try TestDatabase.server(settings), mtu: mtu)
            #expect(pair.perform(.exchangeMTU) == [.mtu(mtu)])
            let tree = Self.expected(try TestDatabase.table())
            #expect(tree.count == 6)
            #expect(tree[1].characteristics.map(\.cccdHandle).contains(0x1B))
            #expect(pair.perform(.discover) == [.discovered(tree)])
            #expect(pair.client.isIdle)
            #expect(pair.longest <= mtu)
        }
    }

    @Test("Discovery finds the same in random tables", arguments: 0..<40)
    func randomDiscovery(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed), stream: "discovery")
        let table = try RandomDatabase(&random).table
        var pair = ClientPair(GATTServer(table: table), mtu: UInt16(23 + random.below(200)))
        _ = pair.perform(.exchangeMTU)
        #expect(pair.perform(.discover) == [.discovered(Self.expected(table))])
    }

    @Test("A table without services is discovered")
    func empty() {
        var pair = ClientPair(GATTServer(table: AttributeTable()))
        #expect(pair.perform(.discover) == [.discovered([])])
    }

    @Test("Values are read whole, whatever their length")
    func reading() throws {
        for count in [0, 1, 21, 22, 23, 44, 45, 100, 511, 512] {
            for mtu in [UInt16(23), 247] {
                var pair = ClientPair(try TestDatabase.server(), mtu: mtu)
                _ = pair.perform(.exchangeMTU)
                let value = (0..<count).map { UInt8($0 & 255) }
                pair.server.setValue(value, of: 0x14)
                #expect(pair.perform(.read(handle: 0x14)) == [.value(handle: 0x14, value)])
                #expect(pair.client.deadline == nil)
            }
        }
    }

    @Test("Values are written, long ones by parts, and errors come back")
    func writing() throws {
        for count in [0, 1, 20, 21, 36, 37, 512] {
            var pair = ClientPair(try TestDatabase.server(), mtu: 23)
            let value = (0..<count).map { UInt8($0 & 255) }
            #expect(pair.perform(.write(handle: 0x14, value: value)) == [.written(handle: 0x14)])
            #expect(pair.server.value(of: 0x14) == value)
            #expect(pair.longest <= 23)
        }
        var pair = ClientPair(try TestDatabase.server(), mtu: 23)
        let long = GATTClient.Procedure.write(
            handle: 0x14, value: [UInt8](repeating: 1, count: 513))
        #expect(
            pair.perform(long)
                == [.failed(long, .error(.invalidAttributeValueLength, handle: 0x14))])
        let refused = GATTClient.Procedure.write(handle: 0x12, value: [1])
        #expect(
            pair.perform(refused) == [.failed(refused, .error(.writeNotPermitted, handle: 0x12))])
        let read = GATTClient.Procedure.read(handle: 0x16)
        #expect(pair.perform(read) == [.failed(read, .error(.readNotPermitted, handle: 0x16))])
        #expect(pair.perform(.writeCommand(handle: 0x25, value: [9])) == [.written(handle: 0x25)])
        #expect(pair.server.value(of: 0x25) == [9])
        let command = GATTClient.Procedure.writeCommand(
            handle: 0x25, value: [UInt8](repeating: 1, count: 21))
        #expect(
            pair.perform(command)
                == [.failed(command, .error(.invalidAttributeValueLength, handle: 0x25))])
    }

    @Test("Notifications arrive, indications arrive and are confirmed")
    func subscribing() throws {
        var pair = ClientPair(try TestDatabase.server())
        #expect(
            pair.perform(.subscribe(cccd: 0x1B, notify: true, indicate: false))
                == [.written(handle: 0x1B)])
        #expect(
            pair.perform(.subscribe(cccd: 0x1E, notify: false, indicate: true))
                == [.written(handle: 0x1E)])
        pair.server.setValue([1, 2], of: 0x1A)
        pair.server.setValue([3], of: 0x1D)
        #expect(pair.notify(0x1A) == [.notification(handle: 0x1A, [1, 2])])
        #expect(pair.notify(0x1D) == [.indication(handle: 0x1D, [3])])
        #expect(pair.serverEvents.contains(.confirmed(client: 0, handle: 0x1D)))
    }

    @Test("Several values in one notification arrive one by one")
    func multiple() {
        var (client, reply, events) = (GATTClient(), ByteBlock(), Outputs<GATTClientEvent>())
        let pdu = Hex.bytes("23 1A00 0200 0102 2000 0100 03 2100 0900 04") ?? []
        client.receive(pdu.span, at: .zero, reply: &reply, emit: &events)
        #expect(
            events.elements == [
                .notification(handle: 0x1A, [1, 2]), .notification(handle: 0x20, [3]),
            ])
    }

    @Test("One procedure at a time; an answer must come within 30 s")
    func timing() {
        var (client, request, events) = (GATTClient(), ByteBlock(), Outputs<GATTClientEvent>())
        client.start(.read(handle: 3), at: .zero, request: &request, emit: &events)
        #expect(Hex.string(request.bytes) == "0A0300")
        client.start(.discover, at: .zero, request: &request, emit: &events)
        #expect(events.elements == [.failed(.discover, .busy)])
        #expect(client.deadline == .zero + .seconds(30))
        client.expire(at: .zero + .seconds(29), emit: &events)
        client.expire(at: .zero + .seconds(30), emit: &events)
        #expect(events.elements.dropFirst() == [.failed(.read(handle: 3), .timeout)])
        let late = Hex.bytes("0B 01") ?? []
        request.removeAll()
        client.receive(late.span, at: .zero, reply: &request, emit: &events)
        client.start(
            .writeCommand(handle: 1, value: []), at: .zero, request: &request, emit: &events)
        #expect(request.isEmpty)
        #expect(events.count == 3)
    }

    @Test("A wrong echo of a prepared write cancels the queue")
    func echo() {
        var (client, request, events) = (GATTClient(), ByteBlock(), Outputs<GATTClientEvent>())
        let write = GATTClient.Procedure.write(handle: 3, value: [UInt8](repeating: 1, count: 30))
        client.start(write, at: .zero, request: &request, emit: &events)
        for (answer, next) in [("17 0300 0000 02", "1800"), ("19", "")] {
            request.removeAll()
            let pdu = Hex.bytes(answer) ?? []
            client.receive(pdu.span, at: .zero, reply: &request, emit: &events)
            #expect(Hex.string(request.bytes) == next)
        }
        #expect(events.elements == [.failed(write, .invalidResponse)])
    }

    @Test("The peer's own requests are answered: the MTU, and that there is no server")
    func requests() {
        var client = GATTClient(mtu: 185)
        for (request, answer) in [
            ("02 0502", "03B900"), ("10 0100 FFFF 0028", "0110000006"), ("0A", "010A000004"),
            ("3E", "013E000006"), ("52 0300 01", ""), ("7E", ""), ("1E", ""), ("0B", ""),
        ] {
            var (reply, events) = (ByteBlock(), Outputs<GATTClientEvent>())
            let pdu = Hex.bytes(request) ?? []
            client.receive(pdu.span, at: .zero, reply: &reply, emit: &events)
            #expect(Hex.string(reply.bytes) == answer)
        }
        #expect(client.mtu == 185)
    }

    @Test(
        "No octets of a server end the process or keep the client busy for ever", arguments: 0..<8)
    func randomServer(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed), stream: "server")
        for _ in 0..<400 {
            var (client, request, events) = (GATTClient(), ByteBlock(), Outputs<GATTClientEvent>())
            let procedures: [GATTClient.Procedure] = [
                .discover, .read(handle: 3), .exchangeMTU,
                .write(handle: 3, value: [UInt8](repeating: 7, count: 100)),
            ]
            let procedure = procedures[Int(random.below(4))]
            client.start(procedure, at: .zero, request: &request, emit: &events)
            for _ in 0..<200 where !client.isIdle {
                let pdu = Self.answer(to: request.bytes, &random)
                request.removeAll()
                client.receive(pdu.span, at: .zero, reply: &request, emit: &events)
                #expect(request.count <= Int(client.mtu))
            }
        }
    }

    /// An answer of the right opcode whose rest is made of small numbers.
    private static func answer(to request: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        let opcode = (request.first ?? 0) + 1
        let entries: Int64
        var pdu: [UInt8] = [random.below(20) == 0 ? UInt8(random.below(64)) : opcode]
        switch opcode {
        case 0x09: (pdu, entries) = (pdu + [7], 7)
        case 0x11: (pdu, entries) = (pdu + [6], 6)
        case 0x05: (pdu, entries) = (pdu + [1], 4)
        default: return pdu + (0..<random.below(23)).map { _ in UInt8(random.below(4)) }
        }
        let start = request.count > 2 ? Int(request[1]) : 0
        for _ in 0..<entries * (1 + random.below(3)) {
            let isNear = random.below(2) == 0
            pdu.append(isNear ? UInt8(truncatingIfNeeded: start + Int(random.below(4))) : 0)
        }
        return pdu
    }

    @Test("Full discovery of 10,000 attributes costs linear time")
    func linearTime() throws {
        var perAttribute: [Double] = []
        for count in [100, 1_000, 10_000] {
            var builder = AttributeTableBuilder()
            for number in 0..<count / 10 {
                try builder.addService(BluetoothUUID(UInt16(truncatingIfNeeded: 0xA000 + number)))
                for _ in 0..<3 {
                    try builder.addCharacteristic(
                        BluetoothUUID(0xB000), properties: [.read, .notify],
                        permissions: Permissions(read: .open, notify: .open), value: [1])
                    try builder.addDescriptor(
                        GATTType.clientConfiguration,
                        permissions: Permissions(read: .open, write: .open),
                        kind: .clientConfiguration)
                }
            }
            let server = GATTServer(table: try builder.build())
            var best = Double.infinity
            for _ in 0..<3 {
                var pair = ClientPair(server)
                let start = ContinuousClock.now
                let events = pair.perform(.discover)
                best = min(best, (ContinuousClock.now - start) / .microseconds(1))
                guard case .discovered(let services) = events.first else {
                    Issue.record("not discovered")
                    return
                }
                #expect(services.count == count / 10)
                #expect(pair.count < 2 * count)
            }
            print("discovery of \(count) attributes: \(Int(best)) us")
            perAttribute.append(best / Double(count))
        }
        // Linear but for what a busy machine adds to long runs; quadratic would be a factor of 100.
        #expect(perAttribute[2] < 20 * max(perAttribute[0], perAttribute[1]))
    }
}
