// The control socket of a run: what its clients ask for, and what watching ones are told.
import Emulator
import LinuxIO
import SansIO
import Wire

/// Serves `--control PATH`.
final class ControlDoor {
    private let server: LineServer
    private var sessions: [Token: ControlSession] = [:]

    /// Lines answered in one turn, of all clients in turn; the device has its own before the next
    /// ones, and a line can be long.
    private static let linesMax = 8

    init(path: String, loop: inout EventLoop) throws(SystemError) {
        server = try LineServer(
            path: path, lineOctetsMax: RPC.lineOctetsMax,
            refusal: RPC.full(LineServer.clientsMax), loop: &loop)
    }

    /// When something must be done without an event.
    var deadline: Instant? { server.hasLines ? .zero : nil }

    private var watchers: [LineClient] {
        server.clients.filter { sessions[$0.token]?.isWatching == true }
    }

    /// Handles an event of the loop; one of somebody else's is ignored.
    func handle(_ event: ReadyEvent, loop: inout EventLoop) throws(SystemError) {
        try server.handle(event, loop: &loop)
    }

    /// Answers what the clients ask for.
    func answer(
        _ reporter: inout Reporter, of names: AccessoryNames, at now: Instant,
        _ perform: DevicePerformer
    ) {
        var left = Self.linesMax
        while left > 0, let (client, line) = server.nextLine() {
            left -= 1
            switch line {
            case .tooLong: client.answer(Array(RPC.lineTooLong.utf8))
            case .line(let line):
                var session = sessions[client.token] ?? ControlSession()
                if let answer = session.answer(line.span, of: names, at: now, perform) {
                    client.answer(Array(answer.utf8))
                }
                sessions[client.token] = session
                client.staysAfterEnd = session.isWatching
            }
        }
        reporter.isWatched = !watchers.isEmpty
    }

    /// Tells the watching clients what has happened, and writes out what the clients are to get.
    func flush(
        _ reporter: inout Reporter, loop: inout EventLoop, at now: Instant
    ) throws(SystemError) {
        let events = reporter.takeWatched()
        if !events.isEmpty {
            for client in watchers {
                let wanted = events.filter { sessions[client.token]?.wants($0) == true }
                client.tell(Array(wanted.map { RPC.event($0) }.joined().utf8))
            }
        }
        for reason in try server.flush(&loop) {
            reporter.log(.warning, "control: a client is dropped: \(reason)", at: now)
        }
        if sessions.count > server.clients.count {
            let present = Set(server.clients.map(\.token))
            sessions = sessions.filter { present.contains($0.key) }
            reporter.isWatched = !watchers.isEmpty
        }
    }
}
