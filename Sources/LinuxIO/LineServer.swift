// A local server of text lines: many clients at a Unix socket that only its owner may use.
import Glibc
public import Wire

/// One client of a line server.
public final class LineClient {
    public let token: Token
    /// What is on its way to it; `LineServer.flush` writes it out.
    public private(set) var output = ByteBlock(capacity: 0)
    /// The largest answer among it, or before it since all was read.
    fileprivate var answerOctets = 0
    /// Whether it stays when it has said all that it had to say, to be told more.
    public var staysAfterEnd = false
    fileprivate let descriptor: Descriptor
    /// What it has sent and nobody has taken yet, from `start` on.
    fileprivate var input: [UInt8] = []
    fileprivate var start = 0
    /// Whether the rest of a line that is too long is passed over.
    fileprivate var isSkipping = false
    /// Whether it will send no more.
    fileprivate var hasEnded = false

    fileprivate init(token: Token, descriptor: Descriptor) {
        self.token = token
        self.descriptor = descriptor
    }

    /// Sends the answer to a line; however large it is, the client may take its time to read it.
    public func answer(_ octets: [UInt8]) {
        answerOctets = max(answerOctets, octets.count)
        output.append(octets)
    }

    /// Sends what it did not ask for now.
    public func tell(_ octets: [UInt8]) { output.append(octets) }

    fileprivate func write(to path: String) throws(SystemError) {
        guard !output.isEmpty else { return }
        output.removeFirst(try descriptor.write(output.bytes, 0..<output.count, to: path))
        if output.isEmpty { answerOctets = 0 }
    }

    /// Whether there is a line to take, or too much for one.
    fileprivate func hasLine(_ octetsMax: Int) -> Bool {
        input.count - start > octetsMax || input[start...].contains(UInt8(ascii: "\n"))
    }
}

/// A line of a client.
public enum ClientLine {
    /// Without its end.
    case line([UInt8])
    /// It is passed over.
    case tooLong
}

/// Listens at a path and cuts what clients send into lines. The socket is removed at the end, and
/// one that a killed program left behind is replaced.
///
/// The owner hands it every event of the loop, takes lines while there are some and calls `flush`
/// at the end of a turn.
public final class LineServer {
    public let path: String
    public private(set) var clients: [LineClient] = []
    private let lineOctetsMax: Int
    private let refusal: [UInt8]
    private var server: UnixServer
    private let listener: Descriptor
    private let token: Token
    private var buffer = ReadBuffer()
    private var spare = SpareDescriptor()

    /// Clients that may wait to be taken; one more is refused by the kernel at once.
    private static let backlog: Int32 = 128
    /// Clients at once.
    public static let clientsMax = 32
    /// Octets a client may leave unread besides an answer; beyond them it is dropped.
    public static let outputOctetsMax = 1 << 20
    /// With more than this unread no more of its lines are taken, so that who asks much and reads
    /// slowly waits.
    static let answersOctetsMax = 65_536

    /// - Parameters:
    ///   - lineOctetsMax: of a line without its end.
    ///   - refusal: the line, with its end, that one client too many gets.
    public init(
        path: String, lineOctetsMax: Int, refusal: String = "", loop: inout EventLoop
    ) throws(SystemError) {
        guard var server = UnixServer(specification: path[...]) else {
            throw SystemError(
                path.isEmpty ? ENOENT : ENAMETOOLONG, operation: "listen at",
                object: path.isEmpty ? "an empty path" : path,
                advice: "choose a path of 1 to \(SocketAddress.pathOctetsMax) octets")
        }
        listener = try server.listen(backlog: Self.backlog, isPrivate: true)
        self.server = server
        self.path = path
        self.lineOctetsMax = lineOctetsMax
        self.refusal = Array(refusal.utf8)
        token = loop.makeToken()
        try loop.watch(listener, as: token, for: .readable)
    }

    deinit { close() }

    /// Ends all connections and removes the socket.
    public func close() {
        for client in clients { client.descriptor.close() }
        clients.removeAll()
        server.close()
    }

    // MARK: input

