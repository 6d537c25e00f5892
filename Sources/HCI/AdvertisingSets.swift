// Commands and events of advertising sets, and what their codes mean.
public import Wire

extension Opcode {
    public static let leReadMaximumAdvertisingDataLength = Opcode(rawValue: 0x203A)
    public static let leReadNumberOfSupportedAdvertisingSets = Opcode(rawValue: 0x203B)
    public static let leRemoveAdvertisingSet = Opcode(rawValue: 0x203C)
    public static let leReadTransmitPower = Opcode(rawValue: 0x204B)
}

/// Advertising_Event_Properties of LE Set Extended Advertising Parameters (Core 6.0, Vol 4, Part E,
/// 7.8.53).
public struct AdvertisingEventProperties: OptionSet, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let connectable = Self(rawValue: 1 << 0)
    public static let scannable = Self(rawValue: 1 << 1)
    public static let directed = Self(rawValue: 1 << 2)
    public static let highDutyCycle = Self(rawValue: 1 << 3)
    /// Legacy advertising PDUs, of at most 31 octets.
    public static let legacy = Self(rawValue: 1 << 4)
    public static let anonymous = Self(rawValue: 1 << 5)
    public static let includeTxPower = Self(rawValue: 1 << 6)
}

/// Operation of the commands that set advertising data (Core 6.0, Vol 4, Part E, 7.8.54).
public enum AdvertisingDataOperation {
    public static let intermediate: UInt8 = 0
    public static let first: UInt8 = 1
    public static let last: UInt8 = 2
    public static let complete: UInt8 = 3
    /// The data stay, and the set gets a new DID.
    public static let unchanged: UInt8 = 4
}

/// Limits of extended advertising in HCI.
public enum AdvertisingLimits {
    /// Octets of one fragment of LE Set Extended Advertising Data, and of one of LE Set Periodic
    /// Advertising Data (Core 6.0, Vol 4, Part E, 7.8.54, 7.8.62).
    public static let fragmentOctetsMax = 251
    public static let periodicFragmentOctetsMax = 252
    /// Octets of AdvData that any set may have.
    public static let dataOctetsMax = 1650
    /// Advertising handles are 0 to this.
    public static let handleMax: UInt8 = 0xEF
    /// Advertising_SID is 0 to this.
    public static let sidMax: UInt8 = 0x0F
}

/// LE Read Maximum Advertising Data Length (Core 6.0, Vol 4, Part E, 7.8.57).
public struct LEReadMaximumAdvertisingDataLength: HCICommand {
    public static let opcode = Opcode.leReadMaximumAdvertisingDataLength
    public typealias Return = LEMaximumAdvertisingDataLength
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Maximum Advertising Data Length (Core 6.0, Vol 4, Part E, 7.8.57).
/// In octets, 31 to 1,650.
public struct LEMaximumAdvertisingDataLength: Record {
    public var status: HCIStatus = .success
    public var maxAdvertisingDataLength: UInt16 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("max_advertising_data_length", &maxAdvertisingDataLength)
    }
}

/// LE Read Number of Supported Advertising Sets (Core 6.0, Vol 4, Part E, 7.8.58).
public struct LEReadNumberOfSupportedAdvertisingSets: HCICommand {
    public static let opcode = Opcode.leReadNumberOfSupportedAdvertisingSets
    public typealias Return = LENumberOfSupportedAdvertisingSets
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Number of Supported Advertising Sets (Core 6.0, Vol 4, Part E,
/// 7.8.58). 1 to 240; it may change when memory is used otherwise.
public struct LENumberOfSupportedAdvertisingSets: Record {
    public var status: HCIStatus = .success
    public var numSupportedAdvertisingSets: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("num_supported_advertising_sets", &numSupportedAdvertisingSets)
    }
}

/// LE Remove Advertising Set (Core 6.0, Vol 4, Part E, 7.8.59).
public struct LERemoveAdvertisingSet: HCICommand {
    public static let opcode = Opcode.leRemoveAdvertisingSet
    public typealias Return = StatusOnly
    public var advertisingHandle: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
    }
}

/// LE Read Transmit Power (Core 6.0, Vol 4, Part E, 7.8.74).
public struct LEReadTransmitPower: HCICommand {
    public static let opcode = Opcode.leReadTransmitPower
    public typealias Return = LETransmitPowerRange
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Transmit Power (Core 6.0, Vol 4, Part E, 7.8.74). In dBm.
public struct LETransmitPowerRange: Record {
    public var status: HCIStatus = .success
    public var minTxPower: Int8 = 0
    public var maxTxPower: Int8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("min_tx_power", &minTxPower)
        try visitor.field("max_tx_power", &maxTxPower)
    }
}

/// LE Scan Request Received (Core 6.0, Vol 4, Part E, 7.7.65.19).
public struct LEScanRequestReceived: LEMetaEvent {
    public static let leSubevent = LESubevent.scanRequestReceived
    public var advertisingHandle: UInt8 = 0
    public var scannerAddressType: AddressType = .publicDevice
    public var scannerAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("advertising_handle", &advertisingHandle)
        try visitor.field("scanner_address_type", &scannerAddressType)
        try visitor.field("scanner_address", &scannerAddress)
    }
}
