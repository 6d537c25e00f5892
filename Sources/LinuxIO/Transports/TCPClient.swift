// tcp-client: a controller that listens at a TCP port.
import Glibc

/// Connects to a controller's TCP port, `tcp-client:HOST:PORT`.
struct TCPClient: TransportSource {
    static let form = "tcp-client:HOST:PORT"
    static let meaning = "a controller that listens at a TCP port"
    let endpoint: Endpoint

    init?(specification: Substring) {
        guard let endpoint = Endpoint(specification), endpoint.port != 0 else { return nil }
        self.endpoint = endpoint
    }

    var place: String { "\(endpoint)" }

    func open() throws(SystemError) -> Opening {
        do throws(SystemError) {
            switch try Sockets.connect(to: endpoint) {
            case .done(let descriptor): return .open(descriptor)
            case .pending(let descriptor): return .connecting(descriptor)
            }
        } catch { throw error.code == ECONNREFUSED ? connectError(error.code) : error }
    }

    func connectError(_ code: Int32) -> SystemError {
        let advice: String? =
            switch code {
            case ECONNREFUSED: "no controller listens there: start it first, or correct the port"
            case ETIMEDOUT, EHOSTUNREACH, ENETUNREACH: "check the address and the network"
            default: nil
            }
        return SystemError(code, operation: "connect to", object: place, advice: advice)
    }

    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    {
        try Sockets.read(descriptor, into: &buffer, name)
    }
}
