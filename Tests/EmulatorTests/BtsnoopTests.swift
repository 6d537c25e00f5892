// The capture file, octet for octet.
import Emulator
import Harness
import SansIO
import Testing
import Wire

@Suite struct BtsnoopTests {
    @Test("header and records have the octets that Wireshark reads")
    func octets() {
        var writer = BtsnoopWriter(epoch: BtsnoopWriter.virtualEpoch)
        #expect(Hex.string(writer.block.bytes) == "6274736E6F6F7000" + "00000001" + "000003EA")
        writer.block.removeAll()
        let packets: [(octets: [UInt8], isReceived: Bool, flags: String)] = [
            ([0x01, 0x03, 0x0C, 0x00], false, "00000002"),
            ([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00], true, "00000003"),
            ([0x02, 0x40, 0x00, 0x01, 0x00, 0xAA], false, "00000000"),
            ([0x02, 0x40, 0x20, 0x01, 0x00, 0xBB], true, "00000001"),
            ([0x05, 0x40, 0x20, 0x01, 0x00, 0xCC], true, "00000001"),
        ]
        for (octets, isReceived, flags) in packets {
            writer.block.removeAll()
            writer.append(octets.span, isReceived: isReceived, at: Instant(microseconds: 0x1234))
            let length = "000000" + Hex.string(UInt8(octets.count))
            // 0x00E03AB44A676000 is 2000-01-01T00:00:00Z in this format.
            let expected =
                length + length + flags + "00000000" + "00E03AB44A677234" + Hex.string(octets)
            #expect(Hex.string(writer.block.bytes) == expected)
        }
        writer.block.removeAll()
        let nothing: [UInt8] = []
        writer.append(nothing.span, isReceived: true, at: .zero)
        #expect(writer.block.isEmpty)
    }

    @Test(
        "times count from the epoch given, and no time traps",
        arguments: [
            (0, 0, "00DCDDB30F2F8000"), (1, 2, "00DCDDB30F2F8003"),
            (Int64.max, Int64.max, "00DCDDB30F2F7FFE"), (Int64.min, 0, "80DCDDB30F2F8000"),
        ] as [(Int64, Int64, String)])
    func times(epoch: Int64, now: Int64, time: String) {
        var writer = BtsnoopWriter(epoch: epoch)
        writer.block.removeAll()
        let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
        writer.append(reset.span, isReceived: false, at: Instant(microseconds: now))
        #expect(Hex.string(Array(writer.block.bytes[16..<24])) == time)
    }

    @Test("what was written is read back")
    func readBack() throws {
        var writer = BtsnoopWriter(epoch: BtsnoopWriter.virtualEpoch)
        let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
        writer.append(reset.span, isReceived: false, at: .zero + .seconds(3))
        let packets = try #require(BtsnoopFile.packets(writer.block.bytes))
        #expect(
            packets == [
                CapturedPacket(
                    isReceived: false, flags: 2, time: .zero + .seconds(3), octets: reset)
            ])
    }
}
