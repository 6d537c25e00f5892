// One advertising set on a controller: what is wanted, what is set, and the commands in between.
import Advertising
import HCI
import SansIO
import Wire

/// Keeps one set of a controller as wanted.
///
/// Parameters may not change while the set is enabled (7.8.5, 7.8.53), so a change is disable, set,
/// enable, queued together: the gap on the air is as short as the controller's credits allow.
struct AdvertisingControl: Sendable {
    /// What became of it.
    enum Change: Equatable, Sendable {
        case enabled(AdvertisingInterval)
        case disabled
        /// Another random address is in use.
        case renamed(DeviceAddress)
        /// Parameters or Enable were refused; told once until it is on the air or another set.
        case refused(HCIStatus)
    }

    private(set) var plan: AdvertisingPlan
    /// The interval that shall be in force.
    var interval: AdvertisingInterval
    /// Left out on this controller, or by the profile now.
    var isLeftOut = false
    /// Off the air for a while, by the device's wish.
    var isResting = false
    /// Sent in legacy PDUs, whatever the plan says.
    var fallsBack = false
    /// Of how many sets that take turns it is one: each is on the air a part of the time, and so
    /// more often.
    var turnCount = 1
    /// The random address that shall be in use; nil for the public one.
    var address: DeviceAddress?
    /// When the next private address of its own is due; nil where it has none.
    var renewalAt: Instant?
    /// What was told last of its address.
    var toldAddress: DeviceAddress?
    /// The one that the controller has taken.
    private(set) var usedAddress: DeviceAddress?
    /// The one that it was given last, taken or not.
    private var givenAddress: DeviceAddress?

    private(set) var isEnabled = false
    /// Since when it is off for a change.
    var pausedAt: Instant?
    /// The interval that was told last, of one that takes turns.
    var toldInterval: AdvertisingInterval?
    private var setInterval: AdvertisingInterval?
    private var isDataSet = false
    private var isResponseSet = false
    private var isTrainSet = false
    private var isTrainDataSet = false
    private var isTrainEnabled = false
    /// The controller has refused a command of the train, which is left out then.
    private var isTrainRefused = false
    /// High duty cycle has had its time; low duty follows until the situation changes.
    private(set) var isHighDutyOver = false
    /// The controller refused the set in this situation; asking again would change nothing.
    private(set) var isRefused = false
    private var isRefusalTold = false
    /// When it is asked again all the same.
    var retryAt: Instant?
    /// The shortest interval that this controller is asked for.
    private var shortest = AdvertisingInterval.minimum
    /// Whether the controller has taken an interval below `sure`.
    private var takesShort = false
    private var isRoundingSaid = false
    /// Of the controller, since its reset.
    private var hciVersion: UInt8 = 0
    /// The controller has a set with its handle.
    private var exists = false
    /// What the controller has of it is of another set: it begins anew.
    private var mustBeginAnew = false

    /// 100 ms, which every controller takes. Before 5.0 nothing that is not connectable may
    /// advertise faster (Core 4.2, Vol 2, Part E, 7.8.5).
    static let sure = AdvertisingInterval(steps: 0x00A0)
    /// HCI_Version of 4.0 to 4.2 (Assigned Numbers, 2.1).
    private static let versionsBefore5: ClosedRange<UInt8> = 6...8

    init(plan: AdvertisingPlan, interval: AdvertisingInterval) {
        self.plan = plan
        self.interval = interval
        address = plan.address
    }

    /// The controller has been reset: nothing is set, nothing is on.
    /// - Parameter controllerAddress: the random address that it has.
    mutating func controllerWasReset(controllerAddress: DeviceAddress?, hciVersion: UInt8) {
        self.hciVersion = hciVersion
        pausedAt = nil
        toldInterval = nil
        isTrainEnabled = false
        isEnabled = false
        beginAnew(controllerAddress: controllerAddress)
    }

    /// The controller knows nothing of it, and it nothing of the controller.
    private mutating func beginAnew(controllerAddress: DeviceAddress?) {
        exists = false
        mustBeginAnew = false
        mayTryAgain()
        isRefusalTold = false
        takesShort = false
        isHighDutyOver = false
        isTrainRefused = false
        nothingIsSet(controllerAddress: controllerAddress)
        findShortest()
    }

    /// The controller's one advertiser has been another set's meanwhile.
    mutating func nothingIsSet(controllerAddress: DeviceAddress?) {
        setInterval = nil
        givenAddress = controllerAddress
        usedAddress = controllerAddress
        isDataSet = false
        isResponseSet = false
        isTrainSet = false
    }

    private mutating func findShortest() {
        let isSlow = Self.versionsBefore5.contains(hciVersion) && !plan.type.isConnectable
        shortest = isSlow ? Self.sure : .minimum
    }

