// ACL fragments through the recombiner, beside a naive model, and on to the signalling channels.
import L2CAP
import SansIO
import Wire

enum L2CAPFuzz {
    /// Signalling commands, whole and in two fragments.
    static func seeds() -> [[UInt8]] {
        let data: [(SignallingCode, [UInt8])] = [
            (.commandReject, [0, 0]), (.disconnectionRequest, [0x40, 0, 0x41, 0]),
            (.connectionParameterUpdateRequest, [6, 0, 12, 0, 0, 0, 100, 0]),
            (.connectionParameterUpdateResponse, [0, 0]),
            (.leCreditBasedConnectionRequest, [0x80, 0, 0x40, 0, 64, 0, 64, 0, 1, 0]),
            (.flowControlCredit, [0x40, 0, 1, 0]),
        ]
        return data.flatMap { code, data -> [[UInt8]] in
            let length = UInt8(data.count)
            let pdu = [length + 4, 0, 5, 0, code.rawValue, 1, length, 0] + data
            let rest = pdu[3...]
            return [
                [1, UInt8(pdu.count) << 1 | 1] + pdu,
                [1, 3 << 1 | 1] + pdu[..<3] + [UInt8(rest.count) << 1] + rest,
            ]
        }
    }

    /// Octet 0 chooses the limit. Then fragments: bit 0 says whether it is a start, the other seven
    /// bits how many octets follow.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let payloadMax = [64, 2048, 0, 65_535][Int(input.octet() & 3)]
        var recombiner = Recombiner(payloadMax: payloadMax)
        var model = RecombinerModel(payloadMax: payloadMax)
        var peripheral = SignallingChannel(role: .peripheral)
        var central = SignallingChannel(role: .central)
        var now = Instant.zero
        while !input.isEmpty {
            let header = input.octet()
            let fragment = input.octets(Int(header >> 1))
            let isStart = header & 1 == 1
            let expected = model.take(fragment, isStart: isStart)
            let found: RecombinerModel.Outcome
            switch recombiner.handle(fragment.span, isStart: isStart) {
            case .incomplete: found = .incomplete
            case .dropped: found = .dropped
            case .frame(let cid, let range): found = .pdu(cid: cid, Array(fragment[range]))
            case .recombined(let cid): found = .pdu(cid: cid, recombiner.payload.bytes)
            }
            precondition(found == expected, "\(found), expected \(expected)")
            guard case .pdu(L2CAPChannel.signalling, let payload) = found else { continue }
            now = now + .seconds(Int64(header))
            signal(payload, to: &peripheral, at: now)
            signal(payload, to: &central, at: now)
        }
    }

    private static func signal(
        _ payload: [UInt8], to channel: inout SignallingChannel, at now: Instant
    ) {
        var reply = ByteBlock(capacity: 64)
        var events = Outputs<SignallingEvent>()
        channel.expire(at: now, emit: &events)
        channel.receive(payload.span, at: now, reply: &reply, emit: &events)
        if !reply.isEmpty {
            let pdu = reply.bytes
            precondition(pdu.count >= 4, "a signalling command has a header")
            precondition(pdu.count <= SignallingChannel.mtu, "no command is above the MTU")
            precondition(pdu.count == 4 + Int(pdu.span.uint16(at: 2)), "its length is right")
            precondition(pdu[1] == payload[1], "an answer bears the request's identifier")
            precondition(SignallingCode(rawValue: pdu[0]).isResponse, "an answer is a response")
            precondition(
                !SignallingCode(rawValue: payload[0]).isResponse, "a response is not answered")
        }
        reply.removeAll()
        var request = ConnectionParameterUpdateRequest()
        request.intervalMin = 6
        request.intervalMax = 12
        request.timeout = 100
        _ = channel.requestParameters(request, at: now, into: &reply)
    }
}

/// Recombination as the specification tells it, without regard to cost.
struct RecombinerModel {
    enum Outcome: Equatable {
        case incomplete
        case dropped
        case pdu(cid: UInt16, [UInt8])
    }

    let payloadMax: Int
    private var octets: [UInt8]?

    init(payloadMax: Int) { self.payloadMax = payloadMax }

    mutating func take(_ fragment: [UInt8], isStart: Bool) -> Outcome {
        if isStart { octets = [] }
        guard let whole = octets.map({ $0 + fragment }) else { return .dropped }
        octets = whole
        guard whole.count >= 4 else { return .incomplete }
        let length = Int(whole[0]) | Int(whole[1]) << 8
        guard length <= payloadMax, whole.count - 4 <= length else {
            octets = nil
            return .dropped
        }
        guard whole.count - 4 == length else { return .incomplete }
        octets = nil
        return .pdu(cid: UInt16(whole[2]) | UInt16(whole[3]) << 8, Array(whole[4...]))
    }
}
