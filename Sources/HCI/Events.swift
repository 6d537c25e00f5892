// Events, each declared once for host and controller.
public import Wire

/// Disconnection Complete (Core 6.0, Vol 4, Part E, 7.7.5).
public struct DisconnectionComplete: HCIEvent {
    public static let code = EventCode.disconnectionComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var reason: HCIStatus = .success
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("reason", &reason)
    }
}

/// Encryption Change [v1] (Core 6.0, Vol 4, Part E, 7.7.8).
public struct EncryptionChange: HCIEvent {
    public static let code = EventCode.encryptionChange
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var encryptionEnabled: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("encryption_enabled", &encryptionEnabled)
    }
}

/// Encryption Change [v2] (Core 6.0, Vol 4, Part E, 7.7.8).
public struct EncryptionChangeV2: HCIEvent {
    public static let code = EventCode.encryptionChangeV2
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var encryptionEnabled: UInt8 = 0
    /// In octets.
    public var encryptionKeySize: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("encryption_enabled", &encryptionEnabled)
        try visitor.field("encryption_key_size", &encryptionKeySize)
    }
}

/// Encryption Key Refresh Complete (Core 6.0, Vol 4, Part E, 7.7.39).
public struct EncryptionKeyRefreshComplete: HCIEvent {
    public static let code = EventCode.encryptionKeyRefreshComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// Read Remote Version Information Complete (Core 6.0, Vol 4, Part E, 7.7.12).
public struct ReadRemoteVersionInformationComplete: HCIEvent {
    public static let code = EventCode.readRemoteVersionInformationComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var version: UInt8 = 0
    public var companyIdentifier: UInt16 = 0
    public var subversion: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("version", &version)
        try visitor.field("company_identifier", &companyIdentifier)
        try visitor.field("subversion", &subversion)
    }
}

/// Command Complete (Core 6.0, Vol 4, Part E, 7.7.14). Opcode 0 only returns credits.
public struct CommandComplete: HCIEvent {
    public static let code = EventCode.commandComplete
    public var numHCICommandPackets: UInt8 = 0
    public var commandOpcode: Opcode = .none
    public var returnParameters: [UInt8] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("num_hci_command_packets", &numHCICommandPackets)
        try visitor.field("command_opcode", &commandOpcode)
        try visitor.rest("return_parameters", &returnParameters)
    }
}

/// Command Status (Core 6.0, Vol 4, Part E, 7.7.15). Opcode 0 only returns credits.
public struct CommandStatus: HCIEvent {
    public static let code = EventCode.commandStatus
    public var status: HCIStatus = .success
    public var numHCICommandPackets: UInt8 = 0
    public var commandOpcode: Opcode = .none
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("num_hci_command_packets", &numHCICommandPackets)
        try visitor.field("command_opcode", &commandOpcode)
    }
}

/// Hardware Error (Core 6.0, Vol 4, Part E, 7.7.16).
public struct HardwareError: HCIEvent {
    public static let code = EventCode.hardwareError
    public var hardwareCode: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("hardware_code", &hardwareCode)
    }
}

/// Data Buffer Overflow (Core 6.0, Vol 4, Part E, 7.7.26).
public struct DataBufferOverflow: HCIEvent {
    public static let code = EventCode.dataBufferOverflow
    public var linkType: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("link_type", &linkType)
    }
}

/// LE Connection Complete (Core 6.0, Vol 4, Part E, 7.7.65.1). Interval in 1.25 ms, time-out in
/// 10 ms.
public struct LEConnectionComplete: LEMetaEvent {
    public static let leSubevent = LESubevent.connectionComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var role: UInt8 = 0
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    public var connectionInterval: UInt16 = 0
    public var peripheralLatency: UInt16 = 0
    public var supervisionTimeout: UInt16 = 0
    public var centralClockAccuracy: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("role", &role)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("connection_interval", &connectionInterval)
        try visitor.field("peripheral_latency", &peripheralLatency)
        try visitor.field("supervision_timeout", &supervisionTimeout)
        try visitor.field("central_clock_accuracy", &centralClockAccuracy)
    }
}

