// The commands that bring a controller up, in order, and what each answer tells.
import HCI
import Wire

/// One command of initialisation. Only Reset is indispensable here; without the others the host
/// knows less and assumes the least.
enum InitialisationStep: Int, CaseIterable, Sendable {
    case reset
    case localVersion
    case supportedCommands
    case localFeatures
    case eventMask
    case leFeatures
    case leEventMask
    case leBufferSizeV2
    case leBufferSize
    case bufferSize
    case dataLength
    case defaultPHY
    case resolvingListSize
    case advertisingSets
    case advertisingDataLength
    case publicAddress
    case randomAddress

    var next: InitialisationStep? { InitialisationStep(rawValue: rawValue + 1) }

    var opcode: Opcode {
        switch self {
        case .reset: .reset
        case .localVersion: .readLocalVersionInformation
        case .supportedCommands: .readLocalSupportedCommands
        case .localFeatures: .readLocalSupportedFeatures
        case .eventMask: .setEventMask
        case .leEventMask: .leSetEventMask
        case .leFeatures: .leReadLocalSupportedFeatures
        case .leBufferSizeV2: .leReadBufferSizeV2
        case .leBufferSize: .leReadBufferSize
        case .bufferSize: .readBufferSize
        case .dataLength: .leWriteSuggestedDefaultDataLength
        case .defaultPHY: .leSetDefaultPHY
        case .resolvingListSize: .leReadResolvingListSize
        case .advertisingSets: .leReadNumberOfSupportedAdvertisingSets
        case .advertisingDataLength: .leReadMaximumAdvertisingDataLength
        case .publicAddress: .readBDADDR
        case .randomAddress: .leSetRandomAddress
        }
    }

    /// Whether the step has something to do here.
    func isWanted(_ information: ControllerInformation, hasRandomAddress: Bool) -> Bool {
        switch self {
        // Only where it is listed: a controller that lists nothing is of the time before it.
        case .leBufferSizeV2: information.supportedCommands[41] >> 5 & 1 == 1
        // 0 x 0 buffers: LE shares those of BR/EDR (Core 6.0, Vol 4, Part E, 7.8.2).
        case .leBufferSize, .bufferSize: !information.hasOwnLEBuffers
        case .randomAddress: hasRandomAddress
        // An ATT PDU of MTU 247 then fits into one packet of the link layer.
        case .dataLength: information.hasFeature(LEFeature.dataLength)
        case .defaultPHY: information.hasFeature(LEFeature.le2M)
        case .resolvingListSize: information.resolvesAddresses
        case .advertisingSets, .advertisingDataLength: information.usesSets
        case .reset, .localVersion, .supportedCommands, .localFeatures, .eventMask, .leEventMask,
            .leFeatures, .publicAddress:
            true
        }
    }

    /// Whether the controller says it has the command (6.27).
    func isListed(_ information: ControllerInformation) -> Bool {
        switch self {
        case .reset, .localVersion, .supportedCommands, .leBufferSizeV2, .randomAddress,
            .resolvingListSize:
            true
        case .localFeatures: information.lists(14, 5)
        case .eventMask: information.lists(5, 6)
        case .leEventMask: information.lists(25, 0)
        case .leBufferSize: information.lists(25, 1)
        case .leFeatures: information.lists(25, 2)
        case .bufferSize: information.lists(14, 7)
        case .dataLength: information.lists(34, 0)
        case .defaultPHY: information.lists(35, 5)
        case .advertisingSets: information.lists(36, 7)
        case .advertisingDataLength: information.lists(36, 6)
        case .publicAddress: information.lists(15, 1)
        }
    }

    func enqueue(
        into commands: inout CommandQueue, _ information: ControllerInformation,
        randomAddress: DeviceAddress?
    ) {
        switch self {
        case .reset: commands.enqueue(Reset(), .essential)
        case .localVersion: commands.enqueue(ReadLocalVersionInformation(), .optional)
        case .supportedCommands: commands.enqueue(ReadLocalSupportedCommands(), .optional)
        case .localFeatures: commands.enqueue(ReadLocalSupportedFeatures(), .optional)
        case .eventMask:
            var command = SetEventMask()
            command.eventMask = Self.events
            commands.enqueue(command, .optional)
        case .leEventMask:
            var command = LESetEventMask()
            command.leEventMask = Self.leEvents(information)
            commands.enqueue(command, .optional)
        case .leFeatures: commands.enqueue(LEReadLocalSupportedFeatures(), .optional)
        case .leBufferSizeV2: commands.enqueue(LEReadBufferSizeV2(), .optional)
        case .leBufferSize: commands.enqueue(LEReadBufferSize(), .optional)
        case .bufferSize: commands.enqueue(ReadBufferSize(), .optional)
        case .dataLength:
            var command = LEWriteSuggestedDefaultDataLength()
            command.suggestedMaxTxOctets = Self.dataOctetsMax
            command.suggestedMaxTxTime = Self.dataMicrosecondsMax
            commands.enqueue(command, .optional)
        case .defaultPHY:
            var command = LESetDefaultPHY()
            (command.txPHYs, command.rxPHYs) = (Self.phys, Self.phys)
            commands.enqueue(command, .optional)
        case .resolvingListSize: commands.enqueue(LEReadResolvingListSize(), .optional)
        case .advertisingSets:
            commands.enqueue(LEReadNumberOfSupportedAdvertisingSets(), .optional)
        case .advertisingDataLength:
            commands.enqueue(LEReadMaximumAdvertisingDataLength(), .optional)
        case .publicAddress: commands.enqueue(ReadBDADDR(), .optional)
        case .randomAddress:
            var command = LESetRandomAddress()
            command.randomAddress = randomAddress ?? DeviceAddress()
            // The profile asks for this identity: another one would be another device.
            commands.enqueue(command, .essential)
        }
    }

