// The device's own code in virtual time, and what its controller put on the air.
import Advertising
public import Emulator
import HCI
public import PowerModel
public import Profiles
public import SansIO
import Simulation
import VirtualController

/// What a run of the device came to. All of it is from the air, not from what a policy intended.
public struct DeviceRecord: Equatable, Sendable {
    /// How long one interval was advertised, and how often.
    public struct Use: Equatable, Sendable {
        /// Whose: the name of one of several sets, or of a set and its train; nil of the only one.
        public var name: String?
        /// advInterval in microseconds; of a train its interval.
        public var interval: Int64
        public var time: TimeSpan
        public var events: Int64
    }

    /// A stretch of the first day.
    public struct Span: Equatable, Sendable {
        /// Since power-on.
        public var from: TimeSpan
        public var to: TimeSpan
        /// advInterval in microseconds; 0 for activity.
        public var interval: Int64
    }

    public var duration: TimeSpan
    public var meter = EnergyMeter()
    /// By set and interval.
    public var uses: [Use] = []
    /// Of the first set, which the policies are tried on.
    public var advertising = RecordedTimeline()
    /// The share of the run's windows that `advertising` keeps.
    public var keptShare = 1.0
    public var activeTime = TimeSpan.zero
    /// How often it became active.
    public var activations = 0
    /// The first day's intervals of the first set, and when it was active: at most `daySpansMax`
    /// of each.
    public var dayIntervals: [Span] = []
    public var dayActivity: [Span] = []

    public static let daySpansMax = 2_000
    static let day = TimeSpan.seconds(86_400)

    /// Of one PDU, in microseconds: the first that was advertised.
    public var airTime: Int64 = 376

    /// All advertising events.
    public var events: Int64 { uses.reduce(0) { $0 + $1.events } }
}

/// Runs a profile on the virtual controller, with nobody else on the air.
public struct DeviceRun {
    private var world: World
    private let duration: TimeSpan
    private var record: DeviceRecord
    private var recorder: TimelineRecorder
    /// The names of several sets; none where there is one.
    private let names: [String]
    /// What each set and each set's train came to, in this order.
    private var uses: [[DeviceRecord.Use]]
    private var activeSince: Instant?
    private var isActive: Bool { activeSince != nil }

    /// - Parameters:
    ///   - profile: without live sources.
    ///   - duration: above 0.
    public init(_ profile: DeviceProfile, seed: UInt64, duration: TimeSpan) {
        self.init(EmulatedDevice(profile: profile, seed: seed), seed: seed, duration: duration)
    }

    /// Runs a device that has not been powered on.
    public init(_ device: EmulatedDevice, seed: UInt64, duration: TimeSpan) {
        world = World(port: DevicePort(device: device), seed: seed, timing: .radio)
        self.duration = max(duration, .microseconds(1))
        record = DeviceRecord(duration: self.duration)
        let sets = device.profile.advertising
        recorder = TimelineRecorder(
            duration: self.duration.microseconds, repeats: sets.first?.period != nil)
        names = sets.count > 1 || sets.contains { $0.periodic != nil } ? sets.map(\.name) : []
        uses = [[DeviceRecord.Use]](repeating: [], count: 2 * max(sets.count, 1))
    }

    /// From power-on at midnight to the end.
    public mutating func run() -> DeviceRecord {
        run { _, _ in }
    }

    /// The same; after each step `meddle` may do something to the device.
    mutating func run(_ meddle: (inout World, Instant) -> Void) -> DeviceRecord {
        let end = Instant.zero + duration
        world.recordAdvertising()
        world.setTimeOfDay(.zero, at: .zero)
        world.powerOn(at: .zero)
        meddle(&world, .zero)
        note()
        while let deadline = world.deadline, deadline < end {
            world.run(at: deadline)
            meddle(&world, deadline)
            note()
        }
        world.closeAdvertised(at: end)
        note()
        becomeIdle(at: end)
        record.meter.add(EnergySegment(time: duration))
        record.uses = uses.flatMap { $0.sorted { $0.interval < $1.interval } }
        record.advertising = recorder.recorded
        record.keptShare = recorder.share
        record.airTime = record.advertising.timeline.firstAirTime ?? record.airTime
        return record
    }

