// Another table in place of the one at work: what Service Changed says, and what stays.
import GATT
import SansIO
import Testing
import Wire

@Suite struct ReplacementTests {
    /// What a test's table has at 0x0010 and behind.
    struct Plan {
        var uuid: UInt16 = 0xA000
        var values: [UInt16] = [0xB000, 0xB001]
        var content: [UInt8] = [1]
        var description: UInt16?
        var permissions = Permissions(read: .open, notify: .open, indicate: .open)
        var hasMore = true
        var changedAt: UInt16 = 0x0002

        func table() throws -> AttributeTable {
            var builder = AttributeTableBuilder()
            let cccd = Permissions(read: .open, write: .open)
            try builder.addService(BluetoothUUID(0x1801))
            try builder.addCharacteristic(
                GATTType.serviceChanged, properties: .indicate, handle: changedAt,
                permissions: Permissions(indicate: .open), kind: .serviceChanged)
            try builder.addDescriptor(
                GATTType.clientConfiguration, permissions: cccd, kind: .clientConfiguration)
            try builder.addCharacteristic(
                GATTType.clientSupportedFeatures, properties: [.read, .write],
                permissions: Permissions(read: .open, write: .open), value: [0],
                kind: .clientSupportedFeatures)
            try builder.addService(BluetoothUUID(uuid), handle: 0x10)
            for value in values {
                try builder.addCharacteristic(
                    BluetoothUUID(value), properties: [.read, .notify, .indicate],
                    permissions: permissions, value: content)
                try builder.addDescriptor(
                    GATTType.clientConfiguration, permissions: cccd, kind: .clientConfiguration)
            }
            if let description {
                try builder.addDescriptor(
                    BluetoothUUID(description), permissions: Permissions(read: .open))
            }
            if hasMore { try builder.addService(BluetoothUUID(0xA001), handle: 0x20) }
            return try builder.build()
        }
    }

    @Test("Service Changed covers the services with other attributes, and values are none of it")
    func ranges() throws {
        let old = try Plan().table()
        func range(_ change: (inout Plan) -> Void) throws -> ClosedRange<UInt16>? {
            var plan = Plan()
            change(&plan)
            let new = try plan.table()
            #expect(new.changes(to: old) == old.changes(to: new))
            return old.changes(to: new)
        }
        #expect(try range { _ in } == nil)
        #expect(try range { $0.content = [2, 3] } == nil)
        #expect(try range { $0.permissions.read = .encrypted } == nil)
        #expect(try range { $0.uuid = 0xA002 } == 0x10...0x16)
        #expect(try range { $0.values[1] = 0xB002 } == 0x10...0x16)
        #expect(try range { $0.values.append(0xB002) } == 0x10...0x19)
        #expect(try range { $0.values.removeLast() } == 0x10...0x16)
        #expect(try range { $0.description = 0x2906 } == 0x10...0x17)
        #expect(try range { $0.hasMore = false } == 0x20...0x20)
        #expect(try range { $0.changedAt = 0x0003 } == 0x01...0x07)
        #expect(old.changes(to: AttributeTable()) == 0x01...0x20)
        #expect(AttributeTable().changes(to: AttributeTable()) == nil)
    }

    private static func harness() throws -> ServerHarness {
        var harness = ServerHarness(GATTServer(table: try Plan().table()))
        for cccd in ["0400", "1300", "1600"] {
            #expect(harness.send("12 \(cccd) 0200") == "13")
        }
        return harness
    }

