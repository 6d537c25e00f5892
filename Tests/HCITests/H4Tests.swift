// H4: whole packets written, and streams cut into packets wherever a read may end.
import HCI
import Testing
import Wire

@Suite struct H4Tests {
    /// One packet of each type, an empty one and a long one.
    static let packets: [[UInt8]] = [
        [0x01, 0x03, 0x0C, 0x00],
        [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00],
        [0x02, 0x40, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x0A, 0x01, 0x00],
        [0x03, 0x40, 0x00, 0x02, 0xAA, 0xBB],
        [0x05, 0x40, 0x20, 0x01, 0xC0, 0xAA],
        [0x02, 0x40, 0x00, 0x00, 0x00],
        [0x04, 0x3E, 0x00],
        [0x02, 0x41, 0x20, 0x2C, 0x01] + [UInt8](repeating: 0x5A, count: 300),
    ]

    /// The packets that a framer finds in `chunks`, and the octet at which it stopped.
    static func frame(_ chunks: [[UInt8]]) -> (packets: [[UInt8]], rubbish: UInt8?) {
        var framer = H4Framer()
        var found: [[UInt8]] = []
        for chunk in chunks {
            var offset = 0
            steps: while true {
                switch framer.next(in: chunk.span, offset: &offset) {
                case .inChunk(let range): found.append(Array(chunk[range]))
                case .gathered: found.append(framer.gathered)
                case .needMore: break steps
                case .unknownType(let octet): return (found, octet)
                }
            }
        }
        return (found, nil)
    }

    @Test("a stream in any two or three chunks is the same packets")
    func splits() {
        let stream = Array(Self.packets.dropLast().joined())
        for first in 0...stream.count {
            for second in first...stream.count {
                let chunks = [
                    Array(stream[..<first]), Array(stream[first..<second]),
                    Array(stream[second...]),
                ]
                let found = Self.frame(chunks)
                guard found.packets == Array(Self.packets.dropLast()), found.rubbish == nil else {
                    Issue.record("cut at \(first) and \(second)")
                    return
                }
            }
        }
    }

    @Test("a stream in chunks of any one size is the same packets")
    func sizes() {
        let stream = Array(Self.packets.joined())
        for size in 1...stream.count {
            let chunks = stride(from: 0, to: stream.count, by: size).map {
                Array(stream[$0..<min($0 + size, stream.count)])
            }
            #expect(Self.frame(chunks).packets == Self.packets)
        }
    }

    @Test("an octet that is no packet type ends the stream, wherever it stands")
    func rubbish() {
        for octet in [UInt8(0x00), 0x06, 0x7F, 0xFF] {
            let stream = Array(Self.packets[..<3].joined()) + [octet, 0x04, 0x0E]
            for cut in 0...stream.count {
                let found = Self.frame([Array(stream[..<cut]), Array(stream[cut...])])
                #expect(found.packets == Array(Self.packets[..<3]))
                #expect(found.rubbish == octet)
            }
        }
    }

    @Test("after a reset a stream begins anew")
    func reset() {
        var framer = H4Framer()
        var offset = 0
        let part: [UInt8] = [0x04, 0x0E]
        #expect(framer.next(in: part.span, offset: &offset) == .needMore)
        #expect(framer.isInsidePacket)
        framer.reset()
        #expect(!framer.isInsidePacket)
        offset = 0
        let whole = Self.packets[0]
        #expect(framer.next(in: whole.span, offset: &offset) == .inChunk(0..<4))
        #expect(!framer.isInsidePacket)
    }

    @Test("frames are found only inside the octets given")
    func frame() {
        let packet = Self.packets[1]
        #expect(H4.frame(packet.span, from: 0) == .packet(.event, end: 7))
        for count in 0..<packet.count {
            let part = Array(packet[..<count])
            #expect(H4.frame(part.span, from: 0) == .incomplete)
        }
        #expect(H4.frame(packet.span, from: -1) == .incomplete)
        #expect(H4.frame(packet.span, from: 7) == .incomplete)
        #expect(H4.frame(packet.span, from: .max) == .incomplete)
        let longest: [UInt8] = [2, 0, 0, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 65_535)
        #expect(longest.count == H4.packetOctetsMax)
        #expect(H4.frame(longest.span, from: 0) == .packet(.acl, end: longest.count))
    }

    @Test("whole packets are written with their lengths")
    func written() {
        var block = ByteBlock()
        block.append(command: Reset())
        #expect(Hex.string(block.bytes) == "01030C00")
        block.removeAll()
        var enable = LESetAdvertisingEnable()
        enable.enable = 1
        block.append(command: enable)
        #expect(Hex.string(block.bytes) == "010A200101")
        block.removeAll()
        block.append(event: HardwareError())
        #expect(Hex.string(block.bytes) == "04100100")
        block.removeAll()
        block.append(event: LEAdvertisingReport())
        #expect(Hex.string(block.bytes) == "043E020200")
        block.removeAll()
        block.appendCommandComplete(.reset, StatusOnly(.success))
        #expect(Hex.string(block.bytes) == "040E0401030C00")
        block.removeAll()
        let handle = ConnectionHandle(rawValue: 0x0EFF)
        block.append(acl: ACLHeader(handle: handle, boundary: .firstFromController, length: 300))
        #expect(Hex.string(block.bytes) == "02FF2E2C01")
    }

    @Test(
        "an ACL header says connection, boundary and length",
        arguments: [
            ("0240000100", 0x0040, .firstFromHost, 1), ("0240100000", 0x0040, .continuing, 0),
            ("02FF2E2C01", 0x0EFF, .firstFromController, 300),
            ("0201F0FFFF", 0x0001, .complete, 65_535),
        ] as [(String, UInt16, ACLHeader.Boundary, Int)])
    func acl(octets: String, handle: UInt16, boundary: ACLHeader.Boundary, length: Int) throws {
        let packet = try #require(Hex.bytes(octets))
        let read = ACLHeader(packet: packet.span)
        let header = try #require(read)
        #expect(header.handle.rawValue == handle)
        #expect(header.boundary == boundary)
        #expect(header.length == length)
        #expect(header.isStart == (boundary != .continuing))
        for count in 0..<packet.count {
            let part = Array(packet[..<count])
            #expect(ACLHeader(packet: part.span) == nil)
        }
    }
}