    // MARK: what is wanted

    /// Another plan; on the controller with the next commands.
    mutating func setPlan(_ new: AdvertisingPlan) {
        setData(new.data, scanResponse: new.scanResponse, train: new.periodic?.data)
        if new.periodic?.interval != plan.periodic?.interval || new.pdu != plan.pdu {
            isTrainSet = false
            isTrainRefused = false
        }
        if !plan.isSameSet(as: new) { mustBeginAnew = true }
        // The next address is of the other kind.
        if plan.privacy != new.privacy { renewalAt = nil }
        plan = new
        if let own = new.address { address = own }
    }

    /// The one advertiser has another set's parameters.
    mutating func mustSetAll() { mustBeginAnew = true }

    /// Other data; on the controller with the next commands.
    mutating func setData(_ data: [UInt8], scanResponse: [UInt8], train: [UInt8]?) {
        if plan.data != data { isDataSet = false }
        if plan.scanResponse != scanResponse { isResponseSet = false }
        if let train, plan.periodic?.data != train {
            isTrainDataSet = false
            plan.periodic?.data = train
        }
        plan.data = data
        plan.scanResponse = scanResponse
    }

    /// What the controller is told, which may be less than the profile's plan.
    var effectivePlan: AdvertisingPlan {
        var effective = plan
        if fallsBack {
            effective.pdu = .legacy
            effective.periodic = nil
        }
        if isHighDutyOver, plan.type == .directedHighDuty { effective.type = .directedLowDuty }
        return effective
    }

    // MARK: what happens to it

    /// The controller has stopped by itself: a connection was made from it, or its time is over.
    mutating func hasStopped() {
        isEnabled = false
        pausedAt = nil
        toldInterval = nil
    }

    mutating func highDutyIsOver() {
        hasStopped()
        guard plan.type == .directedHighDuty, !isHighDutyOver else { return }
        isHighDutyOver = true
        setInterval = nil
    }

    /// The situation has changed, or time has passed: what was refused may be tried again.
    mutating func mayTryAgain() {
        isRefused = false
        retryAt = nil
    }

    mutating func situationChanged() {
        mayTryAgain()
        if isHighDutyOver {
            isHighDutyOver = false
            setInterval = nil
        }
    }

    // MARK: commands

    /// The commands that lead to advertising as wanted.
    /// - Parameter list: those of the resolving list, which go first while it is off the air.
    mutating func commandsToAdvertise(
        _ family: AdvertisingFamily, list: [AdvertisingCommand]
    ) -> [AdvertisingCommand] {
        guard !isRefused else { return [] }
        var commands: [AdvertisingCommand] = []
        let mustSet = setInterval != allowed
        let newAddress = givenAddress == address ? nil : address
        let mustPause =
            mustSet || newAddress != nil || !list.isEmpty || !isDataSet && isDataLong
        if !isTrainSet || effectivePlan.periodic == nil { commands += commandsToEndTrain() }
        if mustPause, isEnabled { commands.append(.enable(false)) }
        commands += list
        if mustSet {
            commands.append(.parameters(allowed))
            // An interval that may well be refused is asked for alone: what follows Enable would
            // be advertised with other parameters.
            if allowed < Self.sure, !takesShort, !plan.type.isConnectable { return commands }
            // So is a set, for which the controller may have no room.
            if family == .extended, !exists { return commands }
        }
        if let newAddress { commands += commandsToRename(newAddress, family) }
        commands += commandsToFill(family)
        if mustPause || !isEnabled { commands.append(.enable(true)) }
        return commands
    }

    /// Whether the controller has something of it that must go first: two kinds of set do not fit
    /// into one handle, or the set is there no more.
    var mustGo: Bool { mustBeginAnew || isLeftOut && (exists || isEnabled || isTrainEnabled) }

    /// The commands that make the controller forget it, so that nothing of it binds what follows:
    /// parameters must suit the data and the train that a set has (7.8.53), and only a set that is
    /// off the air with its train can be removed (7.8.59).
    mutating func commandsToGo(
        _ family: AdvertisingFamily, controllerAddress: DeviceAddress?
    ) -> [AdvertisingCommand] {
        var commands = commandsToStop()
        if family == .extended, exists { commands.append(.remove) }
        beginAnew(controllerAddress: controllerAddress)
        return commands
    }

    /// The commands that lead to silence.
    mutating func commandsToStop() -> [AdvertisingCommand] {
        commandsToEndTrain() + (isEnabled ? [.enable(false)] : [])
    }

    private mutating func commandsToEndTrain() -> [AdvertisingCommand] {
        guard isTrainEnabled else { return [] }
        isTrainEnabled = false
        isTrainSet = false
        return [.periodicEnable(false)]
    }

