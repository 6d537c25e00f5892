// What virtual controllers say they can do: commands, features, states and limits.
import HCI

/// What a controller can do besides legacy advertising and connections on LE 1M and 2M.
public struct ControllerFeatures: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Advertising sets, extended PDUs, and scanning and connecting by them.
    public static let extendedAdvertising = Self(rawValue: 1 << 0)
    /// Periodic advertising and the synchronization to it; of use with extended advertising alone.
    public static let periodicAdvertising = Self(rawValue: 1 << 1)
    /// LE Coded, S=8, for advertising and connections.
    public static let codedPHY = Self(rawValue: 1 << 2)

    public static let all: Self = [.extendedAdvertising, .periodicAdvertising, .codedPHY]

    /// Without what has no use by itself.
    var consistent: Self {
        contains(.extendedAdvertising) ? self : subtracting(.periodicAdvertising)
    }

    /// Bits of the PHYs (Core 6.0, Vol 4, Part E, 7.8.48).
    var phyPreferences: UInt8 {
        let both = PHY.preferences1M | PHY.preferences2M
        return contains(.codedPHY) ? both | PHY.preferencesCoded : both
    }

    /// The longest data PDU that is sent and received.
    var longestData: DataLength {
        DataLength(
            octets: Capabilities.dataOctetsMax,
            time: contains(.codedPHY) ? Capabilities.dataTimeCodedMax : Capabilities.dataTimeMax)
    }

    var leFeatures: UInt64 {
        var bits = Capabilities.leFeatures
        if contains(.codedPHY) { bits |= Capabilities.codedFeature }
        if contains(.extendedAdvertising) { bits |= Capabilities.extendedFeatures }
        if contains(.periodicAdvertising) { bits |= Capabilities.periodicFeature }
        return bits
    }
}

/// The controller's own limits and the answers of the informational commands.
enum Capabilities {
    /// Sets are made when the host asks for them; a shop's shelf has more than a dozen beacons.
    static let setsMax = 32
    static let advertisingDataMax = AdvertisingLimits.dataOctetsMax
    /// Trains that a controller follows, and advertisers of trains in its list.
    static let syncsMax = 16
    static let periodicAdvertiserListMax = 16
    /// One link takes a few kilobytes; more links than phones hold at once.
    static let linksMax = 16
    static let filterAcceptListMax = 16
    static let resolvingListMax = 16
    /// LE ACL buffers: one packet fills the longest link-layer PDU, twelve keep a link of 30 ms
    /// busy.
    static let aclOctetsMax = 251
    static let aclPacketsMax = 12
    /// Data length without and with the extension (Core 6.0, Vol 6, Part B, 4.5.10).
    static let dataOctetsMin: UInt16 = 27
    static let dataOctetsMax: UInt16 = 251
    static let dataTimeMin: UInt16 = 328
    static let dataTimeMax: UInt16 = 2_120
    /// A PDU on the LE Coded PHY, the largest time that a host may name.
    static let dataTimeCodedMax: UInt16 = 17_040
    /// Advertisers that a scanner with duplicate filtering remembers; then it begins anew.
    static let duplicatesMax = 2_048
    /// Octets that wait for a host which does not read: above it reports are dropped and peers are
    /// held off, as a real controller out of buffers does.
    static let backlogMax = 65_536

    /// Bluetooth 5.0, the first with LE 2M; the company identifier for internal use.
    static let version: UInt8 = 9
    static let companyIdentifier: UInt16 = 0xFFFF
    static let subversion: UInt16 = 1

    /// BR/EDR Not Supported and LE Supported (Core 6.0, Vol 2, Part C, 3.3).
    static let lmpFeatures: UInt64 = 1 << 37 | 1 << 38
    /// LE Encryption, Connection Parameters Request, Extended Reject, Peripheral-initiated Features
    /// Exchange, Data Packet Length Extension, LE 2M (Core 6.0, Vol 6, Part B, 4.6).
    static let leFeatures: UInt64 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8
    static let codedFeature: UInt64 = 1 << 11
    /// LE Extended Advertising, and Channel Selection Algorithm #2, which connections by it have.
    static let extendedFeatures: UInt64 = 1 << 12 | 1 << 14
    static let periodicFeature: UInt64 = 1 << 13
    /// LE Privacy, where the air has a cipher.
    static let privacyFeature: UInt64 = 1 << 6
    /// All 42 combinations (Core 6.0, Vol 4, Part E, 7.8.27): each role has its own radio.
    static let leStates: UInt64 = 0x3FF_FFFF_FFFF

    /// Bits that are set until the host sets others (Core 6.0, Vol 4, Part E, 7.3.1, 7.8.1).
    static let eventMaskDefault: UInt64 = 0x1FFF_FFFF_FFFF
    static let leEventMaskDefault: UInt64 = 0x1F
    /// 37 data channels.
    static let channelMapAll: UInt64 = 0x1F_FFFF_FFFF

