// Opcodes and error codes of the Attribute Protocol, open to what later specifications add.
public import Wire

/// The opcode of an ATT PDU (Core 6.0, Vol 3, Part F, 3.4.8).
public struct ATTOpcode: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let errorResponse = ATTOpcode(rawValue: 0x01)
    public static let exchangeMTURequest = ATTOpcode(rawValue: 0x02)
    public static let exchangeMTUResponse = ATTOpcode(rawValue: 0x03)
    public static let findInformationRequest = ATTOpcode(rawValue: 0x04)
    public static let findInformationResponse = ATTOpcode(rawValue: 0x05)
    public static let findByTypeValueRequest = ATTOpcode(rawValue: 0x06)
    public static let findByTypeValueResponse = ATTOpcode(rawValue: 0x07)
    public static let readByTypeRequest = ATTOpcode(rawValue: 0x08)
    public static let readByTypeResponse = ATTOpcode(rawValue: 0x09)
    public static let readRequest = ATTOpcode(rawValue: 0x0A)
    public static let readResponse = ATTOpcode(rawValue: 0x0B)
    public static let readBlobRequest = ATTOpcode(rawValue: 0x0C)
    public static let readBlobResponse = ATTOpcode(rawValue: 0x0D)
    public static let readMultipleRequest = ATTOpcode(rawValue: 0x0E)
    public static let readMultipleResponse = ATTOpcode(rawValue: 0x0F)
    public static let readByGroupTypeRequest = ATTOpcode(rawValue: 0x10)
    public static let readByGroupTypeResponse = ATTOpcode(rawValue: 0x11)
    public static let writeRequest = ATTOpcode(rawValue: 0x12)
    public static let writeResponse = ATTOpcode(rawValue: 0x13)
    public static let prepareWriteRequest = ATTOpcode(rawValue: 0x16)
    public static let prepareWriteResponse = ATTOpcode(rawValue: 0x17)
    public static let executeWriteRequest = ATTOpcode(rawValue: 0x18)
    public static let executeWriteResponse = ATTOpcode(rawValue: 0x19)
    public static let handleValueNotification = ATTOpcode(rawValue: 0x1B)
    public static let handleValueIndication = ATTOpcode(rawValue: 0x1D)
    public static let handleValueConfirmation = ATTOpcode(rawValue: 0x1E)
    public static let readMultipleVariableRequest = ATTOpcode(rawValue: 0x20)
    public static let readMultipleVariableResponse = ATTOpcode(rawValue: 0x21)
    public static let multipleHandleValueNotification = ATTOpcode(rawValue: 0x23)
    public static let writeCommand = ATTOpcode(rawValue: 0x52)
    public static let signedWriteCommand = ATTOpcode(rawValue: 0xD2)

    /// Bit 6: nothing is ever answered (Core 6.0, Vol 3, Part F, 3.3.1).
    public var isCommand: Bool { rawValue & 0x40 != 0 }

    /// Whether this is a request the specification defines, so that a malformed one is answered.
    public var isRequest: Bool {
        switch rawValue {
        case 0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20: true
        default: false
        }
    }

    /// The specification's name, or the number of an opcode it does not define.
    public var description: String {
        for (code, name) in Self.names where code == rawValue { return name }
        return "ATT opcode " + Hex.code(rawValue)
    }

    private static let names: [(UInt8, String)] = [
        (0x01, "Error Response"), (0x02, "Exchange MTU Request"),
        (0x03, "Exchange MTU Response"), (0x04, "Find Information Request"),
        (0x05, "Find Information Response"), (0x06, "Find By Type Value Request"),
        (0x07, "Find By Type Value Response"), (0x08, "Read By Type Request"),
        (0x09, "Read By Type Response"), (0x0A, "Read Request"), (0x0B, "Read Response"),
        (0x0C, "Read Blob Request"), (0x0D, "Read Blob Response"),
        (0x0E, "Read Multiple Request"), (0x0F, "Read Multiple Response"),
        (0x10, "Read By Group Type Request"), (0x11, "Read By Group Type Response"),
        (0x12, "Write Request"), (0x13, "Write Response"), (0x16, "Prepare Write Request"),
        (0x17, "Prepare Write Response"), (0x18, "Execute Write Request"),
        (0x19, "Execute Write Response"), (0x1B, "Handle Value Notification"),
        (0x1D, "Handle Value Indication"), (0x1E, "Handle Value Confirmation"),
        (0x20, "Read Multiple Variable Request"), (0x21, "Read Multiple Variable Response"),
        (0x23, "Multiple Handle Value Notification"), (0x52, "Write Command"),
        (0xD2, "Signed Write Command"),
    ]
}

