// One step of advertising as HCI commands, in the legacy and in the extended family.
import Advertising
import HCI
import SMP
import SansIO
import Wire

/// Which commands a controller is driven with: after a reset one family only (Core 6.0, Vol 4, Part
/// E, 3.1.1), else it answers Command Disallowed.
enum AdvertisingFamily: Equatable, Sendable { case legacy, extended }

/// A part of a set's data as one command takes it (Core 6.0, Vol 4, Part E, 7.8.54).
struct DataFragment: Equatable, Sendable {
    /// See `AdvertisingDataOperation`.
    var operation: UInt8
    var range: Range<Int>

    /// What one command carries, of either kind of data.
    static let octetsMax = AdvertisingLimits.fragmentOctetsMax

    /// The same of a train's data.
    static let trainOctetsMax = AdvertisingLimits.periodicFragmentOctetsMax

    /// So many octets of data in as few commands as they take.
    static func all(of count: Int, each octetsMax: Int = octetsMax) -> [DataFragment] {
        guard count > octetsMax else {
            return [
                DataFragment(operation: AdvertisingDataOperation.complete, range: 0..<count)
            ]
        }
        return stride(from: 0, to: count, by: octetsMax).map { start in
            let end = min(start + octetsMax, count)
            let operation =
                start == 0
                ? AdvertisingDataOperation.first
                : end == count
                    ? AdvertisingDataOperation.last : AdvertisingDataOperation.intermediate
            return DataFragment(operation: operation, range: start..<end)
        }
    }
}

/// One step of advertising.
enum AdvertisingCommand: Equatable, Sendable {
    case parameters(AdvertisingInterval)
    case randomAddress(DeviceAddress)
    /// The set's own random address; the extended family only.
    case setAddress(DeviceAddress)
    case data(DataFragment)
    case scanResponse(DataFragment)
    case enable(Bool)
    /// The controller forgets the set, which is off the air; the extended family only.
    case remove
    // The train beside an extended set.
    case periodicParameters
    case periodicData(DataFragment)
    case periodicEnable(Bool)
    // The controller's resolving list, which may not change while it advertises.
    case resolution(Bool)
    case clearResolvingList
    case resolve(ResolvedPeer)
    /// The peer is heard also by its identity address, which it may go back to.
    case devicePrivacy(LinkAddress)

    /// Whether it puts a set on the air.
    var isEnable: Bool { self == .enable(true) }

    /// Whether advertising goes on without it.
    var isAboutResolving: Bool {
        switch self {
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy: true
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable, .remove,
            .periodicParameters, .periodicData, .periodicEnable:
            false
        }
    }

