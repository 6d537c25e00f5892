// unix-server: a controller that connects to our Unix socket.
import Glibc

/// Waits at a Unix socket for a controller, `unix-server:PATH`. The socket is removed at the end;
/// one that a killed program left behind is replaced.
struct UnixServer: TransportSource {
    static let form = "unix-server:PATH"
    static let meaning = "a controller that connects to our Unix socket"
    let path: String
    private var listener: Descriptor?
    /// The file that the listener made at the path.
    private var file: FileIdentity?

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
    var ownFile: String? { path.hasPrefix("@") ? nil : path }

    mutating func open() throws(SystemError) -> Opening { .waiting(try listen(backlog: 1)) }

    /// - Parameter isPrivate: whether nobody but our own user may connect.
    mutating func listen(
        backlog: Int32, isPrivate: Bool = false
    ) throws(SystemError) -> Descriptor {
        if let listener { return listener }
        // Who else starts here waits until this socket listens, or sees that it does.
        let lock = FolderLock(of: path)
        defer { lock?.release() }
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
        file = FileIdentity(at: path)
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
        // While the listener is open no other file can have its number.
        let lock = FolderLock(of: path)
        if let file, file == FileIdentity(at: path) { _ = unsafe unlink(path) }
        lock?.release()
        listener.close()
        self.listener = nil
        file = nil
    }
}

/// Which file stands at a path, whatever its name.
private struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// nil where there is none, and in the abstract namespace.
    init?(at path: String) {
        var status = stat()
        guard !path.hasPrefix("@"), unsafe lstat(path, &status) == 0 else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}

/// Keeps other starts of this program from the sockets of a folder. It ends with the process at
/// the latest and leaves no file.
private struct FolderLock {
    private let descriptor: Descriptor

    /// Holders need milliseconds; whoever holds it for longer is none of us.
    private static let tries = 100

    /// Waits for up to 1 s; nil where the folder cannot be locked, as one that cannot be read.
    init?(of path: String) {
        guard !path.hasPrefix("@") else { return nil }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { String(path[...$0]) } ?? "."
        let number = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(number)
        for _ in 0..<Self.tries {
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(10_000)
        }
        return nil
    }

    func release() { descriptor.close() }
}
