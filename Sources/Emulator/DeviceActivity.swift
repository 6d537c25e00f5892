// What a device feels, and what that means for its advertising interval.
public import Advertising
import BLEHost
import Behaviours
import GATT
import HCI
import Profiles
public import SansIO
import Wire

extension EmulatedDevice {
    /// Whether what centrals do counts as use.
    var feelsUse: Bool { profile.activity?.sources.contains(.gatt) == true }

    /// Power-on of the activity signal, the interval policy and the live advertising data.
    mutating func startFeeling(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        let timeOfDay = midnight.map { now - $0 }
        makeDetector(at: now)
        for set in sets.indices { sets[set].begin(at: now) }
        if let timeOfDay { decide(.timeOfDay(timeOfDay), at: now, &out, &emit) }
        decide(.powerOn, at: now, &out, &emit)
        if memory?.state.activity == .active {
            detector?.resume(at: now, emit: &activityEvents)
            follow(at: now, &out, &emit)
        }
        for set in sets.indices {
            sets[set].data = LiveAdvertisingData(
                profile, set: set, plan, seed: seed, start: now,
                surroundings: surroundings(at: now))
            updateAdvertisingData(of: set, at: now, &out)
        }
    }

    mutating func makeDetector(at now: Instant) {
        let tellsLevel = profile.usesLevel
        let timeOfDay = midnight.map { now - $0 } ?? .zero
        detector = profile.activity.map {
            ActivityDetector(
                $0, start: now, tellsLevel: tellsLevel, timeOfDay: timeOfDay, seed: seed)
        }
    }

    /// Does what is due for signal and policy. At the same instant the signal comes first.
    mutating func expireFeeling(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        if let deadline = detector?.deadline, deadline <= now {
            detector?.expire(at: now, emit: &activityEvents)
            follow(at: now, &out, &emit)
        }
        for set in sets.indices {
            guard let deadline = sets[set].policy.deadline, deadline <= now else { continue }
            sets[set].policy.expire(at: now, emit: &newDecisions)
            act(on: set, at: now, &out, &emit)
        }
        for set in sets.indices where sets[set].times?.expire(at: now) == true {
            followTimes(of: set, at: now, &out)
        }
    }

    /// Takes a set off the air or lets it back, as its times are.
    mutating func followTimes(of set: Int, at now: Instant, _ out: inout ByteBlock) {
        let isResting = sets[set].times?.isOn == false
        let interval = sets[set].policy.interval
        sets[set].data?.rest(isResting, at: now, interval)
        host.setResting(isResting, of: set, at: now, sending: &out, emit: &hostEvents)
    }

    mutating func take(
        _ input: ActivityInput, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        detector?.handle(input, at: now, emit: &activityEvents)
        follow(at: now, &out, &emit)
    }

    /// Passes the signal's events on to the policy.
    private mutating func follow(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        for event in activityEvents.elements {
            emit.append(.activity(event))
            if let input = IntervalInput(event) { decide(input, at: now, &out, &emit) }
        }
        activityEvents.removeAll()
    }

    /// Tells the policies something.
    /// - Parameter chosen: the sets; nil: all.
    mutating func decide(
        _ input: IntervalInput, of chosen: [Int]? = nil, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        for set in sets.indices where chosen?.contains(set) ?? true {
            sets[set].policy.handle(input, at: now, emit: &newDecisions)
            act(on: set, at: now, &out, &emit)
        }
    }

    /// Tells the decisions on a set, and the controller.
    mutating func act(
        on set: Int, at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        for decision in newDecisions.elements {
            emit.append(.interval(decision, set: set))
            sets[set].expect(decision)
            guard !isBeingReplaced else { continue }
            host.setInterval(decision.to, of: set, at: now, sending: &out)
        }
        newDecisions.removeAll()
    }

