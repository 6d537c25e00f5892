// What a device feels, and what that means for its advertising interval.
import Advertising
import BLEHost
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
        seed: UInt64, at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        let timeOfDay = midnight.map { now - $0 }
        let tellsLevel =
            profile.advertising.contains { $0.policy.usesLevel }
            || profile.liveFields.contains { $0.source == .activityLevel }
        detector = profile.activity.map {
            ActivityDetector(
                $0, start: now, tellsLevel: tellsLevel, timeOfDay: timeOfDay ?? .zero, seed: seed)
        }
        if !profile.advertising.isEmpty { history = IntervalHistory(start: now) }
        if let timeOfDay { decide(.timeOfDay(timeOfDay), at: now, &out, &emit) }
        decide(.powerOn, at: now, &out, &emit)
        advertisingData = LiveAdvertisingData(profile, plan, seed: seed, start: now)
        updateAdvertisingData(at: now, &out)
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

    private mutating func act(
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

    /// What an event of the host is to signal, policy and history.
    mutating func react(
        to event: PeripheralEvent, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        switch event {
        case .advertising(let interval, _):
            let reason = decisions.last { $0.to == interval }?.reason ?? policy.reason
            history?.isAdvertising(interval, reason: reason, at: now)
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
        case .ready, .note, .connectionUpdated, .phyUpdated, .overflow, .parametersAnswered,
            .pairingRefused, .server:
            break
        }
    }

    /// Takes the live fields of the advertising data anew.
    mutating func updateAdvertisingData(at now: Instant, _ out: inout ByteBlock) {
        guard var live = advertisingData else { return }
        live.update(at: now, state: detector?.state, level: detector?.level) { handle in
            host.server.value(of: handle) ?? []
        }
        host.setAdvertisingData(
            live.data, scanResponse: live.scanResponse, at: now, sending: &out)
        advertisingData = live
    }
}
