// Hexadecimal text, both ways.
import Testing
import Wire

@Suite struct HexTests {
    @Test("octets become upper-case pairs")
    func string() {
        #expect(Hex.string([]) == "")
        #expect(Hex.string([0x00, 0x0A, 0xFF]) == "000AFF")
        #expect(Hex.string([0x00, 0x0A, 0xFF], separator: " ") == "00 0A FF")
        #expect(Hex.string(UInt8(0x5C)) == "5C")
        #expect(Hex.code(UInt8(0x0A)) == "0x0A")
        #expect(Hex.code(UInt16(0x2A)) == "0x002A")
    }

    @Test("pairs of digits become octets, with spaces between pairs")
    func bytes() {
        #expect(Hex.bytes("") == [])
        #expect(Hex.bytes("00ff7F") == [0x00, 0xFF, 0x7F])
        #expect(Hex.bytes(" 00  ff 7F ") == [0x00, 0xFF, 0x7F])
        for value in UInt8.min...UInt8.max { #expect(Hex.bytes(Hex.string(value)) == [value]) }
    }

    @Test(
        "anything else is refused",
        arguments: [
            "0", "000", "0 0", "0x00", "0G", "G0", "é", "00-11", "00:11", "+1", "-1", "0\n0",
            "00\n", "０0",
        ])
    func refused(text: String) {
        #expect(Hex.bytes(text) == nil)
    }

    @Test("twenty-two characters are digits")
    func digits() {
        let digits = (UInt8.min...UInt8.max).filter { Hex.value(of: $0) != nil }
        #expect(digits == Array("0123456789ABCDEFabcdef".utf8))
        #expect(digits.compactMap { Hex.value(of: $0) } == Array(0...15) + Array(10...15))
    }
}
