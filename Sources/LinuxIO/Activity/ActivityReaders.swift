// The registry of live activity sources and the reading of --activity.
public import Advertising
import SansIO

/// Where the values of one live source come in.
protocol ActivityReader {
    /// Opens what is to be read.
    mutating func open() throws(SystemError)
    /// What the loop must watch for input now; nil where nothing comes that way.
    var descriptor: Descriptor? { get }
    /// When `read` must be called though the loop says nothing; nil where never.
    var deadline: Instant? { get }
    /// Reads what is there. A failure is the input `sourceLost`.
    mutating func read(
        at now: Instant, through buffer: inout ReadBuffer, emit: inout Outputs<ActivityInput>)
    /// Lets go of everything.
    mutating func close()
}

/// Every kind of live source, by name.
enum ActivityReaders {
    /// Sorted by name.
    static let all: [(form: String, meaning: String)] = [
        ("csv:FILE[,COLUMN]", "a recorded trace, its column magnitude without a name"),
        ("fifo:PATH", "lines in a named pipe: a magnitude in g, or x,y,z in g"),
        ("iio:NAME", "an accelerometer of this machine"),
        ("socket:PATH", "the same lines from clients of our Unix socket"),
        ("stdin", "the same lines from standard input"),
    ]

    /// - Parameter source: the index in the rule's sources.
    static func reader(of live: LiveSource, source: Int) -> any ActivityReader {
        switch live {
        case .fifo(let path): FifoReader(path: path, source: source)
        case .iio(let name, let every): SensorReader(name: name, every: every, source: source)
        case .socket(let path): SocketReader(path: path, source: source)
        case .stdin: StdinReader(source: source)
        }
    }
}

/// An activity source as the user named it.
public enum ActivitySpec: Equatable, Sendable {
    case csv(path: String, column: String?)
    case live(LiveSource)

    /// Every form that can be written and what it means, for the help text.
    public static var forms: [(form: String, meaning: String)] { ActivityReaders.all }

    /// Reads `csv:FILE`, `csv:FILE,COLUMN`, `fifo:PATH`, `iio:NAME`, `socket:PATH` or `stdin`; nil
    /// for anything else.
    public init?(_ text: String) {
        if text == "stdin" {
            self = .live(.stdin)
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...]
        guard !rest.isEmpty else { return nil }
        switch text[..<colon] {
        case "csv":
            let comma = rest.lastIndex(of: ",")
            let path = comma.map { rest[..<$0] } ?? rest
            let column = comma.map { rest[rest.index(after: $0)...] }
            guard !path.isEmpty, column?.isEmpty != true else { return nil }
            self = .csv(path: String(path), column: column.map { String($0) })
        case "fifo": self = .live(.fifo(path: String(rest)))
        case "iio": self = .live(.iio(name: String(rest)))
        case "socket": self = .live(.socket(path: String(rest)))
        default: return nil
        }
    }
}
