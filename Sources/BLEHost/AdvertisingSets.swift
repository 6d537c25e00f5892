// All advertising sets of a controller: whose turn it is, and which commands go next.
import Advertising
import HCI
import SansIO
import Wire

/// One command of one set; what is about the whole controller belongs to the set that needs it.
struct AdvertisingStep: Equatable, Sendable {
    /// The set's number, its advertising handle in the extended family.
    var set: Int
    var command: AdvertisingCommand
}

/// Keeps a controller's advertising as wanted.
///
/// In the extended family each set has a handle of its own. The legacy family has one advertiser:
/// several sets take turns on it. The commands of one set at a time are under way.
struct AdvertisingSets: Sendable {
    private(set) var controls: [AdvertisingControl]
    /// How many of them the profile has; the others must go.
    private var count: Int
    /// Chosen anew at each reset of the controller.
    private(set) var family: AdvertisingFamily = .legacy
    /// Why the legacy family is used on a controller that says it has the extended one; nil where
    /// it is not.
    var lack: String?
    /// What the controller has said, where it has too few sets for what was asked for.
    var tooFew: ControllerInformation?
    /// Whether there shall be advertising.
    var isWanted = false
    /// Whether one more central may connect.
    var hasRoom = true

    /// The peers that the controller shall resolve.
    var resolvedPeers: [ResolvedPeer] = []
    private var givenPeers: [ResolvedPeer] = []
    /// The controller has refused a command of its resolving list: the host resolves alone.
    private var mustResolveAlone = false

    /// Whose turn it is on the one advertiser; nil where each set has its own.
    private(set) var turns: AdvertisingTurns?
    /// The random address that the one advertiser has.
    private var controllerAddress: DeviceAddress?
    /// Commands queued or unanswered, in order.
    private var pending: [AdvertisingStep] = []
    /// Whether Enable ever succeeded: until then a refusal ends the run.
    private(set) var hasEverBeenEnabled = false
    /// Whether Enable has succeeded since the controller's reset: until then the family may change.
    private(set) var hasBeenEnabled = false
    /// Whether other plans have come since the reset: what is refused of them ends nothing.
    private(set) var hasOtherPlans = false
    private var hciVersion: UInt8 = 0

    /// How long until a set that the controller has refused is asked for again.
    static let retryPause = TimeSpan.seconds(60)

    init(_ setups: [AdvertisingSetup], deviceAddress: DeviceAddress?) {
        controls = setups.map { AdvertisingControl(plan: $0.plan, interval: $0.interval) }
        count = controls.count
        setDeviceAddress(deviceAddress)
    }

    /// The controller has been reset: nothing is set, nothing is on.
    mutating func controllerWasReset(
        _ family: AdvertisingFamily, address: DeviceAddress? = nil, hciVersion: UInt8 = 0
    ) {
        self.family = lack == nil ? family : .legacy
        // In the legacy family the controller's random address is the one in use.
        controllerAddress = self.family == .legacy ? address : nil
        self.hciVersion = hciVersion
        hasBeenEnabled = false
        hasOtherPlans = false
        controls.removeLast(controls.count - count)
        givenPeers = []
        mustResolveAlone = false
        pending.removeAll()
        turns = nil
        for index in controls.indices {
            controls[index].controllerWasReset(
                controllerAddress: controllerAddress, hciVersion: hciVersion)
        }
        arrangeTurns()
    }

    /// Sets which sets this controller is to do, and how.
    mutating func choose(_ choice: AdvertisingChoice) {
        for index in controls.indices {
            controls[index].isLeftOut = index >= count || choice.leftOut.contains(index)
            controls[index].fallsBack = choice.fallsBack.contains(index)
        }
        arrangeTurns()
    }

    private mutating func arrangeTurns() {
        let sets = controls.indices.filter { !controls[$0].isLeftOut }
        let takesTurns = family == .legacy && sets.count > 1
        if !takesTurns {
            turns = nil
        } else if turns?.sets != sets {
            turns = AdvertisingTurns(sets: sets)
        }
        countTurns()
    }

    /// Who rests leaves its time to the others.
    private mutating func countTurns() {
        let count = turns?.sets.count { !controls[$0].isResting } ?? 1
        for set in controls.indices { controls[set].turnCount = max(count, 1) }
    }

    // MARK: what is wanted

    /// The random address of the sets that go by the device's.
    mutating func setDeviceAddress(_ address: DeviceAddress?) {
        for index in controls.indices where controls[index].plan.goesByDevice {
            let isPublic = controls[index].plan.ownAddressType == .publicDevice
            controls[index].address = isPublic ? nil : address
        }
    }

