// Commands and events of periodic advertising and of the synchronization to it.
public import Wire

extension Opcode {
    public static let leSetPeriodicAdvertisingParameters = Opcode(rawValue: 0x203E)
    public static let leSetPeriodicAdvertisingData = Opcode(rawValue: 0x203F)
    public static let leSetPeriodicAdvertisingEnable = Opcode(rawValue: 0x2040)
    public static let lePeriodicAdvertisingCreateSync = Opcode(rawValue: 0x2044)
    public static let lePeriodicAdvertisingCreateSyncCancel = Opcode(rawValue: 0x2045)
    public static let lePeriodicAdvertisingTerminateSync = Opcode(rawValue: 0x2046)
    public static let leAddDeviceToPeriodicAdvertiserList = Opcode(rawValue: 0x2047)
    public static let leRemoveDeviceFromPeriodicAdvertiserList = Opcode(rawValue: 0x2048)
    public static let leClearPeriodicAdvertiserList = Opcode(rawValue: 0x2049)
    public static let leReadPeriodicAdvertiserListSize = Opcode(rawValue: 0x204A)
    public static let leSetPeriodicAdvertisingReceiveEnable = Opcode(rawValue: 0x2059)
}

extension LESubevent {
    public static let periodicAdvertisingSyncEstablished = LESubevent(rawValue: 0x0E)
    public static let periodicAdvertisingReport = LESubevent(rawValue: 0x0F)
    public static let periodicAdvertisingSyncLost = LESubevent(rawValue: 0x10)
}

/// The controller's number of a periodic advertising train that it follows, 0x0000 to 0x0EFF.
public struct SyncHandle: OpenCode, Comparable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }
    public static let maximum = SyncHandle(rawValue: 0x0EFF)
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// LE Set Periodic Advertising Parameters [v1] (Core 6.0, Vol 4, Part E, 7.8.61). Intervals in
/// 1.25 ms; bit 6 of the properties puts the transmit power into the PDU.
public struct LESetPeriodicAdvertisingParameters: HCICommand {
    public static let opcode = Opcode.leSetPeriodicAdvertisingParameters
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    public var properties: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("interval_min", &intervalMin)
        try visitor.field("interval_max", &intervalMax)
        try visitor.field("properties", &properties)
    }
}

/// LE Set Periodic Advertising Data (Core 6.0, Vol 4, Part E, 7.8.62). At most 252 octets a
/// fragment.
public struct LESetPeriodicAdvertisingData: HCICommand {
    public static let opcode = Opcode.leSetPeriodicAdvertisingData
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    /// See `AdvertisingDataOperation`.
    public var operation: UInt8 = 0
    public var data: [UInt8] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("operation", &operation)
        var length = UInt8(truncatingIfNeeded: data.count)
        try visitor.field("data_length", &length)
        try visitor.field("data", &data, count: Int(length))
    }
}

/// LE Set Periodic Advertising Enable (Core 6.0, Vol 4, Part E, 7.8.63). Bit 0 enables, bit 1 puts
/// the ADI field into the PDU.
public struct LESetPeriodicAdvertisingEnable: HCICommand {
    public static let opcode = Opcode.leSetPeriodicAdvertisingEnable
    public typealias Return = StatusOnly
    public var enable: UInt8 = 0
    public var advertisingHandle: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("enable", &enable)
        try visitor.field("advertising_handle", &advertisingHandle)
    }
}

/// LE Periodic Advertising Create Sync (Core 6.0, Vol 4, Part E, 7.8.67). Skip in events, time-out
/// in 10 ms.
public struct LEPeriodicAdvertisingCreateSync: HCICommand {
    public static let opcode = Opcode.lePeriodicAdvertisingCreateSync
    public typealias Return = StatusOnly
    /// Bit 0: any advertiser of the list; bit 1: reports are off at first; bit 2: with duplicate
    /// filtering.
    public var options: UInt8 = 0
    public var advertisingSid: UInt8 = 0
    public var advertiserAddressType: AddressType = .publicDevice
    public var advertiserAddress = DeviceAddress()
    public var skip: UInt16 = 0
    public var syncTimeout: UInt16 = 0
    public var syncCTEType: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("options", &options)
        try visitor.field("advertising_sid", &advertisingSid)
        try visitor.field("advertiser_address_type", &advertiserAddressType)
        try visitor.field("advertiser_address", &advertiserAddress)
        try visitor.field("skip", &skip)
        try visitor.field("sync_timeout", &syncTimeout)
        try visitor.field("sync_cte_type", &syncCTEType)
    }
}

/// LE Periodic Advertising Create Sync Cancel (Core 6.0, Vol 4, Part E, 7.8.68).
public struct LEPeriodicAdvertisingCreateSyncCancel: HCICommand {
    public static let opcode = Opcode.lePeriodicAdvertisingCreateSyncCancel
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// LE Periodic Advertising Terminate Sync (Core 6.0, Vol 4, Part E, 7.8.69).
public struct LEPeriodicAdvertisingTerminateSync: HCICommand {
    public static let opcode = Opcode.lePeriodicAdvertisingTerminateSync
    public typealias Return = StatusOnly
    public var syncHandle = SyncHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("sync_handle", &syncHandle)
    }
}