/// The error code of an Error Response (Core 6.0, Vol 3, Part F, 3.4.1.1; common profile codes from
/// the Core Specification Supplement, Part B).
public struct ATTError: OpenCode, Error, CustomStringConvertible {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let invalidHandle = ATTError(rawValue: 0x01)
    public static let readNotPermitted = ATTError(rawValue: 0x02)
    public static let writeNotPermitted = ATTError(rawValue: 0x03)
    public static let invalidPDU = ATTError(rawValue: 0x04)
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)
    public static let requestNotSupported = ATTError(rawValue: 0x06)
    public static let invalidOffset = ATTError(rawValue: 0x07)
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)
    public static let prepareQueueFull = ATTError(rawValue: 0x09)
    public static let attributeNotFound = ATTError(rawValue: 0x0A)
    public static let attributeNotLong = ATTError(rawValue: 0x0B)
    public static let encryptionKeySizeTooShort = ATTError(rawValue: 0x0C)
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)
    public static let unlikelyError = ATTError(rawValue: 0x0E)
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)
    public static let insufficientResources = ATTError(rawValue: 0x11)
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)
    public static let cccdImproperlyConfigured = ATTError(rawValue: 0xFD)
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)
    public static let outOfRange = ATTError(rawValue: 0xFF)

    /// The specification's words with the number: `Write Not Permitted (0x03)`.
    public var description: String {
        for (code, name) in Self.names where code == rawValue {
            return "\(name) (\(Hex.code(rawValue)))"
        }
        let kind = (0x80...0x9F).contains(rawValue) ? "application error" : "error"
        return "\(kind) \(Hex.code(rawValue))"
    }

    private static let names: [(UInt8, String)] = [
        (0x01, "Invalid Handle"), (0x02, "Read Not Permitted"), (0x03, "Write Not Permitted"),
        (0x04, "Invalid PDU"), (0x05, "Insufficient Authentication"),
        (0x06, "Request Not Supported"), (0x07, "Invalid Offset"),
        (0x08, "Insufficient Authorization"), (0x09, "Prepare Queue Full"),
        (0x0A, "Attribute Not Found"), (0x0B, "Attribute Not Long"),
        (0x0C, "Encryption Key Size Too Short"), (0x0D, "Invalid Attribute Value Length"),
        (0x0E, "Unlikely Error"), (0x0F, "Insufficient Encryption"),
        (0x10, "Unsupported Group Type"), (0x11, "Insufficient Resources"),
        (0x12, "Database Out Of Sync"), (0x13, "Value Not Allowed"),
        (0xFC, "Write Request Rejected"),
        (0xFD, "Client Characteristic Configuration Descriptor Improperly Configured"),
        (0xFE, "Procedure Already in Progress"), (0xFF, "Out of Range"),
    ]
}

/// Limits of the Attribute Protocol and the Generic Attribute Profile.
public enum ATTLimit {
    /// ATT_MTU before an exchange on LE, and its least value (Core 6.0, Vol 3, Part G, 5.2.1).
    public static let mtuDefault: UInt16 = 23
    /// The largest MTU offered: a whole value and its Prepare Write header, as phones do.
    public static let mtuMax: UInt16 = 517
    /// The most octets an attribute value may have (Core 6.0, Vol 3, Part F, 3.2.9).
    public static let valueMax = 512
    /// How long a request or an indication may stay unanswered, in seconds (Part F, 3.3.3).
    public static let transactionTimeoutSeconds: Int64 = 30
}
