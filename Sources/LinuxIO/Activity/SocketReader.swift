// The source `socket`: lines from clients of a Unix socket.
import Advertising
import Glibc
import SansIO

/// Listens at a path; one client at a time is read, the next ones wait. The socket is removed at
/// the end, and one that a killed program left behind is replaced.
struct SocketReader: ActivityReader {
    private let path: String
    private let source: Int
    private var lines: SampleLineReader
    private var server: UnixServer?
    private var listener: Descriptor?
    private var client: Descriptor?

    init(path: String, source: Int) {
        self.path = path
        self.source = source
        lines = SampleLineReader(source: source)
    }

    var descriptor: Descriptor? { client ?? listener }
    var deadline: Instant? { nil }

    mutating func open() throws(SystemError) {
        guard var server = UnixServer(specification: path[...]) else {
            throw SystemError(
                ENAMETOOLONG, operation: "listen at", object: path,
                advice: "choose a path of at most \(SocketAddress.pathOctetsMax) octets")
        }
        guard case .waiting(let listener) = try server.open() else { return }
        self.listener = listener
        self.server = server
    }

    mutating func read(
        at now: Instant, through buffer: inout ReadBuffer, emit: inout Outputs<ActivityInput>
    ) {
        do throws(SystemError) {
            guard let client else {
                client = try server?.accept()
                return
            }
            guard case .count(let count) = try buffer.fill(from: client, path) else { return }
            guard count > 0 else { return leave("the client has gone", &emit) }
            let bytes = buffer.bytes
            lines.take(bytes.span.extracting(0..<count), emit: &emit)
        } catch { leave("\(error)", &emit) }
    }

    /// The client is over; the next one may come.
    private mutating func leave(_ reason: String, _ emit: inout Outputs<ActivityInput>) {
        lines.finish(emit: &emit)
        lines = SampleLineReader(source: source)
        emit.append(.sourceLost(reason: reason, source: source))
        client?.close()
        client = nil
    }

    mutating func close() {
        client?.close()
        client = nil
        server?.close()
        server = nil
        listener = nil
    }
}
