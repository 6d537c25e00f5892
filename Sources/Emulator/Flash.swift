// A new version of the profile in a device at work: links stay, and what is the same goes on.
import Advertising
import BLEHost
import Behaviours
import GATT
import HCI
import L2CAP
public import Profiles
public import SansIO
public import Wire

extension EmulatedDevice {
    /// Puts a new version of the profile in place of the one at work, as `FlashReport` tells then.
    ///
    /// Clients learn another attribute table by Service Changed. A value goes on where its
    /// characteristic's service, name and source are the same, whatever its handle; written
    /// descriptors stay where their declaration is the same. The device's address stays. Before
    /// power-on the device is the new one altogether. Ask for a `refusal` first.
    public mutating func replace(
        profile new: DeviceProfile, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        let (old, oldPlan) = (profile, plan)
        let newPlan = AttributePlan(new)
        var report = FlashReport(file: new.file)
        let match = PlanMatch(from: oldPlan, to: newPlan)
        report.parts = FlashReport.Part.differing(old, oldPlan, new, newPlan, match)
        guard isOn else {
            begin(as: new)
            return emit.append(.flashed(report))
        }
        performWaiting(at: now, &out)
        let (live, oldRecords) = (host.server.table, records)
        report.notes = notes(on: new)
        profile = new
        plan = newPlan
        if let kept = memory?.state {
            memory = DeviceMemory(kept, newPlan)
            // The Database Hash may be another.
            hasToldIdentity = false
        }
        let replaced = host.replaceTable(newPlan.table, settings: new.server.settings)
        report.changed = replaced.changed
        report.endedSubscriptions = replaced.endedSubscriptions
        report.values = replaceValues(match, live, at: now, &out, &emit)
        replaceRecords(match, oldRecords)
        plan.setWriteRules(of: &host.server)
        for index in records.indices { setBusy(index, records[index].store.isBusy) }
        if replaced.changed != nil {
            report.toldLinks = host.indicateChanges(at: now, sending: &out, emit: &hostEvents)
            report.notes += serviceChangedNotes(live)
        }
        emit.append(.flashed(report))
        if !report.notes.isEmpty {
            emit.append(.said("not before the next start: \(report.notes.joined(separator: "; "))"))
        }
        send(report.values, at: now, &out)
        // Intervals go to the controller with the sets that they are of.
        isBeingReplaced = true
        feel(after: old, at: now, &out, &emit)
        isBeingReplaced = false
        advertise(at: now, &out)
        host.server.reportsAccess = reportsAccess || feelsUse
        forward(at: now, &out, &emit)
    }

    /// Why the controller cannot have the advertising sets of a new version of the profile, and
    /// what to do; nil where it can, and while there is none.
    public func refusal(of new: DeviceProfile) -> String? {
        host.refusal(of: new.setups([], seed: seed))
    }

    /// Says that new versions of the profile may come, before power-on.
    public mutating func expectFlash() {
        expectsFlash = true
        host.expectOtherSets()
    }

    /// Nothing has been seen of the old version.
    private mutating func begin(as new: DeviceProfile) {
        var device = EmulatedDevice(
            profile: new, seed: seed, authenticator: host.server.authenticator, cipher: cipher,
            keys: keys, state: memory?.state)
        device.surroundings = surroundings
        device.midnight = midnight
        device.reportsAccess = reportsAccess
        device.reportsSending = reportsSending
        if expectsFlash { device.expectFlash() }
        self = device
    }

    // MARK: values

