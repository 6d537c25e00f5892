// The virtual air's door: other hosts join over TCP, each connection one controller.
import Glibc
public import Wire

/// One host that has joined the air.
public final class AirPeer {
    public let token: Token
    /// For messages: its address and port, or the adapter's name.
    public internal(set) var name: String
    /// Packets on their way to it; `flush` of who made it writes them out.
    public var output = ByteBlock()
    let descriptor: Descriptor
    fileprivate var isWritePending = false

    init(token: Token, name: String, descriptor: Descriptor) {
        self.token = token
        self.name = name
        self.descriptor = descriptor
    }
}

/// What an event at the air's door came to.
public enum AirEvent {
    case opened(AirPeer)
    /// So many octets of the peer stand at the front of the buffer.
    case bytes(AirPeer, Int)
    /// The peer is gone; nothing of it is watched any more.
    case closed(AirPeer, reason: String)
    /// The event was not for the air, or nothing came of it.
    case nothing
}

/// Listens at a TCP port and carries the octets of every host that connects.
public final class AirServer {
    /// Where it listens, with the port it got.
    public let endpoint: Endpoint
    private let listener: Descriptor
    private let token: Token
    private var spare = SpareDescriptor()
    /// By rising token, as they came.
    public private(set) var peers: [AirPeer] = []

    /// Port 6402 of loopback, RootCanal's HCI port.
    public static let endpointDefault = Endpoint(loopbackPort: 6402)
    /// Octets a peer may leave unread; beyond them it is dropped, or it would cost memory for ever.
    public static let outputOctetsMax = 1 << 20
    /// Hosts at once; each is a controller of its own. Well below the usual 1024 descriptors.
    public static let peersMax = 256

    /// Listens at `endpoint`; port 0 takes a free one.
    public init(_ endpoint: Endpoint, loop: inout EventLoop) throws(SystemError) {
        listener = try Sockets.listen(at: endpoint, backlog: 64)
        self.endpoint = Sockets.localEndpoint(of: listener) ?? endpoint
        token = loop.makeToken()
        try loop.watch(listener, as: token, for: .readable)
    }

    /// The peer of a token, if it is still there.
    public func peer(_ token: Token) -> AirPeer? { index(of: token).map { peers[$0] } }

    private func index(of token: Token) -> Int? {
        var (low, high) = (0, peers.count)
        while low < high {
            let middle = (low + high) / 2
            if peers[middle].token < token { low = middle + 1 } else { high = middle }
        }
        return low < peers.count && peers[low].token == token ? low : nil
    }

    /// Handles an event of the loop: takes one new peer, or reads once from a peer.
    public func handle(_ event: ReadyEvent, loop: inout EventLoop, buffer: inout ReadBuffer)
        throws(SystemError) -> AirEvent
    {
        if event.token == token { return try accept(&loop) }
        guard let index = index(of: event.token) else { return .nothing }
        let peer = peers[index]
        guard event.isReadable || event.isHangup else { return .nothing }
        do throws(SystemError) {
            switch try buffer.fill(from: peer.descriptor, peer.name) {
            case .wouldBlock: return .nothing
            case .count(0): return remove(peer, "it closed the connection", &loop)
            case .count(let count): return .bytes(peer, count)
            }
        } catch { return remove(peer, error.reason, &loop) }
    }

    private func accept(_ loop: inout EventLoop) throws(SystemError) -> AirEvent {
        let accepted: (descriptor: Descriptor, peer: Endpoint?)?
        do throws(SystemError) {
            accepted = try Sockets.accept(from: listener, "\(endpoint)")
        } catch {
            guard spare.helps(error) else { throw error }
            try spare.turnAway(from: listener, "\(endpoint)")
            return .nothing
        }
        guard let (descriptor, address) = accepted else { return .nothing }
        let name = address.map { "\($0)" } ?? "a host"
        let peer = AirPeer(token: loop.makeToken(), name: name, descriptor: descriptor)
        guard peers.count < Self.peersMax else {
            descriptor.close()
            return .closed(peer, reason: "\(Self.peersMax) hosts are on the air already")
        }
        try loop.watch(descriptor, as: peer.token, for: .readable)
        peers.append(peer)
        return .opened(peer)
    }

    /// Writes out what the peers' blocks hold, one write each; to be called at the end of a turn.
    /// - Returns: the peers that were dropped, in the order they came, as `.closed`.
    public func flush(_ loop: inout EventLoop) throws(SystemError) -> [AirEvent] {
        var departures: [AirEvent] = []
        var index = 0
        while index < peers.count {
            let peer = peers[index]
            if let reason = try write(peer, &loop) {
                departures.append(remove(peer, reason, &loop))
            } else {
                index += 1
            }
        }
        return departures
    }

    /// Returns why the peer must go, nil where it may stay.
    private func write(_ peer: AirPeer, _ loop: inout EventLoop) throws(SystemError) -> String? {
        guard !peer.output.isEmpty else { return nil }
        do throws(SystemError) {
            let count = try peer.descriptor.write(
                peer.output.bytes, 0..<peer.output.count, to: peer.name)
            if count == peer.output.count {
                peer.output.removeAll()
            } else {
                peer.output.removeFirst(count)
            }
        } catch { return error.reason }
        if peer.output.count > Self.outputOctetsMax {
            return "it left more than 1 MiB unread"
        }
        if peer.isWritePending == peer.output.isEmpty {
            peer.isWritePending.toggle()
            try loop.watch(
                peer.descriptor, as: peer.token,
                for: peer.isWritePending ? [.readable, .writable] : .readable)
        }
        return nil
    }

    private func remove(_ peer: AirPeer, _ reason: String, _ loop: inout EventLoop) -> AirEvent {
        loop.unwatch(peer.token)
        peer.descriptor.close()
        peers.removeAll { $0 === peer }
        return .closed(peer, reason: reason)
    }

    /// Puts a peer out, one that sent rubbish for instance.
    public func drop(_ peer: AirPeer, reason: String, loop: inout EventLoop) -> AirEvent {
        remove(peer, reason, &loop)
    }
}
