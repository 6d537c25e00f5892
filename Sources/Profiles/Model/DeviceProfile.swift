// A profile after loading: plain, checked values that say what the accessory is.
public import Advertising
public import GATT
public import HCI
public import SMP
public import SansIO
public import Wire

/// One accessory, as its profile declares it. Every value has been checked.
public struct DeviceProfile: Equatable, Sendable {
    /// The profile's path as it was given, for messages.
    public var file: String
    public var device: DeviceSpec
    public var server = ServerSpec()
    /// How it pairs; nil where nobody can.
    public var security: SecurityConfiguration?
    /// What the device feels; nil where the profile has no `activity:`.
    public var activity: ActivityRule?
    /// The advertising sets, in the profile's order; empty where it has none.
    public var advertising: [AdvertisingSet] = []
    /// What is taken anew in the data of the sets.
    public var liveFields: [LiveField] = []
    /// Which advice the profile does not want.
    public var lint = LintSpec()
    /// The services in the profile's order, without those that are added automatically.
    public var services: [ServiceSpec] = []

    /// Values from outside that take the place of the profile's at power-on.
    public var presets: [ValueSetting] = []

    /// Whether there is anything to keep over a restart: bonds, or values that persist.
    public var asksForState: Bool {
        security.map { $0.policy != .refused && $0.bonding } == true
            || services.contains { $0.characteristics.contains(where: \.persists) }
    }

    public init(file: String, device: DeviceSpec) {
        self.file = file
        self.device = device
    }
}

/// The profile's `device:` part.
public struct DeviceSpec: Equatable, Sendable {
    /// At most 248 octets of UTF-8 (Core 6.0, Vol 3, Part C, 12.1).
    public var name: String
    /// The appearance's assigned number; 0 is unknown.
    public var appearance: UInt16 = 0
    public var address: AddressSpec = .randomStatic(nil)
    /// How many centrals may be connected at once, from 1; advertising stops at the limit.
    public var connections = 1
    /// What the device asks for after connecting; nil where it asks for nothing.
    public var connection: ConnectionRequest?

    public init(name: String) { self.name = name }
}

/// Which address the device uses.
public enum AddressSpec: Equatable, Sendable {
    /// A random static address: the one given, or nil for one made of the run's seed.
    case randomStatic(DeviceAddress?)
    /// The controller's own public address.
    case publicDevice
    /// Private addresses that bonded centrals resolve, one after the other. The identity behind
    /// them is a random static address, as above.
    case resolvablePrivate(identity: DeviceAddress?, renewal: TimeSpan)
    /// Private addresses that nobody resolves.
    case nonResolvablePrivate(renewal: TimeSpan)

    /// Whether the device goes by one address after the other.
    public var isPrivate: Bool {
        switch self {
        case .randomStatic, .publicDevice: false
        case .resolvablePrivate, .nonResolvablePrivate: true
        }
    }

    /// TGAP(private_addr_int) (Core 6.0, Vol 3, Part C, Appendix A).
    public static let usualRenewal = TimeSpan.seconds(900)
}

/// Connection parameters that a peripheral asks for (Core 6.0, Vol 3, Part A, 4.20).
public struct ConnectionRequest: Equatable, Sendable {
    /// 7.5 ms to 4 s, in steps of 1.25 ms; at most `maximum`.
    public var minimum: ConnectionInterval
    public var maximum: ConnectionInterval
    /// Connection events that the peripheral may skip, 0 to 499.
    public var latency: UInt16
    /// Supervision timeout, 100 ms to 32 s.
    public var timeout: TimeSpan

    public init(
        minimum: ConnectionInterval, maximum: ConnectionInterval, latency: UInt16, timeout: TimeSpan
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.latency = latency
        self.timeout = timeout
    }
}

/// The profile's `server:` part.
public struct ServerSpec: Equatable, Sendable {
    public var settings = ServerSettings()
    /// Whether the GAP and GATT services are added where the profile does not bring its own.
    public var hasImplicitServices = true

    public init() {}
}
