// What is kept of a peer that has paired, and of the keys of a link.

/// The key a link is encrypted with, and how far it can be trusted.
public struct KeyQuality: Hashable, Sendable {
    /// Made with a method that protects against a man in the middle.
    public var isAuthenticated: Bool
    /// Made by LE Secure Connections.
    public var isSecureConnections: Bool
    /// In octets, 7 to 16.
    public var size: UInt8

    public init(isAuthenticated: Bool, isSecureConnections: Bool, size: UInt8) {
        self.isAuthenticated = isAuthenticated
        self.isSecureConnections = isSecureConnections
        self.size = size
    }

    /// Whether nothing is lost where this key replaces `other`.
    func isAtLeast(_ other: KeyQuality) -> Bool {
        (isAuthenticated || !other.isAuthenticated)
            && (isSecureConnections || !other.isSecureConnections) && size >= other.size
    }
}

/// A peer that has paired and its keys, whole: it is made only once every key is there. Octets are
/// in wire order.
public struct Bond: Hashable, Sendable {
    /// The peer's identity address, or the one it paired with where it told none.
    public var peer: LinkAddress
    /// The address it paired with, where that was neither its identity nor a private one: some
    /// centrals come back with it.
    public var alias: LinkAddress?
    /// The key the link is encrypted with on every connection.
    public var longTermKey: [UInt8]
    /// Which key that is; both 0 for LE Secure Connections.
    public var ediv: UInt16
    public var rand: UInt64
    /// Of `longTermKey`.
    public var quality: KeyQuality
    /// Resolves the peer's private addresses.
    public var peerIdentityKey: [UInt8]?
    /// Verifies the peer's signed writes.
    public var peerSignatureKey: [UInt8]?
    /// What this side would sign with.
    public var ownSignatureKey: [UInt8]?

    public init(
        peer: LinkAddress, longTermKey: [UInt8], ediv: UInt16 = 0, rand: UInt64 = 0,
        quality: KeyQuality
    ) {
        self.peer = peer
        self.longTermKey = longTermKey
        self.ediv = ediv
        self.rand = rand
        self.quality = quality
    }
}
