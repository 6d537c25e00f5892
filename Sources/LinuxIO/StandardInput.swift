// Lines that a person types, or a script writes, on standard input.
import Glibc

/// Standard input in lines.
///
/// A terminal is read all the time, while the program is in its foreground; a pipe or a file only
/// while a line is wanted, so that its lines stay where they are until something is asked.
public final class StandardInput {
    public let isTerminal: Bool
    private let descriptor: Descriptor
    private let token: Token
    private var buffer = ReadBuffer()
    /// What has come and is no line yet, or has not been taken.
    private var octets: [UInt8] = []
    /// The kernel cannot watch it: it is read at once.
    private var isFile = false
    /// A line is wanted and the terminal is another program's: it is looked at again when the next
    /// one is wanted.
    public private(set) var isAway = false
    private var isWatched = false

    /// A line has at most this many octets; what is longer loses its end.
    static let octetsMax = 256

    /// Whether standard input is a terminal.
    public static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    public init(loop: inout EventLoop) throws(SystemError) {
        // A copy, since the number 0 is not ours to close.
        descriptor = Descriptor(
            try systemCall("read", "standard input") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) })
        isTerminal = Self.isTerminal
        token = loop.makeToken()
        // A read from another program's terminal shall fail, not stop this program.
        if isTerminal { _ = Glibc.signal(SIGTTIN, SIG_IGN) }
    }

    /// Whether there is a line to take.
    public var hasLine: Bool {
        octets.contains(UInt8(ascii: "\n")) || !descriptor.isOpen && !octets.isEmpty
    }

    /// Listens for a line, or no longer.
    public func listen(
        isWanted: Bool, _ loop: inout EventLoop
    ) throws(SystemError) {
        guard descriptor.isOpen else { return }
        if isAway, isWanted { isAway = !isInForeground }
        let listens = isTerminal ? !isAway : isWanted && !hasLine
        guard listens else {
            if isWatched { loop.unwatch(token) }
            isWatched = false
            return
        }
        if !isFile, !isWatched {
            do throws(SystemError) {
                try loop.watch(descriptor, as: token, for: .readable)
                isWatched = true
            } catch {
                guard error.code == EPERM else { throw error }
                isFile = true
            }
        }
        while isFile, descriptor.isOpen, !hasLine { read(&loop) }
    }

    /// Whether what is typed is for this program. A terminal that does not control this session
    /// has no foreground.
    private var isInForeground: Bool {
        let group = tcgetpgrp(descriptor.number)
        return group < 0 || group == getpgrp()
    }

    /// Takes an event of the loop; one of somebody else's is ignored.
    public func handle(_ event: ReadyEvent, loop: inout EventLoop) {
        guard event.token == token, isWatched else { return }
        if isTerminal, !event.isHangup, !isInForeground {
            isAway = true
            isWatched = false
            loop.unwatch(token)
            return
        }
        read(&loop)
    }

    private func read(_ loop: inout EventLoop) {
        do throws(SystemError) {
            switch try buffer.fill(from: descriptor, "standard input") {
            case .wouldBlock: break
            case .count(0): close(&loop)
            case .count(let count):
                for octet in buffer.bytes[..<count] { take(octet) }
            }
        } catch { close(&loop) }
    }

    private func take(_ octet: UInt8) {
        let end = UInt8(ascii: "\n")
        let start = octets.lastIndex(of: end).map { $0 + 1 } ?? 0
        if octet == end || octets.count - start < Self.octetsMax { octets.append(octet) }
    }

    private func close(_ loop: inout EventLoop) {
        if isWatched { loop.unwatch(token) }
        isWatched = false
        descriptor.close()
    }

    /// Takes the next line, without its end.
    public func nextLine() -> String? {
        guard hasLine else { return nil }
        let line = octets.prefix { $0 != UInt8(ascii: "\n") }
        octets.removeFirst(min(line.count + 1, octets.count))
        return String(decoding: line, as: UTF8.self)
    }
}
