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

    mutating func open() throws(SystemError) -> Opening {
        if let listener { return .waiting(listener) }
        let listener = try listen()
        self.listener = listener
        return .waiting(listener)
    }

    private func listen() throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try Sockets.listen(atPath: path, backlog: 1)
        } catch {
            guard error.code == EADDRINUSE else { throw error }
            guard isLeftBehind else {
                throw error.advising("choose another path, or end the program that has it")
            }
            _ = unsafe unlink(path)
            return try Sockets.listen(atPath: path, backlog: 1)
        }
    }

    /// Whether the path is a socket at which nobody listens.
    private var isLeftBehind: Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
            return false
        }
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
