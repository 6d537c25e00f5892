// Replays a transcript on a server and finds the first difference.
import SansIO
import Wire

extension Transcript {
    /// Replays the steps on a copy of `server`, from a plain link of client 0 on.
    /// - Returns: the first difference, nil where the server did as the transcript says.
    public func run(on server: GATTServer) -> TranscriptDifference? {
        var run = TranscriptRun(server: server)
        for (line, step) in steps {
            if let message = run.perform(step) {
                return TranscriptDifference(line: line, message: message)
            }
        }
        guard let message = run.leftover else { return nil }
        return TranscriptDifference(line: steps.last?.line ?? 1, message: message)
    }
}

private struct TranscriptRun {
    var server: GATTServer
    var client = 0
    var now = Instant.zero
    /// What the server has sent to each client and no step has asked for yet.
    var sent = Array(repeating: [[UInt8]](), count: GATTServer.clientsMax)

    init(server: GATTServer) {
        self.server = server
        self.server.connect(0)
    }

    /// What the server has sent to any client and no step has asked for, as a complaint.
    var leftover: String? {
        for client in sent.indices {
            if let complaint = leftover(of: client) { return complaint }
        }
        return nil
    }

    private func leftover(of client: Int) -> String? {
        guard !sent[client].isEmpty else { return nil }
        let text = sent[client].map { Hex.string($0) }.joined(separator: ", ")
        return "the server also sent \(text)" + (client > 0 ? " to client \(client)" : "")
    }

    /// Does one step; a complaint where the server did otherwise.
    mutating func perform(_ step: Transcript.Step) -> String? {
        switch step {
        case .send(let pdu): send(pdu)
        case .expect(let pdu): return expect(pdu)
        case .silence: return leftover(of: client)
        case .link(let security):
            server.setSecurity(security, of: client)
            indicate()
        case .notify(let handle, let value):
            if let value, !server.setValue(value, of: handle) {
                return "\(Hex.code(handle)) cannot take the value \(Hex.string(value))"
            }
            notify(handle, to: client)
        case .notifyMultiple(let handles):
            var pdu = ByteBlock(capacity: 64)
            _ = server.multipleNotification(of: handles, to: client, into: &pdu)
            if !pdu.isEmpty { sent[client].append(pdu.bytes) }
        case .set(let handle, let value):
            guard server.setValue(value, of: handle) else {
                return "\(Hex.code(handle)) cannot take the value \(Hex.string(value))"
            }
        case .value(let handle, let value):
            let present = server.value(of: handle).map { Hex.string($0) }
            guard present == Hex.string(value) else {
                return "the value of \(Hex.code(handle)) is \(present ?? "none"), "
                    + "expected \(Hex.string(value))"
            }
        case .disconnect:
            if let complaint = leftover(of: client) { return complaint }
            server.disconnect(client)
            server.connect(client)
        case .client(let number):
            client = number
            if !server.isConnected(number) { server.connect(number) }
        case .wait(let span):
            now = now + span
            var events = Outputs<ServerEvent>()
            server.expire(at: now, emit: &events)
        case .changed(let range):
            server.databaseChanged(range)
            indicate()
        }
        return nil
    }

    private mutating func expect(_ pdu: [UInt8]) -> String? {
        guard let first = sent[client].first else {
            return "the server sent nothing, expected \(Hex.string(pdu))"
        }
        sent[client].removeFirst()
        guard first != pdu else { return nil }
        return "the server sent \(Hex.string(first)), expected \(Hex.string(pdu))"
    }

    private mutating func send(_ pdu: [UInt8]) {
        var reply = ByteBlock(capacity: 64)
        var events = Outputs<ServerEvent>()
        server.receive(pdu.span, from: client, at: now, reply: &reply, emit: &events)
        if !reply.isEmpty { sent[client].append(reply.bytes) }
        for case .indicationReady(let client, let handle) in events.elements {
            notify(handle, to: client)
        }
        indicate()
    }

    private mutating func notify(_ handle: UInt16, to client: Int) {
        var pdu = ByteBlock(capacity: 64)
        _ = server.notification(of: handle, to: client, at: now, into: &pdu)
        if !pdu.isEmpty { sent[client].append(pdu.bytes) }
    }

    /// Sends what waits to be indicated, which a new link, a CCCD or a change may have made due.
    private mutating func indicate() {
        for client in sent.indices {
            if let handle = server.pendingIndication(of: client) { notify(handle, to: client) }
        }
    }
}
