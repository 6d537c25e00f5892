// LE commands of legacy advertising, scanning and initiating.
public import Wire

/// LE Set Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.5). Intervals in 0.625 ms.
public struct LESetAdvertisingParameters: HCICommand {
    public static let opcode = Opcode.leSetAdvertisingParameters
    public typealias Return = StatusOnly
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var advertisingType: UInt8 = 0
    public var ownAddressType: AddressType = .publicDevice
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    public var channelMap: UInt8 = 0
    public var filterPolicy: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("advertising_type", &advertisingType)
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("channel_map", &channelMap)
        try visitor.field("filter_policy", &filterPolicy)
    }
}

/// LE Read Advertising Physical Channel Tx Power (Core 6.0, Vol 4, Part E, 7.8.6).
public struct LEReadAdvertisingPhysicalChannelTxPower: HCICommand {
    public static let opcode = Opcode.leReadAdvertisingPhysicalChannelTxPower
    public typealias Return = LEAdvertisingTxPower
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Advertising Physical Channel Tx Power (Core 6.0, Vol 4, Part E,
/// 7.8.6). In dBm.
public struct LEAdvertisingTxPower: Record {
    public var status: HCIStatus = .success
    public var txPowerLevel: Int8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("tx_power_level", &txPowerLevel)
    }
}

/// LE Set Advertising Data (Core 6.0, Vol 4, Part E, 7.8.7).
public struct LESetAdvertisingData: HCICommand {
    public static let opcode = Opcode.leSetAdvertisingData
    public typealias Return = StatusOnly
    public var length: UInt8 = 0
    public var data = [UInt8](repeating: 0, count: 31)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("length", &length)
        try visitor.field("data", &data, count: 31)
    }
}

/// LE Set Scan Response Data (Core 6.0, Vol 4, Part E, 7.8.8).
public struct LESetScanResponseData: HCICommand {
    public static let opcode = Opcode.leSetScanResponseData
    public typealias Return = StatusOnly
    public var length: UInt8 = 0
    public var data = [UInt8](repeating: 0, count: 31)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("length", &length)
        try visitor.field("data", &data, count: 31)
    }
}

/// LE Set Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.9).
public struct LESetAdvertisingEnable: HCICommand {
    public static let opcode = Opcode.leSetAdvertisingEnable
    public typealias Return = StatusOnly
    public var enable: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("enable", &enable)
    }
}

/// LE Set Scan Parameters (Core 6.0, Vol 4, Part E, 7.8.10). Interval and window in 0.625 ms.
public struct LESetScanParameters: HCICommand {
    public static let opcode = Opcode.leSetScanParameters
    public typealias Return = StatusOnly
    public var scanType: UInt8 = 0
    public var scanInterval: UInt16 = 0
    public var scanWindow: UInt16 = 0
    public var ownAddressType: AddressType = .publicDevice
    public var filterPolicy: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("scan_type", &scanType)
        try visitor.field("scan_interval", &scanInterval)
        try visitor.field("scan_window", &scanWindow)
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("filter_policy", &filterPolicy)
    }
}

/// LE Set Scan Enable (Core 6.0, Vol 4, Part E, 7.8.11).
public struct LESetScanEnable: HCICommand {
    public static let opcode = Opcode.leSetScanEnable
    public typealias Return = StatusOnly
    public var enable: UInt8 = 0
    public var filterDuplicates: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("enable", &enable)
        try visitor.field("filter_duplicates", &filterDuplicates)
    }
}

/// LE Create Connection (Core 6.0, Vol 4, Part E, 7.8.12).
///
/// Scan times in 0.625 ms, connection intervals in 1.25 ms, time-out in 10 ms.
public struct LECreateConnection: HCICommand {
    public static let opcode = Opcode.leCreateConnection
    public typealias Return = StatusOnly
    public var scanInterval: UInt16 = 0
    public var scanWindow: UInt16 = 0
    public var initiatorFilterPolicy: UInt8 = 0
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    public var ownAddressType: AddressType = .publicDevice
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var maxLatency: UInt16 = 0
    public var supervisionTimeout: UInt16 = 0
    public var minCeLength: UInt16 = 0
    public var maxCeLength: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("scan_interval", &scanInterval)
        try visitor.field("scan_window", &scanWindow)
        try visitor.field("initiator_filter_policy", &initiatorFilterPolicy)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("max_latency", &maxLatency)
        try visitor.field("supervision_timeout", &supervisionTimeout)
        try visitor.field("min_ce_length", &minCeLength)
        try visitor.field("max_ce_length", &maxCeLength)
    }
}

/// LE Create Connection Cancel (Core 6.0, Vol 4, Part E, 7.8.13).
public struct LECreateConnectionCancel: HCICommand {
    public static let opcode = Opcode.leCreateConnectionCancel
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}
