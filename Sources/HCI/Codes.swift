// Opcodes, event codes and status codes of HCI, each open to what later specifications add.
public import Wire

/// An HCI command's opcode: OGF in the upper 6 bits, OCF in the lower 10 (Core 6.0, Vol 4, Part
/// E, 5.4.1).
public struct Opcode: OpenCode, CustomStringConvertible {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let none = Opcode(rawValue: 0x0000)
    public static let disconnect = Opcode(rawValue: 0x0406)
    public static let readRemoteVersionInformation = Opcode(rawValue: 0x041D)
    public static let setEventMask = Opcode(rawValue: 0x0C01)
    public static let reset = Opcode(rawValue: 0x0C03)
    public static let setEventMaskPage2 = Opcode(rawValue: 0x0C63)
    public static let writeLEHostSupport = Opcode(rawValue: 0x0C6D)
    public static let hostNumberOfCompletedPackets = Opcode(rawValue: 0x0C35)
    public static let readLocalVersionInformation = Opcode(rawValue: 0x1001)
    public static let readLocalSupportedCommands = Opcode(rawValue: 0x1002)
    public static let readLocalSupportedFeatures = Opcode(rawValue: 0x1003)
    public static let readBufferSize = Opcode(rawValue: 0x1005)
    public static let readBDADDR = Opcode(rawValue: 0x1009)
    public static let readRSSI = Opcode(rawValue: 0x1405)
    public static let leSetEventMask = Opcode(rawValue: 0x2001)
    public static let leReadBufferSize = Opcode(rawValue: 0x2002)
    public static let leReadLocalSupportedFeatures = Opcode(rawValue: 0x2003)
    public static let leSetRandomAddress = Opcode(rawValue: 0x2005)
    public static let leSetAdvertisingParameters = Opcode(rawValue: 0x2006)
    public static let leReadAdvertisingPhysicalChannelTxPower = Opcode(rawValue: 0x2007)
    public static let leSetAdvertisingData = Opcode(rawValue: 0x2008)
    public static let leSetScanResponseData = Opcode(rawValue: 0x2009)
    public static let leSetAdvertisingEnable = Opcode(rawValue: 0x200A)
    public static let leSetScanParameters = Opcode(rawValue: 0x200B)
    public static let leSetScanEnable = Opcode(rawValue: 0x200C)
    public static let leCreateConnection = Opcode(rawValue: 0x200D)
    public static let leCreateConnectionCancel = Opcode(rawValue: 0x200E)
    public static let leReadFilterAcceptListSize = Opcode(rawValue: 0x200F)
    public static let leClearFilterAcceptList = Opcode(rawValue: 0x2010)
    public static let leAddDeviceToFilterAcceptList = Opcode(rawValue: 0x2011)
    public static let leRemoveDeviceFromFilterAcceptList = Opcode(rawValue: 0x2012)
    public static let leConnectionUpdate = Opcode(rawValue: 0x2013)
    public static let leSetHostChannelClassification = Opcode(rawValue: 0x2014)
    public static let leReadChannelMap = Opcode(rawValue: 0x2015)
    public static let leReadRemoteFeatures = Opcode(rawValue: 0x2016)
    public static let leEncrypt = Opcode(rawValue: 0x2017)
    public static let leRand = Opcode(rawValue: 0x2018)
    public static let leEnableEncryption = Opcode(rawValue: 0x2019)
    public static let leLongTermKeyRequestReply = Opcode(rawValue: 0x201A)
    public static let leLongTermKeyRequestNegativeReply = Opcode(rawValue: 0x201B)
    public static let leReadSupportedStates = Opcode(rawValue: 0x201C)
    public static let leRemoteConnectionParameterRequestReply = Opcode(rawValue: 0x2020)
    public static let leRemoteConnectionParameterRequestNegativeReply = Opcode(rawValue: 0x2021)
    public static let leSetDataLength = Opcode(rawValue: 0x2022)
    public static let leReadSuggestedDefaultDataLength = Opcode(rawValue: 0x2023)
    public static let leWriteSuggestedDefaultDataLength = Opcode(rawValue: 0x2024)
    public static let leReadMaximumDataLength = Opcode(rawValue: 0x202F)
    public static let leReadPHY = Opcode(rawValue: 0x2030)
    public static let leSetDefaultPHY = Opcode(rawValue: 0x2031)
    public static let leSetPHY = Opcode(rawValue: 0x2032)
    public static let leSetAdvertisingSetRandomAddress = Opcode(rawValue: 0x2035)
    public static let leSetExtendedAdvertisingParameters = Opcode(rawValue: 0x2036)
    public static let leSetExtendedAdvertisingData = Opcode(rawValue: 0x2037)
    public static let leSetExtendedScanResponseData = Opcode(rawValue: 0x2038)
    public static let leSetExtendedAdvertisingEnable = Opcode(rawValue: 0x2039)
    public static let leClearAdvertisingSets = Opcode(rawValue: 0x203D)
    public static let leReadBufferSizeV2 = Opcode(rawValue: 0x2060)

