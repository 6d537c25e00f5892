// Tables are laid out in handle order, with every handle said checked, and looked up by handle.
import GATT
import SansIO
import Testing
import Wire

struct AttributeTableTests {
    let open = Permissions(read: .open, write: .open)

    @Test("Handles follow one another where none is said")
    func consecutive() throws {
        var builder = AttributeTableBuilder()
        let first = try builder.addService(BluetoothUUID(0x180F))
        let value = try builder.addCharacteristic(
            BluetoothUUID(0x2A19), properties: [.read, .notify], permissions: open, value: [100])
        let cccd = try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: open, kind: .clientConfiguration)
        let second = try builder.addService(BluetoothUUID(0x180A), isSecondary: true)
        #expect([first, value, cccd, second] == [1, 3, 4, 5])
        let table = try builder.build()
        #expect(table.attributes.map(\.handle) == [1, 2, 3, 4, 5])
        #expect(table.attributes.map(\.groupEnd) == [4, 4, 3, 4, 5])
        #expect(table.value(at: 1) == [0x12, 3, 0, 0x19, 0x2A])
        #expect(table.value(at: 0) == [0x0F, 0x18])
        #expect(table.attributes[4].type == GATTType.secondaryService)
    }

    @Test("Handles said are kept, with gaps and ends")
    func explicit() throws {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x180F), handle: 0x10, end: 0x20)
        try builder.addCharacteristic(
            BluetoothUUID(0x2A19), properties: .read, handle: 0x12, valueHandle: 0x15,
            permissions: open)
        try builder.addDescriptor(GATTType.userDescription, handle: 0x18, permissions: open)
        try builder.addService(BluetoothUUID(0x180A))
        let table = try builder.build()
        #expect(table.attributes.map(\.handle) == [0x10, 0x12, 0x15, 0x18, 0x21])
        #expect(table.attributes.map(\.groupEnd) == [0x20, 0x18, 0x15, 0x18, 0x21])
        for handle in UInt16(0)...0x30 {
            let index = table.attributes.firstIndex { $0.handle == handle }
            #expect(table.index(of: handle) == index)
        }
        #expect(table.index(of: 0xFFFF) == nil)
        #expect(AttributeTable().index(of: 1) == nil)
    }

    @Test("Look-up by handle finds the same as a search from the front, whatever the gaps")
    func lookUp() throws {
        var random = SeededRandom(seed: 1, stream: "look-up")
        for _ in 0..<50 {
            var builder = AttributeTableBuilder()
            var handle = UInt16(1 + random.below(5))
            try builder.addService(BluetoothUUID(0x1800), handle: handle)
            try builder.addCharacteristic(
                BluetoothUUID(0x2A00), properties: .read, permissions: open)
            handle += 2
            for _ in 0..<random.below(60) {
                handle += UInt16(1 + random.below(4))
                try builder.addDescriptor(
                    GATTType.userDescription, handle: handle, permissions: open)
            }
            let table = try builder.build()
            for handle in 0...handle + 5 {
                #expect(
                    table.index(of: handle)
                        == table.attributes.firstIndex { $0.handle == handle })
            }
        }
    }

    @Test("Includes name the service's end, and its UUID where that has 16 bits")
    func includes() throws {
        let wide = try #require(BluetoothUUID("5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10"))
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x180F))
        try builder.addInclude(of: 4)
        try builder.addInclude(of: 5)
        try builder.addService(BluetoothUUID(0x180A), handle: 4)
        try builder.addService(wide, handle: 5, end: 9)
        let table = try builder.build()
        #expect(table.value(at: 1) == [4, 0, 4, 0, 0x0A, 0x18])
        #expect(table.value(at: 2) == [5, 0, 9, 0])
    }

    @Test("A wrong layout is a typed error")
    func errors() throws {
        let uuid = BluetoothUUID(0x180F)
        var builder = AttributeTableBuilder()
        #expect(throws: AttributeTableError.noService(uuid)) {
            try builder.addCharacteristic(uuid, properties: .read, permissions: open)
        }
        #expect(throws: AttributeTableError.noService(GATTType.include)) {
            try builder.addInclude(of: 1)
        }
        #expect(throws: AttributeTableError.handleZero) {
            try builder.addService(uuid, handle: 0)
        }
        try builder.addService(uuid, handle: 5, end: 8)
        #expect(throws: AttributeTableError.noCharacteristic(uuid)) {
            try builder.addDescriptor(uuid, permissions: open)
        }
        #expect(throws: AttributeTableError.handleNotAscending(5, after: 5)) {
            try builder.addCharacteristic(uuid, properties: .read, handle: 5, permissions: open)
        }
        #expect(throws: AttributeTableError.handleBehindEnd(9, end: 8)) {
            try builder.addCharacteristic(uuid, properties: .read, handle: 9, permissions: open)
        }
        #expect(throws: AttributeTableError.handleNotAscending(8, after: 8)) {
            try builder.addService(uuid, handle: 8)
        }
        var other = AttributeTableBuilder()
        #expect(throws: AttributeTableError.endBeforeLastAttribute(end: 4, last: 5)) {
            try other.addService(uuid, handle: 5, end: 4)
        }
        var dangling = AttributeTableBuilder()
        try dangling.addService(uuid)
        try dangling.addInclude(of: 0x77)
        #expect(throws: AttributeTableError.unknownIncludedService(0x77)) { try dangling.build() }
        var last = AttributeTableBuilder()
        try last.addService(uuid, handle: 0xFFFF)
        #expect(throws: AttributeTableError.handlesExhausted) {
            try last.addCharacteristic(uuid, properties: .read, permissions: open)
        }
        #expect(throws: AttributeTableError.handlesExhausted) { try last.addService(uuid) }
    }

    @Test("Values have the maximum said, else 512 octets, or their first length without growth")
    func lengths() throws {
        let uuid = BluetoothUUID(0x2A00)
        for growth in [true, false] {
            var builder = AttributeTableBuilder(growth: growth)
            try builder.addService(BluetoothUUID(0x1800))
            try builder.addCharacteristic(
                uuid, properties: .read, permissions: open, value: [1, 2, 3])
            try builder.addCharacteristic(
                uuid, properties: .read, permissions: open, value: [1], maximumLength: 7)
            #expect(throws: AttributeTableError.valueTooLong(uuid, count: 2, maximum: 1)) {
                try builder.addCharacteristic(
                    uuid, properties: .read, permissions: open, value: [1, 2], maximumLength: 1)
            }
            #expect(throws: AttributeTableError.valueTooLong(uuid, count: 0, maximum: 513)) {
                try builder.addDescriptor(uuid, permissions: open, maximumLength: 513)
            }
            var server = GATTServer(table: try builder.build())
            let most = growth ? 512 : 3
            let steps: [(handle: UInt16, value: [UInt8], isTaken: Bool)] = [
                (3, [UInt8](repeating: 7, count: most), true),
                (3, [UInt8](repeating: 8, count: most + 1), false),
                (5, [UInt8](repeating: 9, count: 7), true),
                (5, [UInt8](repeating: 9, count: 8), false),
                (5, [], true), (0x99, [1], false),
            ]
            for step in steps {
                let isTaken = server.setValue(step.value, of: step.handle)
                #expect(isTaken == step.isTaken)
                if isTaken { #expect(server.value(of: step.handle) == step.value) }
            }
            #expect(server.value(of: 3) == steps[0].value)
            #expect(server.value(of: 0x99) == nil)
        }
    }

    @Test("A UUID of 32 bits goes on the air with 128")
    func medium() throws {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(medium: 0x1234_5678))
        let table = try builder.build()
        #expect(Hex.string(table.value(at: 0)) == "FB349B5F80000080001000007856" + "3412")
    }

    @Test("The hash is taken of the specification's sample message")
    func hashMessage() throws {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1800))
        try builder.addCharacteristic(
            BluetoothUUID(0x2A00), properties: [.read, .write], permissions: open)
        try builder.addCharacteristic(BluetoothUUID(0x2A01), properties: .read, permissions: open)
        try builder.addService(BluetoothUUID(0x1801))
        try builder.addCharacteristic(
            GATTType.serviceChanged, properties: .indicate, permissions: open)
        try builder.addDescriptor(GATTType.clientConfiguration, permissions: open)
        try builder.addCharacteristic(
            GATTType.clientSupportedFeatures, properties: [.read, .write], permissions: open)
        try builder.addCharacteristic(
            GATTType.databaseHash, properties: .read, permissions: open, kind: .databaseHash)
        try builder.addService(BluetoothUUID(0x1808))
        try builder.addInclude(of: 0x14)
        try builder.addCharacteristic(
            BluetoothUUID(0x2A18), properties: [.read, .indicate, .extendedProperties],
            permissions: open)
        try builder.addDescriptor(GATTType.clientConfiguration, permissions: open)
        try builder.addDescriptor(GATTType.extendedProperties, permissions: open, value: [0, 0])
        try builder.addService(BluetoothUUID(0x180F), isSecondary: true)
        try builder.addCharacteristic(BluetoothUUID(0x2A19), properties: .read, permissions: open)
        let table = try builder.build()
        // Core 6.0, Vol 3, Part G, Appendix B.
        let message =
            "010000280018020003280A0300002A04000328020500012A06000028011807000328200800052A0900"
            + "02290A0003280A0B00292B0C000328020D002A2B0E00002808180F000228140016000F181000032"
            + "8A21100182A12000229130000290000140001280F1815000328021600192A"
        #expect(Hex.string(table.databaseHashMessage) == message)
        for order in [ServerSettings.DatabaseHashOrder.asComputed, .littleEndian] {
            var settings = ServerSettings()
            settings.databaseHash = order
            var server = GATTServer(table: table, settings: settings)
            server.authenticator = CountingAuthenticator()
            #expect(server.value(of: 0x0D) == [])
            let hash = Array(UInt8(0)..<16)
            let text = Hex.string(order == .asComputed ? hash : hash.reversed())
            var harness = ServerHarness(server)
            // Each first look computes it: read, read by type, find by type value.
            #expect(harness.send("0A0D00") == "0B" + text)
            harness = ServerHarness(server)
            #expect(harness.send("080100FFFF2A2B") == "09120D00" + text)
            harness = ServerHarness(server)
            #expect(harness.send("060100FFFF2A2B" + text) == "070D000D00")
        }
    }

    /// Checks the key; its code is 0, 1, 2 ….
    struct CountingAuthenticator: MessageAuthenticator {
        func cmac(key: [UInt8], message: [UInt8]) -> [UInt8] {
            key == [UInt8](repeating: 0, count: 16) ? Array(0..<16) : []
        }
    }
}
