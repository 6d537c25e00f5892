// Stream sockets: connect without blocking, listen, accept.
import Glibc

/// What stream transports and the air server do with sockets. All descriptors are non-blocking.
enum Sockets {
    /// Where a connection stands after `connect`.
    enum Connecting {
        case done(Descriptor)
        /// The socket becomes writable when it is decided.
        case pending(Descriptor)
    }

    /// A new stream socket.
    private static func stream(_ family: Int32, _ object: String) throws(SystemError) -> Descriptor
    {
        let type = Int32(SOCK_STREAM.rawValue) | O_NONBLOCK | O_CLOEXEC
        return Descriptor(
            try systemCall("open a socket for", object) { socket(family, type, 0) })
    }

    private static func family(_ endpoint: Endpoint) -> Int32 {
        switch endpoint.address {
        case .v4: AF_INET
        case .v6: AF_INET6
        }
    }

    /// Starts to connect to a TCP server.
    static func connect(to endpoint: Endpoint) throws(SystemError) -> Connecting {
        let descriptor = try stream(family(endpoint), "\(endpoint)")
        noDelay(descriptor)
        return try connect(descriptor, SocketAddress(endpoint), "\(endpoint)")
    }

    /// Starts to connect to a Unix socket.
    static func connect(toPath path: String) throws(SystemError) -> Connecting {
        try connect(try stream(AF_UNIX, path), SocketAddress(path: path), path)
    }

    private static func connect(
        _ descriptor: Descriptor, _ address: SocketAddress, _ object: String
    ) throws(SystemError) -> Connecting {
        let result = unsafe address.withPointer { unsafe Glibc.connect(descriptor.number, $0, $1) }
        let code = result == 0 ? failure(of: descriptor) ?? 0 : errno
        if code == 0 { return .done(descriptor) }
        // An interrupted connect goes on in the background, as one in progress.
        if code == EINPROGRESS || code == EINTR { return .pending(descriptor) }
        throw SystemError(code, operation: "connect to", object: object)
    }

    /// How a connection was decided: nil when it is made, else the errno.
    static func failure(of descriptor: Descriptor) -> Int32? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let result = unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_ERROR, &code, &length)
        if result != 0 { return errno }
        if code == 0, isOwnPeer(descriptor) { return ECONNREFUSED }
        return code == 0 ? nil : code
    }

    /// Whether a socket is connected to itself. TCP does that when a client tries a port of the
    /// ephemeral range again and again and is itself given that port.
    private static func isOwnPeer(_ descriptor: Descriptor) -> Bool {
        let (peer, result) = unsafe SocketAddress.filled {
            unsafe getpeername(descriptor.number, $0, $1)
        }
        guard result == 0, let endpoint = peer.endpoint else { return false }
        return endpoint == localEndpoint(of: descriptor)
    }

    /// A TCP socket that listens; its port may be one that the kernel chose.
    static func listen(at endpoint: Endpoint, backlog: Int32) throws(SystemError) -> Descriptor {
        let descriptor = try stream(family(endpoint), "\(endpoint)")
        var on: Int32 = 1
        // A port whose former connections still linger in TIME_WAIT can be taken at once.
        unsafe setsockopt(
            descriptor.number, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        try bind(descriptor, SocketAddress(endpoint), "\(endpoint)")
        _ = try systemCall("listen at", "\(endpoint)") { Glibc.listen(descriptor.number, backlog) }
        return descriptor
    }

    /// A Unix socket that listens at a path that does not exist yet.
    /// - Parameter isPrivate: whether its mode is 0600 from its first moment on.
    static func listen(
        atPath path: String, backlog: Int32, isPrivate: Bool = false
    ) throws(SystemError) -> Descriptor {
        let descriptor = try stream(AF_UNIX, path)
        let mask = isPrivate ? umask(0o177) : nil
        defer { if let mask { _ = umask(mask) } }
        try bind(descriptor, SocketAddress(path: path), path)
        _ = try systemCall("listen at", path) { Glibc.listen(descriptor.number, backlog) }
        return descriptor
    }

    private static func bind(_ descriptor: Descriptor, _ address: SocketAddress, _ object: String)
        throws(SystemError)
    {
        _ = try systemCall("listen at", object) {
            unsafe address.withPointer { unsafe Glibc.bind(descriptor.number, $0, $1) }
        }
    }

    /// The address a socket is bound to.
    static func localEndpoint(of descriptor: Descriptor) -> Endpoint? {
        let (address, result) = unsafe SocketAddress.filled {
            unsafe getsockname(descriptor.number, $0, $1)
        }
        return result == 0 ? address.endpoint : nil
    }

    /// Takes the next waiting peer; nil where there is none, or it has gone again.
    static func accept(from listener: Descriptor, _ object: String) throws(SystemError)
        -> (descriptor: Descriptor, peer: Endpoint?)?
    {
        let (address, number) = unsafe SocketAddress.filled {
            unsafe Glibc.accept(listener.number, $0, $1)
        }
        if number >= 0 {
            let descriptor = Descriptor(number)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            let peer = address.endpoint
            if peer != nil { noDelay(descriptor) }
            return (descriptor, peer)
        }
        switch errno {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL, ENOTSOCK:
            throw SystemError(errno, operation: "accept a connection at", object: object)
        // Everything else is about the one peer that is no more (accept(2)).
        default: return nil
        }
    }

    /// Reads, and acknowledges at once what is too short for a packet. Its sender writes type and
    /// packet apart, as RootCanal does: without TCP_NODELAY its rest would wait for the
    /// acknowledgement, which the kernel keeps back for 40 ms (tcp(7), TCP_QUICKACK).
    static func read(
        _ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String
    ) throws(SystemError) -> Descriptor.Transfer {
        let transfer = try buffer.fill(from: descriptor, name)
        guard case .count(1..<packetOctetsMin) = transfer else { return transfer }
        var on: Int32 = 1
        unsafe setsockopt(
            descriptor.number, Int32(IPPROTO_TCP), TCP_QUICKACK, &on,
            socklen_t(MemoryLayout<Int32>.size))
        return transfer
    }

    /// The shortest HCI packet that a controller sends: an event without parameters.
    private static let packetOctetsMin = 3

    /// HCI packets are small and wait for answers: they must not be held back.
    private static func noDelay(_ descriptor: Descriptor) {
        var on: Int32 = 1
        unsafe setsockopt(
            descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, &on,
            socklen_t(MemoryLayout<Int32>.size))
    }
}
