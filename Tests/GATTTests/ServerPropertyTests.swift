// Random tables, MTUs, links and requests: the server answers as the plain model does.
import GATT
import SansIO
import Testing
import Wire

/// A random table for server and model alike.
struct RandomDatabase {
    var table: AttributeTable
    var items: [ReferenceServer.Item] = []

    static let wide = BluetoothUUID(high: 0x5A1D_0001_0E1E_4C1B, low: 0x9D56_3E2F_0C9B_7A10)

    init(_ random: inout SeededRandom) throws {
        var builder = AttributeTableBuilder()
        var handle: UInt16 = 0
        func next(_ random: inout SeededRandom) -> UInt16 {
            handle += UInt16(1 + (random.below(4) == 0 ? random.below(5) : 0))
            return handle
        }
        for _ in 0..<1 + random.below(5) {
            let isSecondary = random.below(4) == 0
            let uuid =
                random.below(2) == 0 ? Self.wide : BluetoothUUID(0x1800 + UInt16(random.below(3)))
            let service = try builder.addService(
                uuid, isSecondary: isSecondary, handle: next(&random))
            if random.below(4) == 0 { try builder.addInclude(of: service, handle: next(&random)) }
            for _ in 0..<random.below(5) {
                try Self.addCharacteristic(&builder, &random, next)
                // The handles that were taken.
                handle = builder.lastHandle
            }
        }
        table = try builder.build()
        for (index, attribute) in table.attributes.enumerated() {
            var item = ReferenceServer.Item(
                handle: Int(attribute.handle), type: attribute.type,
                groupEnd: Int(attribute.groupEnd), permissions: attribute.permissions,
                value: table.value(at: index), maximum: Int(attribute.maximumLength))
            item.isCharacteristicValue = table.isValueOfCharacteristic(at: item.handle)
            if attribute.kind == .clientConfiguration {
                item.offered =
                    items.last { $0.isCharacteristicValue }?.permissions
            }
            items.append(item)
        }
    }

    private static func addCharacteristic(
        _ builder: inout AttributeTableBuilder, _ random: inout SeededRandom,
        _ next: (inout SeededRandom) -> UInt16
    ) throws {
        let uuid = random.below(2) == 0 ? wide : BluetoothUUID(0x2A00 + UInt16(random.below(3)))
        let declaration = next(&random)
        let value = next(&random)
        try builder.addCharacteristic(
            uuid, properties: [], handle: declaration, valueHandle: value,
            permissions: Permissions(
                read: access(&random), write: access(&random), writeCommand: access(&random),
                notify: access(&random), indicate: access(&random)),
            value: octets(&random), maximumLength: random.below(2) == 0 ? 512 : 40)
        if random.below(2) == 0 {
            try builder.addDescriptor(
                GATTType.clientConfiguration, handle: next(&random),
                permissions: Permissions(read: .open, write: access(&random)), value: [0, 0],
                kind: .clientConfiguration)
        }
        if random.below(3) == 0 {
            try builder.addDescriptor(
                random.below(2) == 0 ? GATTType.userDescription : wide, handle: next(&random),
                permissions: Permissions(read: access(&random), write: access(&random)),
                value: octets(&random))
        }
    }

    static func octets(_ random: inout SeededRandom) -> [UInt8] {
        let count = random.below(8) == 0 ? random.below(41) : random.below(4)
        return (0..<count).map { _ in UInt8(random.below(3)) }
    }

    static func access(_ random: inout SeededRandom) -> Access {
        switch random.below(10) {
        case 0...3: .open
        case 4: .encrypted
        case 5: .authenticated
        case 6: .secure
        case 7: Access(.open, authorization: true)
        case 8: Access(.encrypted, keySizeMin: UInt8(7 + random.below(10)))
        default: .refused
        }
    }
}

extension AttributeTableBuilder {
    /// The last handle given out, by way of a finished copy.
    var lastHandle: UInt16 {
        var copy = self
        return ((try? copy.build())?.attributes.last?.handle) ?? 0
    }
}

extension AttributeTable {
    func isValueOfCharacteristic(at handle: Int) -> Bool {
        guard let index = index(of: UInt16(handle)), index > 0 else { return false }
        return attributes[index - 1].kind == .characteristic
    }
}

