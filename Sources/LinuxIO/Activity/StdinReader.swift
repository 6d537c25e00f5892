// The source `stdin`: lines on standard input.
import Advertising
import Glibc
import SansIO

/// Reads standard input until its end.
struct StdinReader: ActivityReader {
    private let source: Int
    private var lines: SampleLineReader
    private(set) var descriptor: Descriptor?

    init(source: Int) {
        self.source = source
        lines = SampleLineReader(source: source)
    }

    var deadline: Instant? { nil }

    mutating func open() throws(SystemError) {
        // A copy, since the number 0 is not ours to close.
        descriptor = Descriptor(
            try systemCall("read", "standard input") { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) })
    }

    mutating func read(
        at now: Instant, through buffer: inout ReadBuffer, emit: inout Outputs<ActivityInput>
    ) {
        guard let descriptor else { return }
        do throws(SystemError) {
            switch try buffer.fill(from: descriptor, "standard input") {
            case .wouldBlock: break
            case .count(0): end("standard input has ended", &emit)
            case .count(let count):
                let bytes = buffer.bytes
                lines.take(bytes.span.extracting(0..<count), emit: &emit)
            }
        } catch { end("\(error)", &emit) }
    }

    private mutating func end(_ reason: String, _ emit: inout Outputs<ActivityInput>) {
        lines.finish(emit: &emit)
        emit.append(.sourceLost(reason: reason, source: source))
        close()
    }

    mutating func close() {
        descriptor?.close()
        descriptor = nil
    }
}
