// The accessory: a profile at work on a peripheral host.
public import Advertising
public import BLEHost
import Behaviours
public import GATT
public import HCI
import L2CAP
public import Profiles
public import SMP
public import SansIO
public import Wire

/// What a device tells about itself.
public enum DeviceEvent: Sendable {
    /// What the host tells, but for that it advertises, and for reads and writes. `peer` is that
    /// of the link it is about, which may be another's by now.
    case host(PeripheralEvent, peer: DeviceAddress?)
    /// A read or a write, of the value as it was then.
    case accessed(ServerEvent, peer: DeviceAddress, value: [UInt8])
    /// Advertising is on, with the interval that was chosen for this reason. `gap` is how long it
    /// was off for a change of the interval; nil where it was not on before.
    case advertising(AdvertisingInterval, gap: TimeSpan?, reason: String, set: Int = 0)
    /// The interval policy decided; `advertising` follows when the controller has taken it.
    case interval(IntervalDecision, set: Int = 0)
    case activity(ActivityEvent)
    /// A value given in place of the profile's, by this reference, does not fit.
    case presetRefused(String)
    /// The kept value of the characteristic with this name no longer fits the profile.
    case keptValueDropped(String)
    /// What a rule of the profile says.
    case said(String)
    /// The person at the device has answered a pairing's question.
    case answered(link: Int, peer: DeviceAddress, PairingAnswer)
    /// A new version of the profile is at work.
    case flashed(FlashReport)
}

/// One emulated accessory: sans-IO, deterministic for equal seeds and inputs.
public struct EmulatedDevice: Sendable {
    public internal(set) var profile: DeviceProfile
    public internal(set) var plan: AttributePlan
    public internal(set) var host: PeripheralHost
    /// The device's random static address, behind resolvable private ones its identity; nil where
    /// it has none.
    public let randomAddress: DeviceAddress?
    /// The profile's advertising sets, in its order.
    var sets: [AdvertisedSet]
    /// Whether new versions of the profile may come.
    var expectsFlash = false
    /// A new version of the profile has come, and the host does not know its sets yet.
    var isBeingReplaced = false
    let seed: UInt64
    let cipher: (any SecurityCipher)?
    let keys: (any SecurityRandom)?
    /// Whether it has been powered on, and when.
    public var isOn: Bool { onSince != nil }
    private(set) var onSince: Instant?
    var values: [LiveValue] = []
    /// Of `values` those that are sent as fast as possible, and those that count writes.
    var streams: [Int] = []
    var counters: [Int] = []
    var due = DeadlineQueue()
    var hostEvents = Outputs<PeripheralEvent>()

    /// What is kept over a restart; nil where nothing is.
    var memory: DeviceMemory?
    /// Whether `takeStateChanges` has told address, key and hash.
    var hasToldIdentity = false

    // What `Reactions` works with.
    /// Values that repeat others.
    var echoes: [(handle: UInt16, of: UInt16)] = []
    var records: [LiveRecords] = []
    var recordOutputs = Outputs<RecordOutput>()
    /// What rules do later.
    var waiting: [WaitingActions] = []
    /// Clients that rules have authorized.
    var authorizations: [(link: Int, end: Instant)] = []
    /// What rules say, until it is told.
    var notes: [String] = []
    /// Whether anything follows a write.
    private var followsWrites = false
    /// What generators take from outside.
    var surroundings = Surroundings()

    // What `DeviceActivity` works with.
    var detector: ActivityDetector?
    /// The controller's, once it has told it.
    var publicAddress: DeviceAddress?
    /// A midnight; nil while the time of day is not known.
    var midnight: Instant?
    var activityEvents = Outputs<ActivityEvent>()
    var newDecisions = Outputs<IntervalDecision>()

    /// A value that moves by itself.
    struct LiveValue: Sendable {
        var handle: UInt16
        /// The value whose writes it counts.
        var counted: UInt16?
        /// Whether clients can ask for it.
        var isSendable: Bool
        /// Whether each notification as fast as possible takes a sample of its own.
        var samplesToSend: Bool
        var machine: ValueMachine
    }

    /// The values that are sent at this instant.
    private var dueHandles: [UInt16] = []

