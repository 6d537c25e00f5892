// Advertising on a controller: what is wanted, what is set, and the commands in between.
import HCI
public import Wire

/// What a controller shall advertise.
public struct AdvertisingPlan: Equatable, Sendable {
    /// Advertising_Type (Core 6.0, Vol 4, Part E, 7.8.5).
    public enum EventType: UInt8, Sendable {
        case connectable = 0x00
        case scannable = 0x02
        case nonConnectable = 0x03
    }

    public var type: EventType
    public var ownAddressType: AddressType
    /// Up to 31 octets each.
    public var data: [UInt8]
    public var scanResponse: [UInt8]

    public init(
        type: EventType, ownAddressType: AddressType, data: [UInt8], scanResponse: [UInt8]
    ) {
        self.type = type
        self.ownAddressType = ownAddressType
        self.data = data
        self.scanResponse = scanResponse
    }
}

/// Keeps a controller's advertising as wanted.
///
/// Parameters may not change while advertising is enabled (7.8.5), so a change is disable, set,
/// enable, queued together: the gap on the air is as short as the controller's credits allow.
struct AdvertisingControl: Sendable {
    /// What became of it.
    enum Change: Equatable, Sendable {
        case enabled(AdvertisingInterval)
        case disabled
        /// Another random address is in use.
        case renamed(DeviceAddress)
        /// Enable was refused; advertising is tried again after the next disconnection.
        case refused(HCIStatus)
    }

    private(set) var plan: AdvertisingPlan
    /// Chosen anew at each reset of the controller.
    private(set) var family: AdvertisingFamily = .legacy
    /// The controller says it has extended advertising and does not know its commands.
    var mustUseLegacy = false
    /// The interval that shall be in force.
    var interval: AdvertisingInterval
    /// Whether advertising shall be on, connections permitting.
    var isWanted = false

    /// The random address that shall be in use; nil for the public one.
    var address: DeviceAddress?
    /// The one that the controller has taken.
    private(set) var usedAddress: DeviceAddress?
    /// The one that it was given last, taken or not.
    private var givenAddress: DeviceAddress?
    /// The peers that the controller shall resolve.
    var resolvedPeers: [ResolvedPeer] = []
    private var givenPeers: [ResolvedPeer] = []
    /// The controller has refused a command of its resolving list: the host resolves alone.
    private var mustResolveAlone = false

    private(set) var isEnabled = false
    private var setInterval: AdvertisingInterval?
    private var isDataSet = false
    private var isResponseSet = false
    /// The controller refused Enable in this situation; asking again would change nothing.
    private var isRefused = false
    /// The shortest interval that this controller is asked for.
    private var shortest = AdvertisingInterval.minimum
    /// Whether the controller has taken an interval below `sure`.
    private var takesShort = false
    private var isRoundingSaid = false
    /// Of the controller, since its reset.
    private var hciVersion: UInt8 = 0
    /// The parameters under way are of another type than the plan.
    private var mustRepeatParameters = false
    /// Commands queued or unanswered, in order.
    private var pending: [AdvertisingCommand] = []
    /// Whether Enable ever succeeded: until then a refusal ends the run.
    private(set) var hasEverBeenEnabled = false
    /// Whether Enable has succeeded since the controller's reset: until then the family may change.
    private(set) var hasBeenEnabled = false

    /// 100 ms, which every controller takes. Before 5.0 nothing that is not connectable may
    /// advertise faster (Core 4.2, Vol 2, Part E, 7.8.5).
    static let sure = AdvertisingInterval(steps: 0x00A0)
    /// HCI_Version of 4.0 to 4.2 (Assigned Numbers, 2.1).
    private static let versionsBefore5: ClosedRange<UInt8> = 6...8

    init(plan: AdvertisingPlan, interval: AdvertisingInterval) {
        self.plan = plan
        self.interval = interval
    }

    /// The controller has been reset: nothing is set, nothing is on.
    mutating func controllerWasReset(_ family: AdvertisingFamily, hciVersion: UInt8 = 0) {
        self.family = mustUseLegacy ? .legacy : family
        isEnabled = false
        hasBeenEnabled = false
        setInterval = nil
        // In the legacy family the controller's random address is the one in use.
        givenAddress = self.family == .legacy ? address : nil
        usedAddress = givenAddress
        givenPeers = []
        mustResolveAlone = false
        isDataSet = false
        isResponseSet = false
        isRefused = false
        takesShort = false
        self.hciVersion = hciVersion
        findShortest()
        pending.removeAll()
        mustRepeatParameters = false
    }

    private mutating func findShortest() {
        let isSlow = Self.versionsBefore5.contains(hciVersion) && plan.type != .connectable
        shortest = isSlow ? Self.sure : .minimum
    }

    /// Another type and other data; on the controller with the next commands. The address stays.
    mutating func setPlan(_ new: AdvertisingPlan) {
        setData(new.data, scanResponse: new.scanResponse)
        guard plan.type != new.type else { return }
        plan.type = new.type
        setInterval = nil
        mustRepeatParameters = pending.contains { if case .parameters = $0 { true } else { false } }
        isResponseSet = false
        isRefused = false
        takesShort = false
        findShortest()
    }

