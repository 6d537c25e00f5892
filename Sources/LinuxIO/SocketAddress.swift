// The kernel's form of an address, for bind, connect and accept.
import Glibc

/// An IP address or a Unix socket's path as the kernel wants it.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private(set) var length: socklen_t

    /// The most octets of a Unix socket's path (unix(7)), its closing zero not counted.
    static let pathOctetsMax = 107

    private init() { length = socklen_t(MemoryLayout<sockaddr_storage>.size) }

    init(_ endpoint: Endpoint) {
        self.init()
        switch endpoint.address {
        case .v4(let octets):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &address.sin_addr) {
                unsafe $0.copyBytes(from: octets)
            }
            store(address)
        case .v6(let octets):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = endpoint.port.bigEndian
            unsafe withUnsafeMutableBytes(of: &address.sin6_addr) {
                unsafe $0.copyBytes(from: octets)
            }
            store(address)
        }
    }

    /// A path of 1 to `pathOctetsMax` octets; one that starts with `@` is an abstract name.
    init(path: String) {
        self.init()
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var octets = [UInt8](path.utf8.prefix(Self.pathOctetsMax))
        let isAbstract = octets.first == UInt8(ascii: "@")
        if isAbstract { octets[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: octets) }
        store(address)
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        // An abstract name is all that the length covers; a path ends with a zero.
        length = socklen_t(offset + octets.count + (isAbstract ? 0 : 1))
    }

    private mutating func store<Address>(_ address: Address) {
        length = socklen_t(MemoryLayout<Address>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { target in
            unsafe withUnsafeBytes(of: address) { unsafe target.copyMemory(from: $0) }
        }
    }

    /// The IP address in it, nil for any other family.
    var endpoint: Endpoint? {
        switch Int32(storage.ss_family) {
        case AF_INET:
            let octets = bytes(4, at: 4)
            return Endpoint(address: .v4(octets), port: bigEndianPort)
        case AF_INET6:
            return Endpoint(address: .v6(bytes(16, at: 8)), port: bigEndianPort)
        default: return nil
        }
    }

    /// sin_port and sin6_port stand at the same place.
    private var bigEndianPort: UInt16 {
        let octets = bytes(2, at: 2)
        return UInt16(octets[0]) << 8 | UInt16(octets[1])
    }

    private func bytes(_ count: Int, at offset: Int) -> [UInt8] {
        unsafe withUnsafeBytes(of: storage) { unsafe [UInt8]($0[offset..<offset + count]) }
    }

    /// Shows the kernel's form to `bind` or `connect`.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, length)
            }
        }
    }

    /// Lets `accept` or `getsockname` write an address.
    static func filled(
        _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    )
        -> (address: SocketAddress, result: Int32)
    {
        var address = SocketAddress()
        var length = address.length
        let result = unsafe withUnsafeMutablePointer(to: &address.storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, &length)
            }
        }
        address.length = length
        return (address, result)
    }
}
