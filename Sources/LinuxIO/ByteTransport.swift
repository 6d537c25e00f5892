// A pipe of H4 octets to a controller, whatever carries it.
import Glibc
import HCI
public import Wire

/// What a turn of `ByteTransport.read` found.
public enum ReadResult: Equatable, Sendable {
    /// The pipe is there: the connection is made, the peer has come.
    case opened
    /// So many octets stand at the front of the buffer.
    case bytes(Int)
    case wouldBlock
    /// The peer has ended the pipe. `reopen` begins again.
    case closed
}

/// A pipe of H4 octets to a controller.
///
/// The owner watches `descriptor` for `interest` (`EventLoop.watch(_:as:)` does both), calls `read`
/// on every event, appends packets to a block of its own and calls `write` at the end of a turn.
/// A client begins connecting when it is made, a server waits for a peer; `read` says `.opened`.
/// After `.closed` or an error nothing is watched until `reopen`.
public final class ByteTransport {
    /// As the user wrote it: `tcp-client:127.0.0.1:6402`.
    public let name: String
    private var source: any TransportSource
    private var state: State = .closed
    private var isWritePending = false

    private enum State {
        case closed
        case connecting(Descriptor)
        case waiting(Descriptor)
        /// Open since before the owner could look: `.opened` has yet to be said.
        case openUnsaid(Descriptor)
        case open(Descriptor)
    }

    /// A transport that is closed: `reopen` begins.
    init(name: String, source: any TransportSource) {
        self.name = name
        self.source = source
    }

    deinit { close() }

    /// Where the pipe goes or a peer finds it, as it turned out: the address with the port that the
    /// kernel chose, the link with its device.
    public var place: String { source.place }

    /// The file that it makes for a peer to find it by, and removes; nil for none.
    public var ownFile: String? { source.ownFile }

    /// Whether octets go through.
    public var isOpen: Bool {
        switch state {
        case .open: true
        case .closed, .connecting, .waiting, .openUnsaid: false
        }
    }

    /// Whether a client waits for its peer to take or refuse the connection.
    public var isConnecting: Bool {
        switch state {
        case .connecting: true
        case .closed, .waiting, .openUnsaid, .open: false
        }
    }

    /// Whether a server waits for its peer.
    public var isWaiting: Bool {
        switch state {
        case .waiting: true
        case .closed, .connecting, .openUnsaid, .open: false
        }
    }

    /// What the loop must watch now; nil while the transport is closed.
    public var descriptor: Descriptor? {
        switch state {
        case .closed: nil
        case .connecting(let descriptor), .waiting(let descriptor), .openUnsaid(let descriptor),
            .open(let descriptor):
            descriptor
        }
    }

    /// What to watch it for.
    public var interest: Interest {
        switch state {
        case .closed: []
        case .connecting: .writable
        case .waiting: .readable
        case .openUnsaid: [.readable, .writable]
        case .open: isWritePending ? [.readable, .writable] : .readable
        }
    }

    /// Begins, or begins again: a client connects anew, a server drops its peer and waits for the
    /// next one.
    public func reopen() throws(SystemError) {
        drop()
        switch try source.open() {
        case .open(let descriptor): state = .openUnsaid(descriptor)
        case .connecting(let descriptor): state = .connecting(descriptor)
        case .waiting(let descriptor): state = .waiting(descriptor)
        }
    }

    /// Ends the transport and removes what it made in the file system.
    public func close() {
        drop()
        source.close()
    }

    /// Ends the pipe; a server keeps its place for the peer that comes next.
    public func hangUp() { drop() }

    private func drop() {
        isWritePending = false
        switch state {
        case .closed, .waiting: break
        case .connecting(let descriptor), .openUnsaid(let descriptor), .open(let descriptor):
            descriptor.close()
        }
        state = .closed
    }

