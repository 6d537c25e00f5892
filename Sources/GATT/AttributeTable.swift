// The attributes of one server, sorted by handle, with all values in one arena.
public import Wire

/// Types of attributes that the Generic Attribute Profile defines (Assigned Numbers, 3.6, 3.7).
public enum GATTType {
    public static var primaryService: BluetoothUUID { BluetoothUUID(0x2800) }
    public static var secondaryService: BluetoothUUID { BluetoothUUID(0x2801) }
    public static var include: BluetoothUUID { BluetoothUUID(0x2802) }
    public static var characteristic: BluetoothUUID { BluetoothUUID(0x2803) }
    public static var extendedProperties: BluetoothUUID { BluetoothUUID(0x2900) }
    public static var userDescription: BluetoothUUID { BluetoothUUID(0x2901) }
    public static var clientConfiguration: BluetoothUUID { BluetoothUUID(0x2902) }
    public static var serverConfiguration: BluetoothUUID { BluetoothUUID(0x2903) }
    public static var presentationFormat: BluetoothUUID { BluetoothUUID(0x2904) }
    public static var aggregateFormat: BluetoothUUID { BluetoothUUID(0x2905) }
    public static var serviceChanged: BluetoothUUID { BluetoothUUID(0x2A05) }
    public static var clientSupportedFeatures: BluetoothUUID { BluetoothUUID(0x2B29) }
    public static var databaseHash: BluetoothUUID { BluetoothUUID(0x2B2A) }
    public static var serverSupportedFeatures: BluetoothUUID { BluetoothUUID(0x2B3A) }
}

/// What the server does with an attribute beyond keeping its value.
public enum AttributeKind: UInt8, Sendable {
    /// A plain value, the same for every client.
    case value
    case service
    case include
    case characteristic
    /// A Client Characteristic Configuration: two octets, each client has its own.
    case clientConfiguration
    /// A Server Characteristic Configuration: two octets, the same for every client.
    case serverConfiguration
    /// Client Supported Features: each client has its own, and its bits are never cleared.
    case clientSupportedFeatures
    /// Database Hash: reading it helps a client to become change-aware.
    case databaseHash
    /// Service Changed: its indication is kept for each client until it is confirmed.
    case serviceChanged
}

/// One attribute. Its value lies in the table's arena.
public struct Attribute: Sendable {
    public let handle: UInt16
    /// Of a service or characteristic declaration the last handle of the group, else the handle.
    public internal(set) var groupEnd: UInt16
    public let kind: AttributeKind
    public let type: BluetoothUUID
    public let permissions: Permissions
    /// Whether the characteristic has the Reliable Write extended property.
    public internal(set) var isReliable = false
    /// Of a characteristic value the index of its CCCD, of a CCCD the index of its value; else -1.
    var partner: Int32 = -1
    /// The number of this managed CCCD among all; of others -1.
    var configuration: Int32 = -1
    var offset: UInt32
    var length: UInt16
    /// Octets set aside at `offset`.
    var capacity: UInt16
    /// The most octets the value may have, 0 to 512.
    public let maximumLength: UInt16
}

/// The attributes of one server.
public struct AttributeTable: Sendable {
    /// In the order of their handles, which may have gaps.
    public internal(set) var attributes: [Attribute] = []
    var arena: [UInt8] = []
    /// How many managed CCCDs there are.
    var configurationCount = 0

    /// A table without attributes.
    public init() {}

    /// The index of the attribute with `handle`, nil where there is none.
    public func index(of handle: UInt16) -> Int? {
        let index = firstIndex(from: handle)
        return index < attributes.count && attributes[index].handle == handle ? index : nil
    }

    /// The index of the first attribute whose handle is not below `handle`, or the count.
    func firstIndex(from handle: UInt16) -> Int {
        guard let first = attributes.first?.handle, handle > first else { return 0 }
        // Without gaps the attribute lies exactly here, with gaps it lies before.
        let guess = Int(handle - first)
        if guess < attributes.count, attributes[guess].handle == handle { return guess }
        var (low, high) = (0, min(guess, attributes.count))
        while low < high {
            let middle = (low + high) / 2
            if attributes[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The value at `index` as every client without a state of its own sees it.
    public func value(at index: Int) -> [UInt8] { [UInt8](arena[range(at: index)]) }

    /// Where the value at `index` lies in the arena.
    func range(at index: Int) -> Range<Int> {
        let start = Int(attributes[index].offset)
        return start..<start + Int(attributes[index].length)
    }

    /// Replaces the value at `index`; false, and nothing changed, where it is too long.
    mutating func store(_ bytes: Span<UInt8>, at index: Int) -> Bool {
        guard bytes.count <= Int(attributes[index].maximumLength) else { return false }
        if bytes.count > Int(attributes[index].capacity) {
            // A value moves at most once: the new place holds the longest it may become.
            let maximum = attributes[index].maximumLength
            attributes[index].offset = UInt32(arena.count)
            attributes[index].capacity = maximum
            arena.append(contentsOf: repeatElement(0, count: Int(maximum)))
        }
        attributes[index].length = UInt16(bytes.count)
        guard bytes.count > 0 else { return true }
        let target = range(at: index)
        arena.withUnsafeMutableBytes { octets in
            bytes.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: octets[target]).copyMemory(from: $0)
            }
        }
        return true
    }

    /// Whether the value at `index` equals `bytes`.
    func isValue(at index: Int, equalTo bytes: Span<UInt8>) -> Bool {
        guard bytes.count == Int(attributes[index].length) else { return false }
        let start = Int(attributes[index].offset)
        for place in 0..<bytes.count where arena[start + place] != bytes[place] { return false }
        return true
    }
}
