// One step of advertising as HCI commands, in the legacy and in the extended family.
import HCI
import SMP
import SansIO
import Wire

/// Which commands a controller is driven with: after a reset one family only (Core 6.0, Vol 4, Part
/// E, 3.1.1), else it answers Command Disallowed.
enum AdvertisingFamily: Equatable, Sendable { case legacy, extended }

/// One step of advertising.
enum AdvertisingCommand: Equatable, Sendable {
    case parameters(AdvertisingInterval)
    case randomAddress(DeviceAddress)
    /// The set's own random address; the extended family only.
    case setAddress(DeviceAddress)
    case data
    case scanResponse
    case enable(Bool)
    // The controller's resolving list, which may not change while it advertises.
    case resolution(Bool)
    case clearResolvingList
    case resolve(ResolvedPeer)
    /// The peer is heard also by its identity address, which it may go back to.
    case devicePrivacy(LinkAddress)

    /// The one advertising set that a host of a single accessory uses.
    static let advertisingHandle: UInt8 = 0

    var isEnable: Bool {
        switch self {
        case .enable: true
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .resolution,
            .clearResolvingList, .resolve, .devicePrivacy:
            false
        }
    }

    /// Whether advertising goes on without it.
    var isAboutResolving: Bool {
        switch self {
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy: true
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable: false
        }
    }

    func opcode(_ family: AdvertisingFamily) -> Opcode {
        let isLegacy = family == .legacy
        return switch self {
        case .parameters:
            isLegacy ? .leSetAdvertisingParameters : .leSetExtendedAdvertisingParameters
        case .randomAddress: .leSetRandomAddress
        case .setAddress: .leSetAdvertisingSetRandomAddress
        case .data: isLegacy ? .leSetAdvertisingData : .leSetExtendedAdvertisingData
        case .scanResponse: isLegacy ? .leSetScanResponseData : .leSetExtendedScanResponseData
        case .enable: isLegacy ? .leSetAdvertisingEnable : .leSetExtendedAdvertisingEnable
        case .resolution: .leSetAddressResolutionEnable
        case .clearResolvingList: .leClearResolvingList
        case .resolve: .leAddDeviceToResolvingList
        case .devicePrivacy: .leSetPrivacyMode
        }
    }
}

extension ControllerSession {
    /// Queues the step's command.
    mutating func send(
        _ command: AdvertisingCommand, of plan: AdvertisingPlan, _ family: AdvertisingFamily,
        _ need: CommandNeed, at now: Instant, sending out: inout ByteBlock
    ) {
        if command.isAboutResolving {
            sendResolving(command, at: now, &out)
        } else if family == .legacy {
            sendLegacy(command, of: plan, need, at: now, &out)
        } else {
            sendExtended(command, of: plan, need, at: now, &out)
        }
    }

    private mutating func sendResolving(
        _ command: AdvertisingCommand, at now: Instant, _ out: inout ByteBlock
    ) {
        switch command {
        case .resolution(let on):
            var enable = LESetAddressResolutionEnable()
            enable.addressResolutionEnable = on ? 1 : 0
            send(enable, .optional, at: now, sending: &out)
        case .clearResolvingList:
            send(LEClearResolvingList(), .optional, at: now, sending: &out)
        case .resolve(let peer):
            // Own private addresses are the host's: the controller has no key for them.
            var add = LEAddDeviceToResolvingList()
            add.peerIdentityAddressType = peer.identity.type
            add.peerIdentityAddress = peer.identity.address
            add.peerIRK = peer.identityKey
            send(add, .optional, at: now, sending: &out)
        case .devicePrivacy(let identity):
            var mode = LESetPrivacyMode()
            mode.peerIdentityAddressType = identity.type
            mode.peerIdentityAddress = identity.address
            mode.privacyMode = 1
            send(mode, .optional, at: now, sending: &out)
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable: break
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
        case .randomAddress(let address): send(address, need, at: now, &out)
        case .setAddress: break
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
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy: break
        }
    }

    private mutating func send(
        _ address: DeviceAddress, _ need: CommandNeed, at now: Instant, _ out: inout ByteBlock
    ) {
        var set = LESetRandomAddress()
        set.randomAddress = address
        send(set, need, at: now, sending: &out)
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
        case .randomAddress(let address): send(address, need, at: now, &out)
        case .setAddress(let address):
            var set = LESetAdvertisingSetRandomAddress()
            set.advertisingHandle = AdvertisingCommand.advertisingHandle
            set.randomAddress = address
            send(set, need, at: now, sending: &out)
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
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy: break
        }
    }
}

extension LinkAddress {
    fileprivate var type: AddressType { isRandom ? .randomDevice : .publicDevice }
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
