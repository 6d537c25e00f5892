// The codes and flags of the Security Manager Protocol.
public import Wire

/// The code of an SMP command (Core 6.0, Vol 3, Part H, 3.3).
public struct SMPCode: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let pairingRequest = SMPCode(rawValue: 0x01)
    public static let pairingResponse = SMPCode(rawValue: 0x02)
    public static let pairingConfirm = SMPCode(rawValue: 0x03)
    public static let pairingRandom = SMPCode(rawValue: 0x04)
    public static let pairingFailed = SMPCode(rawValue: 0x05)
    public static let encryptionInformation = SMPCode(rawValue: 0x06)
    public static let centralIdentification = SMPCode(rawValue: 0x07)
    public static let identityInformation = SMPCode(rawValue: 0x08)
    public static let identityAddressInformation = SMPCode(rawValue: 0x09)
    public static let signingInformation = SMPCode(rawValue: 0x0A)
    public static let securityRequest = SMPCode(rawValue: 0x0B)
    public static let pairingPublicKey = SMPCode(rawValue: 0x0C)
    public static let pairingDHKeyCheck = SMPCode(rawValue: 0x0D)
    public static let keypressNotification = SMPCode(rawValue: 0x0E)

    public var description: String { "SMP code " + Hex.code(rawValue) }
}

/// The reason of Pairing Failed (Core 6.0, Vol 3, Part H, 3.5.5).
public struct SMPReason: OpenCode, Error, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let passkeyEntryFailed = SMPReason(rawValue: 0x01)
    public static let oobNotAvailable = SMPReason(rawValue: 0x02)
    public static let authenticationRequirements = SMPReason(rawValue: 0x03)
    public static let confirmValueFailed = SMPReason(rawValue: 0x04)
    public static let pairingNotSupported = SMPReason(rawValue: 0x05)
    public static let encryptionKeySize = SMPReason(rawValue: 0x06)
    public static let commandNotSupported = SMPReason(rawValue: 0x07)
    public static let unspecifiedReason = SMPReason(rawValue: 0x08)
    public static let repeatedAttempts = SMPReason(rawValue: 0x09)
    public static let invalidParameters = SMPReason(rawValue: 0x0A)
    public static let dhKeyCheckFailed = SMPReason(rawValue: 0x0B)
    public static let numericComparisonFailed = SMPReason(rawValue: 0x0C)
    public static let keyRejected = SMPReason(rawValue: 0x0F)

    /// The specification's words, with the number.
    public var description: String {
        for (reason, name) in Self.names where reason == self {
            return "\(name) (\(Hex.code(rawValue)))"
        }
        return "reason \(Hex.code(rawValue))"
    }

    private static let names: [(SMPReason, String)] = [
        (.passkeyEntryFailed, "Passkey Entry Failed"), (.oobNotAvailable, "OOB Not Available"),
        (.authenticationRequirements, "Authentication Requirements"),
        (.confirmValueFailed, "Confirm Value Failed"),
        (.pairingNotSupported, "Pairing Not Supported"),
        (.encryptionKeySize, "Encryption Key Size"),
        (.commandNotSupported, "Command Not Supported"),
        (.unspecifiedReason, "Unspecified Reason"), (.repeatedAttempts, "Repeated Attempts"),
        (.invalidParameters, "Invalid Parameters"), (.dhKeyCheckFailed, "DHKey Check Failed"),
        (.numericComparisonFailed, "Numeric Comparison Failed"), (.keyRejected, "Key Rejected"),
    ]
}

/// What a device can show and what its user can enter (Core 6.0, Vol 3, Part H, 2.3.2).
public enum IOCapability: UInt8, CaseIterable, Sendable {
    case displayOnly = 0x00
    case displayYesNo = 0x01
    case keyboardOnly = 0x02
    case noInputNoOutput = 0x03
    case keyboardDisplay = 0x04
}

/// AuthReq (Core 6.0, Vol 3, Part H, 3.5.1).
public struct AuthenticationRequirements: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let bonding = AuthenticationRequirements(rawValue: 0x01)
    /// The upper bit of Bonding_Flags, reserved for future use.
    static let reservedBonding = AuthenticationRequirements(rawValue: 0x02)
    /// Protection against a man in the middle is asked for.
    public static let mitm = AuthenticationRequirements(rawValue: 0x04)
    public static let secureConnections = AuthenticationRequirements(rawValue: 0x08)
    public static let keypress = AuthenticationRequirements(rawValue: 0x10)
    public static let ct2 = AuthenticationRequirements(rawValue: 0x20)
}

/// Which keys a side distributes (Core 6.0, Vol 3, Part H, 3.6.1).
public struct KeyDistribution: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The LTK with EDIV and Rand; meaningless in LE Secure Connections.
    public static let encryption = KeyDistribution(rawValue: 0x01)
    /// The IRK and the identity address.
    public static let identity = KeyDistribution(rawValue: 0x02)
    /// The CSRK.
    public static let signing = KeyDistribution(rawValue: 0x04)
    public static let linkKey = KeyDistribution(rawValue: 0x08)
}
