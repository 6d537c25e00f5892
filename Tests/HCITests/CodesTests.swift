// Opcodes, event codes and status codes, each pinned to the specification's number.
import HCI
import Testing

@Suite struct CodesTests {
    @Test(
        "opcodes are the specification's",
        arguments: [
            (.none, 0x0000, "command 0x0000"), (.disconnect, 0x0406, "Disconnect"),
            (.readRemoteVersionInformation, 0x041D, "Read Remote Version Information"),
            (.setEventMask, 0x0C01, "Set Event Mask"), (.reset, 0x0C03, "Reset"),
            (.readTransmitPowerLevel, 0x0C2D, "command 0x0C2D"),
            (.hostNumberOfCompletedPackets, 0x0C35, "Host Number of Completed Packets"),
            (.setEventMaskPage2, 0x0C63, "Set Event Mask Page 2"),
            (.writeLEHostSupport, 0x0C6D, "Write LE Host Support"),
            (.readLocalVersionInformation, 0x1001, "Read Local Version Information"),
            (.readLocalSupportedCommands, 0x1002, "Read Local Supported Commands"),
            (.readLocalSupportedFeatures, 0x1003, "Read Local Supported Features"),
            (.readBufferSize, 0x1005, "Read Buffer Size"), (.readBDADDR, 0x1009, "Read BD_ADDR"),
            (.readRSSI, 0x1405, "Read RSSI"), (.leSetEventMask, 0x2001, "LE Set Event Mask"),
            (.leReadBufferSize, 0x2002, "LE Read Buffer Size"),
            (.leReadLocalSupportedFeatures, 0x2003, "LE Read Local Supported Features"),
            (.leSetRandomAddress, 0x2005, "LE Set Random Address"),
            (.leSetAdvertisingParameters, 0x2006, "LE Set Advertising Parameters"),
            (
                .leReadAdvertisingPhysicalChannelTxPower, 0x2007,
                "LE Read Advertising Physical Channel Tx Power"
            ),
            (.leSetAdvertisingData, 0x2008, "LE Set Advertising Data"),
            (.leSetScanResponseData, 0x2009, "LE Set Scan Response Data"),
            (.leSetAdvertisingEnable, 0x200A, "LE Set Advertising Enable"),
            (.leSetScanParameters, 0x200B, "LE Set Scan Parameters"),
            (.leSetScanEnable, 0x200C, "LE Set Scan Enable"),
            (.leCreateConnection, 0x200D, "LE Create Connection"),
            (.leCreateConnectionCancel, 0x200E, "LE Create Connection Cancel"),
            (.leReadFilterAcceptListSize, 0x200F, "LE Read Filter Accept List Size"),
            (.leClearFilterAcceptList, 0x2010, "LE Clear Filter Accept List"),
            (.leAddDeviceToFilterAcceptList, 0x2011, "LE Add Device to Filter Accept List"),
            (
                .leRemoveDeviceFromFilterAcceptList, 0x2012,
                "LE Remove Device from Filter Accept List"
            ),
            (.leConnectionUpdate, 0x2013, "LE Connection Update"),
            (.leSetHostChannelClassification, 0x2014, "LE Set Host Channel Classification"),
            (.leReadChannelMap, 0x2015, "LE Read Channel Map"),
            (.leReadRemoteFeatures, 0x2016, "LE Read Remote Features"),
            (.leEncrypt, 0x2017, "LE Encrypt"), (.leRand, 0x2018, "LE Rand"),
            (
                .leLongTermKeyRequestNegativeReply, 0x201B,
                "LE Long Term Key Request Negative Reply"
            ),
            (.leReadSupportedStates, 0x201C, "LE Read Supported States"),
            (
                .leRemoteConnectionParameterRequestReply, 0x2020,
                "LE Remote Connection Parameter Request Reply"
            ),
            (
                .leRemoteConnectionParameterRequestNegativeReply, 0x2021,
                "LE Remote Connection Parameter Request Negative Reply"
            ),
            (.leSetDataLength, 0x2022, "LE Set Data Length"),
            (.leReadSuggestedDefaultDataLength, 0x2023, "LE Read Suggested Default Data Length"),
            (.leWriteSuggestedDefaultDataLength, 0x2024, "LE Write Suggested Default Data Length"),
            (.leAddDeviceToResolvingList, 0x2027, "LE Add Device To Resolving List"),
            (.leRemoveDeviceFromResolvingList, 0x2028, "LE Remove Device From Resolving List"),
            (.leClearResolvingList, 0x2029, "LE Clear Resolving List"),
            (.leReadResolvingListSize, 0x202A, "LE Read Resolving List Size"),
            (.leReadPeerResolvableAddress, 0x202B, "LE Read Peer Resolvable Address"),
            (.leReadLocalResolvableAddress, 0x202C, "LE Read Local Resolvable Address"),
            (.leSetAddressResolutionEnable, 0x202D, "LE Set Address Resolution Enable"),
            (
                .leSetResolvablePrivateAddressTimeout, 0x202E,
                "LE Set Resolvable Private Address Timeout"
            ),
            (.leReadMaximumDataLength, 0x202F, "LE Read Maximum Data Length"),
            (.leReadPHY, 0x2030, "LE Read PHY"), (.leSetDefaultPHY, 0x2031, "LE Set Default PHY"),
            (.leSetPHY, 0x2032, "LE Set PHY"),
            (.leSetAdvertisingSetRandomAddress, 0x2035, "LE Set Advertising Set Random Address"),
            (.leSetExtendedAdvertisingParameters, 0x2036, "LE Set Extended Advertising Parameters"),
            (.leSetExtendedAdvertisingData, 0x2037, "LE Set Extended Advertising Data"),
            (.leSetExtendedScanResponseData, 0x2038, "LE Set Extended Scan Response Data"),
            (.leSetExtendedAdvertisingEnable, 0x2039, "LE Set Extended Advertising Enable"),
            (.leClearAdvertisingSets, 0x203D, "LE Clear Advertising Sets"),
            (.leSetPrivacyMode, 0x204E, "LE Set Privacy Mode"),
            (.leReadBufferSizeV2, 0x2060, "LE Read Buffer Size [v2]"),
        ] as [(Opcode, UInt16, String)])
    func opcode(opcode: Opcode, number: UInt16, name: String) {
        #expect(opcode.rawValue == number)
        #expect(opcode.description == name)
        #expect(UInt16(opcode.ogf) << 10 | opcode.ocf == number)
    }

