// LE commands of set-up and of links.
public import Wire

/// LE Set Event Mask (Core 6.0, Vol 4, Part E, 7.8.1).
public struct LESetEventMask: HCICommand {
    public static let opcode = Opcode.leSetEventMask
    public typealias Return = StatusOnly
    public var leEventMask: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("le_event_mask", &leEventMask)
    }
}

/// LE Read Buffer Size [v1] (Core 6.0, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSize: HCICommand {
    public static let opcode = Opcode.leReadBufferSize
    public typealias Return = LEBufferSize
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Buffer Size [v1] (Core 6.0, Vol 4, Part E, 7.8.2). Both 0: the
/// BR/EDR buffers are shared.
public struct LEBufferSize: Record {
    public var status: HCIStatus = .success
    public var aclDataPacketLength: UInt16 = 0
    public var totalACLDataPackets: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("acl_data_packet_length", &aclDataPacketLength)
        try visitor.field("total_acl_data_packets", &totalACLDataPackets)
    }
}

/// LE Read Buffer Size [v2] (Core 6.0, Vol 4, Part E, 7.8.2).
public struct LEReadBufferSizeV2: HCICommand {
    public static let opcode = Opcode.leReadBufferSizeV2
    public typealias Return = LEBufferSizeV2
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Buffer Size [v2] (Core 6.0, Vol 4, Part E, 7.8.2).
public struct LEBufferSizeV2: Record {
    public var status: HCIStatus = .success
    public var aclDataPacketLength: UInt16 = 0
    public var totalACLDataPackets: UInt8 = 0
    public var isoDataPacketLength: UInt16 = 0
    public var totalISODataPackets: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("acl_data_packet_length", &aclDataPacketLength)
        try visitor.field("total_acl_data_packets", &totalACLDataPackets)
        try visitor.field("iso_data_packet_length", &isoDataPacketLength)
        try visitor.field("total_iso_data_packets", &totalISODataPackets)
    }
}

/// LE Read Local Supported Features [v1] (Core 6.0, Vol 4, Part E, 7.8.3).
public struct LEReadLocalSupportedFeatures: HCICommand {
    public static let opcode = Opcode.leReadLocalSupportedFeatures
    public typealias Return = LELocalSupportedFeatures
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Local Supported Features (Core 6.0, Vol 4, Part E, 7.8.3).
public struct LELocalSupportedFeatures: Record {
    public var status: HCIStatus = .success
    public var leFeatures: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("le_features", &leFeatures)
    }
}

/// LE Set Random Address (Core 6.0, Vol 4, Part E, 7.8.4).
public struct LESetRandomAddress: HCICommand {
    public static let opcode = Opcode.leSetRandomAddress
    public typealias Return = StatusOnly
    public var randomAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("random_address", &randomAddress)
    }
}

/// LE Read Filter Accept List Size (Core 6.0, Vol 4, Part E, 7.8.14).
public struct LEReadFilterAcceptListSize: HCICommand {
    public static let opcode = Opcode.leReadFilterAcceptListSize
    public typealias Return = FilterAcceptListSize
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Filter Accept List Size (Core 6.0, Vol 4, Part E, 7.8.14).
public struct FilterAcceptListSize: Record {
    public var status: HCIStatus = .success
    public var filterAcceptListSize: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("filter_accept_list_size", &filterAcceptListSize)
    }
}

/// LE Clear Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.15).
public struct LEClearFilterAcceptList: HCICommand {
    public static let opcode = Opcode.leClearFilterAcceptList
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// LE Add Device To Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.16).
public struct LEAddDeviceToFilterAcceptList: HCICommand {
    public static let opcode = Opcode.leAddDeviceToFilterAcceptList
    public typealias Return = StatusOnly
    public var addressType: AddressType = .publicDevice
    public var address = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("address_type", &addressType)
        try visitor.field("address", &address)
    }
}

/// LE Remove Device From Filter Accept List (Core 6.0, Vol 4, Part E, 7.8.17).
public struct LERemoveDeviceFromFilterAcceptList: HCICommand {
    public static let opcode = Opcode.leRemoveDeviceFromFilterAcceptList
    public typealias Return = StatusOnly
    public var addressType: AddressType = .publicDevice
    public var address = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("address_type", &addressType)
        try visitor.field("address", &address)
    }
}

/// LE Connection Update (Core 6.0, Vol 4, Part E, 7.8.18). Intervals in 1.25 ms, time-out in 10 ms.
public struct LEConnectionUpdate: HCICommand {
    public static let opcode = Opcode.leConnectionUpdate
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var maxLatency: UInt16 = 0
    public var supervisionTimeout: UInt16 = 0
    public var minCeLength: UInt16 = 0
    public var maxCeLength: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("max_latency", &maxLatency)
        try visitor.field("supervision_timeout", &supervisionTimeout)
        try visitor.field("min_ce_length", &minCeLength)
        try visitor.field("max_ce_length", &maxCeLength)
    }
}

