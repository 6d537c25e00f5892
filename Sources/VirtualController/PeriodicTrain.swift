// Periodic advertising of one set: its parameters, its data and when they are on the air.
import HCI
import SansIO
import Wire

/// A set's periodic advertising train (Core 6.0, Vol 6, Part B, 4.4.2.12).
struct PeriodicTrain {
    /// In steps of 1.25 ms; 0 until the host has set it.
    var interval: UInt16 = 0
    var includesTxPower = false
    var data: [UInt8] = []
    /// Whether fragments of the data are still to come.
    var isPartial = false
    /// Advertising DID: another one for other data.
    var did: UInt16 = 0
    /// Whether the host wants it, and with the ADI field.
    var isEnabled = false
    var includesADI = false
    /// Ports of controllers that follow it.
    var followers = PortSet()
    /// The start of an AUX_SYNC_IND, from which the others are counted; nil until the set has been
    /// enabled.
    private(set) var anchor: Instant?

    var isRunning: Bool { anchor != nil }
    var period: TimeSpan {
        .microseconds(Int64(interval) * ConnectionInterval.stepMicroseconds)
    }

    /// The first AUX_SYNC_IND is one interval away.
    mutating func begin(at now: Instant) { anchor = now + period }

    mutating func end() {
        anchor = nil
        followers.removeAll()
    }

    /// AUX_SYNC_IND and what follows it.
    func segment(on phy: UInt8) -> AuxiliarySegment {
        let header = 1 + (includesTxPower || includesADI ? 1 : 0)
        return AuxiliarySegment(
            headerOctets: header + (includesTxPower ? 1 : 0) + (includesADI ? 2 : 0),
            dataOctets: data.count, phy: phy)
    }

    /// How many AUX_SYNC_INDs have begun since the train did.
    func events(until now: Instant) -> Int {
        guard let anchor, period > .zero, now >= anchor else { return 0 }
        return Int((now - anchor).microseconds / period.microseconds) + 1
    }

    /// Whether the data are on the air before the next ones begin.
    func fits(on phy: UInt8) -> Bool { segment(on: phy).airTime <= period.microseconds }

    /// When the PDUs that end next, later than `now`, end.
    func nextEnd(after now: Instant, on phy: UInt8) -> Instant? {
        guard let anchor, period > .zero else { return nil }
        let first = anchor + .microseconds(segment(on: phy).airTime)
        let elapsed = (now - first).microseconds
        guard elapsed >= 0 else { return first }
        return first + period * (elapsed / period.microseconds + 1)
    }
}

/// What one controller's host wants to be synchronized to.
struct SyncRequest {
    /// Nil: any of the periodic advertiser list.
    var advertiser: PeriodicAdvertiser?
    var skip: UInt16
    var timeout: TimeSpan
    var isReporting: Bool
    var filtersDuplicates: Bool
}

/// Who sends a train: an entry of the periodic advertiser list.
struct PeriodicAdvertiser: Equatable {
    var identity: AirAddress
    var sid: UInt8
}

/// A train that one controller follows.
struct Sync {
    let handle: SyncHandle
    let advertiser: PeriodicAdvertiser
    /// The set in the air's table; nil once its train has ended.
    var set: Int?
    let request: SyncRequest
    let period: TimeSpan
    var isReporting: Bool
    var filtersDuplicates: Bool
    /// Whether the host has been told.
    var isEstablished = false
    /// Events since the last one that was listened to.
    var skipped: UInt16 = 0
    var missed = 0
    var lastHeard: Instant
    var lastDID: UInt16?

    /// Six events without one that is received (Core 6.0, Vol 6, Part B, 4.4.5.1).
    static let attempts = 6

    /// When a train that has ended is missed for too long.
    var end: Instant {
        lastHeard + (isEstablished ? request.timeout : period * Int64(Self.attempts))
    }
}
