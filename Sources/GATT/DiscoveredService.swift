// What a client has found on a server.
public import Wire

/// A descriptor that a client has found.
public struct DiscoveredDescriptor: Equatable, Sendable {
    public let handle: UInt16
    public let uuid: BluetoothUUID

    public init(handle: UInt16, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// A characteristic that a client has found.
public struct DiscoveredCharacteristic: Equatable, Sendable {
    /// The declaration's handle.
    public let handle: UInt16
    public let valueHandle: UInt16
    public let uuid: BluetoothUUID
    public let properties: CharacteristicProperties
    public internal(set) var descriptors: [DiscoveredDescriptor] = []

    public init(
        handle: UInt16, valueHandle: UInt16, uuid: BluetoothUUID,
        properties: CharacteristicProperties, descriptors: [DiscoveredDescriptor] = []
    ) {
        self.handle = handle
        self.valueHandle = valueHandle
        self.uuid = uuid
        self.properties = properties
        self.descriptors = descriptors
    }

    /// The handle of its Client Characteristic Configuration.
    public var cccdHandle: UInt16? {
        descriptors.first { $0.uuid == GATTType.clientConfiguration }?.handle
    }
}

/// A primary service that a client has found.
public struct DiscoveredService: Equatable, Sendable {
    public let handle: UInt16
    public let end: UInt16
    public let uuid: BluetoothUUID
    public internal(set) var characteristics: [DiscoveredCharacteristic] = []

    public init(
        handle: UInt16, end: UInt16, uuid: BluetoothUUID,
        characteristics: [DiscoveredCharacteristic] = []
    ) {
        self.handle = handle
        self.end = end
        self.uuid = uuid
        self.characteristics = characteristics
    }
}
