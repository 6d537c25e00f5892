// The two kinds of HCI record and what both ends share.
public import Wire

/// A command's parameters (Core 6.0, Vol 4, Part E, 7).
public protocol HCICommand: Record {
    static var opcode: Opcode { get }
    /// Return parameters of its Command Complete; `StatusOnly` for commands answered by Command
    /// Status.
    associatedtype Return: Record
}

/// An event's parameters (Core 6.0, Vol 4, Part E, 7.7).
public protocol HCIEvent: Record {
    static var code: EventCode { get }
    /// The subevent of an LE Meta event.
    static var subevent: LESubevent? { get }
}

extension HCIEvent {
    public static var subevent: LESubevent? { nil }
}

/// An LE Meta event.
public protocol LEMetaEvent: HCIEvent {
    static var leSubevent: LESubevent { get }
}

extension LEMetaEvent {
    public static var code: EventCode { .leMeta }
    public static var subevent: LESubevent? { leSubevent }
}

/// Return parameters that are a status alone.
public struct StatusOnly: Record {
    public var status: HCIStatus = .success
    public init() {}
    public init(_ status: HCIStatus) { self.status = status }
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
    }
}

/// Return parameters or command parameters that are one connection handle behind a status.
public struct StatusAndHandle: Record {
    public var status: HCIStatus = .success
    public var handle = ConnectionHandle(rawValue: 0)
    public init() {}
    public init(_ status: HCIStatus, _ handle: ConnectionHandle) {
        self.status = status
        self.handle = handle
    }
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &handle)
    }
}

/// Decodes an HCI packet's parameters: octets behind the last field are ignored, since real
/// controllers and hosts append some.
extension Record {
    public init(hci parameters: Span<UInt8>) throws(WireError) {
        try self.init(decoding: parameters, leftover: .ignore)
    }
}