    /// Notifications of each value that go out in one turn; then others have theirs.
    static let streamedMax = 64

    /// - Parameters:
    ///   - seed: of the address, where the profile gives none, and of the generators.
    ///   - authenticator: computes the Database Hash; without one it has no value.
    ///   - cipher: pairs and encrypts; without one pairing is refused.
    ///   - keys: where keys come from; nil: from the seed, which is for virtual time only.
    ///   - state: what was kept of an earlier run, empty for the first one; nil keeps nothing.
    public init(
        profile: DeviceProfile, seed: UInt64, authenticator: (any MessageAuthenticator)? = nil,
        cipher: (any SecurityCipher)? = nil, keys: (any SecurityRandom)? = nil,
        state: DeviceState? = nil
    ) {
        self.profile = profile
        self.seed = seed
        self.cipher = cipher
        self.keys = keys
        surroundings.unixMicroseconds = BtsnoopWriter.virtualEpoch
        let plan = AttributePlan(profile)
        self.plan = plan
        randomAddress = Self.randomAddress(of: profile.device, seed: seed, kept: state?.address)
        sets = profile.advertising.map { AdvertisedSet($0) }
        var configuration = PeripheralConfiguration(
            profile, profile.setups(sets, seed: seed), randomAddress: randomAddress)
        let random = keys ?? GeneratorRandom(SeededRandom(seed: seed, stream: "keys"))
        configuration.keys = random
        if let security = profile.security {
            var keys = random
            configuration.security = security
            configuration.security.identityKey = keys.octets(16, for: .identityKey)
            if let key = state?.identityKey, key.count == 16 {
                configuration.security.identityKey = key
            }
            configuration.security.tell(profile, randomAddress)
            configuration.cipher = cipher
            configuration.keys = keys
        }
        host = PeripheralHost(
            configuration,
            server: plan.makeServer(profile.server, authenticator: authenticator))
        host.server.reportsAccess = feelsUse
        memory = state.map { DeviceMemory($0, plan) }
        restoreBonds()
        followPlan()
    }

    /// The random address of a device; nil for the controller's own public one.
    static func randomAddress(
        of device: DeviceSpec, seed: UInt64, kept: DeviceAddress? = nil
    ) -> DeviceAddress? {
        switch device.address {
        case .randomStatic(let address), .resolvablePrivate(let address, _):
            var random = SeededRandom(seed: seed, stream: "address of \(device.name)")
            return address ?? kept ?? DeviceAddress.randomStatic(from: random.next())
        case .publicDevice, .nonResolvablePrivate: return nil
        }
    }

    /// Finds what follows writes in the plan.
    mutating func followPlan() {
        echoes = plan.bindings.compactMap { binding in
            binding.echoedHandle.map { (binding.valueHandle, $0) }
        }
        records = LiveRecords.all(of: plan)
        followsWrites =
            !echoes.isEmpty || !records.isEmpty
            || plan.bindings.contains { !$0.reactions.isEmpty }
    }

    /// Whether each read and write is told; what follows of them is done either way.
    public var reportsAccess: Bool = false {
        didSet { host.server.reportsAccess = reportsAccess || feelsUse }
    }

    /// Whether each notification and indication is told.
    public var reportsSending: Bool {
        get { host.reportsSending }
        set { host.reportsSending = newValue }
    }

    /// Says the wall clock, for values that are clocks; before power-on.
    /// - Parameter epoch: microseconds since 1970-01-01T00:00:00Z at `Instant.zero`.
    public mutating func setClock(epoch: Int64) {
        if !isOn { surroundings.unixMicroseconds = epoch }
    }

    // MARK: power

    /// Other devices have advertising sets of the same controller.
    mutating func shareController() { host.sharesController = true }

