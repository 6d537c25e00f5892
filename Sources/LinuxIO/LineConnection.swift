// A client's connection to a local server of text lines; it waits.
import Glibc

/// A connection to a Unix socket over which lines go both ways.
public final class LineConnection {
    private let path: String
    private let descriptor: Descriptor
    private var buffer = ReadBuffer()
    private var input: [UInt8] = []

    /// Connects to the socket at `path`.
    public init(path: String) throws(SystemError) {
        self.path = path
        guard let path = UnixServer.path(path[...]) else {
            throw SystemError(ENAMETOOLONG, operation: "connect to", object: path)
        }
        do throws(SystemError) { descriptor = try Self.connect(path) } catch {
            let isAbsent = error.code == ENOENT || error.code == ECONNREFUSED
            throw error.advising(
                isAbsent ? "is the accessory running, with --control \(path)?" : nil)
        }
    }

    private static func connect(_ path: String) throws(SystemError) -> Descriptor {
        var left = connectTries
        while true {
            do throws(SystemError) {
                switch try Sockets.connect(toPath: path) {
                case .done(let descriptor), .pending(let descriptor): return descriptor
                }
            } catch {
                // More clients wait there than the kernel lets wait.
                guard error.code == EAGAIN, left > 0 else { throw error }
                left -= 1
                usleep(10_000)
            }
        }
    }

    /// 10 ms apart.
    private static let connectTries = 500

    /// Sends a text with the ends of its lines.
    public func send(_ text: String) throws(SystemError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try wait(for: POLLOUT, milliseconds: -1)
            // A server that has gone is an error, not the end of this process.
            let count = try systemCall("write to", path) {
                unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(
                        descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The next line without its end; nil where the server has closed the connection.
    /// - Parameter milliseconds: how long to wait for octets; -1 is without end.
    public func line(within milliseconds: Int32 = -1) throws(SystemError) -> String? {
        var looked = 0
        while true {
            if let end = input[looked...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: input[..<end], as: UTF8.self)
                input.removeFirst(end + 1)
                return line
            }
            looked = input.count
            try wait(for: POLLIN, milliseconds: milliseconds)
            switch try buffer.fill(from: descriptor, path) {
            case .wouldBlock: break
            case .count(0): return nil
            case .count(let count): input += buffer.bytes.prefix(count)
            }
        }
    }

    private func wait(for events: Int32, milliseconds: Int32) throws(SystemError) {
        var state = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
        let count = try systemCall("wait for", path) { unsafe poll(&state, 1, milliseconds) }
        guard count > 0 else {
            throw SystemError(
                ETIMEDOUT, operation: "get an answer from", object: path,
                reason: "it did not answer within \(milliseconds / 1000) s")
        }
    }
}
