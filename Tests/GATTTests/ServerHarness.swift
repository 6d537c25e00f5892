// A server with its outputs, for tests that speak to it in hexadecimal.
import GATT
import SansIO
import Wire

struct ServerHarness {
    var server: GATTServer
    var now = Instant.zero
    var events: [ServerEvent] = []

    init(_ server: GATTServer, security: LinkSecurity = .plain) {
        self.server = server
        self.server.connect(0, security: security)
    }

    /// Sends a PDU and gives the answer, both in hexadecimal; the events are added to `events`.
    mutating func send(_ text: String, from client: Int = 0) -> String {
        send(Hex.bytes(text) ?? [], from: client)
    }

    mutating func send(_ pdu: [UInt8], from client: Int = 0) -> String {
        var reply = ByteBlock()
        var outputs = Outputs<ServerEvent>()
        server.receive(pdu.span, from: client, at: now, reply: &reply, emit: &outputs)
        events += outputs.elements
        return Hex.string(reply.bytes)
    }

    /// Notifies or indicates, and gives the PDU in hexadecimal.
    mutating func notify(
        _ handle: UInt16, to client: Int = 0
    ) -> (result: NotificationResult, pdu: String) {
        var pdu = ByteBlock()
        let result = server.notification(of: handle, to: client, at: now, into: &pdu)
        return (result, Hex.string(pdu.bytes))
    }

    mutating func expire() {
        var outputs = Outputs<ServerEvent>()
        server.expire(at: now, emit: &outputs)
        events += outputs.elements
    }

    /// The events since the last call.
    mutating func takeEvents() -> [ServerEvent] {
        defer { events = [] }
        return events
    }
}
