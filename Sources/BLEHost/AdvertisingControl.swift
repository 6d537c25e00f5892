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
        /// Enable was refused; advertising is tried again after the next disconnection.
        case refused(HCIStatus)
    }

    let plan: AdvertisingPlan
    /// Chosen anew at each reset of the controller.
    private(set) var family: AdvertisingFamily = .legacy
    /// The controller says it has extended advertising and does not know its commands.
    var mustUseLegacy = false
    /// The interval that shall be in force.
    var interval: AdvertisingInterval
    /// Whether advertising shall be on, connections permitting.
    var isWanted = false

    private(set) var isEnabled = false
    private var setInterval: AdvertisingInterval?
    private var isDataSet = false
    /// The controller refused Enable in this situation; asking again would change nothing.
    private var isRefused = false
    /// Commands queued or unanswered, in order.
    private var pending: [AdvertisingCommand] = []
    /// Whether Enable ever succeeded: until then a refusal ends the run.
    private(set) var hasEverBeenEnabled = false
    /// Whether Enable has succeeded since the controller's reset: until then the family may change.
    private(set) var hasBeenEnabled = false

    init(plan: AdvertisingPlan, interval: AdvertisingInterval) {
        self.plan = plan
        self.interval = interval
    }

    /// The controller has been reset: nothing is set, nothing is on.
    mutating func controllerWasReset(_ family: AdvertisingFamily) {
        self.family = mustUseLegacy ? .legacy : family
        isEnabled = false
        hasBeenEnabled = false
        setInterval = nil
        isDataSet = false
        isRefused = false
        pending.removeAll()
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
        var commands: [AdvertisingCommand] = []
        if isWanted, !isRefused {
            let mustSet = setInterval != interval
            if isEnabled {
                guard mustSet else { return [] }
                commands.append(.enable(false))
            }
            if mustSet { commands.append(.parameters(interval)) }
            if !isDataSet {
                if family == .extended, plan.ownAddressType == .randomDevice {
                    commands.append(.address)
                }
                commands.append(.data)
                if plan.type != .nonConnectable { commands.append(.scanResponse) }
                isDataSet = true
            }
            commands.append(.enable(true))
        } else if !isWanted, isEnabled {
            commands.append(.enable(false))
        }
        pending = commands
        return commands
    }

    /// Whether the answer to `opcode` is one to a command of its own.
    func awaits(_ opcode: Opcode) -> Bool { pending.contains { $0.opcode(family) == opcode } }

    /// One of the commands was answered; other commands are none of its business.
    mutating func answered(_ opcode: Opcode, _ status: HCIStatus) -> Change? {
        guard let index = pending.firstIndex(where: { $0.opcode(family) == opcode }) else {
            return nil
        }
        switch pending.remove(at: index) {
        case .parameters(let interval):
            setInterval = status.isSuccess ? interval : nil
            return nil
        case .address, .data, .scanResponse: return nil
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
                return .enabled(setInterval ?? interval)
            }
            return was ? .disabled : nil
        }
    }
}
