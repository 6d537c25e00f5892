// What a GATT server tells its host.
public import Wire

/// What happened at a GATT server. Payloads are trivial, so an event never allocates.
public enum ServerEvent: Equatable, Sendable {
    /// The MTU of the bearer is now `mtu`.
    case mtu(client: Int, mtu: UInt16)
    /// A value was read; emitted only while the server's `reportsAccess` is true.
    case read(client: Int, handle: UInt16, opcode: ATTOpcode)
    /// A value was written. It is read by `value(of:)`.
    case written(client: Int, handle: UInt16, isCommand: Bool)
    /// A client's CCCD was written; `valueHandle` is that of the characteristic value.
    case subscribed(client: Int, valueHandle: UInt16, notify: Bool, indicate: Bool)
    /// The client wrote its Client Supported Features.
    case features(client: Int, features: UInt8)
    /// The client confirmed the indication of `handle`.
    case confirmed(client: Int, handle: UInt16)
    /// Nothing is in flight any more, and `handle` waits to be indicated: ask for it again.
    case indicationReady(client: Int, handle: UInt16)
    /// A request was answered by an Error Response, or a command was ignored for this reason.
    case refused(client: Int, opcode: ATTOpcode, handle: UInt16, error: ATTError)
    /// The client, being a server too, sent an indication, which was confirmed.
    case peerIndication(client: Int, handle: UInt16)
    /// An indication was not confirmed in time. No further PDU goes over this bearer: drop the link
    /// (Core 6.0, Vol 3, Part F, 3.3.3).
    case timeout(client: Int)

    /// The client that it is about.
    public var client: Int {
        switch self {
        case .mtu(let client, _), .read(let client, _, _), .written(let client, _, _),
            .subscribed(let client, _, _, _), .features(let client, _),
            .confirmed(let client, _), .indicationReady(let client, _),
            .refused(let client, _, _, _), .peerIndication(let client, _),
            .timeout(let client):
            client
        }
    }
}

/// What became of a notification or an indication.
public enum NotificationResult: Equatable, Sendable {
    /// A Handle Value Notification was written; cut to MTU - 3 octets where `truncated`.
    case notification(truncated: Bool)
    /// A Handle Value Indication was written; cut to MTU - 3 octets where `truncated`.
    case indication(truncated: Bool)
    /// An indication is in flight; `ServerEvent.indicationReady` says when to ask again.
    case pending
    /// The client has not asked for it.
    case notSubscribed
    /// The link, or a client that does not know the table's changes, does not allow it.
    case refused(ATTError)
    /// The value has more than MTU - 3 octets, and the settings refuse to cut it.
    case tooLong
    /// There is no such attribute, no such connection, or its bearer has timed out.
    case unavailable
}

/// What a server keeps of a bonded client between connections (Vol 3, Part G, 2.5.2, 3.3.3.3).
public struct BondedClient: Equatable, Sendable {
    /// One CCCD's value.
    public struct Configuration: Equatable, Sendable {
        /// The handle of the CCCD.
        public let handle: UInt16
        /// Bit 0: notifications, bit 1: indications.
        public let bits: UInt8

        public init(handle: UInt16, bits: UInt8) {
            self.handle = handle
            self.bits = bits
        }
    }

    /// The client's identity address.
    public let peer: DeviceAddress
    /// In the order of their handles; CCCDs at rest are left out.
    public var configurations: [Configuration] = []
    /// The value of Client Supported Features.
    public var features: UInt8 = 0
    /// Whether the client knows all changes of the table.
    public var isChangeAware = true
    /// The Service Changed indication that has not been confirmed yet.
    public var serviceChanged: ClosedRange<UInt16>?

    public init(peer: DeviceAddress) { self.peer = peer }
}