/// LE Set Host Channel Classification (Core 6.0, Vol 4, Part E, 7.8.19).
public struct LESetHostChannelClassification: HCICommand {
    public static let opcode = Opcode.leSetHostChannelClassification
    public typealias Return = StatusOnly
    public var channelMap = [UInt8](repeating: 0, count: 5)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("channel_map", &channelMap, count: 5)
    }
}

/// LE Read Channel Map (Core 6.0, Vol 4, Part E, 7.8.20).
public struct LEReadChannelMap: HCICommand {
    public static let opcode = Opcode.leReadChannelMap
    public typealias Return = LEChannelMap
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// Return parameters of LE Read Channel Map (Core 6.0, Vol 4, Part E, 7.8.20).
public struct LEChannelMap: Record {
    public var status: HCIStatus = .success
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var channelMap = [UInt8](repeating: 0, count: 5)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("channel_map", &channelMap, count: 5)
    }
}

/// LE Read Remote Features (Core 6.0, Vol 4, Part E, 7.8.21).
public struct LEReadRemoteFeatures: HCICommand {
    public static let opcode = Opcode.leReadRemoteFeatures
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// LE Encrypt (Core 6.0, Vol 4, Part E, 7.8.22). Most significant octet last, as all of HCI.
public struct LEEncrypt: HCICommand {
    public static let opcode = Opcode.leEncrypt
    public typealias Return = LEEncrypted
    public var key = [UInt8](repeating: 0, count: 16)
    public var plaintext = [UInt8](repeating: 0, count: 16)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("key", &key, count: 16)
        try visitor.field("plaintext", &plaintext, count: 16)
    }
}

/// Return parameters of LE Encrypt (Core 6.0, Vol 4, Part E, 7.8.22).
public struct LEEncrypted: Record {
    public var status: HCIStatus = .success
    public var encryptedData = [UInt8](repeating: 0, count: 16)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("encrypted_data", &encryptedData, count: 16)
    }
}

/// LE Rand (Core 6.0, Vol 4, Part E, 7.8.23).
public struct LERand: HCICommand {
    public static let opcode = Opcode.leRand
    public typealias Return = LERandomNumber
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Rand (Core 6.0, Vol 4, Part E, 7.8.23).
public struct LERandomNumber: Record {
    public var status: HCIStatus = .success
    public var randomNumber: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("random_number", &randomNumber)
    }
}

/// LE Enable Encryption, of a central (Core 6.0, Vol 4, Part E, 7.8.24).
public struct LEEnableEncryption: HCICommand {
    public static let opcode = Opcode.leEnableEncryption
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var randomNumber: UInt64 = 0
    public var encryptedDiversifier: UInt16 = 0
    public var longTermKey = [UInt8](repeating: 0, count: 16)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("random_number", &randomNumber)
        try visitor.field("encrypted_diversifier", &encryptedDiversifier)
        try visitor.field("long_term_key", &longTermKey, count: 16)
    }
}

/// LE Long Term Key Request Reply (Core 6.0, Vol 4, Part E, 7.8.25).
public struct LELongTermKeyRequestReply: HCICommand {
    public static let opcode = Opcode.leLongTermKeyRequestReply
    public typealias Return = StatusAndHandle
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var longTermKey = [UInt8](repeating: 0, count: 16)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("long_term_key", &longTermKey, count: 16)
    }
}

/// LE Long Term Key Request Negative Reply (Core 6.0, Vol 4, Part E, 7.8.26).
public struct LELongTermKeyRequestNegativeReply: HCICommand {
    public static let opcode = Opcode.leLongTermKeyRequestNegativeReply
    public typealias Return = StatusAndHandle
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// LE Read Supported States (Core 6.0, Vol 4, Part E, 7.8.27).
public struct LEReadSupportedStates: HCICommand {
    public static let opcode = Opcode.leReadSupportedStates
    public typealias Return = LESupportedStates
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Supported States (Core 6.0, Vol 4, Part E, 7.8.27).
public struct LESupportedStates: Record {
    public var status: HCIStatus = .success
    public var leStates: UInt64 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("le_states", &leStates)
    }
}

/// LE Remote Connection Parameter Request Reply (Core 6.0, Vol 4, Part E, 7.8.31).
public struct LERemoteConnectionParameterRequestReply: HCICommand {
    public static let opcode = Opcode.leRemoteConnectionParameterRequestReply
    public typealias Return = StatusAndHandle
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var maxLatency: UInt16 = 0
    public var timeout: UInt16 = 0
    public var minCeLength: UInt16 = 0
    public var maxCeLength: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("max_latency", &maxLatency)
        try visitor.field("timeout", &timeout)
        try visitor.field("min_ce_length", &minCeLength)
        try visitor.field("max_ce_length", &maxCeLength)
    }
}