    /// Other data; on the controller with the next commands.
    mutating func setData(_ data: [UInt8], scanResponse: [UInt8]) {
        if plan.data != data { isDataSet = false }
        if plan.scanResponse != scanResponse { isResponseSet = false }
        plan.data = data
        plan.scanResponse = scanResponse
    }

    /// A connection was made from this advertising: the controller has stopped by itself.
    /// - Parameter cancelled: Enable commands that were taken back before they were sent.
    mutating func connectionWasMade(cancelled: Int) {
        isEnabled = false
        for _ in 0..<cancelled {
            guard let last = pending.lastIndex(where: \.isEnable) else { return }
            pending.remove(at: last)
        }
    }

    /// The situation has changed, so a refused Enable may be tried again.
    mutating func situationChanged() { isRefused = false }

    /// The commands that lead from what is to what is wanted; none while some are unanswered.
    mutating func reconcile() -> [AdvertisingCommand] {
        guard pending.isEmpty else { return [] }
        if isWanted, !isRefused {
            pending = commandsToAdvertise()
        } else if !isWanted, isEnabled {
            pending = [.enable(false)]
        }
        return pending
    }

    private mutating func commandsToAdvertise() -> [AdvertisingCommand] {
        var commands: [AdvertisingCommand] = []
        let mustSet = setInterval != allowed
        let newAddress = givenAddress == address ? nil : address
        let list = commandsToResolve()
        let mustPause = mustSet || newAddress != nil || !list.isEmpty
        if mustPause, isEnabled { commands.append(.enable(false)) }
        commands += list
        if mustSet {
            commands.append(.parameters(allowed))
            // An interval that may well be refused is asked for alone: what follows Enable would
            // be advertised with other parameters.
            if allowed < Self.sure, !takesShort, plan.type != .connectable { return commands }
        }
        if let newAddress { commands += commandsToRename(newAddress) }
        if !isDataSet { commands.append(.data) }
        isDataSet = true
        if plan.type != .nonConnectable, !isResponseSet { commands.append(.scanResponse) }
        isResponseSet = true
        if mustPause || !isEnabled { commands.append(.enable(true)) }
        return commands
    }

    /// Some controllers take the address of a set's links from their own random address.
    private mutating func commandsToRename(_ new: DeviceAddress) -> [AdvertisingCommand] {
        let isFirst = givenAddress == nil
        givenAddress = new
        if family == .legacy { return [.randomAddress(new)] }
        return isFirst ? [.setAddress(new)] : [.randomAddress(new), .setAddress(new)]
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

    // MARK: intervals that a controller does not take

    private var allowed: AdvertisingInterval { max(interval, shortest) }

    /// Whether a refusal of `command` is answered by rounding its interval up.
    func canRound(_ command: AdvertisingCommand) -> Bool {
        guard case .parameters(let interval) = command else { return false }
        return interval < Self.sure
    }

    /// Whether this answer is such a refusal.
    func rounds(_ opcode: Opcode, _ status: HCIStatus) -> Bool {
        guard status.isAboutParameters,
            let command = pending.first(where: { $0.opcode(family) == opcode })
        else { return false }
        return canRound(command)
    }

    /// The interval that is rounded up and what it becomes, the first time; nil later, and while
    /// none is.
    mutating func takeRounding() -> (from: AdvertisingInterval, to: AdvertisingInterval)? {
        guard !isRoundingSaid, interval < shortest else { return nil }
        isRoundingSaid = true
        return (interval, shortest)
    }

    // MARK: answers

    /// Whether the answer to `opcode` is one to a command of its own.
    func awaits(_ opcode: Opcode) -> Bool {
        pending.contains { $0.opcode(family) == opcode && !$0.isAboutResolving }
    }

    /// One of the commands was answered; other commands are none of its business.
    mutating func answered(_ opcode: Opcode, _ status: HCIStatus) -> Change? {
        let mustRound = rounds(opcode, status)
        guard let index = pending.firstIndex(where: { $0.opcode(family) == opcode }) else {
            return nil
        }
        switch pending.remove(at: index) {
        case .parameters(let interval):
            setInterval = status.isSuccess && !mustRepeatParameters ? interval : nil
            mustRepeatParameters = false
            if mustRound {
                shortest = Self.sure
            } else if !status.isSuccess {
                isRefused = true
                return .refused(status)
            } else if interval < Self.sure {
                takesShort = true
            }
            return nil
        case .randomAddress where family == .extended: return nil
        case .randomAddress(let address), .setAddress(let address):
            guard status.isSuccess else { return nil }
            usedAddress = address
            return .renamed(address)
        case .data, .scanResponse: return nil
        case .resolution, .clearResolvingList, .resolve, .devicePrivacy:
            if !status.isSuccess { mustResolveAlone = true }
            return nil
        case .enable(let on):
            guard status.isSuccess else {
                guard on else { return nil }
                isRefused = true
                return .refused(status)
            }
            let was = isEnabled
            isEnabled = on
            if on {
                hasEverBeenEnabled = true
                hasBeenEnabled = true
                return .enabled(setInterval ?? allowed)
            }
            return was ? .disabled : nil
        }
    }
}