struct ServerPropertyTests {
    /// A request that often makes sense.
    static func request(_ random: inout SeededRandom, last: UInt16) -> [UInt8] {
        var block = ByteBlock()
        func handle() -> UInt16 {
            random.below(20) == 0
                ? UInt16(random.below(65_536)) : UInt16(random.below(Int64(last) + 2))
        }
        let opcodes: [UInt8] = [
            0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x12, 0x16, 0x16, 0x18, 0x20,
            0x52,
            0x0A, 0x08, 0x10,
        ]
        let opcode = opcodes[Int(random.below(Int64(opcodes.count)))]
        block.append(opcode)
        switch opcode {
        case 0x02: block.append(UInt16(random.below(600)))
        case 0x04, 0x06, 0x08, 0x10:
            let start = random.below(2) == 0 ? 1 : handle()
            block.append(start)
            block.append(random.below(2) == 0 ? UInt16.max : handle())
            if opcode != 0x04 { appendType(&block, &random, isShort: opcode == 0x06) }
            if opcode == 0x06 { block.append(RandomDatabase.octets(&random)) }
        case 0x0A: block.append(handle())
        case 0x0C:
            block.append(handle())
            block.append(UInt16(random.below(45)))
        case 0x0E, 0x20: for _ in 0..<2 + random.below(3) { block.append(handle()) }
        case 0x12, 0x52:
            block.append(handle())
            block.append(value(&random))
        case 0x16:
            block.append(handle())
            block.append(UInt16(random.below(3) == 0 ? random.below(50) : 0))
            block.append(value(&random))
        default: block.append(UInt8(random.below(8) == 0 ? 0 : 1))
        }
        return block.bytes
    }

    private static func appendType(
        _ block: inout ByteBlock, _ random: inout SeededRandom, isShort: Bool
    ) {
        let short: [UInt16] = [0x2800, 0x2801, 0x2802, 0x2803, 0x2902, 0x2901, 0x2A00, 0x2A01]
        if isShort || random.below(3) > 0 {
            block.append(short[Int(random.below(Int64(short.count)))])
        } else {
            block.append(RandomDatabase.wide.littleEndian)
        }
    }

    private static func value(_ random: inout SeededRandom) -> [UInt8] {
        switch random.below(4) {
        case 0: [UInt8(random.below(4)), 0]
        case 1: [UInt8](repeating: 0x66, count: Int(random.below(60)))
        case 2 where random.below(10) == 0: [UInt8](repeating: 0x77, count: Int(random.below(520)))
        default: RandomDatabase.octets(&random)
        }
    }

    private static func security(_ random: inout SeededRandom) -> LinkSecurity {
        LinkSecurity(
            encrypted: random.below(2) == 0, authenticated: random.below(2) == 0,
            secureConnections: random.below(2) == 0, bonded: random.below(2) == 0,
            authorized: random.below(2) == 0, keySize: UInt8(7 + random.below(10)))
    }

    /// PDUs of the model, mutated ones among them.
    @Test("The server answers as the plain model does", arguments: 0..<40)
    func equalsModel(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed), stream: "model")
        let database = try RandomDatabase(&random)
        var settings = ServerSettings()
        settings.mtu = UInt16(23 + random.below(495))
        var harness = ServerHarness(GATTServer(table: database.table, settings: settings))
        var model = ReferenceServer(items: database.items, ownMTU: Int(settings.mtu))
        for step in 0..<1500 {
            // Both queues are kept below their limit, which the model does not have.
            if model.queue.count > 20 || random.below(40) == 0 {
                model.security = Self.security(&random)
                harness.server.setSecurity(model.security, of: 0)
                model.queue = []
                _ = harness.send([0x18, 0])
            }
            var pdu = Self.request(&random, last: database.table.attributes.last?.handle ?? 0)
            if random.below(15) == 0 { pdu = Array(pdu.prefix(Int(random.below(8)))) }
            if random.below(30) == 0, !pdu.isEmpty { pdu[0] = UInt8(random.below(256)) }
            if pdu.first == 0xD2 || pdu.first == 0x1D { continue }
            let expected = Hex.string(model.answer(pdu))
            let answer = harness.send(pdu)
            #expect(answer == expected, "seed \(seed), step \(step), request \(Hex.string(pdu))")
            #expect(answer.count / 2 <= Int(harness.server.mtu(of: 0)))
            if answer != expected { return }
            let handle = UInt16(random.below(60))
            let notified = Hex.string(model.notification(Int(handle)))
            #expect(harness.notify(handle).pdu == notified, "seed \(seed), step \(step), \(handle)")
            if notified.hasPrefix("1D") { _ = harness.send("1E") }
        }
        for item in model.items where item.offered == nil {
            #expect(harness.server.value(of: UInt16(item.handle)) == item.value)
        }
    }

    @Test("No octets of a client end the process, and no answer is above the MTU", arguments: 0..<8)
    func randomOctets(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed), stream: "octets")
        let database = try RandomDatabase(&random)
        var harness = ServerHarness(GATTServer(table: database.table))
        for _ in 0..<5000 {
            let count = Int(random.below(random.below(4) == 0 ? 700 : 12))
            var pdu = (0..<count).map { _ in UInt8(random.below(256)) }
            if random.below(2) == 0, !pdu.isEmpty { pdu[0] = UInt8(random.below(0x24)) }
            let answer = harness.send(pdu)
            #expect(answer.count / 2 <= Int(harness.server.mtu(of: 0)))
            if random.below(100) == 0 { harness.server.setSecurity(Self.security(&random), of: 0) }
            if random.below(10) == 0 {
                let notified = harness.notify(UInt16(random.below(40)))
                #expect(notified.pdu.count / 2 <= Int(harness.server.mtu(of: 0)))
            }
            harness.events = []
        }
    }
}
