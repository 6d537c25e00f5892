// Device addresses: text, octets, and what a random static address is.
import Testing
import Wire

@Suite struct DeviceAddressTests {
    @Test("text and description are each other's inverse")
    func text() throws {
        for text in ["C0:11:22:33:44:55", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF"] {
            #expect(try #require(DeviceAddress(text)).description == text)
        }
        #expect(DeviceAddress("c0:aB:22:33:44:55")?.description == "C0:AB:22:33:44:55")
        #expect(DeviceAddress("C0:11:22:33:44:55")?.littleEndian == 0xC011_2233_4455)
    }

    @Test("the octet sent first is the last one of the text")
    func order() throws {
        struct One: Record {
            var address = DeviceAddress()
            init() {}
            mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
                try visitor.field("address", &address)
            }
        }
        var record = One()
        record.address = try #require(DeviceAddress("C0:11:22:33:44:55"))
        #expect(record.encoded == [0x55, 0x44, 0x33, 0x22, 0x11, 0xC0])
        let octets = record.encoded
        #expect(try One(decoding: octets.span) == record)
    }

    @Test(
        "text that is not six octets is refused",
        arguments: [
            "", ":", ":::::", "C0:11:22:33:44", "C0:11:22:33:44:55:66", "C0:11:22:33:44:5",
            "C0:11:22:33:44:555", "C0-11-22-33-44-55", "C01122334455", "C0:11:22:33:44:5G",
            "+0:11:22:33:44:55", "-1:11:22:33:44:55", " C0:11:22:33:44:55", "C0:11:22:33:44:55 ",
            "é:11:22:33:44:55", "C0:11:22::44:55",
        ])
    func refused(text: String) {
        #expect(DeviceAddress(text) == nil)
    }

    @Test("only 48 bits are kept")
    func bits() {
        #expect(DeviceAddress(littleEndian: .max).littleEndian == 0xFFFF_FFFF_FFFF)
    }

    @Test("a random static address has both top bits set and neither all zeros nor all ones")
    func randomStatic() {
        #expect(DeviceAddress(littleEndian: 0xC000_0000_0001).isRandomStatic)
        #expect(DeviceAddress(littleEndian: 0xFFFF_FFFF_FFFE).isRandomStatic)
        #expect(!DeviceAddress(littleEndian: 0xC000_0000_0000).isRandomStatic)
        #expect(!DeviceAddress(littleEndian: 0xFFFF_FFFF_FFFF).isRandomStatic)
        #expect(!DeviceAddress(littleEndian: 0x8000_0000_0001).isRandomStatic)
        #expect(!DeviceAddress(littleEndian: 0x4000_0000_0001).isRandomStatic)
        #expect(!DeviceAddress(littleEndian: 0x0000_0000_0001).isRandomStatic)
        for random in [0, 1, 0x3FFF_FFFF_FFFF, 0x1234_5678_9ABC, UInt64.max] {
            #expect(DeviceAddress.randomStatic(from: random).isRandomStatic)
        }
        #expect(
            DeviceAddress.randomStatic(from: 0x0123_4567_89AB).description == "C1:23:45:67:89:AB")
    }

    @Test("address types have the specification's numbers")
    func types() {
        let types: [(AddressType, UInt8, String)] = [
            (.publicDevice, 0x00, "public"), (.randomDevice, 0x01, "random"),
            (.publicIdentity, 0x02, "public-identity"), (.randomIdentity, 0x03, "random-identity"),
            (AddressType(rawValue: 0xFE), 0xFE, "0xFE"),
        ]
        for (type, number, text) in types {
            #expect(type.rawValue == number)
            #expect(type.description == text)
        }
    }
}
