// Services, characteristics and descriptors, as the profile declares them.
public import Behaviours
public import GATT
public import SansIO
public import Wire

/// One service of the profile.
public struct ServiceSpec: Equatable, Sendable {
    /// Another service, by the text that names it: a label, an assigned name or a UUID.
    public struct Include: Equatable, Sendable {
        public var reference: String
        /// Of the include's declaration; nil for the next free one.
        public var handle: UInt16?

        public init(reference: String, handle: UInt16? = nil) {
            self.reference = reference
            self.handle = handle
        }
    }

    public var uuid: BluetoothUUID
    /// The profile's own name for it, which references use.
    public var label: String?
    public var isSecondary = false
    /// nil for the next free one.
    public var handle: UInt16?
    /// The last handle the service owns; nil for its last attribute's.
    public var end: UInt16?
    public var includes: [Include] = []
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
    /// Of the declaration; nil for the next free one.
    public var handle: UInt16?
    /// nil for the one behind the declaration.
    public var valueHandle: UInt16?
    /// What the profile does not say is refused; the properties follow from it.
    public var permissions = Permissions()
    /// What the declaration says where it differs from the permissions.
    public var statedProperties: CharacteristicProperties?
    /// Bits of Characteristic Extended Properties; nil where the profile says none.
    public var extendedProperties: ExtendedProperties?
    /// False: a value like any other, whatever the server does with its type otherwise.
    public var isManaged = true
    public var format: ValueFormat
    public var value: ValueSource
    /// The time between two samples of a generated value; nil for a constant.
    public var update: TimeSpan?
    public var send: SendRule = .onUpdate
    /// Whether the value outlives a restart.
    public var persists = false
    /// The most octets the value may grow to, where the profile says it.
    public var lengthMax: Int?
    public var descriptors: [DescriptorSpec] = []
    /// What follows a write; the first rule whose condition holds.
    public var reactions: [WriteReaction] = []
    /// The records behind it, where it is their control point.
    public var records: RecordsSpec?
    /// While the profile is read: which of the parts that wait for all others belong to it.
    var deferred: Int?

    public init(uuid: BluetoothUUID, format: ValueFormat, value: ValueSource) {
        self.uuid = uuid
        self.format = format
        self.value = value
    }

    /// What the characteristic's declaration offers to clients.
    public var properties: CharacteristicProperties {
        var properties = statedProperties ?? permissions.properties
        let isExtended =
            extendedProperties != nil
            || (statedProperties == nil && hasDescriptor(GATTType.extendedProperties))
        if isExtended { properties.insert(.extendedProperties) }
        return properties
    }

    /// The label, else the assigned name, else the UUID.
    public var name: String { label ?? assignedName }

    /// The assigned name, else the UUID.
    var assignedName: String { AssignedNames.characteristic(uuid) ?? uuid.description }

    func hasDescriptor(_ type: BluetoothUUID) -> Bool {
        descriptors.contains { $0.uuid == type }
    }

    /// What the server does with the value, which in the GATT service may be more than keep it.
    func kind(in service: BluetoothUUID) -> AttributeKind {
        guard isManaged, service == GATTType.genericAttribute else { return .value }
        switch uuid {
        case GATTType.serviceChanged: return .serviceChanged
        case GATTType.clientSupportedFeatures: return .clientSupportedFeatures
        case GATTType.databaseHash: return .databaseHash
        default: return .value
        }
    }
}

extension Permissions {
    /// The properties that say the same.
    var properties: CharacteristicProperties {
        var properties: CharacteristicProperties = []
        if read.level != .refused { properties.insert(.read) }
        if write.level != .refused { properties.insert(.write) }
        if writeCommand.level != .refused { properties.insert(.writeWithoutResponse) }
        if signedWrite.level != .refused { properties.insert(.authenticatedSignedWrites) }
        if notify.level != .refused { properties.insert(.notify) }
        if indicate.level != .refused { properties.insert(.indicate) }
        return properties
    }
}

/// Characteristic Extended Properties (Core 6.0, Vol 3, Part G, 3.3.3.1).
public struct ExtendedProperties: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let reliableWrite = ExtendedProperties(rawValue: 0x01)
    public static let writableAuxiliaries = ExtendedProperties(rawValue: 0x02)
}

/// A descriptor that the profile declares. Without one the plan adds the CCCD and the extended
/// properties that a characteristic needs.
public struct DescriptorSpec: Equatable, Sendable {
    public var uuid: BluetoothUUID
    /// nil for the next free one.
    public var handle: UInt16?
    public var permissions: Permissions
    public var value: [UInt8]
    /// The most octets the value may grow to, where the profile says it.
    public var lengthMax: Int?
    /// False: a value like any other, the same for every client.
    public var isManaged = true
    /// Whether the value is the handles of the presentation formats before it.
    public var aggregatesFormats = false

    public init(
        uuid: BluetoothUUID, permissions: Permissions = Permissions(read: .open), value: [UInt8]
    ) {
        self.uuid = uuid
        self.permissions = permissions
        self.value = value
    }

    /// What the server does with the value.
    var kind: AttributeKind {
        switch uuid {
        case GATTType.clientConfiguration where isManaged: .clientConfiguration
        case GATTType.serverConfiguration where isManaged: .serverConfiguration
        default: .value
        }
    }
}

extension GATTType {
    static var genericAccess: BluetoothUUID { BluetoothUUID(0x1800) }
    static var genericAttribute: BluetoothUUID { BluetoothUUID(0x1801) }
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
