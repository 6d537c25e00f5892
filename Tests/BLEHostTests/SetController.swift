// A controller with advertising sets for the tests: strict, and it remembers what it was told.
import HCI
import SansIO
import Wire

@testable import BLEHost

/// Keeps the rules of 7.8.52 to 7.8.56 and 7.8.61 to 7.8.63 for each set; what is not about sets is
/// the plain scripted controller's.
struct SetController {
    struct Entry {
        var parameters = LESetExtendedAdvertisingParameters()
        var address: DeviceAddress?
        var data: [UInt8] = []
        var response: [UInt8] = []
        /// Fragments without their last.
        var isPartial = false
        var isEnabled = false
        var duration: UInt16 = 0
        var periodicInterval: UInt16?
        var periodicData: [UInt8] = []
        var isPeriodic = false

        var properties: AdvertisingEventProperties {
            AdvertisingEventProperties(rawValue: parameters.eventProperties)
        }
        var intervalSteps: Int { Int(parameters.intervalMin) }
    }

    var base = ScriptedController()
    var setsMax = 16
    var dataOctets: UInt16 = 1650
    var sets: [UInt8: Entry] = [:]
    var disallowed: [String] = []
    /// Refusals but for Command Disallowed.
    var refusals: [String] = []
    /// Names of all commands.
    var received: [String] { base.received }

    init(isExtended: Bool = true) {
        base.leFeatures = isExtended ? 1 << 8 | 1 << 11 | 1 << 12 | 1 << 13 : 0
        if !isExtended { base.supportedCommands[36] = 0 }
    }

    /// The sets on the air.
    var onAir: [UInt8] { sets.filter(\.value.isEnabled).keys.sorted() }

    mutating func answer(_ command: [UInt8]) -> [[UInt8]] {
        let opcode = Opcode(rawValue: command.span.uint16(at: 1))
        let body = command.span.extracting(4..<command.count)
        var block = ByteBlock()
        guard base.refused[opcode] == nil else { return base.answer(command) }
        switch opcode {
        case .leReadNumberOfSupportedAdvertisingSets:
            var answer = LENumberOfSupportedAdvertisingSets()
            answer.numSupportedAdvertisingSets = UInt8(setsMax)
            block.appendCommandComplete(opcode, credits: base.commandCredits, answer)
        case .leReadMaximumAdvertisingDataLength:
            var answer = LEMaximumAdvertisingDataLength()
            answer.maxAdvertisingDataLength = dataOctets
            block.appendCommandComplete(opcode, credits: base.commandCredits, answer)
        case .leSetExtendedAdvertisingParameters, .leSetAdvertisingSetRandomAddress,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leSetExtendedAdvertisingEnable, .leSetPeriodicAdvertisingParameters,
            .leSetPeriodicAdvertisingData, .leSetPeriodicAdvertisingEnable,
            .leRemoveAdvertisingSet:
            base.received.append("\(opcode)")
            var status = HCIStatus.invalidParameters
            do { status = try serve(opcode, body) } catch { refusals.append("\(error)") }
            if status == .commandDisallowed {
                disallowed.append("\(opcode)")
            } else if !status.isSuccess {
                refusals.append("\(opcode): \(status)")
            }
            block.appendCommandComplete(
                opcode, credits: base.commandCredits, StatusOnly(status))
        case .reset:
            sets = [:]
            return base.answer(command)
        default:
            let before = base.disallowedCount
            let answers = base.answer(command)
            if base.disallowedCount > before { disallowed.append("\(opcode)") }
            return answers
        }
        return H4Packets.split(block.bytes)
    }