    /// Brings the controller up. The first time is the device's power-on: values, generators and
    /// the activity signal begin then. Later ones are a controller's return, which they outlive.
    public mutating func powerOn(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        if !isOn {
            onSince = now
            let since = TimeSpan(microseconds: surroundings.unixMicroseconds)
            surroundings.unixMicroseconds = (since + (now - .zero)).microseconds
            // Named, not numbered: what a seed makes stays when handles move.
            for (binding, name) in zip(plan.bindings, plan.bindingNames) {
                start(binding, name: name, at: now, &emit)
            }
            for setting in profile.presets { apply(setting, at: now, &out, &emit) }
            startFeeling(at: now, &out, &emit)
        }
        host.start(at: now, sending: &out, emit: &hostEvents)
        forward(at: now, &out, &emit)
    }

    /// Puts a value that was given in place of the profile's.
    mutating func apply(
        _ setting: ValueSetting, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<DeviceEvent>
    ) {
        guard let handle = plan.handle(of: setting.target),
            set(
                setting.octets, field: setting.target.field, of: handle, isSent: false, depth: 0,
                at: now, &out)
        else { return emit.append(.presetRefused(setting.reference)) }
        endEcho(of: handle)
    }

    private func isWritable(_ binding: ValueBinding) -> Bool {
        guard let index = host.server.table.index(of: binding.valueHandle) else { return false }
        let permissions = host.server.table.attributes[index].permissions
        return permissions.write.level != .refused || permissions.writeCommand.level != .refused
    }

    /// Begins a value as the profile declares it.
    mutating func start(
        _ binding: ValueBinding, name: String, at now: Instant, _ emit: inout Outputs<DeviceEvent>
    ) {
        var machine = makeMachine(binding, name: name, at: now)
        // What does not fit any more is of a profile before this one. What a central has written
        // and was told is written stays, whatever it means.
        if let octets = memory?.value(of: binding.valueHandle),
            !(octets == machine.value || isWritable(binding) || binding.format.allows(octets))
                || !host.server.setValue(octets, of: binding.valueHandle)
                || !machine.resume(from: octets)
        {
            emit.append(.keptValueDropped(name))
        }
        host.server.setValue(machine.value, of: binding.valueHandle)
        follow(binding, by: machine)
    }

    func makeMachine(_ binding: ValueBinding, name: String, at now: Instant) -> ValueMachine {
        ValueMachine(
            binding.source, update: binding.update, send: binding.send, start: now, seed: seed,
            stream: "value " + name, surroundings: surroundings(at: now))
    }

    /// The surroundings of what starts at `now`.
    func surroundings(at now: Instant) -> Surroundings {
        var surroundings = surroundings
        let since = TimeSpan(microseconds: surroundings.unixMicroseconds)
        surroundings.unixMicroseconds = (since + (now - (onSince ?? now))).microseconds
        surroundings.take(detector)
        return surroundings
    }

    /// Lets a value be moved by its machine, where anything moves it.
    mutating func follow(_ binding: ValueBinding, by machine: ValueMachine) {
        let isStream = binding.send == .asFastAsPossible
        if isStream { streams.append(values.count) }
        if binding.countedHandle != nil { counters.append(values.count) }
        if let deadline = machine.deadline { due.set(values.count, to: deadline) }
        guard isStream || binding.countedHandle != nil || machine.deadline != nil else { return }
        values.append(
            LiveValue(
                handle: binding.valueHandle, counted: binding.countedHandle,
                isSendable: binding.cccdHandle != nil,
                samplesToSend: isStream && binding.update == nil && binding.countedHandle == nil,
                machine: machine))
    }

    /// Ends links and advertising, as a device that is switched off.
    public mutating func powerOff(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        host.stop(at: now, sending: &out, emit: &hostEvents)
        forward(at: now, &out, &emit)
    }

    /// The controller is gone. Values, generators and the activity signal go on.
    public mutating func controllerIsGone(at now: Instant, emit: inout Outputs<DeviceEvent>) {
        for set in sets.indices { sets[set].history?.isSilent(at: now) }
        host.controllerIsGone(emit: &hostEvents)
        // Nothing can be sent, and nothing is: the host is off.
        var out = ByteBlock(capacity: 0)
        forward(at: now, &out, &emit)
    }

    // MARK: the world around it

    /// Tells the activity signal something; before power-on nothing is felt.
    public mutating func feel(
        _ input: ActivityInput, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        guard isOn else { return }
        take(input, at: now, &out, &emit)
    }

