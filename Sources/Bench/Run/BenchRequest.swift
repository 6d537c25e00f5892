// What a benchmark is asked for, and how long it searches where nobody said so.
public import PowerModel
public import Profiles
public import SansIO

/// When the scanner of a sample is started.
public enum StartRule: String, CaseIterable, Sendable {
    /// Any instant is as likely as any other.
    case anyTime = "any"
    /// Any instant at which the accessory is active.
    case whileActive = "active"
    /// The instant at which the accessory becomes active: somebody picks it up.
    case becomingActive = "pickup"

    /// For people.
    public var title: String {
        switch self {
        case .anyTime: "at any time"
        case .whileActive: "while active"
        case .becomingActive: "when picked up"
        }
    }

    func starts(_ recorded: RecordedTimeline) -> StartSpans {
        switch self {
        case .anyTime: recorded.anyTime
        case .whileActive: recorded.whileActive
        case .becomingActive: recorded.becomingActive
        }
    }
}

/// What a benchmark is about: one device, some policies, and who searches for it.
public struct BenchRequest: Sendable {
    /// Without live sources; a trace shorter than the duration repeats.
    public var profile: DeviceProfile
    /// One or more; a policy of the profile, or others in its place.
    public var policies: [NamedPolicy]
    public var scanners: [ScannerModel]
    public var radio: Radio
    public var battery: Battery
    public var sensors: [SensorCurrent]
    public var duration: TimeSpan
    /// Half the width of the confidence interval of 95 %, in parts of the figure.
    public var precision: Double
    public var reception: Reception
    public var seed: UInt64
    /// What holds and whether somebody said so, in the order of the report.
    public var settings: [Setting]

    /// One line of what holds.
    public struct Setting: Equatable, Sendable {
        public var name: String
        public var value: String
        public var isDefault: Bool

        public init(_ name: String, _ value: String, isDefault: Bool) {
            self.name = name
            self.value = value
            self.isDefault = isDefault
        }
    }

    public init(
        profile: DeviceProfile, policies: [NamedPolicy], scanners: [ScannerModel], radio: Radio,
        battery: Battery, sensors: [SensorCurrent] = [],
        duration: TimeSpan = BenchDefaults.duration,
        precision: Double = BenchDefaults.precision,
        reception: Reception = BenchDefaults.reception, seed: UInt64 = BenchDefaults.seed,
        settings: [Setting] = []
    ) {
        self.profile = profile
        self.policies = policies
        self.scanners = scanners
        self.radio = radio
        self.battery = battery
        self.sensors = sensors
        self.duration = duration
        self.precision = precision
        self.reception = reception
        self.seed = seed
        self.settings = settings
    }

    /// A policy's figures of one scanner are one cell, the part that is given out.
    public var cellCount: Int { policies.count * scanners.count }
}

/// What holds where nobody says otherwise; each is named in the report.
public enum BenchDefaults {
    public static let duration = TimeSpan.seconds(365 * 86_400)
    /// Of each policy where there are several.
    public static let sweepDuration = TimeSpan.seconds(30 * 86_400)
    public static let precision = 0.01
    public static let sweepPrecision = 0.03
    public static let seed: UInt64 = 1
    /// Nobody searches for more than an hour.
    public static let patience = TimeSpan.seconds(3_600)
    public static let crowdInterval = TimeSpan.microseconds(1_022_500)
    public static let reception = Reception(
        crowdInterval: crowdInterval.microseconds, patience: patience.microseconds)
}

/// Why a benchmark cannot be run, for people.
public struct BenchError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
