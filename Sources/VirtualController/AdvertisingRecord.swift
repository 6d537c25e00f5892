// What one controller advertised on the air: stretches with their events, for who counts them.
public import SansIO

/// Advertising with the same parameters and as much data from one instant to another.
public struct AdvertisedStretch: Equatable, Sendable {
    /// The start of the first advertising event, which may be beyond the end.
    public var firstEvent: Instant
    /// When advertising ended or changed.
    public var end: Instant
    /// advInterval in microseconds, advDelay not included.
    public var interval: Int64
    public var isConnectable: Bool
    public var isScannable: Bool
    /// Octets of AdvData and of ScanRspData, 0 to 1,650.
    public var dataOctets: Int
    public var scanResponseOctets: Int
    /// Advertising events that were over by the end.
    public var events: Int
    /// The advertising handle; nil for the legacy commands.
    public var handle: UInt8?
    /// Whether the PDUs are legacy ones.
    public var isLegacy: Bool
    /// 1 LE 1M, 2 LE 2M, 3 LE Coded with S=8.
    public var primaryPHY: UInt8
    public var secondaryPHY: UInt8
}

/// Watches the advertisers of one port.
struct AdvertisingRecorder {
    /// A stretch that goes on, and the advertiser's count when it began.
    private struct Open {
        var set: Int
        var stretch: AdvertisedStretch
        var eventsBefore: Int
    }

    let port: Int
    private(set) var stretches: [AdvertisedStretch] = []
    private var open: [Open] = []

    init(port: Int) { self.port = port }

    mutating func begin(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        let stretch = AdvertisedStretch(
            firstEvent: advertiser.nextEvent(after: now), end: now, interval: advertiser.interval,
            isConnectable: advertiser.properties.isConnectable,
            isScannable: advertiser.properties.isScannable, dataOctets: advertiser.data.count,
            scanResponseOctets: advertiser.scanResponse.count, events: 0,
            handle: advertiser.handle, isLegacy: advertiser.properties.isLegacy,
            primaryPHY: advertiser.primaryPHY, secondaryPHY: advertiser.secondaryPHY)
        open.append(Open(set: set, stretch: stretch, eventsBefore: advertiser.events))
    }

    mutating func end(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        guard let index = open.firstIndex(where: { $0.set == set }) else { return }
        var ended = open.remove(at: index)
        ended.stretch.end = now
        ended.stretch.events = advertiser.events - ended.eventsBefore
        stretches.append(ended.stretch)
    }

    mutating func take() -> [AdvertisedStretch] {
        defer { stretches.removeAll(keepingCapacity: true) }
        return stretches
    }
}

extension Air {
    /// From now on keeps account of what the controller on `port` advertises.
    public mutating func recordAdvertising(of port: Int) {
        recorder = isPresent(port) ? AdvertisingRecorder(port: port) : nil
        guard isPresent(port) else { return }
        for set in controllers[port].sets where advertisers[set].isEnabled { beginStretch(set) }
    }

    /// What has been advertised and is over since the recording began or this was asked for last.
    public mutating func takeAdvertised() -> [AdvertisedStretch] { recorder?.take() ?? [] }

    /// Ends the stretches that are on the air; what follows are others.
    public mutating func closeAdvertised(at now: Instant) {
        expire(at: now)
        guard let port = recorder?.port, isPresent(port) else { return }
        for set in controllers[port].sets where advertisers[set].isEnabled {
            if listeners.isEmpty { skipUnheard(set) }
            endStretch(set)
            beginStretch(set)
        }
    }

    /// Whether stretches wait to be taken.
    public var hasAdvertised: Bool { recorder?.stretches.isEmpty == false }

    mutating func beginStretch(_ set: Int) {
        if recorder != nil, recorder?.port == advertisers[set].port {
            recorder?.begin(set, advertisers[set], at: clock)
        }
    }

    mutating func endStretch(_ set: Int) {
        if recorder != nil, recorder?.port == advertisers[set].port {
            recorder?.end(set, advertisers[set], at: clock)
        }
    }
}
