// One advertising set of a device at work: its interval policy, its live data, and its history.
import Advertising
import BLEHost
import HCI
import Profiles
import SMP
import SansIO
import Wire

/// What a device keeps of one of its advertising sets.
struct AdvertisedSet: Sendable {
    var policy: IntervalController
    /// What intervals have been in force since power-on; nil before it.
    var history: IntervalHistory?
    /// The data, where they move.
    var data: LiveAdvertisingData?
    /// When it is on the air; nil of one that always is.
    var times: AirTimes?
    /// Decisions that the controller has not confirmed yet, and what it confirmed last.
    private var decisions: [IntervalDecision] = []
    private var confirmed: (interval: AdvertisingInterval, reason: String)?

    init(_ set: AdvertisingSet) {
        policy = IntervalController(set.policy)
        times = AirTimes(set)
    }

    var deadline: Instant? {
        earliest(times?.deadline, earliest(policy.deadline, data?.deadline))
    }

    /// Decisions that a controller may not have confirmed yet; more than one only where it is slow.
    private static let decisionsMax = 8

    /// The controller is told of a decision.
    mutating func expect(_ decision: IntervalDecision) {
        if decisions.count == Self.decisionsMax { decisions.removeFirst() }
        decisions.append(decision)
    }

    /// The controller confirms what the policy begins with as it does a decision.
    mutating func begin(at now: Instant) {
        history = IntervalHistory(start: now)
        expect(
            IntervalDecision(
                at: now, from: policy.interval, to: policy.interval, reason: policy.reason))
    }

    /// Why the interval that the controller advertises with now was chosen. A later decision, which
    /// it does not know yet, has nothing to do with it.
    mutating func confirm(_ interval: AdvertisingInterval) -> String {
        var reason = confirmed?.reason ?? policy.reason
        if let index = decisions.firstIndex(where: { $0.to == interval }) {
            reason = decisions[index].reason
            decisions.removeFirst(index + 1)
        } else if interval != confirmed?.interval, let latest = decisions.last {
            // A controller that cannot do what was asked for does what is next to it.
            reason = latest.reason
            decisions.removeAll()
        }
        confirmed = (interval, reason)
        return reason
    }
}

extension PeripheralEvent {
    /// What it says of the intervals of sets, for their histories; nil of none.
    /// - Parameter count: how many sets there are.
    func silences(of count: Int) -> Range<Int>? {
        switch self {
        case .advertisingStopped(let set), .advertisingRefused(_, let set): set..<set + 1
        // Of several, `connectedFrom` says which.
        case .connected where count == 1: 0..<1
        case .connectedFrom(let set, _): set..<set + 1
        case .failed: 0..<count
        case .ready, .note, .advertising, .advertisingPaused, .scanRequested, .addressRenewed,
            .connected, .disconnected, .connectionUpdated, .phyUpdated, .parametersAnswered,
            .overflow, .sent, .pairingRefused, .security, .server:
            nil
        }
    }
}

extension DeviceProfile {
    /// The sets as the host has them.
    /// - Parameter seed: of addresses.
    func setups(_ sets: [AdvertisedSet], seed: UInt64) -> [AdvertisingSetup] {
        zip(advertising, setIDs).enumerated().map { index, pair in
            var plan = AdvertisingPlan(pair.0, of: device, seed: seed)
            plan.sid = pair.1
            // Nobody asks the others.
            plan.tellsScanRequests = feelsScanners && plan.isScannable
            if index < sets.count, let live = sets[index].data {
                plan.data = live.data
                plan.scanResponse = live.scanResponse
                plan.periodic?.data = live.train
            }
            let interval = index < sets.count ? sets[index].policy.interval : .minimum
            return AdvertisingSetup(plan: plan, interval: interval)
        }
    }

    /// Whether scan requests count.
    var feelsScanners: Bool { activity?.sources.contains(.scanRequests) == true }
}

extension AdvertisingPlan {
    /// The controller's view of an advertising set.
    init(_ set: AdvertisingSet, of device: DeviceSpec, seed: UInt64) {
        let type: EventType =
            switch set.kind {
            case .connectable: .connectable
            case .scannable: .scannable
            case .nonConnectable: .nonConnectable
            case .directed(_, let isHighDuty): isHighDuty ? .directedHighDuty : .directedLowDuty
            }
        var isPublic = device.address == .publicDevice
        var own: DeviceAddress?
        switch set.address {
        case .device: break
        case .publicDevice: isPublic = true
        case .privateAddress: isPublic = false
        case .randomStatic(let address):
            isPublic = false
            var random = SeededRandom(seed: seed, stream: "address of \(device.name) \(set.name)")
            own = address ?? DeviceAddress.randomStatic(from: random.next())
        }
        self.init(
            type: type, ownAddressType: isPublic ? .publicDevice : .randomDevice,
            data: advertisingBytes(set.data), scanResponse: advertisingBytes(set.scanResponse))
        if case .directed(let peer, _) = set.kind { self.peer = peer }
        if case .privateAddress(let isResolvable, let renewal) = set.address {
            privacy = AddressPrivacy(
                kind: isResolvable ? .resolvable : .nonResolvable, renewal: renewal)
        }
        (name, address, pdu, txPower) = (set.name, own, set.pdu, set.txPower)
        (channelMap, fallback) = (set.channelMap, set.fallback)
        periodic = set.periodic.map {
            TrainPlan(interval: $0.interval, data: advertisingBytes($0.data))
        }
    }
}