    public var ogf: UInt8 { UInt8(rawValue >> 10) }
    public var ocf: UInt16 { rawValue & 0x03FF }

    /// The specification's name of the command where this project speaks it, else the number.
    public var description: String {
        for (opcode, name) in OpcodeNames.all where opcode == self { return name }
        return "command " + Hex.code(rawValue)
    }
}

/// An HCI event's code (Core 6.0, Vol 4, Part E, 7.7).
public struct EventCode: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let disconnectionComplete = EventCode(rawValue: 0x05)
    public static let encryptionChange = EventCode(rawValue: 0x08)
    public static let readRemoteVersionInformationComplete = EventCode(rawValue: 0x0C)
    public static let commandComplete = EventCode(rawValue: 0x0E)
    public static let commandStatus = EventCode(rawValue: 0x0F)
    public static let hardwareError = EventCode(rawValue: 0x10)
    public static let numberOfCompletedPackets = EventCode(rawValue: 0x13)
    public static let dataBufferOverflow = EventCode(rawValue: 0x1A)
    public static let encryptionKeyRefreshComplete = EventCode(rawValue: 0x30)
    public static let encryptionChangeV2 = EventCode(rawValue: 0x59)
    public static let leMeta = EventCode(rawValue: 0x3E)

    public var description: String { "event " + Hex.code(rawValue) }
}

/// The subevent code of LE Meta events (Core 6.0, Vol 4, Part E, 7.7.65).
public struct LESubevent: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let connectionComplete = LESubevent(rawValue: 0x01)
    public static let advertisingReport = LESubevent(rawValue: 0x02)
    public static let connectionUpdateComplete = LESubevent(rawValue: 0x03)
    public static let readRemoteFeaturesComplete = LESubevent(rawValue: 0x04)
    public static let longTermKeyRequest = LESubevent(rawValue: 0x05)
    public static let remoteConnectionParameterRequest = LESubevent(rawValue: 0x06)
    public static let dataLengthChange = LESubevent(rawValue: 0x07)
    public static let enhancedConnectionComplete = LESubevent(rawValue: 0x0A)
    public static let phyUpdateComplete = LESubevent(rawValue: 0x0C)
    public static let extendedAdvertisingReport = LESubevent(rawValue: 0x0D)
    public static let advertisingSetTerminated = LESubevent(rawValue: 0x12)
    public static let scanRequestReceived = LESubevent(rawValue: 0x13)
    public static let channelSelectionAlgorithm = LESubevent(rawValue: 0x14)

    public var description: String { "LE event " + Hex.code(rawValue) }
}