    private mutating func serve(_ opcode: Opcode, _ body: Span<UInt8>) throws -> HCIStatus {
        switch opcode {
        case .leSetExtendedAdvertisingParameters:
            let command = try LESetExtendedAdvertisingParameters(hci: body)
            return setParameters(command)
        case .leSetExtendedAdvertisingEnable:
            let command = try LESetExtendedAdvertisingEnable(hci: body)
            for entry in command.sets {
                let status = enable(entry, isOn: command.enable == 1)
                if !status.isSuccess { return status }
            }
            return .success
        default: break
        }
        let handle = opcode == .leSetPeriodicAdvertisingEnable ? body[1] : body[0]
        guard var entry = sets[handle] else { return .unknownAdvertisingIdentifier }
        guard opcode != .leRemoveAdvertisingSet else {
            guard !entry.isEnabled, !entry.isPeriodic else { return .commandDisallowed }
            sets[handle] = nil
            return .success
        }
        defer { sets[handle] = entry }
        switch opcode {
        case .leSetAdvertisingSetRandomAddress:
            guard !entry.isEnabled else { return .commandDisallowed }
            entry.address = try LESetAdvertisingSetRandomAddress(hci: body).randomAddress
        case .leSetExtendedAdvertisingData:
            let command = try LESetExtendedAdvertisingData(hci: body)
            let properties = entry.properties
            if !properties.contains(.legacy), properties.contains(.scannable) {
                return .invalidParameters
            }
            return fill(\.data, &entry, command.operation, command.data)
        case .leSetExtendedScanResponseData:
            let command = try LESetExtendedScanResponseData(hci: body)
            guard entry.properties.contains(.scannable) else { return .invalidParameters }
            return fill(\.response, &entry, command.operation, command.data)
        case .leSetPeriodicAdvertisingParameters:
            guard !entry.isPeriodic else { return .commandDisallowed }
            guard entry.properties.isDisjoint(with: [.connectable, .scannable, .legacy]) else {
                return .invalidParameters
            }
            entry.periodicInterval =
                try LESetPeriodicAdvertisingParameters(hci: body).intervalMin
        case .leSetPeriodicAdvertisingData:
            let command = try LESetPeriodicAdvertisingData(hci: body)
            guard entry.periodicInterval != nil else { return .commandDisallowed }
            return fillTrain(&entry, command.operation, command.data)
        default:
            let command = try LESetPeriodicAdvertisingEnable(hci: body)
            guard entry.periodicInterval != nil else { return .commandDisallowed }
            entry.isPeriodic = command.enable & 1 == 1
        }
        return .success
    }

    private mutating func setParameters(
        _ command: LESetExtendedAdvertisingParameters
    ) -> HCIStatus {
        guard sets[command.advertisingHandle] != nil || sets.count < setsMax else {
            return .memoryCapacityExceeded
        }
        var entry = sets[command.advertisingHandle] ?? Entry()
        guard !entry.isEnabled else { return .commandDisallowed }
        entry.parameters = command
        sets[command.advertisingHandle] = entry
        return .success
    }

    private func fill(
        _ key: WritableKeyPath<Entry, [UInt8]>, _ entry: inout Entry, _ operation: UInt8,
        _ part: [UInt8]
    ) -> HCIStatus {
        if operation != AdvertisingDataOperation.complete, entry.isEnabled {
            return .commandDisallowed
        }
        if operation == AdvertisingDataOperation.first
            || operation == AdvertisingDataOperation.complete
        {
            entry[keyPath: key] = []
        }
        entry[keyPath: key] += part
        let octets = entry[keyPath: key]
        entry.isPartial =
            operation == AdvertisingDataOperation.first
            || operation == AdvertisingDataOperation.intermediate
        if entry.properties.contains(.legacy), octets.count > 31 { return .invalidParameters }
        return octets.count > dataOctets ? .memoryCapacityExceeded : .success
    }

    /// While the train is on its data come in one command (7.8.62).
    private func fillTrain(
        _ entry: inout Entry, _ operation: UInt8, _ part: [UInt8]
    ) -> HCIStatus {
        var train = entry
        (train.isEnabled, train.parameters.eventProperties) = (entry.isPeriodic, 0)
        let status = fill(\.periodicData, &train, operation, part)
        (entry.periodicData, entry.isPartial) = (train.periodicData, train.isPartial)
        return status
    }

    private mutating func enable(
        _ wanted: LESetExtendedAdvertisingEnable.Entry, isOn: Bool
    ) -> HCIStatus {
        guard var entry = sets[wanted.advertisingHandle] else {
            return .unknownAdvertisingIdentifier
        }
        if isOn {
            guard !entry.isPartial else { return .commandDisallowed }
            guard entry.parameters.ownAddressType == .publicDevice || entry.address != nil,
                !entry.properties.contains(.highDutyCycle) || (1...128).contains(wanted.duration)
            else { return .invalidParameters }
        }
        entry.isEnabled = isOn
        entry.duration = wanted.duration
        sets[wanted.advertisingHandle] = entry
        return .success
    }

    // MARK: events of its own

    /// A central connects to a set: Connection Complete, then Advertising Set Terminated.
    mutating func connect(to set: UInt8, handle: UInt16) -> [[UInt8]] {
        sets[set]?.isEnabled = false
        return [
            ScriptedController.connected(handle: handle),
            Self.terminated(set, .success, handle: handle),
        ]
    }

    static func terminated(_ set: UInt8, _ status: HCIStatus, handle: UInt16 = 0) -> [UInt8] {
        var event = LEAdvertisingSetTerminated()
        event.status = status
        event.advertisingHandle = set
        event.connectionHandle = ConnectionHandle(rawValue: handle)
        return ScriptedController.packet(event)
    }
}
