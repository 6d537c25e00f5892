// What the server tells its host, and what the host asks of it.
import GATT
import SansIO
import Testing
import Wire

struct GATTServerTests {
    static func harness(_ change: (inout ServerSettings) -> Void = { _ in }) throws -> ServerHarness
    {
        var settings = ServerSettings()
        change(&settings)
        return ServerHarness(try TestDatabase.server(settings))
    }

    @Test("Writes are reported, reads only where asked for")
    func accessEvents() throws {
        var harness = try Self.harness()
        _ = harness.send("12 1400 01")
        _ = harness.send("52 2500 02")
        _ = harness.send("0A 1200")
        #expect(
            harness.takeEvents() == [
                .written(client: 0, handle: 0x14, isCommand: false),
                .written(client: 0, handle: 0x25, isCommand: true),
            ])
        harness.server.reportsAccess = true
        _ = harness.send("0A 1200")
        _ = harness.send("0C 1200 0100")
        _ = harness.send("0E 1200 1400")
        _ = harness.send("08 0100 FFFF 00B0")
        #expect(
            harness.takeEvents() == [
                .read(client: 0, handle: 0x12, opcode: .readRequest),
                .read(client: 0, handle: 0x12, opcode: .readBlobRequest),
                .read(client: 0, handle: 0x12, opcode: .readMultipleRequest),
                .read(client: 0, handle: 0x14, opcode: .readMultipleRequest),
                .read(client: 0, handle: 0x12, opcode: .readByTypeRequest),
            ])
        #expect(harness.server.value(of: 0x14) == [1])
    }

    @Test("Refusals are reported with opcode, handle and reason, silent ones too")
    func refusalEvents() throws {
        var harness = try Self.harness()
        _ = harness.send("52 1200 01")
        _ = harness.send("0A 1600")
        _ = harness.send("3E 01")
        _ = harness.send("0A")
        _ = harness.send("D2 1400 000102030405060708090A0B")
        #expect(
            harness.takeEvents() == [
                .refused(
                    client: 0, opcode: .writeCommand, handle: 0x12, error: .writeNotPermitted),
                .refused(client: 0, opcode: .readRequest, handle: 0x16, error: .readNotPermitted),
                .refused(
                    client: 0, opcode: ATTOpcode(rawValue: 0x3E), handle: 0,
                    error: .requestNotSupported),
                .refused(client: 0, opcode: .readRequest, handle: 0, error: .invalidPDU),
                .refused(
                    client: 0, opcode: .signedWriteCommand, handle: 0x14,
                    error: .writeNotPermitted),
            ])
    }

    @Test("The MTU is the smaller of both, within 23 and the own one")
    func mtu() throws {
        var harness = try Self.harness()
        #expect(harness.server.mtu(of: 0) == 23)
        #expect(harness.send("02 6400") == "03F700")
        #expect(harness.server.mtu(of: 0) == 100)
        #expect(harness.takeEvents() == [.mtu(client: 0, mtu: 100)])
        harness.server.setMTU(500, of: 0)
        #expect(harness.server.mtu(of: 0) == 247)
        harness.server.setMTU(5, of: 0)
        #expect(harness.server.mtu(of: 0) == 23)
        for (asked, kept) in [(UInt16(0), "0317 00"), (9999, "030502")] {
            var harness = try Self.harness { $0.mtu = asked }
            #expect(harness.send("02 0502") == kept.filter { $0 != " " })
        }
    }

    @Test("A subscription is reported with the value's handle, and read back per client")
    func subscription() throws {
        var harness = try Self.harness()
        harness.server.connect(1)
        _ = harness.send("12 2100 0300")
        #expect(
            harness.takeEvents() == [
                .subscribed(client: 0, valueHandle: 0x20, notify: true, indicate: true)
            ])
        #expect(harness.server.cccd(of: 0x21, client: 0) == 3)
        #expect(harness.server.cccd(of: 0x21, client: 1) == 0)
        #expect(harness.server.cccd(of: 0x20, client: 0) == nil)
        #expect(harness.server.cccd(of: 0x99, client: 0) == nil)
    }

    @Test("What became of a notification is said")
    func notificationResults() throws {
        var harness = try Self.harness()
        #expect(harness.notify(0x1A).result == .notSubscribed)
        #expect(harness.notify(0x12).result == .notSubscribed)
        #expect(harness.notify(0x99).result == .unavailable)
        #expect(harness.notify(0x1A, to: 3).result == .unavailable)
        _ = harness.send("12 1B00 0100")
        harness.server.setValue([1, 2], of: 0x1A)
        #expect(harness.notify(0x1A) == (.notification(truncated: false), "1B1A000102"))
        harness.server.setValue([UInt8](repeating: 7, count: 21), of: 0x1A)
        let cut = harness.notify(0x1A)
        #expect(cut.result == .notification(truncated: true))
        #expect(cut.pdu.count == 46)
        // The secured one, subscribed to while the link was encrypted.
        harness.server.setSecurity(LinkSecurity(encrypted: true), of: 0)
        #expect(harness.send("12 3300 0100") == "13")
        #expect(harness.notify(0x32).result == .notification(truncated: false))
        harness.server.setSecurity(.plain, of: 0)
        #expect(harness.notify(0x32) == (.refused(.insufficientAuthentication), ""))
        var strict = try Self.harness { $0.oversize = .refuse }
        _ = strict.send("12 1B00 0100")
        strict.server.setValue([UInt8](repeating: 7, count: 21), of: 0x1A)
        #expect(strict.notify(0x1A) == (.tooLong, ""))
    }

    @Test("One indication is in flight; what waits is announced after the confirmation")
    func indications() throws {
        var harness = try Self.harness()
        _ = harness.send("12 1E00 0200")
        _ = harness.send("12 2100 0200")
        _ = harness.takeEvents()
        #expect(harness.server.deadline == nil)
        #expect(harness.notify(0x1D).result == .indication(truncated: false))
        #expect(harness.server.deadline == .zero + .seconds(30))
        #expect(harness.notify(0x20) == (.pending, ""))
        #expect(harness.notify(0x20).result == .pending)
        #expect(harness.server.pendingIndication(of: 0) == nil)
        #expect(harness.send("1E") == "")
        #expect(
            harness.takeEvents() == [
                .confirmed(client: 0, handle: 0x1D), .indicationReady(client: 0, handle: 0x20),
            ])
        #expect(harness.server.deadline == nil)
        #expect(harness.server.pendingIndication(of: 0) == 0x20)
        #expect(harness.notify(0x20).result == .indication(truncated: false))
        _ = harness.send("1E")
        #expect(harness.takeEvents() == [.confirmed(client: 0, handle: 0x20)])
        #expect(harness.send("1E") == "")
        #expect(harness.takeEvents() == [])
    }

    @Test("An unconfirmed indication closes its bearer after 30 s, and no other")
    func timeout() throws {
        var harness = try Self.harness()
        harness.server.connect(1)
        for client in 0...1 { _ = harness.send("12 1E00 0200", from: client) }
        _ = harness.notify(0x1D, to: 0)
        harness.now = .zero + .seconds(10)
        _ = harness.notify(0x1D, to: 1)
        _ = harness.takeEvents()
        harness.now = .zero + .seconds(29)
        harness.expire()
        #expect(harness.takeEvents() == [])
        harness.now = .zero + .seconds(30)
        harness.expire()
        #expect(harness.takeEvents() == [.timeout(client: 0)])
        #expect(harness.server.deadline == .zero + .seconds(40))
        #expect(harness.send("0A 1200") == "")
        #expect(harness.notify(0x1D).result == .unavailable)
        #expect(harness.send("0A 1200", from: 1) == "0B010203")
        harness.server.disconnect(1)
        #expect(harness.server.deadline == nil)
        harness.server.disconnect(0)
        harness.server.connect(0)
        #expect(harness.send("0A 1200") == "0B010203")
    }

    @Test("Several values go in one notification to who supports it")
    func multipleNotification() throws {
        var harness = try Self.harness()
        for cccd in ["1B00", "2100"] { _ = harness.send("12 \(cccd) 0100") }
        harness.server.setValue([1, 2], of: 0x1A)
        harness.server.setValue([3], of: 0x20)
        func send(_ handles: [UInt16]) -> (NotificationResult, String) {
            var pdu = ByteBlock()
            let result = harness.server.multipleNotification(of: handles, to: 0, into: &pdu)
            return (result, Hex.string(pdu.bytes))
        }
        #expect(send([0x1A, 0x20]) == (.notSubscribed, ""))
        _ = harness.send("12 0600 04")
        #expect(
            send([0x1A, 0x20])
                == (.notification(truncated: false), "231A000200010220000100" + "03"))
        #expect(send([0x1A]) == (.unavailable, ""))
        #expect(send([0x1A, 0x1D]) == (.notSubscribed, ""))
        #expect(send([0x1A, 0x99]) == (.unavailable, ""))
        harness.server.setValue([UInt8](repeating: 7, count: 20), of: 0x1A)
        #expect(send([0x1A, 0x20]) == (.tooLong, ""))
    }

    @Test("Only connected clients are listened to, and a link begins anew")
    func links() throws {
        var harness = try Self.harness()
        #expect(harness.send("0A 1200", from: 5) == "")
        _ = harness.send("02 6400")
        _ = harness.send("12 1B00 0100")
        harness.server.disconnect(0)
        #expect(!harness.server.isConnected(0))
        #expect(harness.send("0A 1200") == "")
        harness.server.connect(0)
        #expect(harness.server.mtu(of: 0) == 23)
        #expect(harness.server.cccd(of: 0x1B, client: 0) == 0)
    }

    @Test("A bonded client is known by its identity, on any link and after a restart")
    func bonds() throws {
        let phone = DeviceAddress(littleEndian: 0x1122_3344_5566)
        let bonded = LinkSecurity(encrypted: true, bonded: true)
        var harness = try Self.harness()
        harness.server.disconnect(0)
        harness.server.connect(0, peer: phone, security: bonded)
        _ = harness.send("12 1B00 0100")
        _ = harness.send("12 0600 01")
        harness.server.disconnect(0)
        var expected = BondedClient(peer: phone)
        expected.configurations = [.init(handle: 0x1B, bits: 1)]
        expected.features = 1
        #expect(harness.server.bondedClients == [expected])

        var restarted = ServerHarness(try TestDatabase.server())
        restarted.server.restore([expected])
        restarted.server.connect(7, peer: phone)
        #expect(restarted.server.cccd(of: 0x1B, client: 7) == 0)
        restarted.server.setSecurity(bonded, of: 7)
        #expect(restarted.server.cccd(of: 0x1B, client: 7) == 1)
        #expect(restarted.send("0A 0600", from: 7) == "0B01")
        restarted.server.disconnect(7)
        restarted.server.forget(phone)
        restarted.server.connect(7, peer: phone, security: bonded)
        #expect(restarted.server.cccd(of: 0x1B, client: 7) == 0)
        // An identity that becomes known with the encryption.
        restarted.server.restore([expected])
        restarted.server.connect(8)
        restarted.server.setSecurity(bonded, of: 8, peer: phone)
        #expect(restarted.server.cccd(of: 0x1B, client: 8) == 1)
    }

    @Test("No more bonded clients are remembered than the limit")
    func bondLimit() throws {
        var harness = try Self.harness()
        harness.server.disconnect(0)
        for number in 0..<100 {
            harness.server.connect(
                0, peer: DeviceAddress(littleEndian: UInt64(number)),
                security: LinkSecurity(encrypted: true, bonded: true))
            harness.server.disconnect(0)
        }
        #expect(harness.server.bondedClients.count == GATTServer.bondedClientsMax)
        #expect(harness.server.bondedClients.last?.peer.littleEndian == 99)
    }

    @Test("A client that was away is told of a change of the table when it is back")
    func changeWhileAway() throws {
        let bonded = LinkSecurity(encrypted: true, bonded: true)
        var harness = ServerHarness(try TestDatabase.server(), security: bonded)
        _ = harness.send("12 0400 0200")
        _ = harness.send("12 0600 01")
        harness.server.disconnect(0)
        harness.server.databaseChanged(0x10...0x20)
        harness.server.databaseChanged(0x18...0x30)
        harness.server.connect(0)
        #expect(harness.server.pendingIndication(of: 0) == nil)
        harness.server.setSecurity(bonded, of: 0)
        #expect(harness.server.pendingIndication(of: 0) == 0x03)
        #expect(harness.notify(0x03) == (.indication(truncated: false), "1D030010003000"))
        #expect(harness.send("0A 1200") == "010A120012")
        _ = harness.send("1E")
        #expect(harness.server.pendingIndication(of: 0) == nil)
        #expect(harness.send("0A 1200") == "0B010203")
        harness.server.disconnect(0)
        #expect(harness.server.bondedClients.first?.serviceChanged == nil)
        #expect(harness.server.bondedClients.first?.isChangeAware == true)
    }

    @Test("A new table brings its values; subscriptions stay where the characteristic is the same")
    func replacement() throws {
        var harness = try Self.harness()
        _ = harness.send("12 0400 0200")
        _ = harness.send("12 1B00 0100")
        _ = harness.send("12 2100 0100")
        _ = harness.send("12 1400 7755")
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1801))
        try builder.addCharacteristic(
            GATTType.serviceChanged, properties: .indicate,
            permissions: Permissions(indicate: .open), kind: .serviceChanged)
        let cccd = Permissions(read: .open, write: .open)
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, kind: .clientConfiguration)
        try builder.addService(BluetoothUUID(0xA000), handle: 0x10)
        try builder.addCharacteristic(
            BluetoothUUID(0xB001), properties: .read, handle: 0x13,
            permissions: Permissions(read: .open), value: [0])
        try builder.addCharacteristic(
            BluetoothUUID(0xB004), properties: .notify, handle: 0x19,
            permissions: Permissions(notify: .open))
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: cccd, kind: .clientConfiguration)
        let report = harness.server.replaceTable(try builder.build())
        // All of 0xA000, whose end is another, and what stood behind it.
        #expect(report == TableReplacement(changed: 0x01...0x94, endedSubscriptions: 1))
        #expect(harness.send("0A 1400") == "0B00")
        #expect(harness.server.cccd(of: 0x1B, client: 0) == 1)
        #expect(harness.server.cccd(of: 0x21, client: 0) == nil)
        #expect(harness.server.pendingIndication(of: 0) == 0x03)
        #expect(harness.notify(0x03).pdu == "1D030001009400")
    }

    @Test("All reads and writes of every link level get the value or an error, never both")
    func levels() throws {
        let flags = [false, true]
        for encrypted in flags {
            for authenticated in flags {
                for secure in flags {
                    for keySize in [UInt8(7), 15, 16] {
                        let security = LinkSecurity(
                            encrypted: encrypted, authenticated: authenticated,
                            secureConnections: secure, keySize: keySize)
                        var harness = ServerHarness(try TestDatabase.server(), security: security)
                        let isRead = [
                            encrypted, encrypted && authenticated,
                            encrypted && authenticated && secure && keySize == 16, false,
                            encrypted && keySize == 16,
                        ]
                        for (place, isRead) in isRead.enumerated() {
                            let handle = Hex.string(UInt8(0x32 + 3 * place))
                            let reply = harness.send("0A \(handle)00")
                            #expect(reply.hasPrefix("0B5E") == isRead, "\(security) \(handle)")
                            #expect(reply.hasPrefix("010A") == !isRead)
                            #expect(
                                harness.send("12 \(handle)00 5EFF").hasPrefix("13") == isRead)
                        }
                    }
                }
            }
        }
    }
}
