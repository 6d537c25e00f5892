// UUIDs: widths, text, octets, and equality over the Base UUID.
import Testing
import Wire

@Suite struct BluetoothUUIDTests {
    @Test("a 16-bit UUID is its alias under the Base UUID in every width")
    func widths() throws {
        let short = BluetoothUUID(0x180F)
        let medium = BluetoothUUID(medium: 0x180F)
        let full = try #require(BluetoothUUID("0000180F-0000-1000-8000-00805F9B34FB"))
        #expect(short == medium)
        #expect(short == full)
        #expect(Set([short, medium, full]).count == 1)
        #expect(full.short == 0x180F)
        #expect([short, medium, full].map(\.width) == [.short, .medium, .full])
        #expect([short, medium, full].map(\.littleEndian.count) == [2, 4, 16])
        #expect(short.fullLittleEndian == full.littleEndian)
        #expect(BluetoothUUID(medium: 0x0001_180F).short == nil)
        #expect(BluetoothUUID(medium: 0x0001_180F) != short)
    }

    @Test("octets are least significant first, both ways")
    func octets() throws {
        #expect(BluetoothUUID(0x2A37).littleEndian == [0x37, 0x2A])
        #expect(BluetoothUUID(medium: 0x1234_5678).littleEndian == [0x78, 0x56, 0x34, 0x12])
        let text = "00112233-4455-6677-8899-AABBCCDDEEFF"
        let uuid = try #require(BluetoothUUID(text))
        let octets = try #require(Hex.bytes("FFEEDDCCBBAA99887766554433221100"))
        #expect(uuid.littleEndian == octets)
        #expect(BluetoothUUID(littleEndian: octets.span) == uuid)
        #expect(uuid.high == 0x0011_2233_4455_6677)
        #expect(uuid.low == 0x8899_AABB_CCDD_EEFF)
        #expect(uuid.description == text)
        #expect(uuid.short == nil)
    }

    @Test("every count of octets but 2, 4 and 16 is refused")
    func counts() {
        for count in 0...20 {
            let octets = [UInt8](repeating: 1, count: count)
            #expect(
                (BluetoothUUID(littleEndian: octets.span) != nil) == [2, 4, 16].contains(count))
        }
    }

    @Test("the description says a 16-bit UUID short and others in full")
    func description() throws {
        #expect(BluetoothUUID(0x0A01).description == "0x0A01")
        #expect(
            BluetoothUUID(medium: 0x180F).description == "0000180F-0000-1000-8000-00805F9B34FB")
        let full = try #require(BluetoothUUID("0000180f-0000-1000-8000-00805f9b34fb"))
        #expect(full.description == "0000180F-0000-1000-8000-00805F9B34FB")
    }

    @Test(
        "text that is not the usual form is refused",
        arguments: [
            "", "180F", "0x180F", "-", "----", "0000180F00001000800000805F9B34FB",
            "0000180F-0000-1000-8000-00805F9B34F", "0000180F-0000-1000-8000-00805F9B34FBB",
            "0000180F-0000-1000-8000-00805F9B34FG", "0000180F-000-01000-8000-00805F9B34FB",
            "{0000180F-0000-1000-8000-00805F9B34FB}", "0000180F-0000-1000-8000-00805F9B34FB-",
            "+000180F-0000-1000-8000-00805F9B34FB", "0000180é-0000-1000-8000-00805F9B34FB",
            "0000180F-0000-1000-8000-0080 F9B34FB", "0000180F 0000 1000 8000 00805F9B34FB",
        ])
    func refused(text: String) {
        #expect(BluetoothUUID(text) == nil)
    }
}
