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
    /// Octets of AdvData and of ScanRspData, 0 to 31.
    public var dataOctets: Int
    public var scanResponseOctets: Int
    /// Advertising events that were over by the end.
    public var events: Int
}

/// Watches the advertiser on one port.
struct AdvertisingRecorder {
    let port: Int
    private(set) var stretches: [AdvertisedStretch] = []
    private var open: AdvertisedStretch?
    /// The advertiser's count when the open stretch began.
    private var eventsBefore = 0

    init(port: Int) { self.port = port }

    mutating func begin(_ advertiser: Advertiser, at now: Instant) {
        eventsBefore = advertiser.events
        open = AdvertisedStretch(
            firstEvent: advertiser.nextEvent(after: now), end: now, interval: advertiser.interval,
            isConnectable: advertiser.type.isConnectable, isScannable: advertiser.type.isScannable,
            dataOctets: advertiser.data.count,
            scanResponseOctets: advertiser.scanResponse.count, events: 0)
    }

    mutating func end(_ advertiser: Advertiser, at now: Instant) {
        guard var stretch = open else { return }
        stretch.end = now
        stretch.events = advertiser.events - eventsBefore
        stretches.append(stretch)
        open = nil
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
        if isPresent(port), controllers[port].advertiser.isEnabled { beginStretch(port) }
    }

    /// What has been advertised and is over since the recording began or this was asked for last.
    public mutating func takeAdvertised() -> [AdvertisedStretch] { recorder?.take() ?? [] }

    /// Ends the stretch that is on the air; what follows is another one.
    public mutating func closeAdvertised(at now: Instant) {
        expire(at: now)
        guard let port = recorder?.port, controllers[port].advertiser.isEnabled else { return }
        if listeners.isEmpty { skipUnheard(port) }
        endStretch(port)
        beginStretch(port)
    }

    /// Whether stretches wait to be taken.
    public var hasAdvertised: Bool { recorder?.stretches.isEmpty == false }

    mutating func beginStretch(_ port: Int) {
        if recorder?.port == port { recorder?.begin(controllers[port].advertiser, at: clock) }
    }

    mutating func endStretch(_ port: Int) {
        if recorder?.port == port { recorder?.end(controllers[port].advertiser, at: clock) }
    }
}