    /// Handles an event of the loop: takes a new client, or reads once from one.
    public func handle(_ event: ReadyEvent, loop: inout EventLoop) throws(SystemError) {
        if event.token == token { return try accept(&loop) }
        guard let client = clients.first(where: { $0.token == event.token }) else { return }
        // A client that reads no more either is gone, whatever waits for it.
        if client.hasEnded, event.isHangup { return remove(client, &loop) }
        guard event.isReadable || event.isHangup, !client.hasEnded,
            !client.hasLine(lineOctetsMax)
        else { return }
        do throws(SystemError) {
            switch try buffer.fill(from: client.descriptor, path) {
            case .wouldBlock: break
            case .count(0): end(client)
            case .count(let count):
                client.input.removeFirst(client.start)
                client.start = 0
                client.input += buffer.bytes.prefix(count)
            }
        } catch { remove(client, &loop) }
    }

    /// The client has said all. Its last line may lack an end.
    private func end(_ client: LineClient) {
        client.hasEnded = true
        if client.start < client.input.count { client.input.append(UInt8(ascii: "\n")) }
    }

    private func accept(_ loop: inout EventLoop) throws(SystemError) {
        let accepted: Descriptor?
        do throws(SystemError) { accepted = try server.accept() } catch {
            guard spare.helps(error) else { throw error }
            return try spare.turnAway(from: listener, path)
        }
        guard let accepted else { return }
        guard clients.count < Self.clientsMax else {
            // It is turned away whether it hears why or not.
            _ = try? accepted.write(refusal, 0..<refusal.count, to: path)
            return accepted.close()
        }
        let client = LineClient(token: loop.makeToken(), descriptor: accepted)
        try loop.watch(accepted, as: client.token, for: .readable)
        clients.append(client)
    }

    /// Whether a line can be taken without waiting for an event.
    public var hasLines: Bool { clients.contains { isReady($0) } }

    private func isReady(_ client: LineClient) -> Bool {
        client.output.count < Self.answersOctetsMax && client.hasLine(lineOctetsMax)
    }

    /// Takes the next line of a client whose answers do not pile up, one client after another.
    public func nextLine() -> (LineClient, ClientLine)? {
        while let index = clients.firstIndex(where: { isReady($0) }) {
            let client = clients[index]
            let rest = client.input[client.start...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let length = (end ?? rest.endIndex) - client.start
            let (wasSkipping, isTooLong) = (client.isSkipping, length > lineOctetsMax)
            let line = wasSkipping || isTooLong ? [] : Array(rest[..<(end ?? rest.endIndex)])
            client.start = end.map { $0 + 1 } ?? rest.endIndex
            client.isSkipping = end == nil
            if wasSkipping { continue }
            clients.append(clients.remove(at: index))
            return (client, isTooLong ? .tooLong : .line(line))
        }
        return nil
    }

    // MARK: output

    /// Writes out what the clients' blocks hold, one write each.
    /// - Returns: why clients were dropped, if some were.
    public func flush(_ loop: inout EventLoop) throws(SystemError) -> [String] {
        var reasons: [String] = []
        for client in clients {
            if try !write(client, &loop) {
                remove(client, &loop)
            } else if client.output.count - client.answerOctets > Self.outputOctetsMax {
                remove(client, &loop)
                reasons.append("it left more than 1 MiB unread")
            }
        }
        return reasons
    }

    /// Returns whether the client is still there, and has something to say or to hear.
    private func write(_ client: LineClient, _ loop: inout EventLoop) throws(SystemError) -> Bool {
        do throws(SystemError) { try client.write(to: path) } catch { return false }
        let hasLine = client.hasLine(lineOctetsMax)
        if client.hasEnded, client.output.isEmpty, !hasLine, !client.staysAfterEnd {
            return false
        }
        // A line that waits is answered before more is read.
        var interest: Interest = client.hasEnded || hasLine ? [] : .readable
        if !client.output.isEmpty { interest.insert(.writable) }
        try loop.watch(client.descriptor, as: client.token, for: interest)
        return true
    }

    private func remove(_ client: LineClient, _ loop: inout EventLoop) {
        loop.unwatch(client.token)
        client.descriptor.close()
        clients.removeAll { $0 === client }
    }
}
