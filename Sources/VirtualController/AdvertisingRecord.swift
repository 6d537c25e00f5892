// What one controller advertised on the air: stretches with their events, for who counts them.
public import SansIO

/// Advertising with the same parameters and as much data from one instant to another.
public struct AdvertisedStretch: Equatable, Sendable {
    /// When it was enabled or changed.
    public var begin: Instant
    /// The start of the first advertising event, which may be beyond the end.
    public var firstEvent: Instant
    /// When advertising ended or changed.
    public var end: Instant
    /// advInterval in microseconds, advDelay not included; of a train its interval.
    public var interval: Int64
    public var isConnectable: Bool
    public var isScannable: Bool
    /// Whether its PDUs name one central: legacy ones carry an address then and no data.
    public var isDirected = false
    /// Octets of AdvData and of ScanRspData, 0 to 1,650.
    public var dataOctets: Int
    public var scanResponseOctets: Int
    /// Advertising events that were over by the end; of a train those that had begun.
    public var events: Int
    /// The advertising handle; nil for the legacy commands.
    public var handle: UInt8?
    /// Whether the PDUs are legacy ones.
    public var isLegacy: Bool
    /// 1 LE 1M, 2 LE 2M, 3 LE Coded with S=8.
    public var primaryPHY: UInt8
    public var secondaryPHY: UInt8
    /// Whether it is the set's periodic advertising train.
    public var isTrain = false
    /// PDUs of an event on the primary channels; none of a train.
    public var channels: Int
    /// What one of them takes, in microseconds.
    public var primaryTime: Int64
    /// PDUs of an event on secondary channels, and what they take together.
    public var auxiliaries = 0
    public var auxiliaryTime: Int64 = 0
}

/// Watches the advertisers of one port.
struct AdvertisingRecorder {
    /// A stretch that goes on, and the advertiser's count when it began.
    private struct Open {
        var set: Int
        var isTrain: Bool { stretch.isTrain }
        var stretch: AdvertisedStretch
        var eventsBefore: Int
    }

    let port: Int
    private(set) var stretches: [AdvertisedStretch] = []
    private var open: [Open] = []

    init(port: Int) { self.port = port }

    mutating func begin(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        let properties = advertiser.properties
        var stretch = AdvertisedStretch(
            begin: now, firstEvent: advertiser.nextEvent(after: now), end: now,
            interval: advertiser.interval, isConnectable: properties.isConnectable,
            isScannable: properties.isScannable, isDirected: properties.isDirected,
            dataOctets: advertiser.data.count,
            scanResponseOctets: advertiser.scanResponse.count, events: 0,
            handle: advertiser.handle, isLegacy: properties.isLegacy,
            primaryPHY: advertiser.primaryPHY, secondaryPHY: advertiser.secondaryPHY,
            channels: advertiser.channelMap.nonzeroBitCount, primaryTime: advertiser.airTime)
        if !properties.isLegacy { stretch.has(advertiser.advertisement) }
        open.append(Open(set: set, stretch: stretch, eventsBefore: advertiser.events))
    }

    /// The train of a set has begun or changed.
    mutating func beginTrain(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        let train = advertiser.periodic
        let eventsBefore = train.events(until: now)
        let next = train.anchor.map { $0 + train.period * Int64(eventsBefore) }
        var stretch = AdvertisedStretch(
            begin: now, firstEvent: next ?? now, end: now, interval: train.period.microseconds,
            isConnectable: false, isScannable: false, dataOctets: train.data.count,
            scanResponseOctets: 0, events: 0, handle: advertiser.handle, isLegacy: false,
            primaryPHY: advertiser.primaryPHY, secondaryPHY: advertiser.secondaryPHY,
            isTrain: true, channels: 0, primaryTime: 0)
        stretch.has(train.segment(on: advertiser.secondaryPHY))
        open.append(Open(set: set, stretch: stretch, eventsBefore: eventsBefore))
    }

    mutating func end(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        end(set, isTrain: false, events: advertiser.events, at: now)
    }

    mutating func endTrain(_ set: Int, _ advertiser: Advertiser, at now: Instant) {
        end(set, isTrain: true, events: advertiser.periodic.events(until: now), at: now)
    }

    private mutating func end(_ set: Int, isTrain: Bool, events: Int, at now: Instant) {
        guard let index = open.firstIndex(where: { $0.set == set && $0.isTrain == isTrain }) else {
            return
        }
        var ended = open.remove(at: index)
        ended.stretch.end = now
        ended.stretch.events = events - ended.eventsBefore
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
        for set in controllers[port].sets {
            if advertisers[set].isEnabled { beginStretch(set) }
            beginTrainStretch(set)
        }
    }

    /// What has been advertised and is over since the recording began or this was asked for last.
    public mutating func takeAdvertised() -> [AdvertisedStretch] { recorder?.take() ?? [] }

    /// Ends the stretches that are on the air; what follows are others.
    public mutating func closeAdvertised(at now: Instant) {
        expire(at: now)
        guard let port = recorder?.port, isPresent(port) else { return }
        for set in controllers[port].sets {
            renewStretch(set)
            endTrainStretch(set)
            beginTrainStretch(set)
        }
    }

    /// Whether stretches wait to be taken.
    public var hasAdvertised: Bool { recorder?.stretches.isEmpty == false }

    /// Events until now have been as they were.
    mutating func renewStretch(_ set: Int) {
        guard isRecorded(set), advertisers[set].isEnabled else { return }
        if listeners.isEmpty { skipUnheard(set) }
        endStretch(set)
        beginStretch(set)
    }

    mutating func beginStretch(_ set: Int) {
        if isRecorded(set) { recorder?.begin(set, advertisers[set], at: clock) }
    }

    mutating func endStretch(_ set: Int) {
        if isRecorded(set) { recorder?.end(set, advertisers[set], at: clock) }
    }

    mutating func beginTrainStretch(_ set: Int) {
        guard isRecorded(set), advertisers[set].periodic.isRunning else { return }
        recorder?.beginTrain(set, advertisers[set], at: clock)
    }

    mutating func endTrainStretch(_ set: Int) {
        if isRecorded(set) { recorder?.endTrain(set, advertisers[set], at: clock) }
    }

    private func isRecorded(_ set: Int) -> Bool {
        recorder != nil && recorder?.port == advertisers[set].port
    }
}

extension AdvertisedStretch {
    fileprivate mutating func has(_ segment: AuxiliarySegment) {
        (auxiliaries, auxiliaryTime) = (segment.pduCount, segment.transmitTime)
    }
}
