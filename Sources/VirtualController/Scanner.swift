// Scanning and initiating of one controller: when it listens, and what it takes.
import HCI
import SansIO
import Wire

/// When a radio listens: a window at the start of each interval, one channel an interval.
struct ListeningPlan {
    /// Microseconds.
    var interval: Int64
    var window: Int64
    var beginning: Instant
    /// It listens for this long in each period, in microseconds; 0 is always.
    var duration: Int64 = 0
    var period: Int64 = 0

    /// - Parameters: steps of 0.625 ms, as HCI has them.
    init(interval: UInt16, window: UInt16, from beginning: Instant) {
        self.interval = Int64(max(interval, 1)) * AdvertisingInterval.stepMicroseconds
        self.window = Int64(window) * AdvertisingInterval.stepMicroseconds
        self.beginning = beginning
    }

    /// Whether it has begun and no period's pause is there.
    func isOpen(from start: Instant, to end: Instant) -> Bool {
        let elapsed = (start - beginning).microseconds
        guard elapsed >= 0 else { return false }
        return period == 0 || elapsed % period + (end - start).microseconds <= duration
    }

    /// Whether a PDU on advertising channel 0, 1 or 2 falls wholly into one window on that channel.
    func hears(channel: Int, from start: Instant, to end: Instant) -> Bool {
        guard isOpen(from: start, to: end) else { return false }
        let elapsed = (start - beginning).microseconds
        let (turn, offset) = elapsed.quotientAndRemainder(dividingBy: interval)
        guard turn % Int64(Radio.advertisingChannels) == Int64(channel) else { return false }
        return offset + (end - start).microseconds <= window
    }
}

/// What a scanner with duplicate filtering takes for the same: legacy PDUs of one kind whatever
/// their data, extended ones with the same ADI (Core 6.0, Vol 6, Part B, 4.3.3).
struct DuplicateKey: Hashable {
    private let sender: UInt64
    private let kind: UInt32

    private static let isRandom: UInt64 = 1 << 48
    private static let isAnonymous: UInt64 = 1 << 49
    private static let isExtended: UInt32 = 1 << 31
    private static let isResponse: UInt32 = 1 << 30

    init(_ advertiser: AirAddress, report: UInt8) {
        sender = Self.sender(advertiser)
        kind = UInt32(report)
    }

    init(_ advertiser: AirAddress, sid: UInt8, did: UInt16, isResponse: Bool) {
        sender = Self.sender(advertiser)
        kind =
            Self.isExtended | (isResponse ? Self.isResponse : 0) | UInt32(sid) << 16 | UInt32(did)
    }

    init(anonymousSid sid: UInt8, did: UInt16) {
        sender = Self.isAnonymous
        kind = Self.isExtended | UInt32(sid) << 16 | UInt32(did)
    }

    private static func sender(_ advertiser: AirAddress) -> UInt64 {
        advertiser.address.littleEndian | (advertiser.isRandom ? isRandom : 0)
    }
}

/// One controller's scanner.
struct Scanner {
    /// How it scans on one primary PHY; interval and window in steps of 0.625 ms.
    struct Mode {
        var isActive = false
        var interval: UInt16 = 0x0010
        var window: UInt16 = 0x0010
    }

    var le1M: Mode? = Mode()
    var leCoded: Mode?
    var ownAddressType = AddressType.publicDevice
    /// 1: only advertisers in the filter accept list.
    var filterPolicy: UInt8 = 0

    private(set) var isEnabled = false
    /// When the host's duration ends.
    private(set) var end: Instant?
    private var plan1M: ListeningPlan?
    private var planCoded: ListeningPlan?
    private var filtersDuplicates = false
    /// Microseconds after which duplicates are reported anew; 0 is never.
    private var filterPeriod: Int64 = 0
    private var filterBeginning = Instant.zero
    private var filterTurn: Int64 = 0
    /// What has been reported since scanning or the period began.
    private var reported: Set<DuplicateKey> = []

    /// - Parameters: how long the host wants to scan, once or in each period; zero is without end.
    mutating func enable(
        filtersDuplicates: Bool, anewEachPeriod: Bool = false, duration: TimeSpan = .zero,
        period: TimeSpan = .zero, at now: Instant
    ) {
        let isPeriodic = period > .zero && duration > .zero
        if !isEnabled || isPeriodic || plan1M?.period ?? 0 > 0 || planCoded?.period ?? 0 > 0 {
            plan1M = le1M.map { Self.plan($0, from: now) }
            planCoded = leCoded.map { Self.plan($0, from: now) }
        }
        if isPeriodic {
            plan1M?.duration = duration.microseconds
            plan1M?.period = period.microseconds
            planCoded?.duration = duration.microseconds
            planCoded?.period = period.microseconds
        }
        isEnabled = true
        end = duration > .zero && !isPeriodic ? now + duration : nil
        self.filtersDuplicates = filtersDuplicates
        filterPeriod = anewEachPeriod ? period.microseconds : 0
        (filterBeginning, filterTurn) = (now, 0)
        reported.removeAll()
    }

    private static func plan(_ mode: Mode, from now: Instant) -> ListeningPlan {
        ListeningPlan(interval: mode.interval, window: mode.window, from: now)
    }

    mutating func disable() {
        isEnabled = false
        end = nil
    }

    /// When it listens on this primary PHY; nil for never.
    func plan(on phy: UInt8) -> ListeningPlan? { phy == PHY.leCoded ? planCoded : plan1M }

    func isActive(on phy: UInt8) -> Bool {
        (phy == PHY.leCoded ? leCoded : le1M)?.isActive ?? false
    }

    /// Whether a report of this is still owed to the host.
    mutating func admits(_ key: DuplicateKey, at now: Instant) -> Bool {
        guard filtersDuplicates else { return true }
        if filterPeriod > 0 {
            let turn = (now - filterBeginning).microseconds / filterPeriod
            if turn != filterTurn { reported.removeAll() }
            filterTurn = turn
        }
        if reported.count >= Capabilities.duplicatesMax { reported.removeAll() }
        return reported.insert(key).inserted
    }
}

/// A connection that the host has asked for and that waits for its advertiser.
struct Initiator {
    var plan1M: ListeningPlan?
    var planCoded: ListeningPlan?
    /// Nil: any advertiser in the filter accept list.
    var peer: AirAddress?
    var ownAddressType: AddressType
    /// Of a connection on the LE 1M, 2M and Coded PHY, as far as the host gave them.
    var parameters: [LinkParameters?]

    /// When it listens on this primary PHY; nil for never.
    func plan(on phy: UInt8) -> ListeningPlan? { phy == PHY.leCoded ? planCoded : plan1M }

    /// Those of this PHY, or the first ones.
    func parameters(on phy: UInt8) -> LinkParameters? {
        if parameters.indices.contains(Int(phy) - 1), let own = parameters[Int(phy) - 1] {
            return own
        }
        for other in parameters { if let other { return other } }
        return nil
    }
}