    /// - Parameter live: the old table at work.
    /// - Returns: the handles of the values that were there before and are others now.
    private mutating func replaceValues(
        _ match: PlanMatch, _ live: AttributeTable, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) -> [UInt16] {
        var machines: [UInt16: ValueMachine] = [:]
        for value in values { machines[value.handle] = value.machine }
        values.removeAll()
        streams.removeAll()
        counters.removeAll()
        due = DeadlineQueue()
        var begun: [(handle: UInt16, before: [UInt8]?)] = []
        var endedEchoes: [UInt16] = []
        for (index, binding) in plan.bindings.enumerated() {
            let name = plan.bindingNames[index]
            let twin = match.twin(of: index)
            let before = twin.flatMap { live.index(of: $0.valueHandle) }
            let isPlain = before.map { live.attributes[$0].kind == .value } ?? false
            let current = before.flatMap { isPlain ? live.value(at: $0) : nil }
            if let twin, let current, twin.source == binding.source,
                host.server.setValue(current, of: binding.valueHandle)
            {
                var machine =
                    machines[twin.valueHandle] ?? makeMachine(binding, name: name, at: now)
                machine.follow(update: binding.update, send: binding.send, at: now)
                follow(binding, by: machine)
                if !echoes.contains(where: { $0.handle == twin.valueHandle }) {
                    endedEchoes.append(binding.valueHandle)
                }
            } else {
                start(binding, name: name, at: now, &emit)
                begun.append((binding.valueHandle, current))
            }
        }
        for written in match.writtenDescriptors(in: live) {
            host.server.setValue(written.value, of: written.handle)
        }
        followPlan()
        for handle in endedEchoes { endEcho(of: handle) }
        for setting in profile.presets {
            let handle = plan.handle(of: setting.target)
            guard begun.contains(where: { $0.handle == handle }) else { continue }
            apply(setting, at: now, &out, &emit)
        }
        return begun.compactMap { value in
            guard let before = value.before, host.server.value(of: value.handle) != before else {
                return nil
            }
            return value.handle
        }
    }

    /// Stored records that are the same, and a report of them that is under way, go on.
    private mutating func replaceRecords(_ match: PlanMatch, _ oldRecords: [LiveRecords]) {
        for (index, binding) in plan.bindings.enumerated() {
            guard let twin = match.twin(of: index),
                let spec = binding.records, twin.records?.records == spec.records,
                let before = oldRecords.first(where: { $0.handle == twin.valueHandle }),
                let place = records.firstIndex(where: { $0.handle == binding.valueHandle })
            else { continue }
            records[place].client = before.client
            records[place].store = before.store
        }
    }

    /// Gives new values to those who have asked for them, as `send:` says.
    private mutating func send(_ handles: [UInt16], at now: Instant, _ out: inout ByteBlock) {
        for handle in handles {
            switch plan.binding(valueHandle: handle)?.send {
            case .onUpdate, .onChange:
                host.notify(handle, at: now, sending: &out, emit: &hostEvents)
            case .every, .manual, .asFastAsPossible, nil: break
            }
            echo(handle, at: now, &out)
        }
    }

    // MARK: activity, interval and advertising

    private mutating func feel(
        after old: DeviceProfile, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        fitSets(to: old, at: now)
        let state = detector?.state ?? .idle
        let isOtherSignal =
            old.activity != profile.activity || old.usesLevel != profile.usesLevel
        if isOtherSignal { makeDetector(at: now) }
        for set in sets.indices { renewTimes(of: set, at: now) }
        let same = sets.indices.filter { old.policy(of: $0) == profile.policy(of: $0) }
        for set in sets.indices where !same.contains(set) {
            replacePolicy(of: set, at: now, &out, &emit)
        }
        guard isOtherSignal else { return }
        decide(.signalReturned, of: same, at: now, &out, &emit)
        decide(.level(detector?.level ?? 0), of: same, at: now, &out, &emit)
        let newState = detector?.state ?? .idle
        if newState != state {
            let change = ActivityChange(at: now, state: newState, reason: .reflashed(newState))
            decide(.activity(change), of: same, at: now, &out, &emit)
        }
    }

    /// A set more or less than the old version had.
    private mutating func fitSets(to old: DeviceProfile, at now: Instant) {
        let count = profile.advertising.count
        if sets.count > count { sets.removeLast(sets.count - count) }
        for set in profile.advertising.dropFirst(sets.count) {
            var new = AdvertisedSet(set)
            new.begin(at: now)
            sets.append(new)
        }
    }

