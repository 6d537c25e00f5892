// The accessory: a profile at work on a peripheral host.
public import Advertising
public import BLEHost
import Behaviours
public import GATT
import HCI
import L2CAP
public import Profiles
public import SansIO
public import Wire

/// What a device tells about itself.
public enum DeviceEvent: Sendable {
    case host(PeripheralEvent)
    /// The interval policy decided; the controller's new interval follows as `.host(.advertising)`.
    case interval(IntervalDecision)
    case activity(ActivityChange)
    /// What a rule of the profile says.
    case said(String)
}

/// One emulated accessory: sans-IO, deterministic for equal seeds and inputs.
public struct EmulatedDevice: Sendable {
    public let profile: DeviceProfile
    public let plan: AttributePlan
    public internal(set) var host: PeripheralHost
    /// The address the device uses; nil for the controller's own public one.
    public let randomAddress: DeviceAddress?
    private let seed: UInt64
    private var isOn = false
    var values: [LiveValue] = []
    /// Of `values` those that are sent as fast as possible, and those that count writes.
    private var streams: [Int] = []
    private var counters: [Int] = []
    private var due = DeadlineQueue()
    private var detector: ActivityDetector?
    private var policy: IntervalController
    var hostEvents = Outputs<PeripheralEvent>()
    /// Values that repeat others.
    let echoes: [(handle: UInt16, of: UInt16)]
    var records: [LiveRecords]
    var recordOutputs = Outputs<RecordOutput>()
    /// What rules say, until it is told.
    var notes: [String] = []
    /// Whether anything follows a write.
    private let followsWrites: Bool
    /// What generators take from outside.
    private var surroundings = Surroundings()
    private var changes = Outputs<ActivityChange>()
    private var decisions = Outputs<IntervalDecision>()
    private var sample = ByteBlock(capacity: 32)

    /// A value that moves by itself.
    struct LiveValue: Sendable {
        var handle: UInt16
        /// The value whose writes it counts.
        var counted: UInt16?
        /// Whether each notification as fast as possible takes a sample of its own.
        var samplesToSend: Bool
        var machine: ValueMachine
    }

    /// Notifications of each value that go out in one turn; then others have theirs.
    static let streamedMax = 64

    /// - Parameters:
    ///   - seed: of the address, where the profile gives none, and of the generators.
    ///   - authenticator: computes the Database Hash; without one it has no value.
    ///   - epoch: microseconds since 1970-01-01T00:00:00Z at `Instant.zero`, for clocks.
    public init(
        profile: DeviceProfile, seed: UInt64, authenticator: (any MessageAuthenticator)? = nil,
        epoch: Int64 = BtsnoopWriter.virtualEpoch
    ) {
        self.profile = profile
        self.seed = seed
        surroundings.unixMicroseconds = epoch
        let plan = AttributePlan(profile)
        self.plan = plan
        echoes = plan.bindings.compactMap { binding in
            binding.echoedHandle.map { (binding.valueHandle, $0) }
        }
        records = plan.bindings.compactMap { binding in
            binding.records.map { spec in
                LiveRecords(
                    handle: binding.valueHandle, recordHandle: plan.handle(of: spec.target),
                    contextHandle: spec.contextTarget.flatMap { plan.handle(of: $0) },
                    store: RecordStore(spec.records))
            }
        }
        followsWrites =
            !echoes.isEmpty || !records.isEmpty
            || plan.bindings.contains { !$0.reactions.isEmpty }
        switch profile.device.address {
        case .randomStatic(let address):
            var random = SeededRandom(seed: seed, stream: "address")
            randomAddress = address ?? DeviceAddress.randomStatic(from: random.next())
        case .publicDevice: randomAddress = nil
        }
        let set = profile.advertising.first
        policy = IntervalController(set?.policy ?? .fixed(.minimum))
        var configuration = PeripheralConfiguration(
            plan: AdvertisingPlan(set, hasRandomAddress: randomAddress != nil),
            interval: policy.interval, randomAddress: randomAddress,
            connectionsMax: profile.device.connections, advertises: set != nil)
        configuration.connectionRequest = profile.device.connection.map {
            ConnectionParameterUpdateRequest(
                intervalMin: $0.minimum.steps, intervalMax: $0.maximum.steps,
                latency: $0.latency,
                // In steps of 10 ms; the loader keeps it within 100 ms to 32 s.
                timeout: UInt16(clamping: $0.timeout.microseconds / 10_000))
        }
        host = PeripheralHost(
            configuration, server: plan.makeServer(profile.server, authenticator: authenticator))
    }

    /// Whether reads are told, or only what changes something.
    public var reportsReads: Bool {
        get { host.server.reportsAccess }
        set { host.server.reportsAccess = newValue }
    }

    // MARK: power

    /// Brings the controller up. The first time is the device's power-on: values, generators and
    /// the activity signal begin then. Later ones are a controller's return, which they outlive.
    public mutating func powerOn(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        if !isOn {
            isOn = true
            detector = profile.activity.map { ActivityDetector($0, start: now) }
            let since = TimeSpan(microseconds: surroundings.unixMicroseconds)
            surroundings.unixMicroseconds = (since + (now - .zero)).microseconds
            for binding in plan.bindings { start(binding, at: now) }
        }
        host.start(at: now, sending: &out, emit: &hostEvents)
        forward(&emit)
    }