    private mutating func note() {
        for event in world.events.elements {
            guard case .device(.activity(.changed(let change)), _) = event else { continue }
            if change.state == .active {
                becomeActive(at: change.at)
            } else {
                becomeIdle(at: change.at)
            }
        }
        world.events.removeAll()
        guard world.hasAdvertised else { return }
        for stretch in world.takeAdvertised() { add(stretch) }
    }

    private mutating func becomeActive(at now: Instant) {
        guard !isActive else { return }
        activeSince = now
        record.activations += 1
        recorder.appendBecameActive(at: now.microseconds)
    }

    private mutating func becomeIdle(at now: Instant) {
        guard let since = activeSince else { return }
        activeSince = nil
        record.activeTime = record.activeTime + (now - since)
        recorder.appendActive(from: since.microseconds, to: now.microseconds)
        Self.add(since, now, 0, to: &record.dayActivity)
    }

    private mutating func add(_ stretch: AdvertisedStretch) {
        // Begun and ended within one step: nothing of it was on the air.
        guard stretch.end > stretch.begin || stretch.events > 0 else { return }
        record.meter.add(
            EnergySegment(time: .zero, event: stretch.event, events: Int64(stretch.events)))
        count(stretch)
        // On the one advertiser of the legacy commands nobody knows whose they are.
        guard stretch.handle ?? 0 == 0, !stretch.isTrain else { return }
        recorder.append(
            start: stretch.firstEvent.microseconds, end: stretch.end.microseconds,
            interval: stretch.interval, airTime: stretch.primaryTime)
        Self.add(stretch.begin, stretch.end, stretch.interval, to: &record.dayIntervals)
    }

    private mutating func count(_ stretch: AdvertisedStretch) {
        let set = Int(stretch.handle ?? 0)
        let place = 2 * set + (stretch.isTrain ? 1 : 0)
        guard uses.indices.contains(place) else { return }
        let interval = stretch.interval
        let index =
            uses[place].firstIndex { $0.interval == interval } ?? uses[place].count
        if index == uses[place].count {
            let name = names.isEmpty ? nil : names[set] + (stretch.isTrain ? ", train" : "")
            uses[place].append(.init(name: name, interval: interval, time: .zero, events: 0))
        }
        uses[place][index].time = uses[place][index].time + (stretch.end - stretch.begin)
        uses[place][index].events += Int64(stretch.events)
    }

    /// Adds what lies in the first day; as long as the interval stays it is one span.
    private static func add(
        _ from: Instant, _ to: Instant, _ interval: Int64, to spans: inout [DeviceRecord.Span]
    ) {
        let (from, to) = (from - Instant.zero, min(to - Instant.zero, DeviceRecord.day))
        guard from < to else { return }
        if let last = spans.last, last.to == from, last.interval == interval {
            spans[spans.count - 1].to = to
        } else if spans.count < DeviceRecord.daySpansMax {
            spans.append(.init(from: from, to: to, interval: interval))
        }
    }
}

extension AdvertisedStretch {
    /// One of its events, as it was on the air.
    fileprivate var event: AdvertisingEvent {
        let listens = isConnectable || isScannable
        guard !isLegacy else {
            // TargetA stands in place of the data (Core 6.0, Vol 6, Part B, 2.3.1.2).
            let data = isDirected ? 6 : dataOctets
            return .legacy(data: data, listens: listens, channels: channels)
        }
        let pdus = AuxiliaryPDUs(count: auxiliaries, airTime: .microseconds(auxiliaryTime))
        guard !isTrain else { return .periodic(pdus) }
        return .extended(
            listens: listens, primary: primaryPHY == 3 ? .codedS8 : .le1M, auxiliary: pdus,
            channels: channels)
    }
}
