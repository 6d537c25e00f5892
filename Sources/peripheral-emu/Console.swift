// Where text goes: the log to standard error, data to standard output.
import Emulator
import Glibc
import SansIO

/// The program's two text outputs. Lines are gathered and written once a turn.
struct Console {
    let level: LogLevel
    private var log: [UInt8] = []
    private var data: [UInt8] = []

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

    /// A line of data.
    mutating func print(_ text: String) {
        data += Array(text.utf8)
        data.append(UInt8(ascii: "\n"))
    }

    /// Writes out what was gathered. A closed output is not an error: nobody reads.
    mutating func flush() {
        Self.write(data, to: STDOUT_FILENO)
        Self.write(log, to: STDERR_FILENO)
        data.removeAll(keepingCapacity: true)
        log.removeAll(keepingCapacity: true)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var offset = 0
        while offset < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.write(
                    descriptor, $0.baseAddress?.advanced(by: offset), bytes.count - offset)
            }
            if count > 0 { offset += count } else if errno != EINTR { return }
        }
    }

    /// Seconds and milliseconds since power-on: `   12.345  `.
    private static func stamp(_ time: TimeSpan) -> String {
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
