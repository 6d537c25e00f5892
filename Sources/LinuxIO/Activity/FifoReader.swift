// The source `fifo`: lines in a named pipe.
import Advertising
import Glibc
import SansIO

/// Reads a named pipe, which is made where there is none, and removed at the end.
///
/// Writers come and go, such as `echo 0.3 > PATH`: that one has gone means nothing, and the value
/// holds. Silence is for the rule's `stallAfter` to tell. What the last writer has left of a line
/// is dropped: it may be half a value.
struct FifoReader: ActivityReader {
    private let path: String
    private let source: Int
    private var lines: SampleLineReader
    private(set) var descriptor: Descriptor?
    private var isOwn = false

    init(path: String, source: Int) {
        self.path = path
        self.source = source
        lines = SampleLineReader(source: source)
    }

    var deadline: Instant? { nil }

    mutating func open() throws(SystemError) {
        isOwn = unsafe mkfifo(path, 0o600) == 0
        if !isOwn, errno != EEXIST {
            throw SystemError(errno, operation: "make the fifo", object: path)
        }
        let pipe = try openPipe()
        var status = stat()
        guard unsafe fstat(pipe.number, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
            throw SystemError(
                EINVAL, operation: "read", object: path, reason: "it is no fifo",
                advice: "choose a path where there is none yet, or make one with mkfifo")
        }
        descriptor = pipe
    }

    private func openPipe() throws(SystemError) -> Descriptor {
        Descriptor(
            try systemCall("open", path) {
                unsafe Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            })
    }

    mutating func read(
        at now: Instant, through buffer: inout ReadBuffer, emit: inout Outputs<ActivityInput>
    ) {
        guard let descriptor else { return }
        do throws(SystemError) {
            // The second read tells whether the writer of the first one has gone.
            for _ in 0..<2 {
                guard case .count(let count) = try buffer.fill(from: descriptor, path) else {
                    return
                }
                guard count > 0 else {
                    lines.dropHalf()
                    // The pipe that has ended would wake the loop without end. The new one is
                    // there before, so that nothing on its way is lost.
                    self.descriptor = try openPipe()
                    return
                }
                let bytes = buffer.bytes
                lines.take(bytes.span.extracting(0..<count), emit: &emit)
            }
        } catch {
            emit.append(.sourceLost(reason: "\(error)", source: source))
            close()
        }
    }

    mutating func close() {
        descriptor?.close()
        descriptor = nil
        if isOwn { _ = unsafe unlink(path) }
        isOwn = false
    }
}
