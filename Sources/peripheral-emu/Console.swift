// Where text goes: the log to standard error, data to standard output.
import Emulator
import Glibc
import LinuxIO
import SansIO

/// The program's two text outputs. Lines are gathered and written once a turn.
struct Console {
    let level: LogLevel
    /// Whether somebody waits for the accessory: then a reader of the text that does not read
    /// must not hold it up, nor the signal that ends it.
    var isLive = false
    private var log: [UInt8] = []
    private var data: [UInt8] = []
    /// Whether a live output was full for `patience`; until it takes text again none waits for it.
    private var isStuck = false
    private var lostLines = 0
    /// Why an output did not take its text, such as a full disk.
    private(set) var failure: SystemError?

    /// How long a live output may be full, in milliseconds.
    private static let patience: Int32 = 1000
    /// The most octets that a pipe takes whole once it is writable (pipe(7), PIPE_BUF).
    private static let chunk = 4096

    init(level: LogLevel) { self.level = level }

    /// A line of the log, with the time since power-on.
    mutating func log(_ line: LogLine, at time: TimeSpan? = nil) {
        guard line.level <= level else { return }
        if let time { log += Array(Self.stamp(time).utf8) }
        if line.level <= .warning { log += Array("\(line.level.name): ".utf8) }
        log += Array(line.text.utf8)
        log.append(UInt8(ascii: "\n"))
    }

    /// A message about the command line or a file, without a time.
    mutating func error(_ text: String) {
        log += Array(text.utf8)
        log.append(UInt8(ascii: "\n"))
    }

    /// Takes the lines of the log that have not been written.
    mutating func takeLines() -> [String] {
        defer { log.removeAll() }
        return log.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A line of data.
    mutating func print(_ text: String) {
        data += Array(text.utf8)
        data.append(UInt8(ascii: "\n"))
    }

    /// Writes out what was gathered. A closed pipe is not an error: nobody reads.
    mutating func flush() {
        write(data, to: STDOUT_FILENO)
        write(log, to: STDERR_FILENO)
        data.removeAll(keepingCapacity: true)
        log.removeAll(keepingCapacity: true)
    }

    private mutating func write(_ bytes: [UInt8], to descriptor: Int32) {
        guard !bytes.isEmpty else { return }
        guard isLive else { return write(bytes[...], to: descriptor) }
        var start = 0
        while start < bytes.count {
            guard takesText(descriptor) else {
                lostLines += bytes[start...].count { $0 == UInt8(ascii: "\n") }
                return
            }
            if lostLines > 0 {
                let text = "\(lostLines) lines were lost: nobody read them\n"
                lostLines = 0
                write(Array(text.utf8)[...], to: descriptor)
                continue
            }
            let end = min(start + Self.chunk, bytes.count)
            write(bytes[start..<end], to: descriptor)
            start = end
        }
    }

    private mutating func takesText(_ descriptor: Int32) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        isStuck = unsafe poll(&state, 1, isStuck ? 0 : Self.patience) == 0
        return !isStuck
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EPIPE: return
            case EAGAIN:
                // Whoever shares the output has made it so that it does not wait.
                guard !isLive else { return }
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&state, 1, -1)
            case let code: return fail(code, descriptor)
            }
        }
    }

    private mutating func fail(_ code: Int32, _ descriptor: Int32) {
        guard failure == nil else { return }
        let name = descriptor == STDOUT_FILENO ? "standard output" : "standard error"
        failure = SystemError(code, operation: "write to", object: name)
    }

    /// Writes out what is left, and says what could not be written.
    /// - Returns: `code`, or that of a failure where text was lost.
    mutating func finish(_ code: ExitCode) -> ExitCode {
        flush()
        guard let failure else { return code }
        error("\(failure)")
        flush()
        return code == .done ? .failure : code
    }

    /// Seconds and milliseconds since power-on: `   12.345  `.
    static func stamp(_ time: TimeSpan) -> String {
        let milliseconds = time.microseconds / 1000
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        let seconds = String(milliseconds / 1000)
        return String(repeating: " ", count: max(0, 5 - seconds.count)) + "\(seconds).\(fraction)  "
    }
}

/// How the program ends.
enum ExitCode: Int32 {
    case done = 0
    /// An expectation of the profile was not met.
    case unmet = 1
    /// Wrong usage or profile.
    case usage = 2
    /// Controller or system failure.
    case failure = 3
}
