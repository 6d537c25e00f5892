// The signalling channel of both roles, and the records it is made of.
import L2CAP
import SansIO
import Testing
import Wire

struct SignallingTests {
    /// Sends a PDU and gives the answer in hexadecimal, and the events.
    static func send(
        _ channel: inout SignallingChannel, _ text: String
    ) -> (reply: String, events: [SignallingEvent]) {
        var (reply, events) = (ByteBlock(), Outputs<SignallingEvent>())
        let pdu = Hex.bytes(text) ?? []
        channel.receive(pdu.span, at: .zero, reply: &reply, emit: &events)
        return (Hex.string(reply.bytes), events.elements)
    }

    @Test(
        "An unknown code is rejected with its identifier, others in their own way",
        arguments: [
            // Unknown codes, those of BR/EDR among them.
            ("FF 07 0000", "0107020000 00"), ("02 07 0400 0100 4000", "0107020000 00"),
            ("00 01 0000", "0101020000 00"), ("17 01 0000", "0101020000 00"),
            // Identifier 0 is never used.
            ("FF 00 0000", ""),
            // Too short for a header; a length that is not the data's.
            ("12", ""), ("", ""), ("FF 07 01", ""), ("FF 07 0100", "0107020000 00"),
            ("14 03 0A00 2500 4000 1700 1700", "0103020000 00"),
            // Answers that nothing awaits.
            ("13 01 0200 0000", ""), ("01 01 0200 0000", ""), ("15 01 0000", ""),
            ("07 01 0400 41004000", ""),
            // No SPSM is served.
            ("14 03 0A00 2500 4000 1700 1700 0100", "15030A00 0000 0000 0000 0000 0200"),
            // There is no channel to disconnect; credits for none are ignored.
            ("06 04 0400 4100 4000", "01040600 0200 4100 4000"), ("16 05 0400 4100 0100", ""),
            // Only a central answers a request for parameters.
            ("12 06 0800 0600 0C00 0000 C800", "0106020000 00"),
            // Longer than the signalling MTU.
            ("FF 07 1400 0000000000000000000000000000000000000000", "01070400 0100 1700"),
        ])
    func peripheral(_ pdu: String, _ expected: String) {
        var channel = SignallingChannel(role: .peripheral)
        let reply = Self.send(&channel, pdu).reply
        #expect(reply == expected.filter { $0 != " " })
    }

