// From advertising data to AD structures and their lines of text, whatever the octets.
import Advertising
import SansIO
import Testing
import Wire

@Suite struct DecodingTests {
    private func decode(_ hex: String) -> [ADStructure] {
        let octets = Hex.bytes(hex) ?? []
        return ADStructures.decode(octets.span)
    }

    @Test(
        "each AD structure has its line",
        arguments: [
            ("02 01 06", "flags general-discoverable, no-br-edr"),
            ("02 01 00", "flags none"),
            ("02 01 19", "flags limited-discoverable, 0x18"),
            ("03 01 0600", "flags general-discoverable, no-br-edr"),
            ("01 01", "flags none"),
            ("0C 09 41636D6520546865726D6F", "complete local name \"Acme Thermo\""),
            ("03 08 4163", "shortened local name \"Ac\""),
            ("01 09", "complete local name \"\""),
            ("07 09 220A5C1B41FF", #"complete local name "\"\u{A}\\\u{1B}A"# + "\u{FFFD}\""),
            ("04 09 E280AE", #"complete local name "\u{202E}""#),
            ("03 03 1A18", "16-bit services 0x181A"),
            ("05 02 0D18 0F18", "incomplete 16-bit services 0x180D, 0x180F"),
            ("01 03", "16-bit services none"),
            ("05 05 1A180100", "32-bit services 0001181A-0000-1000-8000-00805F9B34FB"),
            (
                "11 07 107A9B0C2F3E569D1B4C1E0E01001D5A",
                "128-bit services 5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10"
            ),
            ("02 0A 00", "tx power 0 dBm"),
            ("02 0A EC", "tx power -20 dBm"),
            ("03 19 4103", "appearance 0x0341"),
            ("05 FF FFFF 0102", "manufacturer 0xFFFF 0102"),
            ("03 FF FFFF", "manufacturer 0xFFFF"),
            ("04 16 1A18 7F", "service data 0x181A 7F"),
            ("05 12 1000 0001", "peripheral connection interval range 20 ms to 320 ms"),
            ("05 12 0600 FFFF", "peripheral connection interval range 7.5 ms to any"),
            ("03 1A A000", "advertising interval A000"),
            ("03 7E 0102", "AD type 0x7E 0102"),
            (
                "1A FF 4C00 0215 F7826DA64FA24E988024BC5B71E0893E 0001 0007 C5",
                "ibeacon uuid F7826DA6-4FA2-4E98-8024-BC5B71E0893E, major 1, "
                    + "minor 7, measured-power -59 dBm"
            ),
            ("02 0A", "truncated tx power: 2 octets announced, 1 there"),
            ("05 09 4142", "truncated complete local name 4142: 5 octets announced, 3 there"),
            ("1F", "truncated: 31 octets announced, 0 there"),
            ("03 0A 0000", "malformed tx power 0000"),
            ("02 19 00", "malformed appearance 00"),
            ("04 03 1A1800", "malformed 16-bit services 1A1800"),
            ("02 16 1A", "malformed service data 1A"),
            ("02 FF 4C", "malformed manufacturer 4C"),
            ("03 12 0600", "malformed peripheral connection interval range 0600"),
        ])
    func line(hex: String, expected: String) {
        #expect(decode(hex).map(\.description) == [expected])
    }

    @Test("a zero length ends the data; structures before it stand")
    func terminator() {
        #expect(
            decode("020106 00 0309 4142").map(\.description)
                == ["flags general-discoverable, no-br-edr"])
        #expect(decode("00").isEmpty)
        #expect(decode("").isEmpty)
    }

    @Test("a truncated structure is the last and keeps its octets")
    func truncated() {
        let structures = decode("020106 0B09 4142")
        #expect(structures.count == 2)
        #expect(
            structures.last
                == ADStructure(
                    type: .completeLocalName, bytes: [0x41, 0x42],
                    content: .truncated(announced: 11)))
    }

    @Test("what the encoder writes, the decoder reads")
    func roundTrip() throws {
        let own = try #require(BluetoothUUID("5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10"))
        let short = BluetoothUUID(0x181A)
        let beacon = try Beacon.named(
            "ibeacon", [.uuid(own), .number(0x0102), .number(0xFFFE), .number(-128)])
        let bytes = advertisingBytes([
            .beacon(beacon),
            .serviceUUIDs([own, short], complete: false), .name("Søren", complete: true),
            .serviceData(own, data: [7]), .appearance(0x0341), .txPower(127),
            .manufacturer(company: 0x004C, data: [0x02, 0x15, 0]), .raw(type: 0x24, data: [0x17]),
        ])
        #expect(
            ADStructures.decode(bytes.span).map(\.content) == [
                .flags([.generalDiscoverable, .noBREDR]),
                .beacon(beacon),
                .serviceUUIDs([short], complete: false), .serviceUUIDs([own], complete: false),
                .name("Søren", complete: true), .serviceData(own, data: [7]), .appearance(0x0341),
                .txPower(127), .manufacturer(company: 0x004C, data: [0x02, 0x15, 0]), .other,
            ])
    }

    @Test("advertisements of real products read as another decoder reads them")
    func products() throws {
        let vectors = try AdvertisementVector.all()
        #expect(vectors.count == 211)
        for vector in vectors {
            for part in vector.parts {
                var structures = ADStructures.decode(part.octets.span)
                #expect(!structures.isEmpty, "\(vector.product)")
                // Others do not tell what is cut off.
                if case .truncated = structures.last?.content { structures.removeLast() }
                #expect(structures.map(\.plainLine) == part.lines, "\(vector.product)")
            }
        }
    }

    @Test("every prefix and every one-octet mutation is read without a trap and written back")
    func mutations() throws {
        for octets in try AdvertisementVector.all().flatMap(\.parts).map(\.octets) {
            for count in 0...octets.count { check(Array(octets[..<count])) }
            for index in octets.indices {
                for bit in 0..<8 {
                    var mutated = octets
                    mutated[index] ^= 1 << UInt8(bit)
                    check(mutated)
                }
                for value in [UInt8(0), 0xFF] {
                    var mutated = octets
                    mutated[index] = value
                    check(mutated)
                }
            }
        }
    }

    @Test("random octets are read without a trap and written back")
    func noise() {
        var random = SeededRandom(seed: 1, stream: "noise")
        for _ in 0..<20_000 {
            let count = Int(random.below(64))
            // Small lengths make deep structures.
            let limit = random.below(2) == 0 ? Int64(256) : 40
            check((0..<count).map { _ in UInt8(random.below(limit)) })
        }
    }

    /// The structures, written one after another, are the start of the data.
    private func check(_ octets: [UInt8]) {
        var written: [UInt8] = []
        for structure in ADStructures.decode(octets.span) {
            if case .truncated(let announced) = structure.content {
                written.append(UInt8(announced))
                if written.count < octets.count { written.append(structure.type.rawValue) }
            } else {
                written += [UInt8(structure.bytes.count + 1), structure.type.rawValue]
            }
            written += structure.bytes
            if structure.description.isEmpty { Issue.record("\(structure) has no text") }
        }
        let isStart = octets.starts(with: written)
        let isWhole = written.count == octets.count || octets[written.count] == 0
        if !isStart || !isWhole {
            Issue.record("\(Hex.string(octets)) became \(Hex.string(written))")
        }
    }
}
