// An owned file descriptor: closed once, at the latest when nothing refers to it.
import Glibc

/// An open file descriptor and its one owner.
public final class Descriptor {
    /// The kernel's number; -1 once it is closed.
    private(set) var number: Int32

    /// Takes over an open descriptor.
    init(_ number: Int32) { self.number = number }

    deinit { close() }

    /// Whether `close` has not been called.
    public var isOpen: Bool { number >= 0 }

    /// Closes the descriptor now; what the kernel had to say about it no longer matters.
    public func close() {
        guard number >= 0 else { return }
        _ = Glibc.close(number)
        number = -1
    }

    /// What a read of a non-blocking descriptor came to.
    enum Transfer {
        /// 0 is the end of the stream.
        case count(Int)
        case wouldBlock
    }

    /// Writes as much of `bytes` in `range` as the kernel takes and returns how much that was.
    func write(_ bytes: [UInt8], _ range: Range<Int>, to object: String) throws(SystemError) -> Int
    {
        while true {
            let count = unsafe bytes[range].withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress, $0.count)
            }
            if count >= 0 { return count }
            let code = errno
            if code == EAGAIN { return 0 }
            if code != EINTR { throw SystemError(code, operation: "write to", object: object) }
        }
    }
}

/// 64 KiB that every read of a loop goes through.
public struct ReadBuffer: Sendable {
    /// The most octets one read takes.
    public static let capacity = 65_536

    /// The octets of the last read, at the front. Look at them through
    /// `bytes.span.extracting(first: count)`.
    public private(set) var bytes = [UInt8](repeating: 0, count: capacity)

    public init() {}

    /// Reads once from a non-blocking descriptor.
    mutating func fill(from descriptor: Descriptor, _ object: String) throws(SystemError)
        -> Descriptor.Transfer
    {
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe read(descriptor.number, $0.baseAddress, $0.count)
            }
            if count >= 0 { return .count(count) }
            let code = errno
            if code == EAGAIN { return .wouldBlock }
            if code != EINTR { throw SystemError(code, operation: "read from", object: object) }
        }
    }
}