    /// Takes what a successful answer says.
    func read(
        _ parameters: Span<UInt8>, into information: inout ControllerInformation
    ) throws(WireError) {
        switch self {
        case .localVersion:
            let answer = try LocalVersionInformation(hci: parameters)
            information.hciVersion = answer.hciVersion
            information.company = answer.companyIdentifier
        case .supportedCommands:
            information.supportedCommands =
                try LocalSupportedCommands(hci: parameters).supportedCommands
        case .leFeatures:
            information.leFeatures = try LELocalSupportedFeatures(hci: parameters).leFeatures
        case .leBufferSizeV2:
            let answer = try LEBufferSizeV2(hci: parameters)
            information.setBuffers(
                octets: answer.aclDataPacketLength, packets: UInt16(answer.totalACLDataPackets))
        case .leBufferSize:
            let answer = try LEBufferSize(hci: parameters)
            information.setBuffers(
                octets: answer.aclDataPacketLength, packets: UInt16(answer.totalACLDataPackets))
        case .bufferSize:
            let answer = try BufferSize(hci: parameters)
            information.setBuffers(
                octets: answer.aclDataPacketLength, packets: answer.totalACLDataPackets)
        case .resolvingListSize:
            information.resolvingListSize =
                Int(try ResolvingListSize(hci: parameters).resolvingListSize)
        case .advertisingSets:
            let answer = try LENumberOfSupportedAdvertisingSets(hci: parameters)
            // 1 to 240 (7.8.58); 0 says nothing.
            let count = Int(answer.numSupportedAdvertisingSets)
            information.advertisingSets = count > 0 ? count : nil
        case .advertisingDataLength:
            let answer = try LEMaximumAdvertisingDataLength(hci: parameters)
            information.advertisingDataOctets = Int(answer.maxAdvertisingDataLength)
        case .publicAddress: information.publicAddress = try BDADDR(hci: parameters).bdAddr
        case .reset, .localFeatures, .eventMask, .leEventMask, .dataLength, .defaultPHY,
            .randomAddress:
            break
        }
    }

    /// The longest LE data PDU and its air time on LE 1M (Core 6.0, Vol 6, Part B, 4.5.10).
    static let dataOctetsMax: UInt16 = 251
    static let dataMicrosecondsMax: UInt16 = 2120

    /// Disconnection Complete, Encryption Change, Read Remote Version Information Complete,
    /// Hardware Error, Data Buffer Overflow, Encryption Key Refresh Complete, LE Meta (Core 6.0,
    /// Vol 4, Part E, 7.3.1). Command Complete, Command Status and Number Of Completed Packets
    /// cannot be masked.
    static let events: UInt64 =
        1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 47 | 1 << 61

    /// LE 1M and LE 2M, to send and to receive (7.8.48).
    static let phys: UInt8 = 0b11

    /// The LE events of 4.0, and those of the features that the controller has (7.8.1): old ones
    /// refuse a mask with bits that they do not know. Enhanced Connection Complete only tells more
    /// where the controller resolves addresses.
    static func leEvents(_ information: ControllerInformation) -> UInt64 {
        var mask: UInt64 = 0x1F
        if information.hasFeature(LEFeature.connectionParametersRequest) { mask |= 1 << 5 }
        if information.hasFeature(LEFeature.dataLength) { mask |= 1 << 6 }
        if information.hasFeature(LEFeature.le2M) || information.hasFeature(LEFeature.leCoded) {
            mask |= 1 << 11
        }
        if information.resolvesAddresses { mask |= 1 << 9 }
        // Advertising Set Terminated and Scan Request Received.
        if information.usesSets { mask |= 1 << 17 | 1 << 18 }
        return mask
    }
}

/// Bits of the LE features (Core 6.0, Vol 6, Part B, 4.6).
enum LEFeature {
    static let connectionParametersRequest = 1
    static let dataLength = 5
    static let privacy = 6
    static let le2M = 8
    static let leCoded = 11
    static let extendedAdvertising = 12
    static let periodicAdvertising = 13
}

extension ControllerInformation {
    /// An LE ACL packet carries at least 27 octets (7.8.2); less is a controller's mistake.
    static let aclOctetsMin: UInt16 = 27

    mutating func setBuffers(octets: UInt16, packets: UInt16) {
        guard octets >= Self.aclOctetsMin, packets > 0 else { return }
        aclOctets = Int(octets)
        aclPackets = Int(packets)
        hasOwnLEBuffers = true
    }
}