    /// Says the time since midnight at `now`: before power-on, and again after each jump of the
    /// clock.
    public mutating func setTimeOfDay(
        _ time: TimeSpan, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) {
        midnight = now - time
        if isOn { decide(.timeOfDay(time), at: now, &out, &emit) }
    }

    /// Whether the time of day matters: to a schedule, or to the rhythm of a day.
    public var asksTimeOfDay: Bool {
        followsTimeOfDay
            || profile.activity?.sources.contains {
                if case .dayRhythm = $0 { true } else { false }
            } == true
    }

    /// Whether jumps of the clock matter.
    public var followsTimeOfDay: Bool {
        profile.advertising.contains {
            if case .schedule = $0.policy.rule { true } else { false }
        }
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
        // Data alone gives no room to send; it may subscribe, which is told.
        if !streams.isEmpty, !isData(packet) || !isAccessAlone {
            stream(at: now, &out)
        }
        forward(at: now, &out, &emit)
    }

    private func isData(_ packet: Span<UInt8>) -> Bool {
        packet.count > 0 && packet[0] == H4PacketType.acl.rawValue
    }

    /// Whether the host has told of reads and writes of values and of nothing else.
    private var isAccessAlone: Bool {
        hostEvents.elements.allSatisfy { event in
            if case .sent = event { true } else { event.access != nil }
        }
    }

    public var deadline: Instant? {
        guard isOn else { return nil }
        var deadline = earliest(
            earliest(host.deadline, reactionsDeadline),
            earliest(due.first?.deadline, detector?.deadline))
        for set in sets.indices { deadline = earliest(deadline, sets[set].deadline) }
        return deadline
    }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        guard isOn else { return }
        if let deadline = host.deadline, deadline <= now {
            host.expire(at: now, sending: &out, emit: &hostEvents)
        }
        forward(at: now, &out, &emit)
        expireFeeling(at: now, &out, &emit)
        while let first = due.first, first.deadline <= now {
            expireValue(first.index, at: now, &out)
        }
        notifyDue(at: now, &out)
        if !records.isEmpty { expireRecords(at: now, &out) }
        expireReactions(at: now, &out)
        for set in sets.indices {
            if let deadline = sets[set].data?.deadline, deadline <= now {
                updateAdvertisingData(of: set, at: now, &out)
            }
        }
        forward(at: now, &out, &emit)
    }

    private mutating func expireValue(_ index: Int, at now: Instant, _ out: inout ByteBlock) {
        values[index].machine.surroundings.take(detector)
        let step = values[index].machine.expire(at: now)
        due.set(index, to: values[index].machine.deadline)
        take(step, of: index, at: now, &out)
    }

    /// Does what a step of a value calls for; what is to be sent is in `dueHandles` then.
    private mutating func take(
        _ step: ValueMachine.Step, of index: Int, at now: Instant, _ out: inout ByteBlock
    ) {
        let handle = values[index].handle
        if step.isUpdated { host.server.setValue(values[index].machine.value, of: handle) }
        if step.isSent, values[index].isSendable { dueHandles.append(handle) }
        if step.isChanged { echo(handle, at: now, &out) }
    }

    private mutating func notifyDue(at now: Instant, _ out: inout ByteBlock) {
        switch dueHandles.count {
        case 0: return
        case 1: host.notify(dueHandles[0], at: now, sending: &out, emit: &hostEvents)
        default: host.notify(dueHandles, at: now, sending: &out, emit: &hostEvents)
        }
        dueHandles.removeAll(keepingCapacity: true)
    }

    /// Takes a sample of each value that counts writes for each write there was.
    private mutating func countWrites(at now: Instant, _ out: inout ByteBlock) {
        // What is sent adds events behind those that are looked at.
        for place in 0..<hostEvents.count {
            guard case .server(.written(_, let handle, _)) = hostEvents.elements[place] else {
                continue
            }
            for index in counters where values[index].counted == handle {
                values[index].machine.surroundings.take(detector)
                let step = values[index].machine.sample(at: now)
                take(step, of: index, at: now, &out)
            }
            notifyDue(at: now, &out)
        }
    }

    /// Sends what is sent as fast as possible, while there are links that can send at once.
    private mutating func stream(at now: Instant, _ out: inout ByteBlock) {
        for index in streams {
            let handle = values[index].handle
            values[index].machine.surroundings.take(detector)
            var left = Self.streamedMax
            while left > 0, host.stream(handle, at: now, sending: &out, emit: &hostEvents) {
                left -= 1
                guard values[index].samplesToSend else { continue }
                let step = values[index].machine.sample(at: now)
                take(step, of: index, at: now, &out)
            }
        }
    }

    /// Passes the host's events on and does what they call for.
    mutating func forward(
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<DeviceEvent>
    ) {
        for event in hostEvents.elements {
            if let (access, link, handle) = event.access {
                if reportsAccess {
                    let value = host.server.value(of: handle, for: link) ?? []
                    let peer = host.links[link].information.peerAddress
                    emit.append(.accessed(access, peer: peer, value: value))
                } else if !feelsUse {
                    continue
                }
            } else if case .advertising(let interval, let gap, let set) = event {
                guard sets.indices.contains(set) else { continue }
                let reason = sets[set].confirm(interval)
                sets[set].times?.hasBegun(at: now)
                sets[set].history?.isAdvertising(interval, reason: reason, at: now)
                emit.append(.advertising(interval, gap: gap, reason: reason, set: set))
            } else if case .advertisingStopped(let set) = event, !sets.indices.contains(set) {
                // A set of a profile before this one.
                continue
            } else {
                let peer = event.link.map { host.links[$0].information.peerAddress }
                emit.append(.host(event, peer: peer))
            }
            react(to: event, at: now, &out, &emit)
        }
        hostEvents.removeAll()
        for note in notes { emit.append(.said(note)) }
        notes.removeAll()
        host.settle(at: now, sending: &out)
    }
}

