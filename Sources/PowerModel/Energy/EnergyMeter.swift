// Adds up what a run costs, by cause: counts while it runs, charges at its end.
public import SansIO

/// A stretch of a run in which one kind of advertising event was sent, or none.
public struct EnergySegment: Equatable, Sendable {
    public var time: TimeSpan
    /// nil where nothing was advertised.
    public var event: AdvertisingEvent?
    /// How many of them.
    public var events: Int64
    public var scanResponses: Int64
    /// Octets of scan response data.
    public var scanResponseData: Int
    public var connectionEvents: Int64
    /// Octets of attribute data and the like that the connection events sent, and received.
    public var sent: Int64
    public var received: Int64

    public init(
        time: TimeSpan, event: AdvertisingEvent? = nil, events: Int64 = 0,
        scanResponses: Int64 = 0, scanResponseData: Int = 0, connectionEvents: Int64 = 0,
        sent: Int64 = 0, received: Int64 = 0
    ) {
        self.time = time
        self.event = event
        self.events = events
        self.scanResponses = scanResponses
        self.scanResponseData = scanResponseData
        self.connectionEvents = connectionEvents
        self.sent = sent
        self.received = received
    }
}

/// The sums of a run's segments. They are whole numbers, so that parts of a run add up to the same
/// in any order, and a segment costs the same for one event and for a million.
public struct EnergyMeter: Equatable, Sendable {
    public private(set) var time = TimeSpan.zero
    /// How often each kind of event was sent: a handful of kinds a run.
    public private(set) var events: [(event: AdvertisingEvent, count: Int64)] = []
    public private(set) var scanResponses: [(data: Int, count: Int64)] = []
    public private(set) var connectionEvents: Int64 = 0
    public private(set) var sent: Int64 = 0
    public private(set) var received: Int64 = 0

    public init() {}

    public mutating func add(_ segment: EnergySegment) {
        time = time + segment.time
        if let event = segment.event { add(event, segment.events) }
        addResponses(segment.scanResponseData, segment.scanResponses)
        connectionEvents = saturated(connectionEvents, segment.connectionEvents)
        sent = saturated(sent, segment.sent)
        received = saturated(received, segment.received)
    }

    /// Adds another part of the same run.
    public mutating func add(_ other: EnergyMeter) {
        time = time + other.time
        for (event, count) in other.events { add(event, count) }
        for (data, count) in other.scanResponses { addResponses(data, count) }
        connectionEvents = saturated(connectionEvents, other.connectionEvents)
        sent = saturated(sent, other.sent)
        received = saturated(received, other.received)
    }

    private mutating func add(_ event: AdvertisingEvent, _ count: Int64) {
        guard count > 0 else { return }
        guard let index = events.firstIndex(where: { $0.event == event }) else {
            return events.append((event, count))
        }
        events[index].count = saturated(events[index].count, count)
    }

    private mutating func addResponses(_ data: Int, _ count: Int64) {
        guard count > 0 else { return }
        guard let index = scanResponses.firstIndex(where: { $0.data == data }) else {
            return scanResponses.append((data, count))
        }
        scanResponses[index].count = saturated(scanResponses[index].count, count)
    }

    private func saturated(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }

    public static func == (left: EnergyMeter, right: EnergyMeter) -> Bool {
        left.time == right.time && left.connectionEvents == right.connectionEvents
            && left.sent == right.sent && left.received == right.received
            && left.events.count == right.events.count
            && left.scanResponses.count == right.scanResponses.count
            && left.events.allSatisfy { one in
                right.events.contains { $0.event == one.event && $0.count == one.count }
            }
            && left.scanResponses.allSatisfy { one in
                right.scanResponses.contains { $0.data == one.data && $0.count == one.count }
            }
    }
}

/// Where charge goes.
public enum EnergyCause: Hashable, Sendable {
    case sleep
    /// A phase of advertising events.
    case advertising(RadioPhase)
    case scanResponses
    case connections
    case sensor(String)
    /// The battery's own loss.
    case selfDischarge

