// Notifications as fast as the link takes them, and values that are too long for it.
import BLEHost
import GATT
import SansIO
import Testing
import Wire

@Suite("Streams")
struct StreamTests {
    /// A host with `count` links that have subscribed, and a controller of four buffers.
    private func rig(
        value: [UInt8] = [1, 2, 3], links count: Int = 1, cccd: UInt8 = 1
    ) throws -> PeripheralRig {
        var rig = try PeripheralRig(value: value, connectionsMax: count)
        rig.controller.leBuffers = (251, 4)
        rig.start()
        for link in 0..<UInt16(count) {
            rig.receive(ScriptedController.connected(handle: 0x40 + link, peer: UInt64(link)))
            rig.receive(
                ScriptedController.acl(handle: 0x40 + link, [0x12, 4, 0, cccd, 0])[0],
                ScriptedController.completed(handle: 0x40 + link, 1))
        }
        rig.controller.data = []
        return rig
    }

    /// Streams the value until it goes nowhere; how often it went.
    private func stream(_ rig: inout PeripheralRig) -> Int {
        var count = 0
        var isSent = true
        while isSent, count < 100 {
            rig.perform { host, now, out, emit in
                isSent = host.stream(3, at: now, sending: &out, emit: &emit)
            }
            if isSent { count += 1 }
        }
        return count
    }

    @Test("A stream takes what buffers are free, and goes on when packets are completed")
    func credits() throws {
        var rig = try rig()
        #expect(stream(&rig) == 4)
        #expect(rig.controller.data.count == 4)
        rig.receive(ScriptedController.completed(handle: 0x40, 2))
        #expect(stream(&rig) == 2)
    }

    @Test("Without a subscription nothing is streamed")
    func unsubscribed() throws {
        var rig = try rig(cccd: 0)
        #expect(stream(&rig) == 0)
        #expect(rig.controller.data == [])
    }

    @Test("Each link that can send gets the value")
    func links() throws {
        var rig = try rig(links: 2)
        #expect(stream(&rig) == 2)
        #expect(rig.controller.data.count == 4)
    }

    @Test("An answer goes before what is streamed later")
    func answers() throws {
        var rig = try rig()
        #expect(stream(&rig) == 4)
        rig.receive(ScriptedController.acl(handle: 0x40, [0x0A, 3, 0])[0])
        #expect(stream(&rig) == 0)
        rig.receive(ScriptedController.completed(handle: 0x40, 1))
        #expect(rig.controller.data.last?.hasSuffix("0B010203") == true)
    }

    @Test("No buffers are taken by a value longer than a packet once one of it has to wait")
    func fragments() throws {
        var rig = try rig(value: Array(repeating: 7, count: 244))
        rig.receive(
            ScriptedController.acl(handle: 0x40, [0x02, 0xF7, 0x00])[0],
            ScriptedController.completed(handle: 0x40, 1))
        rig.controller.data = []
        #expect(stream(&rig) == 4)
        #expect(rig.controller.data.allSatisfy { $0.count == 2 * (5 + 4 + 247) })
    }

    @Test("One indication at a time: the next follows its confirmation")
    func indications() throws {
        var rig = try rig()
        rig.host.server = GATTServer(table: try indicating())
        rig.host.server.connect(0)
        rig.receive(
            ScriptedController.acl(handle: 0x40, [0x12, 4, 0, 2, 0])[0],
            ScriptedController.completed(handle: 0x40, 1))
        rig.controller.data = []
        #expect(stream(&rig) == 1)
        rig.receive(ScriptedController.acl(handle: 0x40, [0x1E])[0])
        #expect(rig.controller.data.count == 1)
        #expect(stream(&rig) == 1)
    }

    private func indicating() throws -> AttributeTable {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1234))
        try builder.addCharacteristic(
            BluetoothUUID(0x5678), properties: .indicate,
            permissions: Permissions(indicate: .open), value: [1])
        try builder.addDescriptor(
            BluetoothUUID(0x2902), permissions: Permissions(read: .open, write: .open),
            kind: .clientConfiguration)
        return try builder.build()
    }

    @Test("A value above MTU - 3 is cut and told once, again after another MTU")
    func overflow() throws {
        var rig = try rig(value: Array(repeating: 7, count: 40))
        func overflows() -> [Bool] {
            rig.events.compactMap {
                guard case .overflow(0, 3, _, let isCut) = $0 else { return nil }
                return isCut
            }
        }
        #expect(stream(&rig) == 4)
        #expect(overflows() == [true])
        rig.receive(ScriptedController.completed(handle: 0x40, 4))
        rig.receive(
            ScriptedController.acl(handle: 0x40, [0x02, 0x20, 0x00])[0],
            ScriptedController.completed(handle: 0x40, 1))
        _ = stream(&rig)
        #expect(overflows() == [true, true])
    }
}
