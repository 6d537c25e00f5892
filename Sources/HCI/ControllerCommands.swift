// Commands that other hosts send and this project's own does not: the virtual controller's share.
public import Wire

extension Opcode {
    public static let readTransmitPowerLevel = Opcode(rawValue: 0x0C2D)
}

/// Read Transmit Power Level (Core 6.0, Vol 4, Part E, 7.3.35). Type 0 is the current level, 1 the
/// highest.
public struct ReadTransmitPowerLevel: HCICommand {
    public static let opcode = Opcode.readTransmitPowerLevel
    public typealias Return = TransmitPowerLevel
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var type: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("type", &type)
    }
}

/// Return parameters of Read Transmit Power Level (Core 6.0, Vol 4, Part E, 7.3.35). In dBm.
public struct TransmitPowerLevel: Record {
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var transmitPowerLevel: Int8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("transmit_power_level", &transmitPowerLevel)
    }
}
