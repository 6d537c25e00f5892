// Lays out services, characteristics and descriptors in handle order, checking every handle said.
public import Wire

/// Why a table cannot be laid out as asked.
public enum AttributeTableError: Error, Equatable, Sendable {
    /// The handle said is not behind what stands before it, whose last handle is `after`.
    case handleNotAscending(UInt16, after: UInt16)
    /// The service's end said lies before its last attribute.
    case endBeforeLastAttribute(end: UInt16, last: UInt16)
    /// The attribute lies behind the end said for its service.
    case handleBehindEnd(UInt16, end: UInt16)
    /// There is no handle left behind 0xFFFF.
    case handlesExhausted
    /// Handle 0x0000 is reserved.
    case handleZero
    /// An include or a characteristic needs a service before it.
    case noService(BluetoothUUID)
    /// A descriptor needs a characteristic before it in its service.
    case noCharacteristic(BluetoothUUID)
    /// The included service's handle is not that of a service.
    case unknownIncludedService(UInt16)
    /// The value has more octets than the maximum said, or the maximum is above 512.
    case valueTooLong(BluetoothUUID, count: Int, maximum: Int)
}

/// Builds an `AttributeTable` in handle order. Handles not said follow one another.
public struct AttributeTableBuilder: Sendable {
    private struct Service {
        let index: Int
        /// The end said, nil where it is the last attribute's handle.
        let end: UInt16?
    }

    private var table = AttributeTable()
    private var service: Service?
    /// The declaration of the characteristic that descriptors belong to; its value is the next one.
    private var characteristic: Int?
    /// Include declarations and the services they name; known only once all are laid out.
    private var includes: [(index: Int, service: UInt16)] = []
    private var last: UInt16 = 0
    private let growth: Bool

    /// - Parameter growth: whether a value without a maximum may grow to 512 octets, else it may
    ///   not grow past its first length.
    public init(growth: Bool = true) { self.growth = growth }

    /// Begins a service (Core 6.0, Vol 3, Part G, 3.1).
    /// - Parameters:
    ///   - handle: nil for the next free one.
    ///   - end: the last handle the service owns; nil for its last attribute's.
    /// - Returns: the declaration's handle.
    @discardableResult
    public mutating func addService(
        _ uuid: BluetoothUUID, isSecondary: Bool = false, handle: UInt16? = nil, end: UInt16? = nil
    ) throws(AttributeTableError) -> UInt16 {
        try closeService()
        let type = isSecondary ? GATTType.secondaryService : GATTType.primaryService
        let declared = try next(handle)
        if let end, end < declared {
            throw .endBeforeLastAttribute(end: end, last: declared)
        }
        _ = try add(
            .service, type, handle: declared, permissions: Permissions(read: .open),
            value: Self.onAir(uuid).littleEndian)
        service = Service(index: table.attributes.count - 1, end: end)
        characteristic = nil
        return declared
    }

    /// Includes the service whose declaration has the handle `service`, before or behind this one
    /// (Core 6.0, Vol 3, Part G, 3.2).
    /// - Returns: the declaration's handle.
    @discardableResult
    public mutating func addInclude(
        of service: UInt16, handle: UInt16? = nil
    ) throws(AttributeTableError) -> UInt16 {
        guard self.service != nil else { throw .noService(GATTType.include) }
        let declared = try add(
            .include, GATTType.include, handle: handle, permissions: Permissions(read: .open),
            value: [], maximumLength: 6)
        includes.append((table.attributes.count - 1, service))
        return declared
    }

    /// Names the included service whose handle was not known when its include was added.
    /// - Parameter number: of the include, counted from 0 in the order they were added.
    public mutating func setIncludedService(_ service: UInt16, of number: Int) {
        precondition(includes.indices.contains(number), "there is no such include")
        includes[number].service = service
    }

    /// Adds a characteristic: its declaration and its value (Core 6.0, Vol 3, Part G, 3.3).
    /// - Parameters:
    ///   - handle: the declaration's, nil for the next free one.
    ///   - valueHandle: nil for the one behind the declaration.
    ///   - maximumLength: the most octets the value may have, to 512.
    /// - Returns: the value's handle.
    @discardableResult
    public mutating func addCharacteristic(
        _ uuid: BluetoothUUID, properties: CharacteristicProperties, handle: UInt16? = nil,
        valueHandle: UInt16? = nil, permissions: Permissions, value: [UInt8] = [],
        maximumLength: Int? = nil, kind: AttributeKind = .value
    ) throws(AttributeTableError) -> UInt16 {
        guard service != nil else { throw .noService(uuid) }
        let uuid = Self.onAir(uuid)
        let declaration = try next(handle)
        guard valueHandle != nil || declaration < UInt16.max else { throw .handlesExhausted }
        let valueHandle = valueHandle ?? declaration + 1
        let octets = [
            properties.rawValue, UInt8(truncatingIfNeeded: valueHandle),
            UInt8(truncatingIfNeeded: valueHandle >> 8),
        ]
        _ = try add(
            .characteristic, GATTType.characteristic, handle: declaration,
            permissions: Permissions(read: .open), value: octets + uuid.littleEndian)
        characteristic = table.attributes.count - 1
        return try add(
            kind, uuid, handle: valueHandle, permissions: permissions, value: value,
            maximumLength: maximumLength)
    }