    @Test("a subscription ends where its characteristic is another one or offers it no more")
    func subscriptions() throws {
        var harness = try Self.harness()
        var plan = Plan()
        plan.values[1] = 0xB002
        #expect(
            harness.server.replaceTable(try plan.table())
                == TableReplacement(changed: 0x10...0x16, endedSubscriptions: 1))
        #expect(harness.server.cccd(of: 0x13, client: 0) == 2)
        #expect(harness.server.cccd(of: 0x16, client: 0) == 0)
        plan.permissions.indicate = .refused
        #expect(
            harness.server.replaceTable(try plan.table())
                == TableReplacement(changed: nil, endedSubscriptions: 1))
        #expect(harness.server.cccd(of: 0x13, client: 0) == 0)
        // The same handles in another service.
        harness = try Self.harness()
        plan = Plan()
        plan.uuid = 0xA002
        #expect(harness.server.replaceTable(try plan.table()).endedSubscriptions == 2)
    }

    @Test("an indication that waits is dropped with its subscription; Service Changed comes first")
    func waiting() throws {
        var harness = try Self.harness()
        #expect(harness.notify(0x12).result == .indication(truncated: false))
        #expect(harness.notify(0x15).result == .pending)
        #expect(harness.notify(0x12).result == .pending)
        var plan = Plan()
        plan.values[1] = 0xB002
        _ = harness.server.replaceTable(try plan.table())
        #expect(harness.server.pendingIndication(of: 0) == nil)
        #expect(harness.send("1E").isEmpty)
        #expect(harness.server.pendingIndication(of: 0) == 0x03)
        #expect(harness.notify(0x03).pdu == "1D030010001600")
        _ = harness.send("1E")
        #expect(harness.server.pendingIndication(of: 0) == 0x12)
    }

    @Test("what is queued to be written is dropped where attributes are others, else it stays")
    func queues() throws {
        var plan = Plan()
        plan.permissions.write = .open
        var harness = ServerHarness(GATTServer(table: try plan.table()))
        for (hasMore, value) in [(true, "0B07"), (false, "0B01")] {
            #expect(harness.send("16 1200 0000 07") == "171200000007")
            plan.hasMore = hasMore
            _ = harness.server.replaceTable(try plan.table())
            #expect(harness.send("18 01") == "19")
            #expect(harness.send("0A 1200") == value)
        }
    }

    @Test("a confirmation of an earlier indication does not make a client aware of the new table")
    func awareness() throws {
        var harness = try Self.harness()
        #expect(harness.send("12 0600 01") == "13")
        _ = harness.notify(0x12)
        var plan = Plan()
        plan.hasMore = false
        _ = harness.server.replaceTable(try plan.table())
        _ = harness.send("1E")
        #expect(harness.send("0A 1200") == "010A120012")
        // Once; the next request shows that the client knows.
        #expect(harness.send("0A 1200") == "0B01")
    }

    @Test("a bonded client's configuration stays under the same rules while it is away")
    func bonds() throws {
        var harness = try Self.harness()
        harness.server.setSecurity(LinkSecurity(encrypted: true, bonded: true), of: 0)
        harness.server.disconnect(0)
        var plan = Plan()
        plan.values[0] = 0xB002
        _ = harness.server.replaceTable(try plan.table())
        let bond = harness.server.bondedClients[0]
        #expect(bond.configurations.map(\.handle) == [0x04, 0x16])
        #expect(bond.serviceChanged == 0x10...0x16 && !bond.isChangeAware)
        harness.server.connect(0, security: LinkSecurity(encrypted: true, bonded: true))
        #expect(harness.notify(0x03).pdu == "1D030010001600")
    }

    @Test("random tables: the range is the plain one, subscriptions stay where all is the same")
    func randomTables() throws {
        for seed in UInt64(1)...300 {
            var random = SeededRandom(seed: seed)
            let old = try RandomDatabase(&random).table
            // Often the same one with a service more, whose handles begin behind.
            var again = SeededRandom(seed: random.below(2) == 0 ? seed : seed + 1000)
            let new = try RandomDatabase(&again).table
            #expect(old.changes(to: new) == PlainTable(old).changes(to: PlainTable(new)))
            var server = GATTServer(table: old)
            server.connect(0)
            var bits: [UInt16: UInt16] = [:]
            for attribute in old.attributes where attribute.kind == .clientConfiguration {
                var reply = ByteBlock()
                var events = Outputs<ServerEvent>()
                let write = [
                    0x12, UInt8(attribute.handle & 255), UInt8(attribute.handle >> 8),
                    UInt8(1 + random.below(2)), 0,
                ]
                server.receive(
                    write.span, from: 0, at: .zero, reply: &reply, emit: &events)
                bits[attribute.handle] = server.cccd(of: attribute.handle, client: 0)
            }
            let report = server.replaceTable(new)
            #expect(report.changed == old.changes(to: new))
            for attribute in new.attributes where attribute.kind == .clientConfiguration {
                let handle = attribute.handle
                let isSame =
                    PlainTable(old).owner(of: handle) == PlainTable(new).owner(of: handle)
                let offered = PlainTable(new).offer(of: handle)
                let expected = isSame ? (bits[handle] ?? 0) & offered : 0
                #expect(server.cccd(of: handle, client: 0) == expected, "seed \(seed)")
            }
        }
    }
}

/// A table as a dictionary of what clients see, for comparison by the definition.
private struct PlainTable {
    private var seen: [Int: String] = [:]
    private var services: [ClosedRange<Int>] = []
    private let table: AttributeTable

    init(_ table: AttributeTable) {
        self.table = table
        for (index, attribute) in table.attributes.enumerated() {
            let isDeclaration =
                attribute.kind == .service || attribute.kind == .include
                || attribute.kind == .characteristic
                || attribute.type == GATTType.extendedProperties
            seen[Int(attribute.handle)] =
                "\(attribute.type)" + (isDeclaration ? Hex.string(table.value(at: index)) : "")
                + (attribute.kind == .service ? "\(attribute.groupEnd)" : "")
            if attribute.kind == .service {
                services.append(Int(attribute.handle)...Int(attribute.groupEnd))
            }
        }
    }

    func changes(to other: PlainTable) -> ClosedRange<UInt16>? {
        let handles = (1...0xFFFF).filter { seen[$0] != other.seen[$0] }
        guard var low = handles.first, var high = handles.last else { return nil }
        for _ in 0..<20 {
            for service in services + other.services {
                if service.contains(low) { low = service.lowerBound }
                if service.contains(high) { high = service.upperBound }
            }
        }
        return UInt16(low)...UInt16(high)
    }

    /// Service, value handle and value type of a CCCD; empty where there is no such CCCD.
    func owner(of handle: UInt16) -> [String] {
        guard let index = table.index(of: handle),
            table.attributes[index].kind == .clientConfiguration
        else { return [] }
        let before = table.attributes[..<index].indices
        let value = before.last { table.attributes[$0].kind == .characteristic }.map { $0 + 1 } ?? 0
        let service = before.last { table.attributes[$0].kind == .service } ?? 0
        return [
            "\(table.attributes[value].handle)", "\(table.attributes[value].type)",
            Hex.string(table.value(at: service)),
        ]
    }

    func offer(of handle: UInt16) -> UInt16 {
        guard let index = table.index(of: handle) else { return 0 }
        let value = table.attributes[..<index].last { $0.kind == .value }
        let permissions = value?.permissions ?? Permissions()
        return (permissions.notify.level == .refused ? 0 : 1)
            | (permissions.indicate.level == .refused ? 0 : 2)
    }
}
