// A host and a port, as numbers: no name service is asked.
import Glibc

/// An IP address and a TCP port. Names other than `localhost` are not looked up: a fully static
/// program has no name service.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    enum Address: Hashable, Sendable {
        case v4([UInt8])
        case v6([UInt8])
    }

    let address: Address
    /// 0 lets the kernel choose, where a server listens.
    public let port: UInt16

    /// 127.0.0.1
    static let loopback = Address.v4([127, 0, 0, 1])
    /// 0.0.0.0
    static let everywhere = Address.v4([0, 0, 0, 0])

    init(address: Address, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Loopback at `port`.
    public init(loopbackPort port: UInt16) { self.init(address: Self.loopback, port: port) }

    /// Reads `127.0.0.1:6402`, `localhost:6402` or `[::1]:6402`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard let colon = text.lastIndex(of: ":"),
            let port = Self.port(text[text.index(after: colon)...]),
            let address = Self.address(String(text[..<colon]))
        else { return nil }
        self.init(address: address, port: port)
    }

    /// Reads a port of decimal digits; nil for anything else.
    static func port(_ text: some StringProtocol) -> UInt16? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt16(String(text))
    }

    private static func address(_ text: String) -> Address? {
        if text == "localhost" { return loopback }
        if text.hasPrefix("["), text.hasSuffix("]"), text.utf8.count > 2 {
            var octets = [UInt8](repeating: 0, count: 16)
            let inner = String(text.dropFirst().dropLast())
            return unsafe inet_pton(AF_INET6, inner, &octets) == 1 ? .v6(octets) : nil
        }
        var octets = [UInt8](repeating: 0, count: 4)
        return unsafe inet_pton(AF_INET, text, &octets) == 1 ? .v4(octets) : nil
    }

    public var description: String {
        switch address {
        case .v4(let octets): octets.map { "\($0)" }.joined(separator: ".") + ":\(port)"
        case .v6(let octets): "[" + Self.text(ofV6: octets) + "]:\(port)"
        }
    }

    private static func text(ofV6 octets: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let isText = unsafe inet_ntop(AF_INET6, octets, &text, socklen_t(text.count)) != nil
        guard isText else { return "" }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
