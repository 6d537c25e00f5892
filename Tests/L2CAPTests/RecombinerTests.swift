// Fragments become PDUs, whatever a peer makes of them.
import L2CAP
import SansIO
import Testing
import Wire

struct RecombinerTests {
    /// One fragment's result, with the payload where there is one.
    static func handle(
        _ recombiner: inout Recombiner, _ fragment: [UInt8], isStart: Bool
    ) -> (result: RecombinerResult, payload: [UInt8]?) {
        let result = recombiner.handle(fragment.span, isStart: isStart)
        return switch result {
        case .frame(_, let range): (result, Array(fragment[range]))
        case .recombined: (result, recombiner.payload.bytes)
        case .incomplete, .dropped: (result, nil)
        }
    }

    @Test("A whole PDU is found in its fragment, without a copy")
    func whole() {
        var recombiner = Recombiner()
        let pdu = Hex.bytes("0300 0400 0A1200") ?? []
        #expect(recombiner.handle(pdu.span, isStart: true) == .frame(cid: 4, range: 4..<7))
        #expect(recombiner.payload.isEmpty)
        let empty = Hex.bytes("0000 0500") ?? []
        #expect(recombiner.handle(empty.span, isStart: true) == .frame(cid: 5, range: 4..<4))
    }

    @Test(
        "Every way to cut a PDU into fragments gives it back, first ones of 1 to 3 octets included")
    func cuts() {
        let payload = (0..<9).map { UInt8($0) }
        let pdu: [UInt8] = [9, 0, 4, 0] + payload
        for mask in 0..<(1 << (pdu.count - 1)) {
            var recombiner = Recombiner()
            var start = 0
            for end in 1...pdu.count where end == pdu.count || mask & (1 << (end - 1)) != 0 {
                let (result, found) = Self.handle(
                    &recombiner, Array(pdu[start..<end]), isStart: start == 0)
                if end < pdu.count {
                    #expect(result == .incomplete)
                } else {
                    #expect(found == payload)
                }
                start = end
            }
        }
    }

    @Test("A continuation without a start is dropped")
    func noStart() {
        var recombiner = Recombiner()
        let whole: [UInt8] = [1, 0, 4, 0, 7]
        #expect(recombiner.handle(whole.span, isStart: false) == .dropped(.noStart))
        _ = recombiner.handle(whole.span, isStart: true)
        #expect(recombiner.handle(whole.span, isStart: false) == .dropped(.noStart))
        let first: [UInt8] = [2, 0, 4, 0, 7]
        #expect(recombiner.handle(first.span, isStart: true) == .incomplete)
        recombiner.reset()
        #expect(recombiner.handle(whole.span, isStart: false) == .dropped(.noStart))
    }

    @Test("A new start drops what was incomplete")
    func restart() {
        var recombiner = Recombiner()
        let (first, whole): ([UInt8], [UInt8]) = ([3, 0, 4, 0, 7], [1, 0, 5, 0, 8])
        #expect(recombiner.handle(first.span, isStart: true) == .incomplete)
        #expect(recombiner.handle(whole.span, isStart: true) == .frame(cid: 5, range: 4..<5))
        let rest: [UInt8] = [1, 2]
        #expect(recombiner.handle(rest.span, isStart: false) == .dropped(.noStart))
        #expect(recombiner.handle(first.span, isStart: true) == .incomplete)
        #expect(recombiner.handle(first.span, isStart: true) == .incomplete)
        let (result, payload) = Self.handle(&recombiner, rest, isStart: false)
        #expect(result == .recombined(cid: 4))
        #expect(payload == [7, 1, 2])
    }

    @Test("PDUs above the limit and octets above the length are dropped")
    func limits() {
        var recombiner = Recombiner(payloadMax: 8)
        let long: [UInt8] = [9, 0, 4, 0] + [UInt8](repeating: 1, count: 9)
        #expect(recombiner.handle(long.span, isStart: true) == .dropped(.aboveLimit))
        #expect(recombiner.handle(long.span, isStart: false) == .dropped(.noStart))
        let over: [UInt8] = [1, 0, 4, 0, 1, 2]
        #expect(recombiner.handle(over.span, isStart: true) == .dropped(.overrun))
        let first: [UInt8] = [4, 0, 4, 0, 1, 2]
        #expect(recombiner.handle(first.span, isStart: true) == .incomplete)
        let rest: [UInt8] = [1, 2, 3]
        #expect(recombiner.handle(rest.span, isStart: false) == .dropped(.overrun))
        let declared: [UInt8] = [0xFF, 0xFF, 4, 0]
        #expect(recombiner.handle(declared.span, isStart: true) == .dropped(.aboveLimit))
    }

    @Test("No fragments end the process, and no payload is above the limit")
    func random() {
        var random = SeededRandom(seed: 7, stream: "fragments")
        var recombiner = Recombiner(payloadMax: 20)
        var complete = 0
        for _ in 0..<50_000 {
            let fragment = (0..<random.below(9)).map { _ in
                UInt8(random.below(random.below(4) == 0 ? 256 : 6))
            }
            let (result, payload) = Self.handle(
                &recombiner, fragment, isStart: random.below(3) == 0)
            guard let payload else { continue }
            complete += 1
            #expect(payload.count <= 20, "\(result)")
        }
        #expect(complete > 100)
    }

    @Test("The header is the length and the channel")
    func header() {
        var block = ByteBlock()
        block.appendL2CAPHeader(length: 0x0102, cid: L2CAPChannel.attribute)
        #expect(block.bytes == [0x02, 0x01, 0x04, 0x00])
        #expect(
            [L2CAPChannel.attribute, L2CAPChannel.signalling, L2CAPChannel.securityManager]
                == [4, 5, 6])
    }
}
