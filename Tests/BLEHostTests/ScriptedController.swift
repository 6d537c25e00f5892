// A controller for the tests: answers commands as told and records what it was sent.
import HCI
import SansIO
import Wire

@testable import BLEHost

/// Answers each command by its return parameters; what it shall refuse or ignore is set by opcode.
struct ScriptedController {
    var refused: [Opcode: HCIStatus] = [:]
    var ignored: Set<Opcode> = []
    var supportedCommands = [UInt8](repeating: 0xFF, count: 64)
    var leBuffers: (octets: UInt16, packets: UInt8) = (27, 4)
    /// What LE Read Buffer Size [v2] says, where that differs.
    var leBuffersV2: (octets: UInt16, packets: UInt8)?
    var sharedBuffers: (octets: UInt16, packets: UInt16) = (310, 10)
    var commandCredits: UInt8 = 1
    /// Names of the commands received, in order, with the parameters of some.
    var received: [String] = []
    /// ACL packets received, as hex.
    var data: [String] = []
    var isAdvertising = false
    /// HCI_Version: 9 is 5.0.
    var hciVersion: UInt8 = 9
    var leFeatures: UInt64 = 0
    /// Intervals below this many steps are refused where nobody can connect.
    var shortestSteps = 0
    /// What LE Read Resolving List Size says, and whether the list is in use.
    var resolvingListSize: UInt8 = 0
    var isResolving = false
    /// The identity addresses that it was told.
    var resolvingList: [DeviceAddress] = []
    /// The random addresses that it was given, of either family.
    var randomAddresses: [DeviceAddress] = []
    /// How often Command Disallowed was earned.
    var disallowedCount = 0
    /// What is advertised, or would be: steps of the interval set last.
    private(set) var steps: UInt16 = 0
    /// Core 6.0, Vol 4, Part E, 3.1.1: after a reset one family of advertising commands only.
    private var usesExtended: Bool?

    /// Takes what the host sent and returns the events that answer it.
    mutating func answer(_ sent: [UInt8]) -> [[UInt8]] {
        var events: [[UInt8]] = []
        var offset = 0
        let bytes = sent.span
        while case .packet(let type, let end) = H4.frame(bytes, from: offset) {
            let packet = bytes.copied(offset..<end)
            switch type {
            case .command: events += answer(command: packet)
            case .acl: data.append(Hex.string(packet))
            case .event, .synchronous, .isochronous: break
            }
            offset = end
        }
        return events
    }