    /// Other times begin now.
    private mutating func renewTimes(of set: Int, at now: Instant) {
        var times = AirTimes(profile.advertising[set])
        if let new = times, let old = sets[set].times, new.isLike(old) { return }
        times?.hasBegun(at: now)
        sets[set].times = times
    }

    /// The new policy begins as at power-on, with what is felt and known now.
    private mutating func replacePolicy(
        of set: Int, at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        var inputs: [IntervalInput] = []
        if let midnight {
            let day = TimeSpan.seconds(86_400).microseconds
            inputs.append(.timeOfDay(.microseconds((now - midnight).microseconds % day)))
        }
        if let detector {
            inputs.append(.level(detector.level))
            let state = detector.state
            inputs.append(
                .activity(ActivityChange(at: now, state: state, reason: .reflashed(state))))
            if let loss = detector.loss { inputs.append(.signalLost(reason: loss)) }
        }
        if host.links.contains(where: \.isOpen) { inputs.append(.connected) }
        let before = sets[set].policy.interval
        var policy = IntervalController(profile.advertising[set].policy)
        // Power-on comes last: from then on dwell and rate limit hold.
        for input in inputs + [.powerOn] { policy.handle(input, at: now, emit: &newDecisions) }
        newDecisions.removeAll()
        sets[set].policy = policy
        guard policy.interval != before else { return }
        newDecisions.append(
            IntervalDecision(
                at: now, from: before, to: policy.interval,
                reason: "\(policy.reason), by the new profile"))
        act(on: set, at: now, &out, &emit)
    }

    private mutating func advertise(at now: Instant, _ out: inout ByteBlock) {
        for set in sets.indices {
            var fresh = LiveAdvertisingData(
                profile, set: set, plan, seed: seed, start: now,
                surroundings: surroundings(at: now))
            if let old = sets[set].data { fresh?.takeOver(old, at: now) }
            fresh?.update(at: now, advertisingSurroundings(of: set, at: now)) { handle in
                host.server.value(of: handle) ?? []
            }
            sets[set].data = fresh
        }
        let configuration = PeripheralConfiguration(
            profile, profile.setups(sets, seed: seed), randomAddress: randomAddress)
        host.reconfigure(configuration, at: now, sending: &out, emit: &hostEvents)
        for set in sets.indices { followTimes(of: set, at: now, &out) }
        tellAddresses(at: now, &out)
    }

    // MARK: what does not follow

    /// What the new version asks for and cannot have now.
    private func notes(on new: DeviceProfile) -> [String] {
        var notes: [String] = []
        let address = Self.randomAddress(of: new.device, seed: seed)
        if new.device.address.privacy != profile.device.address.privacy {
            notes.append("the kind of the address")
        } else if address != randomAddress,
            address != Self.randomAddress(of: profile.device, seed: seed)
        {
            notes.append("the address \(address.map { "\($0)" } ?? "of the controller")")
        }
        if new.security != profile.security { notes.append("'security'") }
        let open = host.links.count { $0.isOpen }
        guard open > 0 else { return notes }
        if new.device.connections < open {
            notes.append("connections: \(new.device.connections), \(open) links are open")
        }
        if new.device.connection != profile.device.connection, new.device.connection != nil {
            notes.append("the connection parameters of open links")
        }
        if new.server.settings.mtu != profile.server.settings.mtu {
            notes.append("the MTU of open links")
        }
        return notes
    }

    /// - Parameter old: the table before.
    private func serviceChangedNotes(_ old: AttributeTable) -> [String] {
        guard host.links.contains(where: \.isOpen) else { return [] }
        let before = old.attributes.first { $0.kind == .serviceChanged }?.handle
        guard let handle = host.server.serviceChangedHandle else {
            return ["the profile has no Service Changed: connected clients are not told"]
        }
        return handle == before
            ? [] : ["Service Changed has moved: connected clients are not told"]
    }
}

extension DeviceProfile {
    /// The policy of a set; nil where there is none.
    fileprivate func policy(of set: Int) -> IntervalPolicy? {
        advertising.indices.contains(set) ? advertising[set].policy : nil
    }
}