/// An entry of the periodic advertiser list (Core 6.0, Vol 4, Part E, 7.8.70); set IDs go from 0x00
/// to 0x0F.
public struct PeriodicAdvertiserEntry: Record {
    public var addressType: AddressType = .publicDevice
    public var address = DeviceAddress()
    public var sid: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertiser_address_type", &addressType)
        try visitor.field("advertiser_address", &address)
        try visitor.field("advertising_sid", &sid)
    }
}

/// LE Add Device To Periodic Advertiser List (Core 6.0, Vol 4, Part E, 7.8.70).
public struct LEAddDeviceToPeriodicAdvertiserList: HCICommand {
    public static let opcode = Opcode.leAddDeviceToPeriodicAdvertiserList
    public typealias Return = StatusOnly
    public var entry = PeriodicAdvertiserEntry()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try entry.visit(&visitor)
    }
}

/// LE Remove Device From Periodic Advertiser List (Core 6.0, Vol 4, Part E, 7.8.71).
public struct LERemoveDeviceFromPeriodicAdvertiserList: HCICommand {
    public static let opcode = Opcode.leRemoveDeviceFromPeriodicAdvertiserList
    public typealias Return = StatusOnly
    public var entry = PeriodicAdvertiserEntry()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try entry.visit(&visitor)
    }
}

/// LE Clear Periodic Advertiser List (Core 6.0, Vol 4, Part E, 7.8.72).
public struct LEClearPeriodicAdvertiserList: HCICommand {
    public static let opcode = Opcode.leClearPeriodicAdvertiserList
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// LE Read Periodic Advertiser List Size (Core 6.0, Vol 4, Part E, 7.8.73).
public struct LEReadPeriodicAdvertiserListSize: HCICommand {
    public static let opcode = Opcode.leReadPeriodicAdvertiserListSize
    public typealias Return = PeriodicAdvertiserListSize
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Periodic Advertiser List Size (Core 6.0, Vol 4, Part E, 7.8.73).
public struct PeriodicAdvertiserListSize: Record {
    public var status: HCIStatus = .success
    public var periodicAdvertiserListSize: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("periodic_advertiser_list_size", &periodicAdvertiserListSize)
    }
}

/// LE Set Periodic Advertising Receive Enable (Core 6.0, Vol 4, Part E, 7.8.88). Bit 0 enables
/// reports, bit 1 filters duplicates.
public struct LESetPeriodicAdvertisingReceiveEnable: HCICommand {
    public static let opcode = Opcode.leSetPeriodicAdvertisingReceiveEnable
    public typealias Return = StatusOnly
    public var syncHandle = SyncHandle(rawValue: 0)
    public var enable: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("sync_handle", &syncHandle)
        try visitor.field("enable", &enable)
    }
}

/// LE Periodic Advertising Sync Established [v1] (Core 6.0, Vol 4, Part E, 7.7.65.14). Interval in
/// 1.25 ms.
public struct LEPeriodicAdvertisingSyncEstablished: LEMetaEvent {
    public static let leSubevent = LESubevent.periodicAdvertisingSyncEstablished
    public var status: HCIStatus = .success
    public var syncHandle = SyncHandle(rawValue: 0)
    public var advertisingSid: UInt8 = 0
    public var advertiserAddressType: AddressType = .publicDevice
    public var advertiserAddress = DeviceAddress()
    /// 1 LE 1M, 2 LE 2M, 3 LE Coded.
    public var advertiserPHY: UInt8 = 0
    public var periodicAdvertisingInterval: UInt16 = 0
    public var advertiserClockAccuracy: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("sync_handle", &syncHandle)
        try visitor.field("advertising_sid", &advertisingSid)
        try visitor.field("advertiser_address_type", &advertiserAddressType)
        try visitor.field("advertiser_address", &advertiserAddress)
        try visitor.field("advertiser_phy", &advertiserPHY)
        try visitor.field("periodic_advertising_interval", &periodicAdvertisingInterval)
        try visitor.field("advertiser_clock_accuracy", &advertiserClockAccuracy)
    }
}

/// LE Periodic Advertising Report [v1] (Core 6.0, Vol 4, Part E, 7.7.65.15). Power and RSSI in dBm;
/// 127 is not available.
public struct LEPeriodicAdvertisingReport: LEMetaEvent {
    public static let leSubevent = LESubevent.periodicAdvertisingReport

    /// The most octets of data that one event holds.
    public static let dataOctetsMax = 247

    public var syncHandle = SyncHandle(rawValue: 0)
    public var txPower: Int8 = 127
    public var rssi: Int8 = 127
    /// 0xFF is no Constant Tone Extension.
    public var cteType: UInt8 = 0xFF
    /// 0 complete, 1 more to come, 2 truncated.
    public var dataStatus: UInt8 = 0
    public var data: [UInt8] = []
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("sync_handle", &syncHandle)
        try visitor.field("tx_power", &txPower)
        try visitor.field("rssi", &rssi)
        try visitor.field("cte_type", &cteType)
        try visitor.field("data_status", &dataStatus)
        var length = UInt8(truncatingIfNeeded: data.count)
        try visitor.field("data_length", &length)
        try visitor.field("data", &data, count: Int(length))
    }
}

/// LE Periodic Advertising Sync Lost (Core 6.0, Vol 4, Part E, 7.7.65.16).
public struct LEPeriodicAdvertisingSyncLost: LEMetaEvent {
    public static let leSubevent = LESubevent.periodicAdvertisingSyncLost
    public var syncHandle = SyncHandle(rawValue: 0)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("sync_handle", &syncHandle)
    }
}
