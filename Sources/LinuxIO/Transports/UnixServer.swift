// unix-server: a controller that connects to our Unix socket.
import Glibc

/// Waits at a Unix socket for a controller, `unix-server:PATH`. The socket is removed at the end;
/// one that a killed program left behind is replaced.
struct UnixServer: TransportSource {
    static let form = "unix-server:PATH"
    static let meaning = "a controller that connects to our Unix socket"
    let path: String
    private var listener: Descriptor?

    init?(specification: Substring) {
        guard let path = Self.path(specification) else { return nil }
        self.path = path
    }

    /// A socket's path: not empty, and short enough for the kernel.
    static func path(_ text: Substring) -> String? {
        (1...SocketAddress.pathOctetsMax).contains(text.utf8.count) && !text.utf8.contains(0)
            ? String(text) : nil
    }

    var place: String { path }

    mutating func open() throws(SystemError) -> Opening { .waiting(try listen(backlog: 1)) }

    /// - Parameter isPrivate: whether nobody but our own user may connect.
    mutating func listen(
        backlog: Int32, isPrivate: Bool = false
    ) throws(SystemError) -> Descriptor {
        if let listener { return listener }
        let bound: Descriptor
        do throws(SystemError) {
            bound = try Sockets.listen(atPath: path, backlog: backlog, isPrivate: isPrivate)
        } catch {
            guard error.code == EADDRINUSE else { throw error }
            guard isLeftBehind else { throw occupied }
            _ = unsafe unlink(path)
            bound = try Sockets.listen(atPath: path, backlog: backlog, isPrivate: isPrivate)
        }
        listener = bound
        return bound
    }

    private var isSocket: Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    private var occupied: SystemError {
        let isTaken = isSocket || path.hasPrefix("@")
        return SystemError(
            EADDRINUSE, operation: "listen at", object: path,
            reason: isTaken
                ? "another program listens there" : "there is a file that is no socket",
            advice: "choose another path, or \(isTaken ? "end that program" : "remove the file")")
    }

    /// Whether the path is a socket at which nobody listens.
    private var isLeftBehind: Bool {
        guard isSocket else { return false }
        do throws(SystemError) {
            _ = try Sockets.connect(toPath: path)
            return false
        } catch { return error.code == ECONNREFUSED }
    }

    func accept() throws(SystemError) -> Descriptor? {
        guard let listener else { return nil }
        return try Sockets.accept(from: listener, path)?.descriptor
    }

    mutating func close() {
        guard let listener else { return }
        listener.close()
        self.listener = nil
        if !path.hasPrefix("@") { _ = unsafe unlink(path) }
    }
}
