// The reused block: appends, patches, cuts, and views of it.
import Testing
import Wire

@Suite struct ByteBlockTests {
    @Test("integers are appended least significant octet first")
    func append() {
        var block = ByteBlock(capacity: 4)
        #expect(block.isEmpty)
        block.append(UInt8(0x01))
        block.append(UInt16(0x2345))
        block.append(UInt32(0x6789_ABCD))
        block.append([0xFE, 0xFF])
        let view: [UInt8] = [1, 2, 3]
        block.append(view.span.extracting(1..<3))
        #expect(Hex.string(block.bytes) == "014523CDAB8967FEFF0203")
        #expect(block.count == 11)
    }

    @Test("octets already written can be overwritten, cut off and dropped from the front")
    func change() {
        var block = ByteBlock()
        block.append([0, 1, 2, 3, 4, 5])
        block.patch(UInt8(0xAA), at: 1)
        block.patch(UInt16(0xBBCC), at: 2)
        #expect(Hex.string(block.bytes) == "00AACCBB0405")
        block.truncate(to: 5)
        block.truncate(to: 9)
        #expect(Hex.string(block.bytes) == "00AACCBB04")
        block.removeFirst(2)
        #expect(Hex.string(block.bytes) == "CCBB04")
        block.removeFirst(-1)
        block.removeFirst(99)
        #expect(block.isEmpty)
        block.append([1])
        block.truncate(to: -1)
        #expect(block.isEmpty)
        block.append([1])
        block.removeAll()
        #expect(block.isEmpty)
    }

    @Test("spans give integers and copies")
    func span() {
        let bytes: [UInt8] = [0x10, 0x32, 0x54, 0x76]
        #expect(bytes.span.uint16(at: 0) == 0x3210)
        #expect(bytes.span.uint16(at: 2) == 0x7654)
        #expect(bytes.span.copied() == bytes)
        #expect(bytes.span.copied(1..<3) == [0x32, 0x54])
        #expect(bytes.span.copied(4..<4) == [])
    }
}