extension PeripheralEvent {
    /// A client's read or write of a value, which there may be thousands of in a second.
    fileprivate var access: (event: ServerEvent, link: Int, handle: UInt16)? {
        guard case .server(let event) = self else { return nil }
        return switch event {
        case .read(let link, let handle, _), .written(let link, let handle, _):
            (event, link, handle)
        case .mtu, .subscribed, .features, .confirmed, .indicationReady, .refused,
            .peerIndication, .timeout:
            nil
        }
    }
}

extension AddressSpec {
    /// The private addresses that the device goes by; nil where it has none.
    var privacy: AddressPrivacy? {
        switch self {
        case .randomStatic, .publicDevice: nil
        case .resolvablePrivate(_, let renewal):
            AddressPrivacy(kind: .resolvable, renewal: renewal)
        case .nonResolvablePrivate(let renewal):
            AddressPrivacy(kind: .nonResolvable, renewal: renewal)
        }
    }
}

extension SecurityConfiguration {
    /// What centrals that pair learn of who the device is.
    fileprivate mutating func tell(_ profile: DeviceProfile, _ identity: DeviceAddress?) {
        switch profile.device.address {
        case .publicDevice: break
        // Of a set with private addresses of its own it is told too.
        case .randomStatic, .resolvablePrivate:
            self.identity = identity.map { LinkAddress($0, isRandom: true) }
        // Without an identity there is none to tell.
        case .nonResolvablePrivate: responderKeys.remove(.identity)
        }
    }
}

extension ConnectionParameterUpdateRequest {
    init(_ request: ConnectionRequest) {
        self.init(
            intervalMin: request.minimum.steps, intervalMax: request.maximum.steps,
            latency: request.latency,
            // In steps of 10 ms; the loader keeps it within 100 ms to 32 s.
            timeout: UInt16(clamping: request.timeout.microseconds / 10_000))
    }
}

extension PeripheralConfiguration {
    /// What a profile says to the host, but for how it pairs.
    init(_ profile: DeviceProfile, _ sets: [AdvertisingSetup], randomAddress: DeviceAddress?) {
        self.init(
            sets: sets, randomAddress: randomAddress, connectionsMax: profile.device.connections)
        privacy = profile.device.address.privacy
        connectionRequest = profile.device.connection.map { ConnectionParameterUpdateRequest($0) }
    }
}
