// Commands of link control, controller and baseband, informational and status parameters.
public import Wire

/// Disconnect (Core 6.0, Vol 4, Part E, 7.1.6).
public struct Disconnect: HCICommand {
    public static let opcode = Opcode.disconnect
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var reason: HCIStatus = .success
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("reason", &reason)
    }
}

/// Read Remote Version Information (Core 6.0, Vol 4, Part E, 7.1.23).
public struct ReadRemoteVersionInformation: HCICommand {
    public static let opcode = Opcode.readRemoteVersionInformation
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// Set Event Mask (Core 6.0, Vol 4, Part E, 7.3.1).
public struct SetEventMask: HCICommand {
    public static let opcode = Opcode.setEventMask
    public typealias Return = StatusOnly
    public var eventMask: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("event_mask", &eventMask)
    }
}

/// Set Event Mask Page 2 (Core 6.0, Vol 4, Part E, 7.3.69).
public struct SetEventMaskPage2: HCICommand {
    public static let opcode = Opcode.setEventMaskPage2
    public typealias Return = StatusOnly
    public var eventMask: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("event_mask", &eventMask)
    }
}

/// Reset (Core 6.0, Vol 4, Part E, 7.3.2).
public struct Reset: HCICommand {
    public static let opcode = Opcode.reset
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Write LE Host Support (Core 6.0, Vol 4, Part E, 7.3.79).
public struct WriteLEHostSupport: HCICommand {
    public static let opcode = Opcode.writeLEHostSupport
    public typealias Return = StatusOnly
    public var leSupportedHost: UInt8 = 0
    public var unused: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("le_supported_host", &leSupportedHost)
        try visitor.field("unused", &unused)
    }
}

/// Read Local Version Information (Core 6.0, Vol 4, Part E, 7.4.1).
public struct ReadLocalVersionInformation: HCICommand {
    public static let opcode = Opcode.readLocalVersionInformation
    public typealias Return = LocalVersionInformation
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of Read Local Version Information (Core 6.0, Vol 4, Part E, 7.4.1).
public struct LocalVersionInformation: Record {
    public var status: HCIStatus = .success
    public var hciVersion: UInt8 = 0
    public var hciSubversion: UInt16 = 0
    public var lmpVersion: UInt8 = 0
    public var companyIdentifier: UInt16 = 0
    public var lmpSubversion: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("hci_version", &hciVersion)
        try visitor.field("hci_subversion", &hciSubversion)
        try visitor.field("lmp_version", &lmpVersion)
        try visitor.field("company_identifier", &companyIdentifier)
        try visitor.field("lmp_subversion", &lmpSubversion)
    }
}

/// Read Local Supported Commands (Core 6.0, Vol 4, Part E, 7.4.2).
public struct ReadLocalSupportedCommands: HCICommand {
    public static let opcode = Opcode.readLocalSupportedCommands
    public typealias Return = LocalSupportedCommands
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of Read Local Supported Commands (Core 6.0, Vol 4, Part E, 7.4.2).
///
/// Bit n of octet m of 6.27 is `supported_commands[m] >> n & 1`.
public struct LocalSupportedCommands: Record {
    public var status: HCIStatus = .success
    public var supportedCommands = [UInt8](repeating: 0, count: 64)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("supported_commands", &supportedCommands, count: 64)
    }
}

/// Read Local Supported Features (Core 6.0, Vol 4, Part E, 7.4.3).
public struct ReadLocalSupportedFeatures: HCICommand {
    public static let opcode = Opcode.readLocalSupportedFeatures
    public typealias Return = LocalSupportedFeatures
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of Read Local Supported Features (Core 6.0, Vol 4, Part E, 7.4.3).
public struct LocalSupportedFeatures: Record {
    public var status: HCIStatus = .success
    public var lmpFeatures: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("lmp_features", &lmpFeatures)
    }
}

/// Read Buffer Size (Core 6.0, Vol 4, Part E, 7.4.5).
public struct ReadBufferSize: HCICommand {
    public static let opcode = Opcode.readBufferSize
    public typealias Return = BufferSize
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of Read Buffer Size (Core 6.0, Vol 4, Part E, 7.4.5).
public struct BufferSize: Record {
    public var status: HCIStatus = .success
    public var aclDataPacketLength: UInt16 = 0
    public var synchronousDataPacketLength: UInt8 = 0
    public var totalACLDataPackets: UInt16 = 0
    public var totalSynchronousDataPackets: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("acl_data_packet_length", &aclDataPacketLength)
        try visitor.field("synchronous_data_packet_length", &synchronousDataPacketLength)
        try visitor.field("total_acl_data_packets", &totalACLDataPackets)
        try visitor.field("total_synchronous_data_packets", &totalSynchronousDataPackets)
    }
}

/// Read BD_ADDR (Core 6.0, Vol 4, Part E, 7.4.6).
public struct ReadBDADDR: HCICommand {
    public static let opcode = Opcode.readBDADDR
    public typealias Return = BDADDR
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of Read BD_ADDR (Core 6.0, Vol 4, Part E, 7.4.6).
public struct BDADDR: Record {
    public var status: HCIStatus = .success
    public var bdAddr = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("bd_addr", &bdAddr)
    }
}

/// Read RSSI (Core 6.0, Vol 4, Part E, 7.5.4).
public struct ReadRSSI: HCICommand {
    public static let opcode = Opcode.readRSSI
    public typealias Return = RSSI
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// Return parameters of Read RSSI (Core 6.0, Vol 4, Part E, 7.5.4). In dBm; 127 is not available.
public struct RSSI: Record {
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var rssi: Int8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("rssi", &rssi)
    }
}