    /// Adds a descriptor to the last characteristic. A CCCD whose value each client has for itself
    /// is of kind `.clientConfiguration`; of kind `.value` it is an ordinary value.
    /// - Returns: its handle.
    @discardableResult
    public mutating func addDescriptor(
        _ uuid: BluetoothUUID, handle: UInt16? = nil, permissions: Permissions,
        value: [UInt8] = [], maximumLength: Int? = nil, kind: AttributeKind = .value
    ) throws(AttributeTableError) -> UInt16 {
        guard let characteristic else { throw .noCharacteristic(uuid) }
        let handle = try add(
            kind, Self.onAir(uuid), handle: handle, permissions: permissions, value: value,
            maximumLength: maximumLength)
        let (index, valueIndex) = (table.attributes.count - 1, characteristic + 1)
        if kind == .clientConfiguration {
            table.attributes[index].configuration = Int32(table.configurationCount)
            table.configurationCount += 1
        }
        if uuid == GATTType.clientConfiguration {
            table.attributes[index].partner = Int32(valueIndex)
            table.attributes[valueIndex].partner = Int32(index)
        }
        if uuid == GATTType.extendedProperties, let octet = value.first, octet & 1 != 0 {
            table.attributes[valueIndex].isReliable = true
        }
        return handle
    }

    /// The finished table.
    public mutating func build() throws(AttributeTableError) -> AttributeTable {
        try closeService()
        for (index, handle) in includes {
            guard let included = table.index(of: handle),
                table.attributes[included].kind == .service
            else { throw .unknownIncludedService(handle) }
            var block = ByteBlock(capacity: 6)
            block.append(handle)
            block.append(table.attributes[included].groupEnd)
            let uuid = table.value(at: included)
            // Only a 16-bit UUID is repeated (Core 6.0, Vol 3, Part G, 3.2).
            if uuid.count == 2 { block.append(uuid) }
            _ = table.store(block.bytes.span, at: index)
        }
        return table
    }

    /// ATT knows UUIDs of 16 and 128 bits only (Core 6.0, Vol 3, Part F, 3.2.1).
    private static func onAir(_ uuid: BluetoothUUID) -> BluetoothUUID {
        uuid.width == .medium ? BluetoothUUID(high: uuid.high, low: uuid.low) : uuid
    }

    /// The handle said, or the next free one.
    private func next(_ said: UInt16?) throws(AttributeTableError) -> UInt16 {
        guard let said else {
            guard last < UInt16.max else { throw .handlesExhausted }
            return last + 1
        }
        guard said > 0 else { throw .handleZero }
        guard said > last else { throw .handleNotAscending(said, after: last) }
        return said
    }

    private mutating func closeService() throws(AttributeTableError) {
        guard let service else { return }
        let end = service.end ?? last
        guard end >= last else { throw .endBeforeLastAttribute(end: end, last: last) }
        table.attributes[service.index].groupEnd = end
        last = end
        self.service = nil
    }

    private mutating func add(
        _ kind: AttributeKind, _ type: BluetoothUUID, handle said: UInt16?,
        permissions: Permissions, value: [UInt8], maximumLength: Int? = nil
    ) throws(AttributeTableError) -> UInt16 {
        let handle = try next(said)
        if let end = service?.end, handle > end { throw .handleBehindEnd(handle, end: end) }
        let maximum = maximumLength ?? Self.length(of: kind, growth: growth, count: value.count)
        guard value.count <= maximum, (0...ATTLimit.valueMax).contains(maximum) else {
            throw .valueTooLong(type, count: value.count, maximum: maximum)
        }
        table.attributes.append(
            Attribute(
                handle: handle, groupEnd: handle, kind: kind, type: type, permissions: permissions,
                offset: UInt32(table.arena.count), length: UInt16(value.count),
                capacity: UInt16(value.count), maximumLength: UInt16(maximum)))
        table.arena.append(contentsOf: value)
        // The group of a characteristic reaches to the last of its descriptors.
        if let characteristic, kind != .characteristic, kind != .service, kind != .include {
            table.attributes[characteristic].groupEnd = handle
        }
        last = handle
        return handle
    }

    /// The most octets of a value for which the profile says nothing.
    private static func length(of kind: AttributeKind, growth: Bool, count: Int) -> Int {
        switch kind {
        case .service, .include, .characteristic: count
        case .clientConfiguration, .serverConfiguration: 2
        case .clientSupportedFeatures: max(count, 1)
        case .databaseHash: 16
        case .serviceChanged: 4
        case .value: growth ? max(count, ATTLimit.valueMax) : count
        }
    }
}
