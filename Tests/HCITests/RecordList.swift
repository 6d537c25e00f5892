// Every HCI record, for the tests that hold for all of them.
import HCI
import Wire

enum RecordList {
    static let commands: [any HCICommand.Type] = [
        Disconnect.self, ReadRemoteVersionInformation.self, SetEventMask.self, Reset.self,
        SetEventMaskPage2.self, WriteLEHostSupport.self, ReadLocalVersionInformation.self,
        ReadLocalSupportedCommands.self, ReadLocalSupportedFeatures.self, ReadBufferSize.self,
        ReadBDADDR.self, ReadRSSI.self, ReadTransmitPowerLevel.self, LESetEventMask.self,
        LEReadBufferSize.self, LEReadLocalSupportedFeatures.self, LESetRandomAddress.self,
        LESetAdvertisingParameters.self, LEReadAdvertisingPhysicalChannelTxPower.self,
        LESetAdvertisingData.self, LESetScanResponseData.self, LESetAdvertisingEnable.self,
        LESetScanParameters.self, LESetScanEnable.self, LECreateConnection.self,
        LECreateConnectionCancel.self, LEReadFilterAcceptListSize.self,
        LEClearFilterAcceptList.self, LEAddDeviceToFilterAcceptList.self,
        LERemoveDeviceFromFilterAcceptList.self, LEConnectionUpdate.self,
        LESetHostChannelClassification.self, LEReadChannelMap.self, LEReadRemoteFeatures.self,
        LEEncrypt.self, LERand.self, LEEnableEncryption.self,
        LELongTermKeyRequestReply.self, LELongTermKeyRequestNegativeReply.self,
        LEReadSupportedStates.self,
        LERemoteConnectionParameterRequestReply.self,
        LERemoteConnectionParameterRequestNegativeReply.self, LESetDataLength.self,
        LEReadSuggestedDefaultDataLength.self, LEWriteSuggestedDefaultDataLength.self,
        LEReadMaximumDataLength.self, LEReadPHY.self, LESetDefaultPHY.self, LESetPHY.self,
        LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self,
        LESetExtendedAdvertisingEnable.self, LEClearAdvertisingSets.self,
        LEReadBufferSizeV2.self, LEAddDeviceToResolvingList.self,
        LERemoveDeviceFromResolvingList.self, LEClearResolvingList.self,
        LEReadResolvingListSize.self, LEReadPeerResolvableAddress.self,
        LEReadLocalResolvableAddress.self, LESetAddressResolutionEnable.self,
        LESetResolvablePrivateAddressTimeout.self, LESetPrivacyMode.self,
        LEReadMaximumAdvertisingDataLength.self, LEReadNumberOfSupportedAdvertisingSets.self,
        LERemoveAdvertisingSet.self, LEReadTransmitPower.self,
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self,
        LEExtendedCreateConnection.self, LESetPeriodicAdvertisingParameters.self,
        LESetPeriodicAdvertisingData.self, LESetPeriodicAdvertisingEnable.self,
        LEPeriodicAdvertisingCreateSync.self, LEPeriodicAdvertisingCreateSyncCancel.self,
        LEPeriodicAdvertisingTerminateSync.self, LEAddDeviceToPeriodicAdvertiserList.self,
        LERemoveDeviceFromPeriodicAdvertiserList.self, LEClearPeriodicAdvertiserList.self,
        LEReadPeriodicAdvertiserListSize.self, LESetPeriodicAdvertisingReceiveEnable.self,
    ]

    static let events: [any HCIEvent.Type] = [
        DisconnectionComplete.self, EncryptionChange.self, EncryptionChangeV2.self,
        EncryptionKeyRefreshComplete.self,
        ReadRemoteVersionInformationComplete.self, CommandComplete.self, CommandStatus.self,
        HardwareError.self, DataBufferOverflow.self, NumberOfCompletedPackets.self,
        LEConnectionComplete.self, LEEnhancedConnectionComplete.self, LEAdvertisingReport.self,
        LEConnectionUpdateComplete.self, LEReadRemoteFeaturesComplete.self,
        LELongTermKeyRequest.self, LERemoteConnectionParameterRequest.self,
        LEDataLengthChange.self, LEPHYUpdateComplete.self, LEChannelSelectionAlgorithm.self,
        LEAdvertisingSetTerminated.self, LEScanRequestReceived.self,
        LEExtendedAdvertisingReport.self, LEScanTimeout.self,
        LEPeriodicAdvertisingSyncEstablished.self, LEPeriodicAdvertisingReport.self,
        LEPeriodicAdvertisingSyncLost.self,
    ]

    /// Return parameters, each type once.
    static let returns: [any Record.Type] = {
        var types: [any Record.Type] = []
        for command in commands {
            let type = returnType(of: command)
            if !types.contains(where: { $0 == type }) { types.append(type) }
        }
        return types
    }()

    private static func returnType<Command: HCICommand>(
        of command: Command.Type
    ) -> any Record.Type {
        Command.Return.self
    }

    /// What stands before a record's vector: its kind, its code and its type's name.
    static let titles: [(title: String, type: any Record.Type)] =
        commands.map { ("command \($0.opcode.code) \($0)", $0) }
        + returns.map { ("return \($0)", $0) }
        + events.map { event in
            let subevent = event.subevent.map { " " + Hex.code($0.rawValue) } ?? ""
            return ("event \(Hex.code(event.code.rawValue))\(subevent) \(event)", event)
        }
}

extension Opcode {
    var code: String { Hex.code(rawValue) }
}