    /// A private address of a set's own, and when the next one is due.
    mutating func setAddress(_ address: DeviceAddress?, of set: Int, until end: Instant) {
        controls[set].address = address
        controls[set].renewalAt = end
    }

    /// When a set's own private address is renewed next.
    var renewalAt: Instant? { controls.reduce(nil) { earliest($0, $1.renewalAt) } }

    /// Whether this address of a set has not been told yet.
    mutating func tells(_ address: DeviceAddress, of set: Int) -> Bool {
        defer { controls[set].toldAddress = address }
        return controls[set].toldAddress != address
    }

    mutating func setInterval(_ interval: AdvertisingInterval, of set: Int) {
        guard controls.indices.contains(set) else { return }
        controls[set].interval = interval
    }

    mutating func setData(_ data: [UInt8], scanResponse: [UInt8], train: [UInt8]?, of set: Int) {
        guard controls.indices.contains(set) else { return }
        controls[set].setData(data, scanResponse: scanResponse, train: train)
    }

    /// Other plans; on the controller with the next commands. A set too many goes, a new one
    /// begins, and one that is another than before begins anew.
    mutating func setPlans(
        _ setups: [AdvertisingSetup], deviceAddress: DeviceAddress?, _ choice: AdvertisingChoice?
    ) {
        hasOtherPlans = true
        count = setups.count
        for (index, setup) in setups.enumerated() {
            if index == controls.count {
                var new = AdvertisingControl(plan: setup.plan, interval: setup.interval)
                new.controllerWasReset(
                    controllerAddress: controllerAddress, hciVersion: hciVersion)
                controls.append(new)
            }
            controls[index].setPlan(setup.plan)
            controls[index].interval = setup.interval
        }
        setDeviceAddress(deviceAddress)
        // There may be room now for what was refused.
        for index in controls.indices { controls[index].mayTryAgain() }
        guard let choice else { return }
        let sharing = turns?.sets
        choose(choice)
        guard turns?.sets != sharing else { return }
        for index in controls.indices { controls[index].mustSetAll() }
    }

    /// Takes a set off the air, or lets it back.
    /// - Returns: whether it has stopped already: it waited for its turn.
    mutating func setResting(_ isResting: Bool, of set: Int) -> Bool {
        guard controls.indices.contains(set), controls[set].isResting != isResting else {
            return false
        }
        controls[set].isResting = isResting
        countTurns()
        let waits = turns != nil && !controls[set].isEnabled && controls[set].toldInterval != nil
        guard isResting, waits else { return false }
        controls[set].toldInterval = nil
        return true
    }

    private func isWanted(_ set: Int) -> Bool {
        isWanted && !controls[set].isLeftOut && mayAdvertise(set)
            && (turns.map { $0.current == set } ?? true)
    }

    private func mayAdvertise(_ set: Int) -> Bool {
        !controls[set].isResting && (hasRoom || !controls[set].plan.type.isConnectable)
    }

    // MARK: what happens to them

    /// A connection was made: the set that it came from has stopped by itself.
    /// - Parameter cancelled: Enable commands that were taken back before they were sent.
    /// - Returns: the set; nil where several are on and the controller has yet to say which.
    mutating func connectionWasMade(cancelled: Int) -> Int? {
        for _ in 0..<cancelled {
            guard let last = pending.lastIndex(where: \.command.isEnable) else { break }
            pending.remove(at: last)
        }
        let able = controls.indices.filter {
            !controls[$0].isLeftOut && controls[$0].plan.type.isConnectable
        }
        let set = turns?.current ?? (able.count > 1 ? nil : able.first ?? controls.indices.first)
        if let set { controls[set].hasStopped() }
        return set
    }

    /// The controller says that a set has stopped, for a connection or because its time is over.
    mutating func hasStopped(_ set: Int, isConnected: Bool) {
        guard controls.indices.contains(set) else { return }
        if isConnected { controls[set].hasStopped() } else { controls[set].highDutyIsOver() }
    }

    /// No connection came of it: high duty cycle directed advertising has ended.
    mutating func connectionFailed() {
        for set in controls.indices where controls[set].plan.type.isConnectable {
            controls[set].highDutyIsOver()
        }
    }

    /// The situation has changed, so what was refused may be tried again.
    mutating func situationChanged() {
        for index in controls.indices { controls[index].situationChanged() }
    }

    /// Whether a set is on the air.
    var isEnabled: Bool { controls.contains(where: \.isEnabled) }

