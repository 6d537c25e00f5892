// Commands of privacy: the controller's resolving list and what it makes of it.
public import Wire

extension Opcode {
    public static let leAddDeviceToResolvingList = Opcode(rawValue: 0x2027)
    public static let leRemoveDeviceFromResolvingList = Opcode(rawValue: 0x2028)
    public static let leClearResolvingList = Opcode(rawValue: 0x2029)
    public static let leReadResolvingListSize = Opcode(rawValue: 0x202A)
    public static let leReadPeerResolvableAddress = Opcode(rawValue: 0x202B)
    public static let leReadLocalResolvableAddress = Opcode(rawValue: 0x202C)
    public static let leSetAddressResolutionEnable = Opcode(rawValue: 0x202D)
    public static let leSetResolvablePrivateAddressTimeout = Opcode(rawValue: 0x202E)
    public static let leSetPrivacyMode = Opcode(rawValue: 0x204E)
}

/// LE Add Device To Resolving List (Core 6.0, Vol 4, Part E, 7.8.38). Type 0 is a public identity
/// address, 1 a random static one; keys are least significant octet first, all zero for none.
public struct LEAddDeviceToResolvingList: HCICommand {
    public static let opcode = Opcode.leAddDeviceToResolvingList
    public typealias Return = StatusOnly
    public var peerIdentityAddressType: AddressType = .publicDevice
    public var peerIdentityAddress = DeviceAddress()
    public var peerIRK = [UInt8](repeating: 0, count: 16)
    public var localIRK = [UInt8](repeating: 0, count: 16)
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("peer_identity_address_type", &peerIdentityAddressType)
        try visitor.field("peer_identity_address", &peerIdentityAddress)
        try visitor.field("peer_irk", &peerIRK, count: 16)
        try visitor.field("local_irk", &localIRK, count: 16)
    }
}

/// LE Remove Device From Resolving List (Core 6.0, Vol 4, Part E, 7.8.39).
public struct LERemoveDeviceFromResolvingList: HCICommand {
    public static let opcode = Opcode.leRemoveDeviceFromResolvingList
    public typealias Return = StatusOnly
    public var peerIdentityAddressType: AddressType = .publicDevice
    public var peerIdentityAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("peer_identity_address_type", &peerIdentityAddressType)
        try visitor.field("peer_identity_address", &peerIdentityAddress)
    }
}

/// LE Clear Resolving List (Core 6.0, Vol 4, Part E, 7.8.40).
public struct LEClearResolvingList: HCICommand {
    public static let opcode = Opcode.leClearResolvingList
    public typealias Return = StatusOnly
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// LE Read Resolving List Size (Core 6.0, Vol 4, Part E, 7.8.41).
public struct LEReadResolvingListSize: HCICommand {
    public static let opcode = Opcode.leReadResolvingListSize
    public typealias Return = ResolvingListSize
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// Return parameters of LE Read Resolving List Size (Core 6.0, Vol 4, Part E, 7.8.41).
public struct ResolvingListSize: Record {
    public var status: HCIStatus = .success
    public var resolvingListSize: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("resolving_list_size", &resolvingListSize)
    }
}

/// LE Read Peer Resolvable Address (Core 6.0, Vol 4, Part E, 7.8.42).
public struct LEReadPeerResolvableAddress: HCICommand {
    public static let opcode = Opcode.leReadPeerResolvableAddress
    public typealias Return = StatusAndAddress
    public var peerIdentityAddressType: AddressType = .publicDevice
    public var peerIdentityAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("peer_identity_address_type", &peerIdentityAddressType)
        try visitor.field("peer_identity_address", &peerIdentityAddress)
    }
}

/// LE Read Local Resolvable Address (Core 6.0, Vol 4, Part E, 7.8.43).
public struct LEReadLocalResolvableAddress: HCICommand {
    public static let opcode = Opcode.leReadLocalResolvableAddress
    public typealias Return = StatusAndAddress
    public var peerIdentityAddressType: AddressType = .publicDevice
    public var peerIdentityAddress = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("peer_identity_address_type", &peerIdentityAddressType)
        try visitor.field("peer_identity_address", &peerIdentityAddress)
    }
}

/// Return parameters that are a resolvable private address behind a status (Core 6.0, Vol 4, Part
/// E, 7.8.42 and 7.8.43).
public struct StatusAndAddress: Record {
    public var status: HCIStatus = .success
    public var address = DeviceAddress()
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("status", &status)
        try visitor.field("resolvable_address", &address)
    }
}

/// LE Set Address Resolution Enable (Core 6.0, Vol 4, Part E, 7.8.44).
public struct LESetAddressResolutionEnable: HCICommand {
    public static let opcode = Opcode.leSetAddressResolutionEnable
    public typealias Return = StatusOnly
    public var addressResolutionEnable: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("address_resolution_enable", &addressResolutionEnable)
    }
}

/// LE Set Resolvable Private Address Timeout (Core 6.0, Vol 4, Part E, 7.8.45). In seconds, 1 to
/// 3,600.
public struct LESetResolvablePrivateAddressTimeout: HCICommand {
    public static let opcode = Opcode.leSetResolvablePrivateAddressTimeout
    public typealias Return = StatusOnly
    public var rpaTimeout: UInt16 = 900
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("rpa_timeout", &rpaTimeout)
    }
}

/// LE Set Privacy Mode (Core 6.0, Vol 4, Part E, 7.8.77). 0 network privacy: the peer is heard by
/// its private addresses alone; 1 device privacy: also by its identity address.
public struct LESetPrivacyMode: HCICommand {
    public static let opcode = Opcode.leSetPrivacyMode
    public typealias Return = StatusOnly
    public var peerIdentityAddressType: AddressType = .publicDevice
    public var peerIdentityAddress = DeviceAddress()
    public var privacyMode: UInt8 = 0
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("peer_identity_address_type", &peerIdentityAddressType)
        try visitor.field("peer_identity_address", &peerIdentityAddress)
        try visitor.field("privacy_mode", &privacyMode)
    }
}