/// LE Remote Connection Parameter Request Negative Reply (Core 6.0, Vol 4, Part E, 7.8.32).
public struct LERemoteConnectionParameterRequestNegativeReply: HCICommand {
    public static let opcode = Opcode.leRemoteConnectionParameterRequestNegativeReply
    public typealias Return = StatusAndHandle
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var reason: HCIStatus = .success
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("reason", &reason)
    }
}

/// LE Set Data Length (Core 6.0, Vol 4, Part E, 7.8.33). Octets and microseconds.
public struct LESetDataLength: HCICommand {
    public static let opcode = Opcode.leSetDataLength
    public typealias Return = StatusAndHandle
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var txOctets: UInt16 = 0
    public var txTime: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("tx_octets", &txOctets)
        try visitor.field("tx_time", &txTime)
    }
}

/// LE Read Suggested Default Data Length (Core 6.0, Vol 4, Part E, 7.8.34).
public struct LEReadSuggestedDefaultDataLength: HCICommand {
    public static let opcode = Opcode.leReadSuggestedDefaultDataLength
    public typealias Return = LESuggestedDefaultDataLength
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Suggested Default Data Length (Core 6.0, Vol 4, Part E, 7.8.34).
public struct LESuggestedDefaultDataLength: Record {
    public var status: HCIStatus = .success
    public var suggestedMaxTxOctets: UInt16 = 0
    public var suggestedMaxTxTime: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("suggested_max_tx_octets", &suggestedMaxTxOctets)
        try visitor.field("suggested_max_tx_time", &suggestedMaxTxTime)
    }
}

/// LE Write Suggested Default Data Length (Core 6.0, Vol 4, Part E, 7.8.35).
public struct LEWriteSuggestedDefaultDataLength: HCICommand {
    public static let opcode = Opcode.leWriteSuggestedDefaultDataLength
    public typealias Return = StatusOnly
    public var suggestedMaxTxOctets: UInt16 = 0
    public var suggestedMaxTxTime: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("suggested_max_tx_octets", &suggestedMaxTxOctets)
        try visitor.field("suggested_max_tx_time", &suggestedMaxTxTime)
    }
}

/// LE Read Maximum Data Length (Core 6.0, Vol 4, Part E, 7.8.46).
public struct LEReadMaximumDataLength: HCICommand {
    public static let opcode = Opcode.leReadMaximumDataLength
    public typealias Return = LEMaximumDataLength
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Maximum Data Length (Core 6.0, Vol 4, Part E, 7.8.46).
public struct LEMaximumDataLength: Record {
    public var status: HCIStatus = .success
    public var supportedMaxTxOctets: UInt16 = 0
    public var supportedMaxTxTime: UInt16 = 0
    public var supportedMaxRxOctets: UInt16 = 0
    public var supportedMaxRxTime: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("supported_max_tx_octets", &supportedMaxTxOctets)
        try visitor.field("supported_max_tx_time", &supportedMaxTxTime)
        try visitor.field("supported_max_rx_octets", &supportedMaxRxOctets)
        try visitor.field("supported_max_rx_time", &supportedMaxRxTime)
    }
}

/// LE Read PHY (Core 6.0, Vol 4, Part E, 7.8.47).
public struct LEReadPHY: HCICommand {
    public static let opcode = Opcode.leReadPHY
    public typealias Return = LEPHY
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
    }
}

/// Return parameters of LE Read PHY (Core 6.0, Vol 4, Part E, 7.8.47). 1 is LE 1M, 2 is LE 2M, 3
/// is LE Coded.
public struct LEPHY: Record {
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

/// LE Set Default PHY (Core 6.0, Vol 4, Part E, 7.8.48).
public struct LESetDefaultPHY: HCICommand {
    public static let opcode = Opcode.leSetDefaultPHY
    public typealias Return = StatusOnly
    public var allPHYs: UInt8 = 0
    public var txPHYs: UInt8 = 0
    public var rxPHYs: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("all_phys", &allPHYs)
        try visitor.field("tx_phys", &txPHYs)
        try visitor.field("rx_phys", &rxPHYs)
    }
}

/// LE Set PHY (Core 6.0, Vol 4, Part E, 7.8.49).
public struct LESetPHY: HCICommand {
    public static let opcode = Opcode.leSetPHY
    public typealias Return = StatusOnly
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var allPHYs: UInt8 = 0
    public var txPHYs: UInt8 = 0
    public var rxPHYs: UInt8 = 0
    public var phyOptions: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("all_phys", &allPHYs)
        try visitor.field("tx_phys", &txPHYs)
        try visitor.field("rx_phys", &rxPHYs)
        try visitor.field("phy_options", &phyOptions)
    }
}
