// What a device feels, and what that means for its advertising interval.
import Advertising
import BLEHost
import Behaviours
import GATT
import HCI
import Profiles
import SansIO
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
        if !profile.advertising.isEmpty { history = IntervalHistory(start: now) }
        // The controller confirms what the policy begins with as it does a decision.
        decisions.append(
            IntervalDecision(
                at: now, from: policy.interval, to: policy.interval, reason: policy.reason))
        if let timeOfDay { decide(.timeOfDay(timeOfDay), at: now, &out, &emit) }
        decide(.powerOn, at: now, &out, &emit)
        if memory?.state.activity == .active {
            detector?.resume(at: now, emit: &activityEvents)
            follow(at: now, &out, &emit)
        }
        advertisingData = LiveAdvertisingData(
            profile, plan, seed: seed, start: now, surroundings: surroundings(at: now))
        updateAdvertisingData(at: now, &out)
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
        if let deadline = policy.deadline, deadline <= now {
            policy.expire(at: now, emit: &newDecisions)
            act(at: now, &out, &emit)
        }
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

    mutating func decide(
        _ input: IntervalInput, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        policy.handle(input, at: now, emit: &newDecisions)
        act(at: now, &out, &emit)
    }

    mutating func act(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        for decision in newDecisions.elements {
            emit.append(.interval(decision))
            if decisions.count == Self.decisionsMax { decisions.removeFirst() }
            decisions.append(decision)
            host.setInterval(decision.to, at: now, sending: &out)
        }
        newDecisions.removeAll()
    }

    /// Decisions that a controller may not have confirmed yet; more than one only where it is slow.
    private static var decisionsMax: Int { 8 }

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

    /// What an event of the host is to signal, policy and history.
    mutating func react(
        to event: PeripheralEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        switch event {
        case .advertisingPaused: history?.isChanging(at: now)
        case .advertisingStopped, .advertisingRefused, .failed: history?.isSilent(at: now)
        case .connected:
            history?.isSilent(at: now)
            decide(.connected, at: now, &out, &emit)
            take(.use(.connection), at: now, &out, &emit)
        case .disconnected: decide(.disconnected, at: now, &out, &emit)
        case .server(.read(_, _, let opcode)):
            // Discovery by type is a phone's routine, no use.
            guard feelsUse, opcode != .readByTypeRequest, opcode != .readByGroupTypeRequest
            else { return }
            take(.use(.read), at: now, &out, &emit)
        case .server(.written): take(.use(.write), at: now, &out, &emit)
        case .ready(let controller):
            publicAddress = controller.publicAddress
            tellAddress(at: now, &out)
        case .addressRenewed: tellAddress(at: now, &out)
        case .advertising, .note, .connectionUpdated, .phyUpdated, .overflow, .sent,
            .parametersAnswered, .pairingRefused, .security, .server:
            break
        }
    }

    /// Puts another address into the advertising data, where it is part of it.
    private mutating func tellAddress(at now: Instant, _ out: inout ByteBlock) {
        if advertisingData?.isOutdated(by: ownAddress) == true {
            updateAdvertisingData(at: now, &out)
        }
    }

    func advertisingSurroundings(at now: Instant) -> AdvertisingSurroundings {
        AdvertisingSurroundings(
            detector: detector, address: ownAddress, interval: policy.interval,
            unixMicroseconds: surroundings(at: now).unixMicroseconds, cipher: cipher)
    }

    /// The address that it advertises with; a public one is known once the controller has told it.
    private var ownAddress: DeviceAddress? {
        host.privateAddress ?? randomAddress ?? publicAddress
    }

    /// Takes the live fields of the advertising data anew.
    mutating func updateAdvertisingData(at now: Instant, _ out: inout ByteBlock) {
        guard var live = advertisingData else { return }
        live.update(at: now, advertisingSurroundings(at: now)) { handle in
            host.server.value(of: handle) ?? []
        }
        host.setAdvertisingData(
            live.data, scanResponse: live.scanResponse, at: now, sending: &out)
        advertisingData = live
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