    /// Whether it is about the train, without which a set is better than none.
    var isAboutTrain: Bool {
        switch self {
        case .periodicParameters, .periodicData, .periodicEnable: true
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable, .remove,
            .resolution, .clearResolvingList, .resolve, .devicePrivacy:
            false
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
        case .remove: .leRemoveAdvertisingSet
        case .periodicParameters: .leSetPeriodicAdvertisingParameters
        case .periodicData: .leSetPeriodicAdvertisingData
        case .periodicEnable: .leSetPeriodicAdvertisingEnable
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
        _ step: AdvertisingStep, of plan: AdvertisingPlan, _ family: AdvertisingFamily,
        _ need: CommandNeed, at now: Instant, sending out: inout ByteBlock
    ) {
        if step.command.isAboutResolving {
            sendResolving(step.command, at: now, &out)
        } else if family == .legacy {
            sendLegacy(step.command, of: plan, need, at: now, &out)
        } else {
            sendExtended(step, of: plan, need, at: now, &out)
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
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable, .remove,
            .periodicParameters, .periodicData, .periodicEnable:
            break
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
            parameters.peerAddressType = plan.peer.type
            parameters.peerAddress = plan.peer.address
            parameters.channelMap = plan.channelMap
            send(parameters, need, at: now, sending: &out)
        case .randomAddress(let address): send(address, need, at: now, &out)
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
        case .setAddress, .remove, .periodicParameters, .periodicData, .periodicEnable,
            .resolution, .clearResolvingList, .resolve, .devicePrivacy:
            break
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
        _ step: AdvertisingStep, of plan: AdvertisingPlan, _ need: CommandNeed,
        at now: Instant, _ out: inout ByteBlock
    ) {
        let handle = UInt8(truncatingIfNeeded: step.set)
        switch step.command {
        case .parameters(let interval):
            send(plan.parameters(handle, interval), need, at: now, sending: &out)
        case .randomAddress(let address): send(address, need, at: now, &out)
        case .setAddress(let address):
            var set = LESetAdvertisingSetRandomAddress()
            set.advertisingHandle = handle
            set.randomAddress = address
            send(set, need, at: now, sending: &out)
        case .data(let fragment):
            var data = LESetExtendedAdvertisingData()
            data.advertisingHandle = handle
            data.operation = fragment.operation
            data.fragmentPreference = 1
            data.data = Array(plan.data[fragment.range.clamped(to: plan.data.indices)])
            send(data, need, at: now, sending: &out)
        case .scanResponse(let fragment):
            var data = LESetExtendedScanResponseData()
            data.advertisingHandle = handle
            data.operation = fragment.operation
            data.fragmentPreference = 1
            data.data = Array(
                plan.scanResponse[fragment.range.clamped(to: plan.scanResponse.indices)])
            send(data, .optional, at: now, sending: &out)
        case .enable(let on):
            var enable = LESetExtendedAdvertisingEnable()
            enable.enable = on ? 1 : 0
            var entry = LESetExtendedAdvertisingEnable.Entry()
            entry.advertisingHandle = handle
            if plan.type == .directedHighDuty { entry.duration = Self.highDutySteps }
            enable.sets = [entry]
            send(enable, need, at: now, sending: &out)
        case .remove:
            var remove = LERemoveAdvertisingSet()
            remove.advertisingHandle = handle
            send(remove, need, at: now, sending: &out)
        case .periodicParameters, .periodicData, .periodicEnable:
            sendPeriodic(step.command, handle, of: plan, at: now, &out)
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy: break
        }
    }

    /// 1.28 s in steps of 10 ms: the longest that high duty cycle may last (7.8.56).
    private static let highDutySteps: UInt16 = 128

    private mutating func sendPeriodic(
        _ command: AdvertisingCommand, _ handle: UInt8, of plan: AdvertisingPlan,
        at now: Instant, _ out: inout ByteBlock
    ) {
        switch command {
        case .periodicParameters:
            guard let train = plan.periodic else { return }
            var parameters = LESetPeriodicAdvertisingParameters()
            parameters.advertisingHandle = handle
            (parameters.intervalMin, parameters.intervalMax) = (train.interval, train.interval)
            send(parameters, .optional, at: now, sending: &out)
        case .periodicData(let fragment):
            guard let train = plan.periodic else { return }
            var data = LESetPeriodicAdvertisingData()
            data.advertisingHandle = handle
            data.operation = fragment.operation
            data.data = Array(train.data[fragment.range.clamped(to: train.data.indices)])
            send(data, .optional, at: now, sending: &out)
        case .periodicEnable(let on):
            var enable = LESetPeriodicAdvertisingEnable()
            enable.enable = on ? 1 : 0
            enable.advertisingHandle = handle
            send(enable, .optional, at: now, sending: &out)
        case .parameters, .randomAddress, .setAddress, .data, .scanResponse, .enable, .remove,
            .resolution, .clearResolvingList, .resolve, .devicePrivacy:
            break
        }
    }
}

extension AdvertisingPlan {
    fileprivate func parameters(
        _ handle: UInt8, _ interval: AdvertisingInterval
    ) -> LESetExtendedAdvertisingParameters {
        var parameters = LESetExtendedAdvertisingParameters()
        parameters.advertisingHandle = handle
        parameters.intervalMin = UInt32(interval.steps)
        parameters.intervalMax = UInt32(interval.steps)
        parameters.channelMap = channelMap
        parameters.ownAddressType = ownAddressType
        parameters.peerAddressType = peer.type
        parameters.peerAddress = peer.address
        // 127: no preference.
        parameters.txPower = txPower ?? 127
        parameters.advertisingSid = sid
        parameters.scanRequestNotification = tellsScanRequests ? 1 : 0
        switch pdu {
        case .legacy:
            parameters.eventProperties = type.properties.union(.legacy).rawValue
            parameters.primaryPHY = AdvertisingPHY.le1M.rawValue
            parameters.secondaryPHY = AdvertisingPHY.le1M.rawValue
        case .extended(let pdu):
            var properties = type.properties
            // Nothing in extended PDUs is connectable and scannable at once.
            if properties.contains(.connectable) { properties.remove(.scannable) }
            if pdu.isAnonymous { properties.insert(.anonymous) }
            if pdu.includesTxPower { properties.insert(.includeTxPower) }
            parameters.eventProperties = properties.rawValue
            parameters.primaryPHY = pdu.primary.rawValue
            parameters.secondaryPHY = pdu.secondary.rawValue
        }
        return parameters
    }
}

extension LinkAddress {
    fileprivate var type: AddressType { isRandom ? .randomDevice : .publicDevice }
}

extension PeerAddress {
    fileprivate var type: AddressType { isRandom ? .randomDevice : .publicDevice }
}

extension AdvertisingPlan.EventType {
    /// Advertising_Event_Properties of legacy PDUs, but for the one that says so.
    fileprivate var properties: AdvertisingEventProperties {
        switch self {
        case .connectable: [.connectable, .scannable]
        case .directedHighDuty: [.connectable, .directed, .highDutyCycle]
        case .directedLowDuty: [.connectable, .directed]
        case .scannable: .scannable
        case .nonConnectable: []
        }
    }
}