    /// Data in several fragments may not change while the set is enabled (7.8.54).
    private var isDataLong: Bool {
        max(plan.data.count, plan.scanResponse.count) > DataFragment.octetsMax
    }

    private mutating func commandsToFill(_ family: AdvertisingFamily) -> [AdvertisingCommand] {
        let plan = effectivePlan
        var commands: [AdvertisingCommand] = []
        // Extended PDUs carry data or are scannable or connectable; those without carry none.
        if !isDataSet, plan.hasData {
            commands += DataFragment.all(of: plan.data.count).map { .data($0) }
        }
        isDataSet = true
        if plan.isScannable, !isResponseSet {
            commands += DataFragment.all(of: plan.scanResponse.count).map { .scanResponse($0) }
        }
        isResponseSet = true
        if family == .extended { commands += commandsToFillTrain() }
        return commands
    }

    /// While a train is on, its data come in one command, else it pauses (7.8.62).
    private mutating func commandsToFillTrain() -> [AdvertisingCommand] {
        guard let train = effectivePlan.periodic, !isTrainRefused else { return [] }
        guard !isTrainSet || !isTrainDataSet else { return [] }
        let fragments = DataFragment.all(of: train.data.count, each: DataFragment.trainOctetsMax)
        var commands: [AdvertisingCommand] = fragments.map { .periodicData($0) }
        if !isTrainSet { commands.insert(.periodicParameters, at: 0) }
        if !isTrainSet || fragments.count > 1 {
            if isTrainEnabled { commands.insert(.periodicEnable(false), at: 0) }
            commands.append(.periodicEnable(true))
        }
        (isTrainSet, isTrainDataSet, isTrainEnabled) = (true, true, true)
        return commands
    }

    /// Some controllers take the address of a set's links from their own random address.
    private mutating func commandsToRename(
        _ new: DeviceAddress, _ family: AdvertisingFamily
    ) -> [AdvertisingCommand] {
        let isFirst = givenAddress == nil
        givenAddress = new
        if family == .legacy { return [.randomAddress(new)] }
        return isFirst || !plan.goesByDevice
            ? [.setAddress(new)] : [.randomAddress(new), .setAddress(new)]
    }

    // MARK: intervals that a controller does not take

    /// The interval that the controller is asked for.
    private var allowed: AdvertisingInterval {
        let share = AdvertisingInterval(
            steps: UInt16(clamping: max(Int(interval.steps) / max(turnCount, 1), 1)))
        return max(turnCount > 1 ? max(share, .minimum) : interval, shortest)
    }

    /// Whether a refusal of `command` is answered by rounding its interval up.
    static func canRound(_ command: AdvertisingCommand) -> Bool {
        guard case .parameters(let interval) = command else { return false }
        return interval < sure
    }

    /// The interval that is rounded up and what it becomes, the first time; nil later, and while
    /// none is.
    mutating func takeRounding() -> (from: AdvertisingInterval, to: AdvertisingInterval)? {
        guard !isRoundingSaid, turnCount == 1, interval < shortest else { return nil }
        isRoundingSaid = true
        return (interval, shortest)
    }

    // MARK: answers

    /// The command was answered.
    mutating func answered(
        _ command: AdvertisingCommand, _ status: HCIStatus, _ family: AdvertisingFamily
    ) -> Change? {
        switch command {
        case .parameters(let interval):
            setInterval = status.isSuccess ? interval : nil
            if status.isSuccess { exists = true }
            if status.isAboutParameters, Self.canRound(command) {
                shortest = Self.sure
            } else if !status.isSuccess {
                return refused(status)
            } else if interval < Self.sure {
                takesShort = true
            }
            return nil
        case .randomAddress where family == .extended: return nil
        case .randomAddress(let address), .setAddress(let address):
            guard status.isSuccess else { return nil }
            usedAddress = address
            return .renamed(address)
        case .periodicParameters, .periodicData, .periodicEnable:
            if !status.isSuccess { isTrainRefused = true }
            return nil
        case .data, .scanResponse, .remove, .resolution, .clearResolvingList, .resolve,
            .devicePrivacy:
            return nil
        case .enable(let on):
            guard status.isSuccess else { return on ? refused(status) : nil }
            if on { isRefusalTold = false }
            let was = isEnabled
            isEnabled = on
            if on { return .enabled(setInterval ?? allowed) }
            return was ? .disabled : nil
        }
    }

    private mutating func refused(_ status: HCIStatus) -> Change? {
        isRefused = true
        defer { isRefusalTold = true }
        return isRefusalTold ? nil : .refused(status)
    }
}

extension AdvertisingPlan {
    /// Whether the PDUs have room for advertising data.
    fileprivate var hasData: Bool { pdu == .legacy ? !type.isDirected : type != .scannable }
}
