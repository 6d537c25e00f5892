// What a controller shall advertise in one advertising set.
public import Advertising
public import HCI
public import Wire

/// One advertising set: who may answer, what is sent, and how it is put on the air.
public struct AdvertisingPlan: Equatable, Sendable {
    /// Advertising_Type (Core 6.0, Vol 4, Part E, 7.8.5).
    public enum EventType: UInt8, Sendable {
        case connectable = 0x00
        case directedHighDuty = 0x01
        case scannable = 0x02
        case nonConnectable = 0x03
        case directedLowDuty = 0x04

        public var isConnectable: Bool {
            switch self {
            case .connectable, .directedHighDuty, .directedLowDuty: true
            case .scannable, .nonConnectable: false
            }
        }

        public var isDirected: Bool { self == .directedHighDuty || self == .directedLowDuty }
    }

    /// The set's name, for messages.
    public var name = "main"
    public var type: EventType
    public var ownAddressType: AddressType
    /// The set's own random address; nil where it goes by the device's.
    public var address: DeviceAddress?
    /// That it goes by private addresses of its own.
    public var privacy: AddressPrivacy?
    /// Up to 31 octets each with legacy PDUs, to the controller's maximum with extended ones.
    public var data: [UInt8]
    public var scanResponse: [UInt8]
    /// Whom directed advertising is for.
    public var peer = PeerAddress(DeviceAddress(), isRandom: false)
    public var pdu = AdvertisingPDU.legacy
    /// Advertising_SID, 0 to 15; of extended PDUs.
    public var sid: UInt8 = 0
    /// In dBm; nil where the controller chooses. The legacy commands cannot ask for it.
    public var txPower: Int8?
    /// Bit 0 is channel 37.
    public var channelMap: UInt8 = 0b111
    /// Whether scan requests are told.
    public var tellsScanRequests = false
    public var periodic: TrainPlan?
    /// What becomes of it on a controller that cannot do it as it is.
    public var fallback: AdvertisingFallback?

    public init(
        type: EventType, ownAddressType: AddressType, data: [UInt8], scanResponse: [UInt8]
    ) {
        self.type = type
        self.ownAddressType = ownAddressType
        self.data = data
        self.scanResponse = scanResponse
    }

    /// Whether scanners may ask for a scan response, fallbacks aside.
    public var isScannable: Bool { type == .scannable || type == .connectable && pdu == .legacy }

    /// Whether its random address is the device's.
    var goesByDevice: Bool { address == nil && privacy == nil }

    /// Whether the host must know more of the controller than one legacy set asks for.
    var asksForSets: Bool { pdu != .legacy || type.isDirected || tellsScanRequests }

    /// Whether all but what may change in one set of a controller is the same.
    func isSameSet(as other: AdvertisingPlan) -> Bool {
        guard (periodic == nil) == (other.periodic == nil) else { return false }
        var other = other
        (other.name, other.fallback) = (name, fallback)
        (other.data, other.scanResponse, other.periodic) = (data, scanResponse, periodic)
        return self == other
    }
}

/// A periodic advertising train beside a set.
public struct TrainPlan: Equatable, Sendable {
    /// In steps of 1.25 ms, from 6.
    public var interval: UInt16
    public var data: [UInt8]

    public init(interval: UInt16, data: [UInt8]) {
        self.interval = interval
        self.data = data
    }
}

/// A plan and the interval to begin with.
public struct AdvertisingSetup: Sendable {
    public var plan: AdvertisingPlan
    public var interval: AdvertisingInterval

    public init(plan: AdvertisingPlan, interval: AdvertisingInterval) {
        self.plan = plan
        self.interval = interval
    }
}
