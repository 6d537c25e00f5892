// unix: a controller that listens at a Unix socket.
import Glibc

/// Connects to a controller's Unix socket, `unix:PATH`; a path that starts with `@` is abstract.
struct UnixClient: TransportSource {
    static let form = "unix:PATH"
    static let meaning = "a controller that listens at a Unix socket"
    let path: String

    init?(specification: Substring) {
        guard let path = UnixServer.path(specification) else { return nil }
        self.path = path
    }

    var place: String { path }

    func open() throws(SystemError) -> Opening {
        do throws(SystemError) {
            switch try Sockets.connect(toPath: path) {
            case .done(let descriptor): return .open(descriptor)
            case .pending(let descriptor): return .connecting(descriptor)
            }
        } catch {
            let isAbsent = error.code == ENOENT || error.code == ECONNREFUSED
            throw isAbsent
                ? error.advising("no controller listens there: start it first, or correct the path")
                : error
        }
    }
}
