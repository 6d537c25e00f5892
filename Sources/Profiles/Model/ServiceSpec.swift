// Services, characteristics and descriptors, as the profile declares them.
public import Behaviours
public import GATT
public import SansIO
public import Wire

/// One service of the profile.
public struct ServiceSpec: Equatable, Sendable {
    public var uuid: BluetoothUUID
    public var characteristics: [CharacteristicSpec]

    public init(uuid: BluetoothUUID, characteristics: [CharacteristicSpec] = []) {
        self.uuid = uuid
        self.characteristics = characteristics
    }

    /// The assigned name where there is one, else the UUID.
    public var name: String { AssignedNames.service(uuid) ?? uuid.description }
}

/// One characteristic of a service.
public struct CharacteristicSpec: Equatable, Sendable {
    public var uuid: BluetoothUUID
    /// The profile's own name for it, which references use.
    public var label: String?
    /// What the profile does not say is refused; the properties follow from it.
    public var permissions = Permissions()
    public var format: ValueFormat
    public var value: ValueSource
    /// The time between two samples of a generated value; nil for a constant.
    public var update: TimeSpan?
    public var send: SendRule = .onUpdate
    /// The most octets the value may grow to.
    public var lengthMax: Int
    public var descriptors: [DescriptorSpec] = []

    public init(uuid: BluetoothUUID, format: ValueFormat, value: ValueSource, lengthMax: Int = 512)
    {
        self.uuid = uuid
        self.format = format
        self.value = value
        self.lengthMax = lengthMax
    }

    /// What the characteristic's declaration offers to clients.
    public var properties: CharacteristicProperties {
        var properties: CharacteristicProperties = []
        if permissions.read.level != .refused { properties.insert(.read) }
        if permissions.write.level != .refused { properties.insert(.write) }
        if permissions.writeCommand.level != .refused { properties.insert(.writeWithoutResponse) }
        if permissions.notify.level != .refused { properties.insert(.notify) }
        if permissions.indicate.level != .refused { properties.insert(.indicate) }
        return properties
    }

    /// The label, else the assigned name, else the UUID.
    public var name: String { label ?? AssignedNames.characteristic(uuid) ?? uuid.description }
}

/// A descriptor that the profile declares. The CCCD and extended properties are added by the plan.
public enum DescriptorSpec: Equatable, Sendable {
    case userDescription(String)
    case presentationFormat(PresentationFormat)
}

/// Characteristic Presentation Format (Core 6.0, Vol 3, Part G, 3.3.3.5).
public struct PresentationFormat: Equatable, Sendable {
    /// The assigned number of the format, such as 0x0E for sint16.
    public var format: UInt8
    /// The value is the integer times ten to this power.
    public var exponent: Int8
    /// The unit's assigned UUID; 0x2700 is unitless.
    public var unit: UInt16
    public var namespace: UInt8
    public var description: UInt16

    public init(
        format: UInt8, exponent: Int8, unit: UInt16, namespace: UInt8 = 1, description: UInt16 = 0
    ) {
        self.format = format
        self.exponent = exponent
        self.unit = unit
        self.namespace = namespace
        self.description = description
    }

    /// The descriptor's seven octets.
    public var bytes: [UInt8] {
        [
            format, UInt8(bitPattern: exponent),
            UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8), namespace,
            UInt8(truncatingIfNeeded: description), UInt8(truncatingIfNeeded: description >> 8),
        ]
    }
}