    @Test("A central accepts parameters within the limits only")
    func central() {
        for (data, isAccepted) in [
            ("0600 0C00 0000 C800", true), ("800C 800C 0000 800C", true),
            ("0500 0C00 0000 C800", false),
            ("0C00 0600 0000 C800", false), ("0600 810C 0000 C800", false),
            ("0600 0C00 F401 800C", false), ("0600 0C00 0000 0900", false),
            ("0600 0C00 0000 810C", false),
            // Twice (1 + latency) intervals must be shorter than the timeout.
            ("2800 2800 1300 C800", false), ("2800 2800 1200 C800", true),
        ] {
            var channel = SignallingChannel(role: .central)
            let (reply, events) = Self.send(&channel, "12 06 0800 " + data)
            #expect(reply == "13060200" + (isAccepted ? "0000" : "0100"), "\(data)")
            #expect(events.isEmpty != isAccepted)
        }
        var channel = SignallingChannel(role: .central)
        #expect(
            Self.send(&channel, "12 06 0800 0600 0C00 0100 C800").events == [
                .parametersRequested(
                    ConnectionParameterUpdateRequest(
                        intervalMin: 6, intervalMax: 12, latency: 1, timeout: 200))
            ])
    }

    @Test(
        "A peripheral asks for parameters once at a time, and hears the answer with its identifier")
    func request() {
        var channel = SignallingChannel(role: .peripheral)
        let parameters = ConnectionParameterUpdateRequest(
            intervalMin: 12, intervalMax: 24, latency: 0, timeout: 400)
        func ask() -> String {
            var pdu = ByteBlock()
            let isSent = channel.requestParameters(parameters, at: .zero, into: &pdu)
            #expect(isSent != pdu.isEmpty)
            return Hex.string(pdu.bytes)
        }
        #expect(ask() == "120108000C00180000009001")
        #expect(channel.deadline == .zero + .seconds(30))
        #expect(ask() == "")
        #expect(Self.send(&channel, "13 02 0200 0000").events == [])
        #expect(Self.send(&channel, "13 01 0100 00").events == [])
        #expect(
            Self.send(&channel, "13 01 0200 0000").events == [.parametersAnswered(accepted: true)])
        #expect(channel.deadline == nil)
        #expect(ask().hasPrefix("1202"))
        #expect(
            Self.send(&channel, "13 02 0200 0100").events == [.parametersAnswered(accepted: false)])
        #expect(ask().hasPrefix("1203"))
        #expect(Self.send(&channel, "01 03 0200 0000").events == [.parametersUnanswered])
        #expect(ask().hasPrefix("1204"))
        var events = Outputs<SignallingEvent>()
        channel.expire(at: .zero + .seconds(29), emit: &events)
        #expect(events.isEmpty)
        channel.expire(at: .zero + .seconds(30), emit: &events)
        #expect(events.elements == [.parametersUnanswered])
        for _ in 5...300 {
            let pdu = ask()
            #expect(!pdu.hasPrefix("1200"))
            let identifier = pdu.dropFirst(2).prefix(2)
            #expect(Self.send(&channel, "13 \(identifier) 0200 0000").events.count == 1)
        }
    }

    @Test("Parameters out of range are not asked for, nor does a central ask")
    func refusedRequest() {
        var pdu = ByteBlock()
        var peripheral = SignallingChannel(role: .peripheral)
        let wrong = ConnectionParameterUpdateRequest(
            intervalMin: 5, intervalMax: 24, latency: 0, timeout: 400)
        let isWrongSent = peripheral.requestParameters(wrong, at: .zero, into: &pdu)
        var central = SignallingChannel(role: .central)
        let right = ConnectionParameterUpdateRequest(
            intervalMin: 6, intervalMax: 24, latency: 0, timeout: 400)
        let isCentralSent = central.requestParameters(right, at: .zero, into: &pdu)
        #expect(!isWrongSent && !isCentralSent && pdu.isEmpty)
    }

    /// Decodes, encodes again, and tries every prefix.
    private func check<PDU: SignallingPDU>(_ pdu: PDU, _ text: String, isOpen: Bool = false) throws
    {
        let octets = Hex.bytes(text) ?? []
        #expect(try PDU(decoding: octets.span) == pdu)
        #expect(pdu.encoded == octets)
        for length in 0..<octets.count where !isOpen {
            let prefix = Array(octets[..<length])
            #expect(throws: WireError.self) { try PDU(decoding: prefix.span) }
        }
        let longer = octets + [0]
        if !isOpen { #expect(throws: WireError.self) { try PDU(decoding: longer.span) } }
    }

    @Test("Records are read and written alike; every prefix is refused")
    func records() throws {
        try check(
            CommandReject(reason: 1, data: [0x17, 0]), "0100 1700", isOpen: true)
        try check(
            ConnectionParameterUpdateRequest(
                intervalMin: 6, intervalMax: 12, latency: 1, timeout: 200), "0600 0C00 0100 C800")
        try check(ConnectionParameterUpdateResponse(result: 1), "0100")
        var disconnection = DisconnectionRequest()
        (disconnection.destinationCID, disconnection.sourceCID) = (0x41, 0x40)
        try check(disconnection, "4100 4000")
        var disconnected = DisconnectionResponse()
        (disconnected.destinationCID, disconnected.sourceCID) = (0x41, 0x40)
        try check(disconnected, "4100 4000")
        var connection = LECreditBasedConnectionRequest()
        (connection.spsm, connection.sourceCID, connection.mtu) = (0x25, 0x40, 23)
        (connection.mps, connection.initialCredits) = (24, 1)
        try check(connection, "2500 4000 1700 1800 0100")
        try check(LECreditBasedConnectionResponse(result: 2), "0000 0000 0000 0000 0200")
        var credit = FlowControlCredit()
        (credit.cid, credit.credits) = (0x40, 3)
        try check(credit, "4000 0300")
        var header = SignallingHeader()
        (header.code, header.identifier, header.length) = (.commandReject, 3, 2)
        #expect(header.encoded == [1, 3, 2, 0])
    }

    @Test("No octets end the process, and no answer is above the signalling MTU")
    func random() {
        var random = SeededRandom(seed: 3, stream: "signalling")
        for role in [SignallingChannel.Role.peripheral, .central] {
            var channel = SignallingChannel(role: role)
            for _ in 0..<20_000 {
                var pdu = (0..<random.below(30)).map { _ in UInt8(random.below(256)) }
                if random.below(2) == 0, pdu.count >= 4 {
                    pdu[0] = UInt8(random.below(0x20))
                    pdu[2] = UInt8(pdu.count - 4)
                    pdu[3] = 0
                }
                var (reply, events) = (ByteBlock(), Outputs<SignallingEvent>())
                channel.receive(pdu.span, at: .zero, reply: &reply, emit: &events)
                #expect(reply.count <= SignallingChannel.mtu && events.count <= 1)
            }
        }
    }
}
