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

    /// - Parameters: steps of 0.625 ms, as HCI has them.
    init(interval: UInt16, window: UInt16, from beginning: Instant) {
        self.interval = Int64(max(interval, 1)) * AdvertisingInterval.stepMicroseconds
        self.window = Int64(window) * AdvertisingInterval.stepMicroseconds
        self.beginning = beginning
    }

    /// Whether a PDU on advertising channel 0, 1 or 2 falls wholly into one window on that channel.
    func hears(channel: Int, from start: Instant, to end: Instant) -> Bool {
        let elapsed = (start - beginning).microseconds
        guard elapsed >= 0 else { return false }
        let (turn, offset) = elapsed.quotientAndRemainder(dividingBy: interval)
        guard turn % Int64(Radio.advertisingChannels) == Int64(channel) else { return false }
        return offset + (end - start).microseconds <= window
    }
}

/// One controller's scanner.
struct Scanner {
    var isActive = false
    /// Steps of 0.625 ms.
    var interval: UInt16 = 0x0010
    var window: UInt16 = 0x0010
    var ownAddressType = AddressType.publicDevice
    /// 1: only advertisers in the filter accept list.
    var filterPolicy: UInt8 = 0

    private(set) var isEnabled = false
    private(set) var plan = ListeningPlan(interval: 1, window: 0, from: .zero)
    private var filtersDuplicates = false
    /// Addresses with their type and kind of report, reported since scanning began.
    private var reported: Set<UInt64> = []

    mutating func enable(filtersDuplicates: Bool, at now: Instant) {
        if !isEnabled { plan = ListeningPlan(interval: interval, window: window, from: now) }
        isEnabled = true
        self.filtersDuplicates = filtersDuplicates
        reported.removeAll()
    }

    mutating func disable() { isEnabled = false }

    /// Whether a report from this advertiser is still owed to the host. Data is not looked at
    /// (Core 6.0, Vol 6, Part B, 4.4.3.5).
    mutating func admits(_ advertiser: AirAddress, report: UInt8) -> Bool {
        guard filtersDuplicates else { return true }
        if reported.count >= Capabilities.duplicatesMax { reported.removeAll() }
        let key = UInt64(report) << 56 | (advertiser.isRandom ? 1 << 48 : 0)
        return reported.insert(key | advertiser.address.littleEndian).inserted
    }
}

/// A connection that the host has asked for and that waits for its advertiser.
struct Initiator {
    var plan: ListeningPlan
    /// Nil: any advertiser in the filter accept list.
    var peer: AirAddress?
    var ownAddressType: AddressType
    var parameters: LinkParameters
}
