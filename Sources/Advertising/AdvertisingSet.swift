// What one advertising set says and how often, as the profile declares it.
public import HCI
public import SansIO
public import Wire

/// Who may answer an advertisement (Core 6.0, Vol 4, Part E, 7.8.5).
public enum AdvertisingKind: Equatable, Sendable {
    case connectable, scannable, nonConnectable
    /// For one central alone. High duty cycle lasts 1.28 s after power-on and after each
    /// disconnection; then low duty follows.
    case directed(PeerAddress, isHighDuty: Bool)

    public var isConnectable: Bool {
        switch self {
        case .connectable, .directed: true
        case .scannable, .nonConnectable: false
        }
    }

    /// The profile's word.
    public var word: String {
        switch self {
        case .connectable: "connectable"
        case .scannable: "scannable"
        case .nonConnectable: "non-connectable"
        case .directed(let peer, _): "directed to \(peer.address)"
        }
    }
}

/// A central's device address and its type.
public struct PeerAddress: Equatable, Sendable {
    public var address: DeviceAddress
    public var isRandom: Bool

    public init(_ address: DeviceAddress, isRandom: Bool) {
        self.address = address
        self.isRandom = isRandom
    }
}

/// The address that a set goes by.
public enum SetAddress: Equatable, Sendable {
    /// The device's own.
    case device
    /// A random static address: the one given, or nil for one made of the run's seed.
    case randomStatic(DeviceAddress?)
    /// The controller's public address.
    case publicDevice
    /// Private addresses of its own, one after the other; resolvable by the device's key.
    case privateAddress(isResolvable: Bool, renewal: TimeSpan)
}

/// The PDUs of an advertising set (Core 6.0, Vol 6, Part B, 2.3).
public enum AdvertisingPDU: Equatable, Sendable {
    /// What every scanner hears, up to 31 octets.
    case legacy
    case extended(ExtendedPDU)

    public var extended: ExtendedPDU? {
        switch self {
        case .legacy: nil
        case .extended(let pdu): pdu
        }
    }
}

/// Extended advertising PDUs: more data, on a PHY of choice.
public struct ExtendedPDU: Equatable, Sendable {
    /// LE 1M or LE Coded.
    public var primary: AdvertisingPHY = .le1M
    public var secondary: AdvertisingPHY = .le1M
    /// Whether the advertiser's address is left out.
    public var isAnonymous = false
    /// Whether the header tells the transmit power.
    public var includesTxPower = false

    public init() {}
}

/// Advertising that scanners follow by the clock, beside an extended set (Core 6.0, Vol 6, Part B,
/// 4.4.2.12).
public struct PeriodicTrain: Equatable, Sendable {
    /// In steps of 1.25 ms, from 6.
    public var interval: UInt16
    public var data: [AdvertisingStructure]

    public init(interval: UInt16, data: [AdvertisingStructure]) {
        self.interval = interval
        self.data = data
    }
}

/// What becomes of a set on a controller without what it asks for.
public enum AdvertisingFallback: Equatable, Sendable {
    /// It is sent in legacy PDUs, in turn with the other sets.
    case legacy
    /// It is left out.
    case skip
}

/// One advertising set: what is sent and when.
public struct AdvertisingSet: Equatable, Sendable {
    /// The set's name in the profile, for messages; `main` where the profile gives none.
    public var name: String
    public var kind: AdvertisingKind
    public var policy: IntervalPolicy
    public var data: [AdvertisingStructure]
    public var scanResponse: [AdvertisingStructure]
    /// The time between two takes of what is live in the data; nil where nothing is.
    public var update: TimeSpan?
    /// How long it is on the air; nil without end.
    public var duration: TimeSpan?
    /// From the begin of one such time to that of the next, longer than `duration`; nil: once after
    /// power-on, and of a set that centrals connect to after each disconnection.
    public var period: TimeSpan?
    public var address = SetAddress.device
    public var pdu = AdvertisingPDU.legacy
    /// Advertising_SID, 0 to 15; nil where the profile gives none.
    public var sid: UInt8?
    /// In dBm; nil where the controller chooses.
    public var txPower: Int8?
    /// Primary channels, 37 is bit 0.
    public var channelMap: UInt8 = 0b111
    public var periodic: PeriodicTrain?
    public var fallback: AdvertisingFallback?

    /// Sets of one profile: more than controllers have, fewer than the 240 handles.
    public static let countMax = 64
    /// Data of extended PDUs, whatever the controller (Core 6.0, Vol 4, Part E, 7.8.57).
    public static let extendedDataOctets = 1650
    /// Of a train whose data change while it is on: they come in one command (7.8.62).
    public static let liveTrainOctets = AdvertisingLimits.periodicFragmentOctetsMax
    /// A connectable set's PDU cannot be chained: 255 octets less the largest extended header that
    /// it may have, and its length (Core 6.0, Vol 6, Part B, 2.3.4).
    public static let connectableDataOctets = 238

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