    /// What an event of the host is to signal, policy and history.
    mutating func react(
        to event: PeripheralEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        for set in event.silences(of: sets.count) ?? 0..<0 where sets.indices.contains(set) {
            sets[set].history?.isSilent(at: now)
        }
        switch event {
        case .advertisingPaused(let set) where sets.indices.contains(set):
            sets[set].history?.isChanging(at: now)
        case .connected:
            decide(.connected, at: now, &out, &emit)
            take(.use(.connection), at: now, &out, &emit)
        case .disconnected:
            decide(.disconnected, at: now, &out, &emit)
            for set in sets.indices where sets[set].times?.returns == true {
                sets[set].times?.disconnected()
                followTimes(of: set, at: now, &out)
            }
        case .server(.read(_, _, let opcode)):
            // Discovery by type is a phone's routine, no use.
            guard feelsUse, opcode != .readByTypeRequest, opcode != .readByGroupTypeRequest
            else { return }
            take(.use(.read), at: now, &out, &emit)
        case .server(.written): take(.use(.write), at: now, &out, &emit)
        case .ready(let controller):
            publicAddress = controller.publicAddress
            tellAddresses(at: now, &out)
        case .addressRenewed: tellAddresses(at: now, &out)
        case .scanRequested: take(.use(.scanRequest), at: now, &out, &emit)
        case .advertising, .advertisingPaused, .advertisingStopped, .advertisingRefused, .failed,
            .connectedFrom, .note, .connectionUpdated,
            .phyUpdated, .overflow, .sent, .parametersAnswered, .pairingRefused, .security,
            .server:
            break
        }
    }

    /// Puts other addresses into the data of sets of which they are part.
    mutating func tellAddresses(at now: Instant, _ out: inout ByteBlock) {
        for set in sets.indices where sets[set].data?.isOutdated(by: address(of: set)) == true {
            updateAdvertisingData(of: set, at: now, &out)
        }
    }

    func advertisingSurroundings(of set: Int, at now: Instant) -> AdvertisingSurroundings {
        AdvertisingSurroundings(
            detector: detector, address: address(of: set), interval: sets[set].policy.interval,
            unixMicroseconds: surroundings(at: now).unixMicroseconds, cipher: cipher)
    }

    /// The address that a set advertises with; a public one is known once the controller has told
    /// it.
    private func address(of set: Int) -> DeviceAddress? {
        host.randomAddress(of: set) ?? publicAddress
    }

    /// Takes the live fields of a set's data anew.
    mutating func updateAdvertisingData(
        of set: Int, at now: Instant, _ out: inout ByteBlock
    ) {
        guard var live = sets[set].data else { return }
        live.update(at: now, advertisingSurroundings(of: set, at: now)) { handle in
            host.server.value(of: handle) ?? []
        }
        host.setAdvertisingData(
            live.data, scanResponse: live.scanResponse, train: live.train, of: set, at: now,
            sending: &out)
        sets[set].data = live
    }

    /// Whether others can make its controller tell it something: by a connection or a scan request.
    public var isReachable: Bool {
        profile.feelsScanners || profile.advertising.contains { $0.kind.isConnectable }
    }

    /// What advertising intervals of the first set have been in force since power-on; nil before
    /// it, and where the profile does not advertise.
    public var history: IntervalHistory? { sets.first?.history }

    /// The report of the intervals of a run, in lines; by set where there are several.
    public func intervalReport(until end: Instant) -> [String] {
        sets.indices.flatMap { set in
            (sets.count > 1 ? ["set \(profile.advertising[set].name)"] : [])
                + (sets[set].history?.report(until: end) ?? [])
        }
    }
}

extension DeviceProfile {
    /// Whether anything asks for the level of the activity.
    var usesLevel: Bool {
        advertising.contains { $0.policy.usesLevel }
            || liveFields.contains { $0.source.usesLevel }
            || services.contains { $0.characteristics.contains { $0.value.usesLevel } }
    }
}

extension LiveFieldSource {
    fileprivate var usesLevel: Bool {
        switch self {
        case .activityLevel: true
        case .generated(let source): source.usesLevel
        case .activityState, .value, .own, .encryption: false
        }
    }
}

extension Surroundings {
    /// Takes over what the device feels.
    mutating func take(_ detector: ActivityDetector?) {
        guard let detector else { return }
        activityLevel = detector.level
        isActive = detector.state == .active
    }
}