    /// For people.
    public var name: String {
        switch self {
        case .sleep: "sleep"
        case .advertising(let phase): "advertising: \(phase.rawValue)"
        case .scanResponses: "scan responses"
        case .connections: "connections"
        case .sensor(let name): "sensor \(name)"
        case .selfDischarge: "self-discharge"
        }
    }
}

/// The mean currents of a run by cause, and what a battery makes of them.
public struct EnergyReport: Equatable, Sendable {
    public struct Share: Equatable, Sendable {
        public var cause: EnergyCause
        /// Mean microamperes.
        public var current: Double
    }

    /// In the order of `EnergyCause`, without causes that take nothing.
    public var shares: [Share]
    /// Mean microamperes that the device draws, without the battery's own loss.
    public var current: Double
    /// Years, as a band.
    public var life: ClosedRange<Double>
    /// The share of the battery's capacity that can be used.
    public var usable: ClosedRange<Double>
    /// Whether the upper end is the battery's shelf life.
    public var isLimitedByShelfLife: Bool
    /// Whether the battery cannot feed the largest pulse even when it is new.
    public var isTooWeak: Bool { usable.upperBound <= 0 }
}

extension EnergyMeter {
    /// What the run costs on this radio, with these sensors and this battery.
    public func report(
        radio: Radio, sensors: [SensorCurrent] = [], battery: Battery
    ) -> EnergyReport {
        let microseconds = Double(max(time.microseconds, 1))
        var awake = 0.0
        var phases = [Double](repeating: 0, count: RadioPhase.allCases.count)
        for (event, count) in events {
            let cost = radio.cost(of: event)
            awake += cost.time * Double(count)
            for phase in RadioPhase.allCases {
                phases[phase.number] += cost.charges[phase.number] * Double(count)
            }
        }
        var responses = 0.0
        for (data, count) in scanResponses {
            let cost = radio.costOfScanResponse(data: data)
            awake += cost.time * Double(count)
            responses += cost.charge * Double(count)
        }
        let connections = connectionCost(radio)
        awake += connections.time
        // Microcoulombs over microseconds are amperes.
        func current(_ charge: Double) -> Double { charge / microseconds * 1e6 }
        let asleep = max(0, 1 - awake / microseconds)
        var shares = [EnergyReport.Share(cause: .sleep, current: radio.chip.sleep * asleep)]
        for phase in RadioPhase.allCases {
            shares.append(.init(cause: .advertising(phase), current: current(phases[phase.number])))
        }
        shares.append(.init(cause: .scanResponses, current: current(responses)))
        shares.append(.init(cause: .connections, current: current(connections.charge)))
        for sensor in sensors {
            shares.append(.init(cause: .sensor(sensor.name), current: sensor.current))
        }
        let total = shares.reduce(0) { $0 + $1.current }
        shares.append(.init(cause: .selfDischarge, current: battery.selfDischargeCurrent))
        let usable = battery.usable(
            peak: radio.peakCurrent(at: battery.endVoltage), minimum: radio.chip.supply.lowerBound)
        let life = battery.life(current: total, usable: usable)
        return EnergyReport(
            shares: shares.filter { $0.current > 0 }, current: total, life: life, usable: usable,
            isLimitedByShelfLife: life.upperBound >= battery.shelfLife)
    }

    /// Charge and time of all connection events; their data adds air time only.
    private func connectionCost(_ radio: Radio) -> (charge: Double, time: Double) {
        let empty = radio.costOfConnectionEvent()
        let sending = radio.costOfConnectionEvent(sent: 1)
        let receiving = radio.costOfConnectionEvent(received: 1)
        let events = Double(connectionEvents)
        return (
            events * empty.charge + Double(sent) * (sending.charge - empty.charge)
                + Double(received) * (receiving.charge - empty.charge),
            events * empty.time + Double(sent) * (sending.time - empty.time)
                + Double(received) * (receiving.time - empty.time)
        )
    }
}