/// LE Enhanced Connection Complete [v1] (Core 6.0, Vol 4, Part E, 7.7.65.10).
public struct LEEnhancedConnectionComplete: LEMetaEvent {
    public static let leSubevent = LESubevent.enhancedConnectionComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var role: UInt8 = 0
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    public var localResolvablePrivateAddress = DeviceAddress()
    public var peerResolvablePrivateAddress = DeviceAddress()
    public var connectionInterval: UInt16 = 0
    public var peripheralLatency: UInt16 = 0
    public var supervisionTimeout: UInt16 = 0
    public var centralClockAccuracy: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("role", &role)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("local_resolvable_private_address", &localResolvablePrivateAddress)
        try visitor.field("peer_resolvable_private_address", &peerResolvablePrivateAddress)
        try visitor.field("connection_interval", &connectionInterval)
        try visitor.field("peripheral_latency", &peripheralLatency)
        try visitor.field("supervision_timeout", &supervisionTimeout)
        try visitor.field("central_clock_accuracy", &centralClockAccuracy)
    }
}

/// LE Connection Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.3).
public struct LEConnectionUpdateComplete: LEMetaEvent {
    public static let leSubevent = LESubevent.connectionUpdateComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var connectionInterval: UInt16 = 0
    public var peripheralLatency: UInt16 = 0
    public var supervisionTimeout: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("connection_interval", &connectionInterval)
        try visitor.field("peripheral_latency", &peripheralLatency)
        try visitor.field("supervision_timeout", &supervisionTimeout)
    }
}

/// LE Read Remote Features Complete (Core 6.0, Vol 4, Part E, 7.7.65.4).
public struct LEReadRemoteFeaturesComplete: LEMetaEvent {
    public static let leSubevent = LESubevent.readRemoteFeaturesComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var leFeatures: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("le_features", &leFeatures)
    }
}

/// LE Long Term Key Request (Core 6.0, Vol 4, Part E, 7.7.65.5).
public struct LELongTermKeyRequest: LEMetaEvent {
    public static let leSubevent = LESubevent.longTermKeyRequest
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var randomNumber: UInt64 = 0
    public var encryptedDiversifier: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("random_number", &randomNumber)
        try visitor.field("encrypted_diversifier", &encryptedDiversifier)
    }
}

/// LE Remote Connection Parameter Request (Core 6.0, Vol 4, Part E, 7.7.65.6).
public struct LERemoteConnectionParameterRequest: LEMetaEvent {
    public static let leSubevent = LESubevent.remoteConnectionParameterRequest
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var maxLatency: UInt16 = 0
    public var timeout: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("max_latency", &maxLatency)
        try visitor.field("timeout", &timeout)
    }
}

/// LE Data Length Change (Core 6.0, Vol 4, Part E, 7.7.65.7). Octets and microseconds.
public struct LEDataLengthChange: LEMetaEvent {
    public static let leSubevent = LESubevent.dataLengthChange
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var maxTxOctets: UInt16 = 0
    public var maxTxTime: UInt16 = 0
    public var maxRxOctets: UInt16 = 0
    public var maxRxTime: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("max_tx_octets", &maxTxOctets)
        try visitor.field("max_tx_time", &maxTxTime)
        try visitor.field("max_rx_octets", &maxRxOctets)
        try visitor.field("max_rx_time", &maxRxTime)
    }
}

/// LE PHY Update Complete (Core 6.0, Vol 4, Part E, 7.7.65.12).
public struct LEPHYUpdateComplete: LEMetaEvent {
    public static let leSubevent = LESubevent.phyUpdateComplete
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var txPHY: UInt8 = 0
    public var rxPHY: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("tx_phy", &txPHY)
        try visitor.field("rx_phy", &rxPHY)
    }
}

/// LE Channel Selection Algorithm (Core 6.0, Vol 4, Part E, 7.7.65.20). 0 is algorithm #1, 1 is #2.
public struct LEChannelSelectionAlgorithm: LEMetaEvent {
    public static let leSubevent = LESubevent.channelSelectionAlgorithm
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var algorithm: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("algorithm", &algorithm)
    }
}