    private mutating func start(_ binding: ValueBinding, at now: Instant) {
        let machine = ValueMachine(
            binding.source, update: binding.update, send: binding.send, start: now, seed: seed,
            stream: "value \(binding.valueHandle)", surroundings: surroundings)
        host.server.setValue(machine.value, of: binding.valueHandle)
        let isStream = binding.send == .asFastAsPossible
        if isStream { streams.append(values.count) }
        if binding.countedHandle != nil { counters.append(values.count) }
        if let deadline = machine.deadline { due.set(values.count, to: deadline) }
        guard isStream || binding.countedHandle != nil || machine.deadline != nil else { return }
        values.append(
            LiveValue(
                handle: binding.valueHandle, counted: binding.countedHandle,
                samplesToSend: isStream && binding.update == nil && binding.countedHandle == nil,
                machine: machine))
    }

    /// Ends links and advertising, as a device that is switched off.
    public mutating func powerOff(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        host.stop(at: now, sending: &out, emit: &hostEvents)
        forward(&emit)
    }

    /// The controller is gone. Values, generators and the activity signal go on.
    public mutating func controllerIsGone(at now: Instant, emit: inout Outputs<DeviceEvent>) {
        host.controllerIsGone(emit: &hostEvents)
        forward(&emit)
    }

    // MARK: packets and time

    /// Takes one whole H4 packet from the controller.
    public mutating func receive(
        _ packet: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        host.receive(packet, at: now, sending: &out, emit: &hostEvents)
        if followsWrites { followWrites(at: now, &out) }
        if !counters.isEmpty { countWrites(at: now, &out) }
        if !streams.isEmpty { stream(at: now, &out) }
        forward(&emit)
    }

    public var deadline: Instant? {
        guard isOn else { return nil }
        let own = earliest(detector?.deadline, due.first?.deadline)
        return earliest(earliest(host.deadline, recordsDeadline), own)
    }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        guard isOn else { return }
        if let deadline = host.deadline, deadline <= now {
            host.expire(at: now, sending: &out, emit: &hostEvents)
        }
        forward(&emit)
        expireActivity(at: now, &out, &emit)
        while let first = due.first, first.deadline <= now {
            expireValue(first.index, at: now, &out)
        }
        if !records.isEmpty { expireRecords(at: now, &out) }
        forward(&emit)
    }

    private mutating func expireValue(_ index: Int, at now: Instant, _ out: inout ByteBlock) {
        let handle = values[index].handle
        if let detector {
            values[index].machine.surroundings.activityLevel = detector.level
            values[index].machine.surroundings.isActive = detector.state == .active
        }
        let step = values[index].machine.expire(at: now, into: &sample)
        due.set(index, to: values[index].machine.deadline)
        if step.isUpdated { host.server.setValue(sample.bytes, of: handle) }
        if step.isSent { host.notify(handle, at: now, sending: &out, emit: &hostEvents) }
        if step.isChanged { echo(handle, at: now, &out) }
    }

    /// Takes a sample of each value that counts writes for each write there was.
    private mutating func countWrites(at now: Instant, _ out: inout ByteBlock) {
        // What is sent adds events behind those that are looked at.
        for place in 0..<hostEvents.count {
            guard case .server(.written(_, let handle, _)) = hostEvents.elements[place] else {
                continue
            }
            for index in counters where values[index].counted == handle {
                let step = values[index].machine.sample(at: now, into: &sample)
                let handle = values[index].handle
                host.server.setValue(sample.bytes, of: handle)
                if step.isSent { host.notify(handle, at: now, sending: &out, emit: &hostEvents) }
            }
        }
    }

    /// Sends what is sent as fast as possible, while there are links that can send at once.
    private mutating func stream(at now: Instant, _ out: inout ByteBlock) {
        for index in streams {
            let handle = values[index].handle
            var left = Self.streamedMax
            while left > 0, host.stream(handle, at: now, sending: &out, emit: &hostEvents) {
                left -= 1
                guard values[index].samplesToSend else { continue }
                let step = values[index].machine.sample(at: now, into: &sample)
                if step.isUpdated { host.server.setValue(sample.bytes, of: handle) }
            }
        }
    }

    private mutating func expireActivity(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        guard let deadline = detector?.deadline, deadline <= now else { return }
        changes.removeAll()
        detector?.expire(at: now, emit: &changes)
        for change in changes.elements {
            emit.append(.activity(change))
            decisions.removeAll()
            policy.handle(.activity(change), at: now, emit: &decisions)
            for decision in decisions.elements {
                emit.append(.interval(decision))
                host.setInterval(decision.to, at: now, sending: &out)
            }
        }
    }

    /// Why the interval in force was chosen.
    public var intervalReason: String { policy.reason }

    mutating func forward(_ emit: inout Outputs<DeviceEvent>) {
        for event in hostEvents.elements { emit.append(.host(event)) }
        hostEvents.removeAll()
        guard !notes.isEmpty else { return }
        for note in notes { emit.append(.said(note)) }
        notes.removeAll()
    }
}

extension AdvertisingPlan {
    /// The controller's view of an advertising set; an empty one where there is none.
    init(_ set: AdvertisingSet?, hasRandomAddress: Bool) {
        let type: EventType =
            switch set?.kind {
            case .connectable: .connectable
            case .scannable: .scannable
            case .nonConnectable, nil: .nonConnectable
            }
        self.init(
            type: type, ownAddressType: hasRandomAddress ? .randomDevice : .publicDevice,
            data: advertisingBytes(set?.data ?? []),
            scanResponse: advertisingBytes(set?.scanResponse ?? []))
    }
}
