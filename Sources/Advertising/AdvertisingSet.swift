// What one advertising set says and how often, as the profile declares it.
public import HCI
public import SansIO

/// Who may answer an advertisement (Core 6.0, Vol 4, Part E, 7.8.5).
public enum AdvertisingKind: Equatable, Sendable { case connectable, scannable, nonConnectable }

/// One advertising set: what is sent and when.
public struct AdvertisingSet: Equatable, Sendable {
    /// The set's name in the profile, for messages; `main` where the profile gives none.
    public var name: String
    public var kind: AdvertisingKind
    public var policy: IntervalPolicy
    public var data: [AdvertisingStructure]
    public var scanResponse: [AdvertisingStructure]

    public init(
        name: String = "main", kind: AdvertisingKind, policy: IntervalPolicy,
        data: [AdvertisingStructure], scanResponse: [AdvertisingStructure] = []
    ) {
        self.name = name
        self.kind = kind
        self.policy = policy
        self.data = data
        self.scanResponse = scanResponse
    }
}

/// How the advertising interval is chosen.
public enum IntervalPolicy: Equatable, Sendable {
    case fixed(AdvertisingInterval)
    /// Two levels: `active` while the activity detector says active, else `idle`.
    case activity(active: AdvertisingInterval, idle: AdvertisingInterval)
}

/// An activity signal from a recorded trace, and the two-level detector's rule.
///
/// The accessory starts idle, is active from the first value above `activeAbove`, and idle again
/// when all values of the last `hold` were below `idleBelow`. A sample's value holds until the next
/// one, the last to the end.
public struct ActivityRule: Equatable, Sendable {
    /// One row of the trace: the time from power-on, and the acceleration in g without gravity.
    public struct Sample: Equatable, Sendable {
        public var time: TimeSpan
        public var value: Double
        public init(time: TimeSpan, value: Double) {
            self.time = time
            self.value = value
        }
    }

    /// Rising in time.
    public var samples: [Sample]
    /// In g.
    public var activeAbove: Double
    /// In g.
    public var idleBelow: Double
    public var hold: TimeSpan

    public init(samples: [Sample], activeAbove: Double, idleBelow: Double, hold: TimeSpan) {
        self.samples = samples
        self.activeAbove = activeAbove
        self.idleBelow = idleBelow
        self.hold = hold
    }
}
