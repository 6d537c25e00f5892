// From advertising entries to octets and itemised budgets.
import Advertising
import Testing
import Wire

@Suite struct EncodingTests {
    static let service = BluetoothUUID(0x181A)
    static let own = BluetoothUUID("5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10")

    @Test(
        "each entry has its octets",
        arguments: [
            (AdvertisingStructure.flags([.generalDiscoverable, .noBREDR]), "02 01 06"),
            (.flags(.limitedDiscoverable), "02 01 01"),
            (.serviceUUIDs([BluetoothUUID(0x180D), service], complete: true), "05 03 0D18 1A18"),
            (.serviceUUIDs([service], complete: false), "03 02 1A18"),
            (.serviceUUIDs([BluetoothUUID(medium: 0x0001_181A)], complete: true), "05 05 1A180100"),
            (.serviceUUIDs([], complete: true), ""),
            (.name("Acme", complete: true), "05 09 41636D65"),
            (.name("Ac", complete: false), "03 08 4163"),
            (.name("", complete: true), "01 09"),
            (.txPower(-20), "02 0A EC"),
            (.appearance(0x0341), "03 19 4103"),
            (.manufacturer(company: 0xFFFF, data: [1, 2]), "05 FF FFFF 0102"),
            (.serviceData(service, data: [0x7F]), "04 16 1A18 7F"),
            (.serviceData(BluetoothUUID(medium: 0x0001_181A), data: []), "05 20 1A180100"),
            (.raw(type: 0x2A, data: [9]), "02 2A 09"),
        ])
    func octets(structure: AdvertisingStructure, expected: String) {
        let bytes = advertisingBytes([structure])
        #expect(Hex.string(bytes) == Hex.string(Hex.bytes(expected) ?? [0xEE]))
        #expect(structure.octetCount == bytes.count)
        #expect(structure.parts.reduce(0) { $0 + $1.octets } == bytes.count)
    }

    @Test("UUIDs are grouped by width, each group in its own order and complete")
    func widths() throws {
        let own = try #require(Self.own)
        let structure = AdvertisingStructure.serviceUUIDs(
            [own, Self.service, BluetoothUUID(0x180F)], complete: true)
        #expect(
            Hex.string(advertisingBytes([structure]))
                == "05031A180F18" + "1107" + "107A9B0C2F3E569D1B4C1E0E01001D5A")
        #expect(structure.parts.map(\.label) == ["service-uuid16", "service-uuid128"])
        #expect(structure.parts.map(\.octets) == [6, 18])
        let data = AdvertisingStructure.serviceData(own, data: [1])
        #expect(Hex.string(advertisingBytes([data])) == "1221107A9B0C2F3E569D1B4C1E0E01001D5A01")
    }

    @Test("iBeacon brings its flags, and its fields are big-endian")
    func iBeacon() throws {
        let uuid = try #require(BluetoothUUID("F7826DA6-4FA2-4E98-8024-BC5B71E0893E"))
        let structure = AdvertisingStructure.beacon(
            try Beacon.named(
                "ibeacon", [.uuid(uuid), .number(1), .number(0x0207), .number(-59)]))
        #expect(
            Hex.string(advertisingBytes([structure]))
                == "020106" + "1AFF4C000215" + "F7826DA64FA24E988024BC5B71E0893E" + "00010207C5")
        #expect(structure.parts.map(\.label) == ["flags", "ibeacon"])
        #expect(structure.parts.map(\.octets) == [3, 27])
        #expect(structure.octetCount == 30)
    }

    @Test("a budget over 31 octets is itemised")
    func budget() throws {
        let data: [AdvertisingStructure] = [
            .flags([.generalDiscoverable, .noBREDR]), .name("Acme Thermo", complete: true),
            .serviceUUIDs([try #require(Self.own)], complete: true),
        ]
        let parts = data.flatMap(\.parts).map { "\($0.label) \($0.octets)" }
        #expect(parts == ["flags 3", "complete-name 13", "service-uuid128 18"])
        #expect(advertisingBytes(data).count == 34)
        #expect(34 > AdvertisingDataLimits.legacyDataOctets)
    }

    @Test("data too long for its length octet is cut on the air, but not in the budget")
    func tooLong() {
        let name = String(repeating: "x", count: 300)
        let structure = AdvertisingStructure.name(name, complete: true)
        #expect(structure.octetCount == 302)
        let bytes = advertisingBytes([structure])
        #expect(bytes.count == 256)
        #expect(bytes[0] == 255)
    }
}