/// A controller's status or a reason (Core 6.0, Vol 1, Part F).
public struct HCIStatus: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success = HCIStatus(rawValue: 0x00)
    public static let unknownCommand = HCIStatus(rawValue: 0x01)
    public static let unknownConnectionIdentifier = HCIStatus(rawValue: 0x02)
    public static let hardwareFailure = HCIStatus(rawValue: 0x03)
    public static let authenticationFailure = HCIStatus(rawValue: 0x05)
    public static let pinOrKeyMissing = HCIStatus(rawValue: 0x06)
    public static let memoryCapacityExceeded = HCIStatus(rawValue: 0x07)
    public static let connectionTimeout = HCIStatus(rawValue: 0x08)
    public static let connectionLimitExceeded = HCIStatus(rawValue: 0x09)
    public static let connectionAlreadyExists = HCIStatus(rawValue: 0x0B)
    public static let commandDisallowed = HCIStatus(rawValue: 0x0C)
    public static let unsupportedFeatureOrParameter = HCIStatus(rawValue: 0x11)
    public static let invalidParameters = HCIStatus(rawValue: 0x12)
    public static let remoteUserTerminated = HCIStatus(rawValue: 0x13)
    public static let remoteLowResources = HCIStatus(rawValue: 0x14)
    public static let remotePowerOff = HCIStatus(rawValue: 0x15)
    public static let terminatedByLocalHost = HCIStatus(rawValue: 0x16)
    public static let unsupportedRemoteFeature = HCIStatus(rawValue: 0x1A)
    public static let unspecifiedError = HCIStatus(rawValue: 0x1F)
    public static let llResponseTimeout = HCIStatus(rawValue: 0x22)
    public static let differentTransactionCollision = HCIStatus(rawValue: 0x2A)
    public static let controllerBusy = HCIStatus(rawValue: 0x3A)
    public static let unacceptableConnectionParameters = HCIStatus(rawValue: 0x3B)
    public static let advertisingTimeout = HCIStatus(rawValue: 0x3C)
    public static let micFailure = HCIStatus(rawValue: 0x3D)
    public static let connectionFailedToBeEstablished = HCIStatus(rawValue: 0x3E)
    public static let unknownAdvertisingIdentifier = HCIStatus(rawValue: 0x42)
    public static let limitReached = HCIStatus(rawValue: 0x43)
    public static let operationCancelledByHost = HCIStatus(rawValue: 0x44)
    public static let packetTooLong = HCIStatus(rawValue: 0x45)

    public var isSuccess: Bool { self == .success }

    /// The specification's words, with the number: `Command Disallowed (0x0C)`.
    public var description: String {
        for (status, name) in Self.names where status == self {
            return "\(name) (\(Hex.code(rawValue)))"
        }
        return "status \(Hex.code(rawValue))"
    }

    private static let names: [(HCIStatus, String)] = [
        (.success, "Success"), (.unknownCommand, "Unknown HCI Command"),
        (.unknownConnectionIdentifier, "Unknown Connection Identifier"),
        (.hardwareFailure, "Hardware Failure"), (.authenticationFailure, "Authentication Failure"),
        (.pinOrKeyMissing, "PIN or Key Missing"),
        (.memoryCapacityExceeded, "Memory Capacity Exceeded"),
        (.connectionTimeout, "Connection Timeout"),
        (.connectionLimitExceeded, "Connection Limit Exceeded"),
        (.connectionAlreadyExists, "Connection Already Exists"),
        (.commandDisallowed, "Command Disallowed"),
        (.unsupportedFeatureOrParameter, "Unsupported Feature or Parameter Value"),
        (.invalidParameters, "Invalid HCI Command Parameters"),
        (.remoteUserTerminated, "Remote User Terminated Connection"),
        (.remoteLowResources, "Remote Device Terminated Connection due to Low Resources"),
        (.remotePowerOff, "Remote Device Terminated Connection due to Power Off"),
        (.terminatedByLocalHost, "Connection Terminated by Local Host"),
        (.unsupportedRemoteFeature, "Unsupported Remote Feature"),
        (.unspecifiedError, "Unspecified Error"), (.llResponseTimeout, "LL Response Timeout"),
        (.differentTransactionCollision, "Different Transaction Collision"),
        (.controllerBusy, "Controller Busy"),
        (.unacceptableConnectionParameters, "Unacceptable Connection Parameters"),
        (.advertisingTimeout, "Advertising Timeout"),
        (.micFailure, "Connection Terminated due to MIC Failure"),
        (.connectionFailedToBeEstablished, "Connection Failed to be Established"),
        (.unknownAdvertisingIdentifier, "Unknown Advertising Identifier"),
        (.limitReached, "Limit Reached"),
        (.operationCancelledByHost, "Operation Cancelled by Host"),
        (.packetTooLong, "Packet Too Long"),
    ]
}