    private mutating func answer(command: [UInt8]) -> [[UInt8]] {
        let opcode = Opcode(rawValue: command.span.uint16(at: 1))
        received.append(Self.text(opcode, command))
        if ignored.contains(opcode) { return [] }
        var block = ByteBlock()
        if let status = refused[opcode] {
            block.appendCommandComplete(opcode, credits: commandCredits, StatusOnly(status))
            return [block.bytes]
        }
        switch opcode {
        case .reset:
            isAdvertising = false
            isResolving = false
            resolvingList = []
            usesExtended = nil
            block.appendCommandComplete(opcode, credits: commandCredits, StatusOnly())
        case .readLocalSupportedCommands:
            var answer = LocalSupportedCommands()
            answer.supportedCommands = supportedCommands
            block.appendCommandComplete(opcode, credits: commandCredits, answer)
        case .readLocalVersionInformation:
            var answer = LocalVersionInformation()
            answer.hciVersion = hciVersion
            block.appendCommandComplete(opcode, credits: commandCredits, answer)
        case .leReadBufferSize:
            var answer = LEBufferSize()
            answer.aclDataPacketLength = leBuffers.octets
            answer.totalACLDataPackets = leBuffers.packets
            block.appendCommandComplete(opcode, credits: commandCredits, answer)
        case .leReadBufferSizeV2:
            var answer = LEBufferSizeV2()
            answer.aclDataPacketLength = (leBuffersV2 ?? leBuffers).octets
            answer.totalACLDataPackets = (leBuffersV2 ?? leBuffers).packets
            block.appendCommandComplete(opcode, credits: commandCredits, answer)
        case .readBufferSize:
            var answer = BufferSize()
            answer.aclDataPacketLength = sharedBuffers.octets
            answer.totalACLDataPackets = sharedBuffers.packets
            block.appendCommandComplete(opcode, credits: commandCredits, answer)
        case .disconnect:
            var status = CommandStatus()
            status.numHCICommandPackets = commandCredits
            status.commandOpcode = opcode
            block.append(event: status)
            var gone = DisconnectionComplete()
            gone.connectionHandle = ConnectionHandle(rawValue: command.span.uint16(at: 4))
            gone.reason = .terminatedByLocalHost
            block.append(event: gone)
        case .leSetAdvertisingParameters, .leSetAdvertisingEnable, .leSetAdvertisingData,
            .leSetScanResponseData, .leSetExtendedAdvertisingParameters,
            .leSetExtendedAdvertisingEnable, .leSetExtendedAdvertisingData,
            .leSetExtendedScanResponseData, .leSetRandomAddress,
            .leSetAdvertisingSetRandomAddress:
            let status = advertise(opcode, command)
            if status == .commandDisallowed { disallowedCount += 1 }
            block.appendCommandComplete(opcode, credits: commandCredits, StatusOnly(status))
        case .leReadLocalSupportedFeatures:
            var features = LELocalSupportedFeatures()
            features.leFeatures = leFeatures
            block.appendCommandComplete(opcode, credits: commandCredits, features)
        case .readBDADDR:
            block.appendCommandComplete(opcode, credits: commandCredits, BDADDR())
        default: answerPrivacy(opcode, command, &block)
        }
        return H4Packets.split(block.bytes)
    }

    private mutating func answerPrivacy(
        _ opcode: Opcode, _ command: [UInt8], _ block: inout ByteBlock
    ) {
        guard opcode != .leReadResolvingListSize else {
            var size = ResolvingListSize()
            size.resolvingListSize = resolvingListSize
            return block.appendCommandComplete(opcode, credits: commandCredits, size)
        }
        let status = resolve(opcode, command)
        if status == .commandDisallowed { disallowedCount += 1 }
        block.appendCommandComplete(opcode, credits: commandCredits, StatusOnly(status))
    }

    /// What the specification's controller makes of an advertising command (7.8.4 to 7.8.9, 7.8.52
    /// to 7.8.56).
    private mutating func advertise(_ opcode: Opcode, _ command: [UInt8]) -> HCIStatus {
        let isExtended = opcode.rawValue >= Opcode.leSetExtendedAdvertisingParameters.rawValue
        if opcode != .leSetRandomAddress, opcode != .leSetAdvertisingSetRandomAddress {
            if let usesExtended, usesExtended != isExtended { return .commandDisallowed }
            usesExtended = isExtended
        }
        switch opcode {
        case .leSetRandomAddress, .leSetAdvertisingSetRandomAddress:
            guard !isAdvertising else { return .commandDisallowed }
            randomAddresses.append(Self.address(command, at: command.count - 6))
            return .success
        case .leSetAdvertisingParameters:
            return setParameters(command.span.uint16(at: 4), isConnectable: command[8] == 0)
        case .leSetExtendedAdvertisingParameters:
            return setParameters(command.span.uint16(at: 7), isConnectable: command[5] & 1 == 1)
        case .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData:
            return isAdvertising && command[5] != 3 ? .commandDisallowed : .success
        case .leSetAdvertisingEnable, .leSetExtendedAdvertisingEnable:
            isAdvertising = command[4] == 1
            return .success
        default: return .success
        }
    }

