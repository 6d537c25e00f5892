// The commands of the Security Manager Protocol; each record once. Octets are in wire order.
public import Wire

/// The fields of an SMP command behind its code.
public protocol SMPPDU: Record {
    static var code: SMPCode { get }
}

extension SMPPDU {
    /// The whole command, its code first.
    public var pdu: [UInt8] { [Self.code.rawValue] + encoded }
}

/// What Pairing Request and Pairing Response say (Core 6.0, Vol 3, Part H, 3.5.1 and 3.5.2).
public struct PairingFeatures: Record {
    public var ioCapability: UInt8 = 0
    /// 1 where out of band data of the peer are at hand.
    public var oobDataFlag: UInt8 = 0
    public var authReq = AuthenticationRequirements()
    /// Octets, 7 to 16.
    public var maximumEncryptionKeySize: UInt8 = 16
    public var initiatorKeyDistribution = KeyDistribution()
    public var responderKeyDistribution = KeyDistribution()

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var (authReq, initiator, responder) = (
            authReq.rawValue, initiatorKeyDistribution.rawValue, responderKeyDistribution.rawValue
        )
        try visitor.field("io_capability", &ioCapability)
        try visitor.field("oob_data_flag", &oobDataFlag)
        try visitor.field("auth_req", &authReq)
        try visitor.field("maximum_encryption_key_size", &maximumEncryptionKeySize)
        try visitor.field("initiator_key_distribution", &initiator)
        try visitor.field("responder_key_distribution", &responder)
        self.authReq = AuthenticationRequirements(rawValue: authReq)
        initiatorKeyDistribution = KeyDistribution(rawValue: initiator)
        responderKeyDistribution = KeyDistribution(rawValue: responder)
    }

    /// IOcap of f6, in wire order: IO capability, OOB flag, AuthReq (2.2.8).
    var ioCap: [UInt8] { [ioCapability, oobDataFlag, authReq.rawValue] }
}

/// Pairing Confirm, Pairing Random, Encryption Information, Identity Information, Signing
/// Information and DHKey Check: 16 octets each (3.5.3, 3.5.4, 3.6.2, 3.6.4, 3.6.6, 3.5.7).
public struct SMPValue: Record {
    public var value = [UInt8](repeating: 0, count: 16)

    public init() {}
    public init(_ value: [UInt8]) { self.value = value }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("value", &value, count: 16)
    }
}

/// Pairing Failed (Core 6.0, Vol 3, Part H, 3.5.5).
public struct PairingFailed: SMPPDU {
    public static let code = SMPCode.pairingFailed

    public var reason = SMPReason.unspecifiedReason

    public init() {}
    public init(_ reason: SMPReason) { self.reason = reason }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("reason", &reason)
    }
}

/// Pairing Public Key (Core 6.0, Vol 3, Part H, 3.5.6).
public struct PairingPublicKey: SMPPDU {
    public static let code = SMPCode.pairingPublicKey

    public var x = [UInt8](repeating: 0, count: 32)
    public var y = [UInt8](repeating: 0, count: 32)

    public init() {}

    public init(x: [UInt8], y: [UInt8]) {
        self.x = x
        self.y = y
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("public_key_x", &x, count: 32)
        try visitor.field("public_key_y", &y, count: 32)
    }
}

/// Central Identification (Core 6.0, Vol 3, Part H, 3.6.3).
public struct CentralIdentification: SMPPDU {
    public static let code = SMPCode.centralIdentification

    public var ediv: UInt16 = 0
    public var rand: UInt64 = 0

    public init() {}

    public init(ediv: UInt16, rand: UInt64) {
        self.ediv = ediv
        self.rand = rand
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("ediv", &ediv)
        try visitor.field("rand", &rand)
    }
}

/// Identity Address Information (Core 6.0, Vol 3, Part H, 3.6.5).
public struct IdentityAddressInformation: SMPPDU {
    public static let code = SMPCode.identityAddressInformation

    /// 0 public, 1 static random.
    public var addressType: UInt8 = 0
    public var address = DeviceAddress()

    public init() {}

    public init(_ address: LinkAddress) {
        addressType = address.isRandom ? 1 : 0
        self.address = address.address
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("address_type", &addressType)
        try visitor.field("address", &address)
    }
}

/// Security Request (Core 6.0, Vol 3, Part H, 3.6.7).
public struct SecurityRequest: SMPPDU {
    public static let code = SMPCode.securityRequest

    public var authReq = AuthenticationRequirements()

    public init() {}
    public init(_ authReq: AuthenticationRequirements) { self.authReq = authReq }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var raw = authReq.rawValue
        try visitor.field("auth_req", &raw)
        authReq = AuthenticationRequirements(rawValue: raw)
    }
}

/// A device address and whether it is a random one.
public struct LinkAddress: Hashable, Sendable, CustomStringConvertible {
    public var address: DeviceAddress
    public var isRandom: Bool

    public init(_ address: DeviceAddress, isRandom: Bool) {
        self.address = address
        self.isRandom = isRandom
    }

    /// The six octets and the type, in wire order, as f5 and f6 take them (2.2.7).
    var octets: [UInt8] { addressOctets + [isRandom ? 1 : 0] }

    var addressOctets: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: address.littleEndian >> UInt64(8 * $0)) }
    }

    /// Whether it may be resolved with an IRK: the two upper bits are 01 (Core 6.0, Vol 6, Part B,
    /// 1.3.2.2).
    public var isResolvable: Bool { isRandom && address.littleEndian >> 46 == 0b01 }

    /// Whether it can identify a device: public, or random static.
    public var isIdentity: Bool { !isRandom || address.isRandomStatic }

    public var description: String { "\(address) (\(isRandom ? "random" : "public"))" }
}
