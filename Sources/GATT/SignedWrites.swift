// Signed Write Command: a value with a signature, on a link that need not be encrypted.
import SansIO
public import Wire

/// What a client signs with, in wire order.
public struct SignatureKey: Hashable, Sendable {
    /// The CSRK, 16 octets.
    public var key: [UInt8]
    /// Whether it is protected against a man in the middle.
    public var isAuthenticated: Bool

    public init(_ key: [UInt8], isAuthenticated: Bool) {
        self.key = key
        self.isAuthenticated = isAuthenticated
    }
}

/// The least SignCounter that is taken from a client next, to be stored.
public struct SignCounter: Hashable, Sendable {
    public var peer: DeviceAddress
    /// 0 to 2^32; a SignCounter on the wire has 32 bits, so at 2^32 none is left.
    public var next: UInt64

    public init(peer: DeviceAddress, next: UInt64) {
        self.peer = peer
        self.next = next
    }
}

extension GATTServer {
    /// Octets of a signature: SignCounter and the upper half of the code (Core 6.0, Vol 3, Part H,
    /// 2.4.5).
    static let signatureOctets = 12

    /// Says what a client signs with; nil: nothing of it is taken.
    public mutating func setSignatureKey(_ key: SignatureKey?, of client: Int) {
        if links[client].isConnected { signatureKeys[client] = key }
    }

    /// Takes up what was stored of counters.
    public mutating func restore(counters: [SignCounter]) {
        signCounters = Array(counters.suffix(Self.bondedClientsMax))
    }

    /// Stores a signed value; whatever is wrong with it, it is ignored (Core 6.0, Vol 3, Part F,
    /// 3.4.5.4).
    mutating func writeSigned(
        _ pdu: Span<UInt8>, to handle: UInt16, value: OctetRange, from client: Int,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        guard let index = table.index(of: handle) else { throw Refusal(.invalidHandle, handle) }
        let access = table.attributes[index].permissions.signedWrite
        if access.level == .refused { throw Refusal(.writeNotPermitted, handle) }
        guard let key = signatureKeys[client], verify(pdu, with: key.key, of: client),
            key.isAuthenticated || access.level < .authenticated
        else { throw Refusal(.insufficientAuthentication, handle) }
        if access.authorization, !links[client].security.authorized {
            throw Refusal(.insufficientAuthorization, handle)
        }
        try writeVerified(pdu.extracting(value.range), at: index, from: client, emit: &emit)
    }

    /// Whether the signature is the client's and newer than any before it.
    private mutating func verify(
        _ pdu: Span<UInt8>, with key: [UInt8], of client: Int
    ) -> Bool {
        guard let authenticator, pdu.count > Self.signatureOctets else { return false }
        let signed = pdu.copied(0..<pdu.count - 8)
        let code = authenticator.cmac(key: key.reversed(), message: signed.reversed())
        guard code.count == 16 else { return false }
        // The code's upper half, least significant octet first; compared in constant time.
        let mac = pdu.copied(pdu.count - 8..<pdu.count)
        let difference = zip(code[..<8].reversed(), mac).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        guard difference == 0 else { return false }
        let place = pdu.count - Self.signatureOctets
        let counter = UInt64(pdu.uint16(at: place)) | UInt64(pdu.uint16(at: place + 2)) << 16
        return advance(to: counter, links[client].peer)
    }

    /// Takes a counter that is not below the next one; each is taken once.
    private mutating func advance(to counter: UInt64, _ peer: DeviceAddress) -> Bool {
        let place = signCounters.firstIndex { $0.peer == peer }
        if let place, counter < signCounters[place].next { return false }
        if let place { signCounters.remove(at: place) }
        if signCounters.count >= Self.bondedClientsMax { signCounters.removeFirst() }
        signCounters.append(SignCounter(peer: peer, next: counter + 1))
        return true
    }
}
