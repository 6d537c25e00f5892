// The registry of transports and the reading of --controller.

/// Every kind of transport, by name.
enum Transports {
    /// Sorted by name; nil is the embedded controller, which is not built here.
    static let all: [(name: String, source: (any TransportSource.Type)?)] = [
        ("hci", HCIUserChannel.self),
        ("hci-socket", HCIUserChannel.self),
        ("pty", PseudoTerminal.self),
        ("serial", SerialPort.self),
        ("tcp-client", TCPClient.self),
        ("tcp-server", TCPServer.self),
        ("unix", UnixClient.self),
        ("unix-server", UnixServer.self),
        ("virtual", nil),
    ]

    /// What a user can write, in the registry's order, each once.
    static var forms: [(form: String, meaning: String)] {
        var forms: [(form: String, meaning: String)] = []
        for (name, source) in all {
            let form = source?.form ?? name
            guard !forms.contains(where: { $0.form == form }) else { continue }
            forms.append((form, source?.meaning ?? "the controller built into this program"))
        }
        return forms
    }
}

/// A controller as the user named it.
public enum ControllerSpec {
    /// The controller built into the program.
    case virtual
    /// One behind a transport.
    case transport(TransportSpec)

    /// Every form that can be written and what it means, for the help text.
    public static var forms: [(form: String, meaning: String)] { Transports.forms }

    /// Reads `virtual` or `SCHEME:SPECIFICATION`.
    public static func parse(_ text: String) -> Result<ControllerSpec, SpecificationError> {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first,
            let kind = Transports.all.first(where: { $0.name == name })
        else {
            let forms = Transports.forms.map(\.form)
            return .failure(SpecificationError(text: text, forms: forms, isKnown: false))
        }
        guard let source = kind.source else {
            guard parts.count == 1 else {
                return .failure(SpecificationError(text: text, forms: [kind.name], isKnown: true))
            }
            return .success(.virtual)
        }
        guard parts.count == 2, let transport = source.init(specification: parts[1]) else {
            return .failure(SpecificationError(text: text, forms: [source.form], isKnown: true))
        }
        return .success(.transport(TransportSpec(text: text, source: transport)))
    }
}

/// A transport's specification that has been read and can be opened.
public struct TransportSpec: CustomStringConvertible {
    let text: String
    /// Not opened yet; each opening takes a copy.
    let source: any TransportSource

    init(text: String, source: any TransportSource) {
        self.text = text
        self.source = source
    }

    /// As the user wrote it.
    public var description: String { text }

    /// The adapter of this machine with a number.
    public init(adapter: UInt16) {
        text = "hci:\(adapter)"
        source = HCIUserChannel(adapter: adapter)
    }

    /// Whether it is an adapter of this machine.
    public var isAdapter: Bool { source is HCIUserChannel }

    /// The same adapter, which is taken down first where it is up; nil where it is no adapter.
    public var takingOver: TransportSpec? {
        guard var channel = source as? HCIUserChannel else { return nil }
        channel.takesOver = true
        return TransportSpec(text: text, source: channel)
    }

    /// Opens the transport: a client begins to connect, a server listens.
    public func open() throws(SystemError) -> ByteTransport {
        let transport = closed()
        try transport.reopen()
        return transport
    }

    /// The transport before its first `reopen`, for an owner that tries until that works.
    public func closed() -> ByteTransport { ByteTransport(name: text, source: source) }
}

/// A specification of a controller that cannot be read.
public struct SpecificationError: Error, Equatable, Sendable, CustomStringConvertible {
    public let text: String
    /// The forms that would do.
    public let forms: [String]
    /// Whether the scheme before the colon is one.
    public let isKnown: Bool

    public var description: String {
        let forms = forms.joined(separator: ", ")
        return isKnown
            ? "\"\(text)\" is not a usable controller; write \(forms)"
            : "there is no controller \"\(text)\"; write one of \(forms)"
    }
}
