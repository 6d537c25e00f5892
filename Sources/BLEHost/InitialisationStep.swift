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
    case leEventMask
    case leFeatures
    case leBufferSize
    case bufferSize
    case dataLength
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
        case .leBufferSize: .leReadBufferSize
        case .bufferSize: .readBufferSize
        case .dataLength: .leWriteSuggestedDefaultDataLength
        case .publicAddress: .readBDADDR
        case .randomAddress: .leSetRandomAddress
        }
    }

    /// Whether the step has something to do here.
    func isWanted(_ information: ControllerInformation, hasRandomAddress: Bool) -> Bool {
        switch self {
        // 0 x 0 buffers: LE shares those of BR/EDR (Core 6.0, Vol 4, Part E, 7.8.2).
        case .bufferSize: !information.hasOwnLEBuffers
        case .randomAddress: hasRandomAddress
        // An ATT PDU of MTU 247 then fits into one packet of the link layer.
        case .dataLength: information.hasFeature(5)
        case .reset, .localVersion, .supportedCommands, .localFeatures, .eventMask, .leEventMask,
            .leFeatures, .leBufferSize, .publicAddress:
            true
        }
    }

    /// Whether the controller says it has the command (6.27).
    func isListed(_ information: ControllerInformation) -> Bool {
        switch self {
        case .reset, .localVersion, .supportedCommands, .randomAddress: true
        case .localFeatures: information.lists(14, 5)
        case .eventMask: information.lists(5, 6)
        case .leEventMask: information.lists(25, 0)
        case .leBufferSize: information.lists(25, 1)
        case .leFeatures: information.lists(25, 2)
        case .bufferSize: information.lists(14, 7)
        case .dataLength: information.lists(34, 0)
        case .publicAddress: information.lists(15, 1)
        }
    }

    func enqueue(into commands: inout CommandQueue, randomAddress: DeviceAddress?) {
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
            command.leEventMask = Self.leEvents
            commands.enqueue(command, .optional)
        case .leFeatures: commands.enqueue(LEReadLocalSupportedFeatures(), .optional)
        case .leBufferSize: commands.enqueue(LEReadBufferSize(), .optional)
        case .bufferSize: commands.enqueue(ReadBufferSize(), .optional)
        case .dataLength:
            var command = LEWriteSuggestedDefaultDataLength()
            command.suggestedMaxTxOctets = Self.dataOctetsMax
            command.suggestedMaxTxTime = Self.dataMicrosecondsMax
            commands.enqueue(command, .optional)
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
        case .leBufferSize:
            let answer = try LEBufferSize(hci: parameters)
            information.setBuffers(
                octets: answer.aclDataPacketLength, packets: UInt16(answer.totalACLDataPackets))
        case .bufferSize:
            let answer = try BufferSize(hci: parameters)
            information.setBuffers(
                octets: answer.aclDataPacketLength, packets: answer.totalACLDataPackets)
        case .publicAddress: information.publicAddress = try BDADDR(hci: parameters).bdAddr
        case .reset, .localFeatures, .eventMask, .leEventMask, .dataLength, .randomAddress: break
        }
    }

    /// The longest LE data PDU and its air time on LE 1M (Core 6.0, Vol 6, Part B, 4.5.10).
    static let dataOctetsMax: UInt16 = 251
    static let dataMicrosecondsMax: UInt16 = 2120

    /// Disconnection Complete, Encryption Change, Read Remote Version Information Complete,
    /// Hardware
    /// Error, Data Buffer Overflow, Encryption Key Refresh Complete, LE Meta (Core 6.0, Vol 4, Part
    /// E, 7.3.1). Command Complete, Command Status and Number Of Completed Packets cannot be
    /// masked.
    static let events: UInt64 =
        1 << 4 | 1 << 7 | 1 << 11 | 1 << 15 | 1 << 25 | 1 << 47 | 1 << 61

    /// LE events up to PHY Update Complete, without Enhanced Connection Complete, which only tells
    /// more where the controller resolves addresses (7.8.1).
    static let leEvents: UInt64 = 0x7F | 1 << 11
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
