// The AD structures a profile can put into advertising data and scan response.
public import Wire

/// Flags (Core Specification Supplement, Part A, 1.3).
public struct AdvertisingFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let limitedDiscoverable = AdvertisingFlags(rawValue: 0x01)
    public static let generalDiscoverable = AdvertisingFlags(rawValue: 0x02)
    public static let noBREDR = AdvertisingFlags(rawValue: 0x04)
}

/// One entry of the profile's `data:` or `scan-response:` list.
///
/// An entry can make several AD structures: UUIDs of different widths, or a beacon with its flags.
public enum AdvertisingStructure: Equatable, Sendable {
    case flags(AdvertisingFlags)
    /// Service UUIDs, grouped by width on the wire, in the order given within a width.
    case serviceUUIDs([BluetoothUUID], complete: Bool)
    /// The local name; a shortened one is already cut.
    case name(String, complete: Bool)
    /// In dBm.
    case txPower(Int8)
    case appearance(UInt16)
    case manufacturer(company: UInt16, data: [UInt8])
    case serviceData(BluetoothUUID, data: [UInt8])
    /// A beacon or data format, with the structures that it needs before its own.
    case beacon(Beacon)
    /// Any AD type with its bytes.
    case raw(type: UInt8, data: [UInt8])
}

extension AdvertisingStructure {
    /// The beacon that it is; setting it on another entry does nothing.
    public var beacon: Beacon? {
        get { if case .beacon(let beacon) = self { beacon } else { nil } }
        set { if case .beacon = self, let newValue { self = .beacon(newValue) } }
    }

    /// The octets of `manufacturer`, `serviceData` and `raw` behind company, UUID or type; the
    /// other entries have none, and setting them does nothing.
    public var payload: [UInt8] {
        get {
            switch self {
            case .manufacturer(_, let data), .serviceData(_, let data), .raw(_, let data): data
            case .flags, .serviceUUIDs, .name, .txPower, .appearance, .beacon: []
            }
        }
        set {
            switch self {
            case .manufacturer(let company, _):
                self = .manufacturer(company: company, data: newValue)
            case .serviceData(let uuid, _): self = .serviceData(uuid, data: newValue)
            case .raw(let type, _): self = .raw(type: type, data: newValue)
            case .flags, .serviceUUIDs, .name, .txPower, .appearance, .beacon: break
            }
        }
    }
}