    /// Every command that is served, with its octet and bit (Core 6.0, Vol 4, Part E, 6.27).
    static let commands: [(opcode: Opcode, octet: Int, bit: UInt8)] = [
        (.disconnect, 0, 5), (.readRemoteVersionInformation, 2, 7), (.setEventMask, 5, 6),
        (.reset, 5, 7), (.readTransmitPowerLevel, 10, 2), (.readLocalVersionInformation, 14, 3),
        (.readLocalSupportedFeatures, 14, 5), (.readBufferSize, 14, 7), (.readBDADDR, 15, 1),
        (.readRSSI, 15, 5), (.setEventMaskPage2, 22, 2), (.writeLEHostSupport, 24, 6),
        (.leSetEventMask, 25, 0), (.leReadBufferSize, 25, 1),
        (.leReadLocalSupportedFeatures, 25, 2), (.leSetRandomAddress, 25, 4),
        (.leSetAdvertisingParameters, 25, 5), (.leReadAdvertisingPhysicalChannelTxPower, 25, 6),
        (.leSetAdvertisingData, 25, 7), (.leSetScanResponseData, 26, 0),
        (.leSetAdvertisingEnable, 26, 1), (.leSetScanParameters, 26, 2), (.leSetScanEnable, 26, 3),
        (.leCreateConnection, 26, 4), (.leCreateConnectionCancel, 26, 5),
        (.leReadFilterAcceptListSize, 26, 6), (.leClearFilterAcceptList, 26, 7),
        (.leAddDeviceToFilterAcceptList, 27, 0), (.leRemoveDeviceFromFilterAcceptList, 27, 1),
        (.leConnectionUpdate, 27, 2), (.leSetHostChannelClassification, 27, 3),
        (.leReadChannelMap, 27, 4), (.leReadRemoteFeatures, 27, 5), (.leEncrypt, 27, 6),
        (.leRand, 27, 7), (.leEnableEncryption, 28, 0), (.leLongTermKeyRequestReply, 28, 1),
        (.leLongTermKeyRequestNegativeReply, 28, 2),
        (.leReadSupportedStates, 28, 3), (.leRemoteConnectionParameterRequestReply, 33, 4),
        (.leRemoteConnectionParameterRequestNegativeReply, 33, 5), (.leSetDataLength, 33, 6),
        (.leReadSuggestedDefaultDataLength, 33, 7), (.leWriteSuggestedDefaultDataLength, 34, 0),
        (.leReadMaximumDataLength, 35, 3), (.leReadPHY, 35, 4), (.leSetDefaultPHY, 35, 5),
        (.leSetPHY, 35, 6),
    ]

    /// Those that are served besides where the air has a cipher.
    static let privacyCommands: [(opcode: Opcode, octet: Int, bit: UInt8)] = [
        (.leAddDeviceToResolvingList, 34, 3), (.leRemoveDeviceFromResolvingList, 34, 4),
        (.leClearResolvingList, 34, 5), (.leReadResolvingListSize, 34, 6),
        (.leReadPeerResolvableAddress, 34, 7), (.leReadLocalResolvableAddress, 35, 0),
        (.leSetAddressResolutionEnable, 35, 1), (.leSetResolvablePrivateAddressTimeout, 35, 2),
        (.leSetPrivacyMode, 39, 2),
    ]

    /// Those of extended advertising.
    static let extendedCommands: [(opcode: Opcode, octet: Int, bit: UInt8)] = [
        (.leSetAdvertisingSetRandomAddress, 36, 1), (.leSetExtendedAdvertisingParameters, 36, 2),
        (.leSetExtendedAdvertisingData, 36, 3), (.leSetExtendedScanResponseData, 36, 4),
        (.leSetExtendedAdvertisingEnable, 36, 5), (.leReadMaximumAdvertisingDataLength, 36, 6),
        (.leReadNumberOfSupportedAdvertisingSets, 36, 7), (.leRemoveAdvertisingSet, 37, 0),
        (.leClearAdvertisingSets, 37, 1), (.leSetExtendedScanParameters, 37, 5),
        (.leSetExtendedScanEnable, 37, 6), (.leExtendedCreateConnection, 37, 7),
        (.leReadTransmitPower, 38, 7),
    ]

    /// Those of periodic advertising.
    static let periodicCommands: [(opcode: Opcode, octet: Int, bit: UInt8)] = [
        (.leSetPeriodicAdvertisingParameters, 37, 2), (.leSetPeriodicAdvertisingData, 37, 3),
        (.leSetPeriodicAdvertisingEnable, 37, 4), (.lePeriodicAdvertisingCreateSync, 38, 0),
        (.lePeriodicAdvertisingCreateSyncCancel, 38, 1),
        (.lePeriodicAdvertisingTerminateSync, 38, 2),
        (.leAddDeviceToPeriodicAdvertiserList, 38, 3),
        (.leRemoveDeviceFromPeriodicAdvertiserList, 38, 4),
        (.leClearPeriodicAdvertiserList, 38, 5), (.leReadPeriodicAdvertiserListSize, 38, 6),
        (.leSetPeriodicAdvertisingReceiveEnable, 40, 5),
    ]

    /// Everything that such a controller serves and that has a bit.
    static func commands(
        _ features: ControllerFeatures, hasPrivacy: Bool
    ) -> [(opcode: Opcode, octet: Int, bit: UInt8)] {
        var all = commands
        if hasPrivacy { all += privacyCommands }
        if features.contains(.extendedAdvertising) { all += extendedCommands }
        if features.contains(.periodicAdvertising) { all += periodicCommands }
        return all
    }

    /// The return parameter of Read Local Supported Commands, which has no bit of its own.
    static func supportedCommands(_ features: ControllerFeatures, hasPrivacy: Bool) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64)
        for command in commands(features, hasPrivacy: hasPrivacy) {
            octets[command.octet] |= 1 << command.bit
        }
        return octets
    }
}