    private static func address(_ command: [UInt8], at offset: Int) -> DeviceAddress {
        let octets = command[offset..<offset + 6].reversed()
        return DeviceAddress(littleEndian: octets.reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The resolving list of 7.8.38 to 7.8.44.
    private mutating func resolve(_ opcode: Opcode, _ command: [UInt8]) -> HCIStatus {
        let isDisallowed: Bool
        switch opcode {
        case .leSetAddressResolutionEnable: isDisallowed = isAdvertising
        case .leClearResolvingList, .leAddDeviceToResolvingList, .leSetPrivacyMode:
            isDisallowed = isAdvertising && isResolving
        default: return .success
        }
        guard !isDisallowed else { return .commandDisallowed }
        switch opcode {
        case .leSetAddressResolutionEnable: isResolving = command[4] == 1
        case .leClearResolvingList: resolvingList = []
        case .leAddDeviceToResolvingList:
            guard resolvingList.count < Int(resolvingListSize) else {
                return .memoryCapacityExceeded
            }
            resolvingList.append(Self.address(command, at: 5))
        default: break
        }
        return .success
    }

    private mutating func setParameters(_ steps: UInt16, isConnectable: Bool) -> HCIStatus {
        guard !isAdvertising else { return .commandDisallowed }
        guard isConnectable || steps >= shortestSteps else { return .invalidParameters }
        self.steps = steps
        return .success
    }

    private static func text(_ opcode: Opcode, _ command: [UInt8]) -> String {
        switch opcode {
        case .leSetAdvertisingParameters:
            let interval = AdvertisingInterval(steps: command.span.uint16(at: 4))
            return "\(opcode) \(interval)"
        case .leSetAdvertisingEnable, .leSetAddressResolutionEnable:
            return "\(opcode) \(command[4])"
        case .leSetDefaultPHY: return "\(opcode) \(Hex.string([UInt8](command[4...])))"
        case .leSetEventMask: return "\(opcode) \(Hex.string([UInt8](command[4...].reversed())))"
        default: return "\(opcode)"
        }
    }

    // MARK: events of its own

    static func connected(
        handle: UInt16, peer: UInt64 = 0xC0_1122_3344_55
    ) -> [UInt8] {
        var event = LEConnectionComplete()
        event.connectionHandle = ConnectionHandle(rawValue: handle)
        event.role = 1
        event.peerAddressType = .randomDevice
        event.peerAddress = DeviceAddress(littleEndian: peer)
        event.connectionInterval = 24
        event.supervisionTimeout = 500
        return packet(event)
    }

    static func disconnected(handle: UInt16, _ reason: HCIStatus) -> [UInt8] {
        var event = DisconnectionComplete()
        event.connectionHandle = ConnectionHandle(rawValue: handle)
        event.reason = reason
        return packet(event)
    }

    static func completed(handle: UInt16, _ count: UInt16) -> [UInt8] {
        packet(NumberOfCompletedPackets([.init(ConnectionHandle(rawValue: handle), count)]))
    }

    static func packet(_ event: some HCIEvent) -> [UInt8] {
        var block = ByteBlock()
        block.append(event: event)
        return block.bytes
    }

    /// One L2CAP PDU in ACL packets of at most `octets`.
    static func acl(
        handle: UInt16, cid: UInt16 = 4, _ payload: [UInt8], octets: Int = 27
    ) -> [[UInt8]] {
        let length = payload.count
        let frame =
            [UInt8(length & 255), UInt8(length >> 8), UInt8(cid & 255), UInt8(cid >> 8)] + payload
        var packets: [[UInt8]] = []
        var offset = 0
        while offset < frame.count {
            let end = min(offset + octets, frame.count)
            var block = ByteBlock()
            block.append(
                acl: ACLHeader(
                    handle: ConnectionHandle(rawValue: handle),
                    boundary: offset == 0 ? .firstFromController : .continuing,
                    length: end - offset))
            block.append([UInt8](frame[offset..<end]))
            packets.append(block.bytes)
            offset = end
        }
        return packets
    }
}

enum H4Packets {
    static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var offset = 0
        while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
            packets.append(bytes.span.copied(offset..<end))
            offset = end
        }
        return packets
    }
}