    // MARK: turns

    var deadline: Instant? {
        var deadline = turns?.end
        for index in controls.indices { deadline = earliest(deadline, controls[index].retryAt) }
        return deadline
    }

    /// Asks again for what was refused, and passes the advertiser on where the turn is over.
    mutating func expire(at now: Instant) {
        for index in controls.indices {
            if let due = controls[index].retryAt, due <= now { controls[index].mayTryAgain() }
        }
        guard let turn = turns, let end = turn.end, end <= now else { return }
        passOn()
        // Alone it goes on, and looks again.
        if turns?.current == turn.current, controls[turn.current].isEnabled {
            _ = startTurn(at: now)
        }
    }

    private mutating func passOn() {
        let able = controls.indices.filter {
            !controls[$0].isLeftOut && mayAdvertise($0) && !controls[$0].isRefused
        }
        turns?.passOn { able.contains($0) }
    }

    /// What the interval of an enabled set comes to.
    mutating func toldInterval(
        of set: Int, _ interval: AdvertisingInterval, at now: Instant
    ) -> AdvertisingInterval? {
        guard turns != nil else { return interval }
        let slot = startTurn(at: now)
        let count = controls[set].turnCount
        let own =
            count > 1 ? min(interval.microseconds, slot.microseconds) : interval.microseconds
        let average = own * Int64(count) / AdvertisingInterval.stepMicroseconds
        let wanted = controls[set].interval
        // A part in whole steps is less than a step from what is wanted.
        let isWanted = abs(average - Int64(wanted.steps)) <= Int64(count)
        let told = isWanted ? wanted : AdvertisingInterval(steps: UInt16(clamping: average))
        guard controls[set].toldInterval != told else { return nil }
        controls[set].toldInterval = told
        return told
    }

    private mutating func startTurn(at now: Instant) -> TimeSpan {
        let able = turns?.sets.filter { !controls[$0].isResting } ?? []
        let slowest = able.map { controls[$0].interval }.max() ?? .minimum
        return turns?.start(slowest: slowest, of: able.count, at: now) ?? .zero
    }

    // MARK: commands

    /// The commands that lead from what is to what is wanted; none while some are unanswered.
    mutating func reconcile() -> [AdvertisingStep] {
        guard pending.isEmpty else { return [] }
        if let turns, isWanted, !isWanted(turns.current) { passOn() }
        // What goes makes room for what comes.
        for set in controls.indices where controls[set].mustGo {
            pending += controls[set].commandsToGo(family, controllerAddress: controllerAddress)
                .map { AdvertisingStep(set: set, command: $0) }
        }
        guard pending.isEmpty else { return pending }
        for set in controls.indices {
            pending = steps(of: set)
            if !pending.isEmpty { break }
        }
        return pending
    }

    private mutating func steps(of set: Int) -> [AdvertisingStep] {
        guard isWanted(set) else {
            // Whose turn is over goes with the next one's commands.
            let isRelieved = isWanted && turns.map { isWanted($0.current) } == true
            guard !isRelieved else { return [] }
            return controls[set].commandsToStop().map { AdvertisingStep(set: set, command: $0) }
        }
        var steps: [AdvertisingStep] = []
        let list = controls[set].isRefused ? [] : commandsToResolve()
        if turns != nil || !list.isEmpty {
            for other in controls.indices where other != set && controls[other].isEnabled {
                steps.append(AdvertisingStep(set: other, command: .enable(false)))
            }
        }
        if turns != nil, turns?.holder != set {
            turns?.holder = set
            controls[set].nothingIsSet(controllerAddress: controllerAddress)
        }
        steps += controls[set].commandsToAdvertise(family, list: list).map {
            AdvertisingStep(set: set, command: $0)
        }
        return steps
    }

    /// What brings the resolving list up to date. While a list is used it is not changed, and while
    /// advertising is on it is not put to use (7.8.38 to 7.8.44).
    private mutating func commandsToResolve() -> [AdvertisingCommand] {
        let peers = mustResolveAlone ? [] : resolvedPeers
        guard givenPeers != peers else { return [] }
        var commands: [AdvertisingCommand] = []
        if !givenPeers.isEmpty { commands += [.resolution(false), .clearResolvingList] }
        for peer in peers { commands += [.resolve(peer), .devicePrivacy(peer.identity)] }
        if !peers.isEmpty { commands.append(.resolution(true)) }
        givenPeers = peers
        return commands
    }

    // MARK: answers

