// tcp-server: a controller that connects to us.
import Glibc

/// Waits at a TCP port for a controller, `tcp-server:[HOST:]PORT`. Without a host it listens on
/// loopback only; `_` is every address. One peer is served, the next waits until it is gone.
struct TCPServer: TransportSource {
    static let form = "tcp-server:[HOST:]PORT"
    static let meaning = "a controller that connects to us; HOST is loopback, or _ for any"
    let endpoint: Endpoint
    private var listener: Descriptor?

    init?(specification: Substring) {
        if let port = Endpoint.port(specification) {
            endpoint = Endpoint(loopbackPort: port)
        } else if specification.hasPrefix("_:"),
            let port = Endpoint.port(specification.dropFirst(2))
        {
            endpoint = Endpoint(address: Endpoint.everywhere, port: port)
        } else if let endpoint = Endpoint(specification) {
            self.endpoint = endpoint
        } else {
            return nil
        }
    }

    var place: String { "\(listener.flatMap(Sockets.localEndpoint) ?? endpoint)" }

    mutating func open() throws(SystemError) -> Opening {
        if let listener { return .waiting(listener) }
        do throws(SystemError) {
            let listener = try Sockets.listen(at: endpoint, backlog: 1)
            self.listener = listener
            return .waiting(listener)
        } catch {
            throw error.code == EADDRINUSE
                ? error.advising("choose another port, or end the program that has it") : error
        }
    }

    func accept() throws(SystemError) -> Descriptor? {
        guard let listener else { return nil }
        return try Sockets.accept(from: listener, place)?.descriptor
    }

    mutating func close() {
        listener?.close()
        listener = nil
    }

    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    {
        try Sockets.read(descriptor, into: &buffer, name)
    }
}
