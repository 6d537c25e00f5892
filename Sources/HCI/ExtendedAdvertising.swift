// Commands and events of extended advertising.
public import Wire

/// LE Set Advertising Set Random Address (Core 6.0, Vol 4, Part E, 7.8.52).
public struct LESetAdvertisingSetRandomAddress: HCICommand {
    public static let opcode = Opcode.leSetAdvertisingSetRandomAddress
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    public var randomAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("random_address", &randomAddress)
    }
}

/// LE Set Extended Advertising Parameters [v1] (Core 6.0, Vol 4, Part E, 7.8.53).
///
/// Intervals in 0.625 ms; transmit power in dBm, 127 is no preference.
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = Opcode.leSetExtendedAdvertisingParameters
    public typealias Return = LESelectedTxPower
    public var advertisingHandle: UInt8 = 0
    public var eventProperties: UInt16 = 0
    public var intervalMin: UInt32 = 0
    public var intervalMax: UInt32 = 0
    public var channelMap: UInt8 = 0
    public var ownAddressType: AddressType = .publicDevice
    public var peerAddressType: AddressType = .publicDevice
    public var peerAddress = DeviceAddress()
    public var filterPolicy: UInt8 = 0
    public var txPower: Int8 = 0
    public var primaryPHY: UInt8 = 0
    public var secondaryMaxSkip: UInt8 = 0
    public var secondaryPHY: UInt8 = 0
    public var advertisingSid: UInt8 = 0
    public var scanRequestNotification: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("event_properties", &eventProperties)
        try visitor.field24("interval_min", &intervalMin)
        try visitor.field24("interval_max", &intervalMax)
        try visitor.field("channel_map", &channelMap)
        try visitor.field("own_address_type", &ownAddressType)
        try visitor.field("peer_address_type", &peerAddressType)
        try visitor.field("peer_address", &peerAddress)
        try visitor.field("filter_policy", &filterPolicy)
        try visitor.field("tx_power", &txPower)
        try visitor.field("primary_phy", &primaryPHY)
        try visitor.field("secondary_max_skip", &secondaryMaxSkip)
        try visitor.field("secondary_phy", &secondaryPHY)
        try visitor.field("advertising_sid", &advertisingSid)
        try visitor.field("scan_request_notification", &scanRequestNotification)
    }
}

/// Return parameters of LE Set Extended Advertising Parameters (Core 6.0, Vol 4, Part E, 7.8.53).
/// In dBm.
public struct LESelectedTxPower: Record {
    public var status: HCIStatus = .success
    public var selectedTxPower: Int8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("selected_tx_power", &selectedTxPower)
    }
}

/// LE Set Extended Advertising Data (Core 6.0, Vol 4, Part E, 7.8.54).
///
/// Operation 3 is the complete data in one fragment.
public struct LESetExtendedAdvertisingData: HCICommand {
    public static let opcode = Opcode.leSetExtendedAdvertisingData
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    public var operation: UInt8 = 0
    public var fragmentPreference: UInt8 = 0
    public var data: [UInt8] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("operation", &operation)
        try visitor.field("fragment_preference", &fragmentPreference)
        var length = UInt8(truncatingIfNeeded: data.count)
        try visitor.field("data_length", &length)
        try visitor.field("data", &data, count: Int(length))
    }
}

/// LE Set Extended Scan Response Data (Core 6.0, Vol 4, Part E, 7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
    public static let opcode = Opcode.leSetExtendedScanResponseData
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    public var operation: UInt8 = 0
    public var fragmentPreference: UInt8 = 0
    public var data: [UInt8] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("operation", &operation)
        try visitor.field("fragment_preference", &fragmentPreference)
        var length = UInt8(truncatingIfNeeded: data.count)
        try visitor.field("data_length", &length)
        try visitor.field("data", &data, count: Int(length))
    }
}

/// LE Set Extended Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    public static let opcode = Opcode.leSetExtendedAdvertisingEnable
    public typealias Return = StatusOnly

    /// One set; duration in 10 ms, 0 is without end.
    public struct Entry: Record {
        public var advertisingHandle: UInt8 = 0
        public var duration: UInt16 = 0
        public var maxEvents: UInt8 = 0
        public init() {}
        public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("advertising_handle", &advertisingHandle)
            try visitor.field("duration", &duration)
            try visitor.field("max_extended_advertising_events", &maxEvents)
        }
    }

    public var enable: UInt8 = 0
    public var sets: [Entry] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("enable", &enable)
        var count = UInt8(truncatingIfNeeded: sets.count)
        try visitor.field("num_sets", &count)
        try visitor.list("sets", &sets, count: Int(count))
    }
}

/// LE Clear Advertising Sets (Core 6.0, Vol 4, Part E, 7.8.60).
public struct LEClearAdvertisingSets: HCICommand {
    public static let opcode = Opcode.leClearAdvertisingSets
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// LE Advertising Set Terminated (Core 6.0, Vol 4, Part E, 7.7.65.18).
public struct LEAdvertisingSetTerminated: LEMetaEvent {
    public static let leSubevent = LESubevent.advertisingSetTerminated
    public var status: HCIStatus = .success
    public var advertisingHandle: UInt8 = 0
    public var connectionHandle = ConnectionHandle(rawValue: 0)
    public var numCompletedEvents: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("connection_handle", &connectionHandle)
        try visitor.field("num_completed_events", &numCompletedEvents)
    }
}
