// The AD types: what an AD structure's first octet says about the rest.
public import Wire

/// The type of an AD structure (Assigned Numbers, 2.3).
public struct ADType: OpenCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let flags = ADType(rawValue: 0x01)
    public static let incompleteServiceUUIDs16 = ADType(rawValue: 0x02)
    public static let completeServiceUUIDs16 = ADType(rawValue: 0x03)
    public static let incompleteServiceUUIDs32 = ADType(rawValue: 0x04)
    public static let completeServiceUUIDs32 = ADType(rawValue: 0x05)
    public static let incompleteServiceUUIDs128 = ADType(rawValue: 0x06)
    public static let completeServiceUUIDs128 = ADType(rawValue: 0x07)
    public static let shortenedLocalName = ADType(rawValue: 0x08)
    public static let completeLocalName = ADType(rawValue: 0x09)
    public static let txPowerLevel = ADType(rawValue: 0x0A)
    public static let peripheralConnectionIntervalRange = ADType(rawValue: 0x12)
    public static let serviceData16 = ADType(rawValue: 0x16)
    public static let appearance = ADType(rawValue: 0x19)
    public static let serviceData32 = ADType(rawValue: 0x20)
    public static let serviceData128 = ADType(rawValue: 0x21)
    public static let manufacturerSpecificData = ADType(rawValue: 0xFF)
}

extension ADType: CustomStringConvertible {
    /// The assigned name in lower case, or `AD type 0x2F`.
    public var description: String {
        switch rawValue {
        case 0x01: "flags"
        case 0x02: "incomplete 16-bit services"
        case 0x03: "16-bit services"
        case 0x04: "incomplete 32-bit services"
        case 0x05: "32-bit services"
        case 0x06: "incomplete 128-bit services"
        case 0x07: "128-bit services"
        case 0x08: "shortened local name"
        case 0x09: "complete local name"
        case 0x0A: "tx power"
        case 0x0D: "class of device"
        case 0x10: "device id"
        case 0x11: "security manager out of band flags"
        case 0x12: "peripheral connection interval range"
        case 0x14: "16-bit service solicitation"
        case 0x15: "128-bit service solicitation"
        case 0x16, 0x20, 0x21: "service data"
        case 0x17: "public target address"
        case 0x18: "random target address"
        case 0x19: "appearance"
        case 0x1A: "advertising interval"
        case 0x1B: "device address"
        case 0x1C: "le role"
        case 0x1F: "32-bit service solicitation"
        case 0x24: "uri"
        case 0x27: "le supported features"
        case 0x29: "pb-adv"
        case 0x2A: "mesh message"
        case 0x2B: "mesh beacon"
        case 0x2C: "big info"
        case 0x2D: "broadcast code"
        case 0x2E: "resolvable set identifier"
        case 0x30: "broadcast name"
        case 0x31: "encrypted advertising data"
        case 0xFF: "manufacturer"
        default: "AD type \(Hex.code(rawValue))"
        }
    }
}