    /// Looks at what an event was about: one read of up to 64 KiB, or the news that the pipe is
    /// there.
    /// - Throws: what broke the pipe, or why it could not be made. The transport is closed then.
    public func read(into buffer: inout ReadBuffer) throws(SystemError) -> ReadResult {
        do throws(SystemError) {
            switch state {
            case .closed: return .wouldBlock
            case .connecting(let descriptor): return try finishConnecting(descriptor)
            case .waiting:
                guard let descriptor = try source.accept() else { return .wouldBlock }
                state = .open(descriptor)
                return .opened
            case .openUnsaid(let descriptor):
                state = .open(descriptor)
                return .opened
            case .open(let descriptor):
                switch try source.read(descriptor, into: &buffer, name) {
                case .wouldBlock: return .wouldBlock
                case .count(0):
                    drop()
                    return .closed
                case .count(let count): return .bytes(count)
                }
            }
        } catch {
            drop()
            throw error
        }
    }

    private func finishConnecting(_ descriptor: Descriptor) throws(SystemError) -> ReadResult {
        if let code = Sockets.failure(of: descriptor) {
            throw source.connectError(code)
        }
        state = .open(descriptor)
        return .opened
    }

    /// Writes what the kernel takes and removes it from `block`; the rest stays there and the
    /// interest asks for writability. Before the pipe is open the block is left alone.
    public func write(_ block: inout ByteBlock) throws(SystemError) {
        guard case .open(let descriptor) = state, !block.isEmpty else { return }
        do throws(SystemError) {
            let count = try source.write(block.bytes, to: descriptor, name)
            if count == block.count { block.removeAll() } else { block.removeFirst(count) }
            isWritePending = !block.isEmpty
        } catch {
            drop()
            throw error
        }
    }
}

extension EventLoop {
    /// Watches what `transport` needs watched now. Call it after each `read`, `write` and `reopen`.
    public mutating func watch(_ transport: ByteTransport, as token: Token) throws(SystemError) {
        if let descriptor = transport.descriptor {
            try watch(descriptor, as: token, for: transport.interest)
        } else {
            unwatch(token)
        }
    }
}

/// How far opening has come.
enum Opening {
    case open(Descriptor)
    /// Becomes writable when the connection is decided.
    case connecting(Descriptor)
    /// Becomes readable when a peer is there.
    case waiting(Descriptor)
}

/// One kind of transport: how its pipe comes to be. Each is one file and one line in `Transports`.
protocol TransportSource: SendableMetatype {
    /// How the specification is written: `tcp-client:HOST:PORT`.
    static var form: String { get }
    /// What it is, in a few words, for the help text.
    static var meaning: String { get }
    /// Reads what stands behind the colon; nil where it does not have the form.
    init?(specification: Substring)
    /// Where the pipe goes, or where a peer finds it.
    var place: String { get }
    /// The file that it makes for a peer to find it by; nil for none.
    var ownFile: String? { get }
    mutating func open() throws(SystemError) -> Opening
    /// The peer a waiting source has got; nil where it has none yet.
    mutating func accept() throws(SystemError) -> Descriptor?
    /// Removes what it made.
    mutating func close()
    /// Why a pending connection was not made.
    func connectError(_ code: Int32) -> SystemError
    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    /// Returns how many octets were taken.
    func write(_ bytes: [UInt8], to descriptor: Descriptor, _ name: String) throws(SystemError)
        -> Int
}

extension TransportSource {
    var ownFile: String? { nil }
    func accept() throws(SystemError) -> Descriptor? { nil }
    func close() {}

    func connectError(_ code: Int32) -> SystemError {
        SystemError(code, operation: "connect to", object: place)
    }

    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    {
        try buffer.fill(from: descriptor, name)
    }

    func write(_ bytes: [UInt8], to descriptor: Descriptor, _ name: String) throws(SystemError)
        -> Int
    {
        try descriptor.write(bytes, 0..<bytes.count, to: name)
    }
}