    /// Whether the answer to `opcode` is one to a command that sets and enables a set.
    func awaits(_ opcode: Opcode) -> Bool {
        pending.contains {
            $0.command.opcode(family) == opcode && !$0.command.isAboutResolving
                && !$0.command.isAboutTrain
        }
    }

    /// Whether this answer is a refusal that is followed by a longer interval.
    func rounds(_ opcode: Opcode, _ status: HCIStatus) -> Bool {
        guard status.isAboutParameters,
            let step = pending.first(where: { $0.command.opcode(family) == opcode })
        else { return false }
        return AdvertisingControl.canRound(step.command)
    }

    /// One of the commands was answered; other commands are none of its business.
    mutating func answered(
        _ opcode: Opcode, _ status: HCIStatus, at now: Instant
    ) -> (set: Int, change: AdvertisingControl.Change)? {
        let index = pending.firstIndex { $0.command.opcode(family) == opcode }
        guard let index else { return nil }
        let step = pending.remove(at: index)
        if step.command.isAboutResolving, !status.isSuccess { mustResolveAlone = true }
        let change = controls[step.set].answered(step.command, status, family)
        switch change {
        case .enabled:
            hasEverBeenEnabled = true
            hasBeenEnabled = true
        case .renamed(let address): if family == .legacy { controllerAddress = address }
        case .refused, .disabled, nil: break
        }
        if controls[step.set].isRefused {
            // The others have their turn meanwhile.
            _ = startTurn(at: now)
            controls[step.set].retryAt = controls[step.set].retryAt ?? now + Self.retryPause
        }
        return change.map { (step.set, $0) }
    }

    /// The interval of a set that is rounded up and what it becomes, the first time.
    mutating func takeRounding() -> (from: AdvertisingInterval, to: AdvertisingInterval)? {
        for index in controls.indices {
            if let rounding = controls[index].takeRounding() { return rounding }
        }
        return nil
    }

    /// Why a set that is off is off.
    enum Absence { case change, turn, stop }

    func absence(of set: Int) -> Absence {
        if isWanted(set) { return turns == nil ? .change : .turn }
        let isOut = !isWanted || controls[set].isLeftOut
        return turns == nil || isOut || !mayAdvertise(set) ? .stop : .turn
    }

    mutating func pause(_ set: Int, at now: Instant) { controls[set].pausedAt = now }

    /// The sets that stop with this one: those that took turns with it too.
    mutating func stoppedSets(with set: Int) -> [Int] {
        guard turns != nil, !controls[set].isResting else {
            controls[set].toldInterval = nil
            return [set]
        }
        let told = controls.indices.filter { $0 == set || controls[$0].toldInterval != nil }
        for set in told { controls[set].toldInterval = nil }
        return told
    }

    /// How long a set was off for a change, once.
    mutating func takeGap(of set: Int, at now: Instant) -> TimeSpan? {
        defer { controls[set].pausedAt = nil }
        return controls[set].pausedAt.map { now - $0 }
    }
}

/// The turns of several sets on one advertiser.
struct AdvertisingTurns: Equatable, Sendable {
    /// Their numbers, in their order.
    let sets: [Int]
    /// Whose turn it is.
    private(set) var current: Int
    /// Whose parameters the advertiser has.
    var holder: Int?
    /// When the turn is over; nil until it has begun.
    private(set) var end: Instant?

    /// A turn holds one event of the slowest set where that leaves none silent for long: `slotMax`
    /// times the other sets at most. Shorter ones would be commands rather than advertising.
    static let slotMin = TimeSpan.milliseconds(200)
    static let slotMax = TimeSpan.seconds(1)

    init(sets: [Int]) {
        self.sets = sets
        current = sets.first ?? 0
    }

    /// The turn begins now; a change in it does not prolong it.
    /// - Parameter count: of the sets that are to have turns.
    /// - Returns: how long a turn is.
    mutating func start(
        slowest: AdvertisingInterval, of count: Int, at now: Instant
    ) -> TimeSpan {
        let part = TimeSpan(microseconds: slowest.microseconds / Int64(max(count, 1)))
        let slot = min(max(part, Self.slotMin), Self.slotMax)
        end = end ?? now + slot
        return slot
    }

    /// The next one that may advertise has its turn.
    mutating func passOn(_ mayAdvertise: (Int) -> Bool) {
        end = nil
        guard let place = sets.firstIndex(of: current) else { return }
        for step in 1...sets.count {
            let next = sets[(place + step) % sets.count]
            if mayAdvertise(next) {
                current = next
                return
            }
        }
    }
}