    @Test("event codes are the specification's")
    func events() {
        let codes: [(EventCode, UInt8)] = [
            (.disconnectionComplete, 0x05), (.encryptionChange, 0x08),
            (.readRemoteVersionInformationComplete, 0x0C), (.commandComplete, 0x0E),
            (.commandStatus, 0x0F), (.hardwareError, 0x10), (.numberOfCompletedPackets, 0x13),
            (.dataBufferOverflow, 0x1A), (.encryptionKeyRefreshComplete, 0x30), (.leMeta, 0x3E),
        ]
        for (code, number) in codes { #expect(code.rawValue == number) }
        #expect(EventCode.leMeta.description == "event 0x3E")
    }

    @Test("LE subevent codes are the specification's")
    func subevents() {
        let codes: [(LESubevent, UInt8)] = [
            (.connectionComplete, 0x01), (.advertisingReport, 0x02),
            (.connectionUpdateComplete, 0x03), (.readRemoteFeaturesComplete, 0x04),
            (.longTermKeyRequest, 0x05), (.remoteConnectionParameterRequest, 0x06),
            (.dataLengthChange, 0x07), (.enhancedConnectionComplete, 0x0A),
            (.phyUpdateComplete, 0x0C), (.extendedAdvertisingReport, 0x0D),
            (.advertisingSetTerminated, 0x12), (.scanRequestReceived, 0x13),
            (.channelSelectionAlgorithm, 0x14),
        ]
        for (code, number) in codes { #expect(code.rawValue == number) }
        #expect(LESubevent.phyUpdateComplete.description == "LE event 0x0C")
    }

    @Test(
        "status codes are the specification's",
        arguments: [
            (.success, 0x00, "Success (0x00)"),
            (.unknownCommand, 0x01, "Unknown HCI Command (0x01)"),
            (.unknownConnectionIdentifier, 0x02, "Unknown Connection Identifier (0x02)"),
            (.hardwareFailure, 0x03, "Hardware Failure (0x03)"),
            (.authenticationFailure, 0x05, "Authentication Failure (0x05)"),
            (.pinOrKeyMissing, 0x06, "PIN or Key Missing (0x06)"),
            (.memoryCapacityExceeded, 0x07, "Memory Capacity Exceeded (0x07)"),
            (.connectionTimeout, 0x08, "Connection Timeout (0x08)"),
            (.connectionLimitExceeded, 0x09, "Connection Limit Exceeded (0x09)"),
            (.connectionAlreadyExists, 0x0B, "Connection Already Exists (0x0B)"),
            (.commandDisallowed, 0x0C, "Command Disallowed (0x0C)"),
            (.unsupportedFeatureOrParameter, 0x11, "Unsupported Feature or Parameter Value (0x11)"),
            (.invalidParameters, 0x12, "Invalid HCI Command Parameters (0x12)"),
            (.remoteUserTerminated, 0x13, "Remote User Terminated Connection (0x13)"),
            (
                .remoteLowResources, 0x14,
                "Remote Device Terminated Connection due to Low Resources (0x14)"
            ),
            (.remotePowerOff, 0x15, "Remote Device Terminated Connection due to Power Off (0x15)"),
            (.terminatedByLocalHost, 0x16, "Connection Terminated by Local Host (0x16)"),
            (.unsupportedRemoteFeature, 0x1A, "Unsupported Remote Feature (0x1A)"),
            (.unspecifiedError, 0x1F, "Unspecified Error (0x1F)"),
            (.llResponseTimeout, 0x22, "LL Response Timeout (0x22)"),
            (.differentTransactionCollision, 0x2A, "Different Transaction Collision (0x2A)"),
            (.controllerBusy, 0x3A, "Controller Busy (0x3A)"),
            (.unacceptableConnectionParameters, 0x3B, "Unacceptable Connection Parameters (0x3B)"),
            (.advertisingTimeout, 0x3C, "Advertising Timeout (0x3C)"),
            (.micFailure, 0x3D, "Connection Terminated due to MIC Failure (0x3D)"),
            (.connectionFailedToBeEstablished, 0x3E, "Connection Failed to be Established (0x3E)"),
            (.unknownAdvertisingIdentifier, 0x42, "Unknown Advertising Identifier (0x42)"),
            (HCIStatus(rawValue: 0xFE), 0xFE, "status 0xFE"),
        ] as [(HCIStatus, UInt8, String)])
    func status(status: HCIStatus, number: UInt8, text: String) {
        #expect(status.rawValue == number)
        #expect(status.description == text)
        #expect(status.isSuccess == (number == 0))
    }

    @Test("packet types are the specification's")
    func packetTypes() {
        let types: [(H4PacketType, UInt8)] = [
            (.command, 1), (.acl, 2), (.synchronous, 3), (.event, 4), (.isochronous, 5),
        ]
        for (type, number) in types { #expect(type.rawValue == number) }
        #expect(H4PacketType(rawValue: 0) == nil)
        #expect(H4PacketType(rawValue: 6) == nil)
    }

    @Test("steps of time and their text")
    func units() {
        #expect(AdvertisingInterval(microseconds: 152_500)?.steps == 244)
        #expect(AdvertisingInterval(microseconds: 1_285_000)?.steps == 2056)
        #expect(AdvertisingInterval(microseconds: 20_000) == .minimum)
        #expect(AdvertisingInterval(microseconds: 10_240_000) == .maximum)
        #expect(AdvertisingInterval(microseconds: 19_999) == nil)
        #expect(AdvertisingInterval(microseconds: 10_240_001) == nil)
        #expect(AdvertisingInterval(microseconds: .min) == nil)
        #expect(AdvertisingInterval(microseconds: .max) == nil)
        #expect(AdvertisingInterval(steps: 0x20).description == "20 ms")
        #expect(AdvertisingInterval(steps: 338).description == "211.25 ms")
        #expect(AdvertisingInterval(steps: .max).description == "40959.375 ms")
        #expect(ConnectionInterval(steps: 24).microseconds == 30_000)
        #expect(ConnectionInterval.minimum.microseconds == 7_500)
        #expect(ConnectionInterval.maximum.microseconds == 4_000_000)
        #expect(ConnectionHandle(rawValue: 0xFEFF) == .maximum)
    }
}
