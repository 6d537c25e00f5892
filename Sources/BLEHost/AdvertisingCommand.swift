// One step of advertising as HCI commands, in the legacy and in the extended family.
import HCI
import SansIO
import Wire

/// Which commands a controller is driven with: after a reset one family only (Core 6.0, Vol 4, Part
/// E, 3.1.1), else it answers Command Disallowed.
enum AdvertisingFamily: Equatable, Sendable { case legacy, extended }

/// One step of advertising.
enum AdvertisingCommand: Equatable, Sendable {
    case parameters(AdvertisingInterval)
    /// The set's own random address; the extended family only.
    case address
    case data
    case scanResponse
    case enable(Bool)

    /// The one advertising set that a host of a single accessory uses.
    static let advertisingHandle: UInt8 = 0

    var isEnable: Bool {
        switch self {
        case .enable: true
        case .parameters, .address, .data, .scanResponse: false
        }
    }

    func opcode(_ family: AdvertisingFamily) -> Opcode {
        let isLegacy = family == .legacy
        return switch self {
        case .parameters:
            isLegacy ? .leSetAdvertisingParameters : .leSetExtendedAdvertisingParameters
        case .address: .leSetAdvertisingSetRandomAddress
        case .data: isLegacy ? .leSetAdvertisingData : .leSetExtendedAdvertisingData
        case .scanResponse: isLegacy ? .leSetScanResponseData : .leSetExtendedScanResponseData
        case .enable: isLegacy ? .leSetAdvertisingEnable : .leSetExtendedAdvertisingEnable
        }
    }
}

extension ControllerSession {
    /// Queues the step's command.
    mutating func send(
        _ command: AdvertisingCommand, of plan: AdvertisingPlan, _ family: AdvertisingFamily,
        _ need: CommandNeed, at now: Instant, sending out: inout ByteBlock
    ) {
        switch family {
        case .legacy: sendLegacy(command, of: plan, need, at: now, &out)
        case .extended: sendExtended(command, of: plan, need, at: now, &out)
        }
    }

    private mutating func sendLegacy(
        _ command: AdvertisingCommand, of plan: AdvertisingPlan, _ need: CommandNeed,
        at now: Instant, _ out: inout ByteBlock
    ) {
        switch command {
        case .parameters(let interval):
            var parameters = LESetAdvertisingParameters()
            parameters.intervalMin = interval.steps
            parameters.intervalMax = interval.steps
            parameters.advertisingType = plan.type.rawValue
            parameters.ownAddressType = plan.ownAddressType
            parameters.channelMap = 0b111
            send(parameters, need, at: now, sending: &out)
        case .address: break
        case .data:
            var data = LESetAdvertisingData()
            data.length = UInt8(truncatingIfNeeded: plan.data.count)
            data.data = plan.data
            send(data, need, at: now, sending: &out)
        case .scanResponse:
            var data = LESetScanResponseData()
            data.length = UInt8(truncatingIfNeeded: plan.scanResponse.count)
            data.data = plan.scanResponse
            send(data, .optional, at: now, sending: &out)
        case .enable(let on):
            var enable = LESetAdvertisingEnable()
            enable.enable = on ? 1 : 0
            send(enable, need, at: now, sending: &out)
        }
    }

    private mutating func sendExtended(
        _ command: AdvertisingCommand, of plan: AdvertisingPlan, _ need: CommandNeed,
        at now: Instant, _ out: inout ByteBlock
    ) {
        switch command {
        case .parameters(let interval):
            var parameters = LESetExtendedAdvertisingParameters()
            parameters.advertisingHandle = AdvertisingCommand.advertisingHandle
            parameters.eventProperties = plan.type.legacyProperties
            parameters.intervalMin = UInt32(interval.steps)
            parameters.intervalMax = UInt32(interval.steps)
            parameters.channelMap = 0b111
            parameters.ownAddressType = plan.ownAddressType
            parameters.txPower = 127
            parameters.primaryPHY = 1
            parameters.secondaryPHY = 1
            send(parameters, need, at: now, sending: &out)
        case .address:
            var address = LESetAdvertisingSetRandomAddress()
            address.advertisingHandle = AdvertisingCommand.advertisingHandle
            address.randomAddress = randomAddress ?? DeviceAddress()
            send(address, need, at: now, sending: &out)
        case .data:
            var data = LESetExtendedAdvertisingData()
            data.advertisingHandle = AdvertisingCommand.advertisingHandle
            data.operation = 3
            data.fragmentPreference = 1
            data.data = plan.data
            send(data, need, at: now, sending: &out)
        case .scanResponse:
            var data = LESetExtendedScanResponseData()
            data.advertisingHandle = AdvertisingCommand.advertisingHandle
            data.operation = 3
            data.fragmentPreference = 1
            data.data = plan.scanResponse
            send(data, .optional, at: now, sending: &out)
        case .enable(let on):
            var enable = LESetExtendedAdvertisingEnable()
            enable.enable = on ? 1 : 0
            var entry = LESetExtendedAdvertisingEnable.Entry()
            entry.advertisingHandle = AdvertisingCommand.advertisingHandle
            enable.sets = [entry]
            send(enable, need, at: now, sending: &out)
        }
    }
}

extension AdvertisingPlan.EventType {
    /// Advertising_Event_Properties of the legacy PDU: bit 4, with bit 0 connectable and bit 1
    /// scannable (Core 6.0, Vol 4, Part E, 7.8.53).
    var legacyProperties: UInt16 {
        switch self {
        case .connectable: 0b1_0011
        case .scannable: 0b1_0010
        case .nonConnectable: 0b1_0000
        }
    }
}
