// Find Information, Find By Type Value, Read By Type and Read By Group Type (Part F, 3.4.3, 3.4.4).
import SansIO
import Wire

/// The list of entries in a response: it ends at the MTU, and where an entry's length differs.
private struct ListResponse {
    /// The most octets of an entry, whose length goes into one octet.
    static let entryLengthMax = 255

    /// The octets left up to the MTU.
    var room: Int
    /// The length of all entries, set by the first one.
    var entryLength = 0
    var count = 0

    /// The longest value that fits behind a header of `header` octets in the first entry.
    func valueMax(header: Int) -> Int { min(room, Self.entryLengthMax) - header }

    /// Whether one more entry of `length` octets goes in; if so it is counted.
    mutating func take(_ length: Int) -> Bool {
        guard length <= room, entryLength == 0 || length == entryLength else { return false }
        entryLength = length
        room -= length
        count += 1
        return true
    }
}

extension GATTServer {
    /// The indices of the attributes from `start` to `end`; a range that is none is refused.
    private func indices(_ start: UInt16, _ end: UInt16) throws(Refusal) -> Range<Int> {
        guard start > 0, start <= end else { throw Refusal(.invalidHandle, start) }
        let first = table.firstIndex(from: start)
        let behind = end == UInt16.max ? table.attributes.count : table.firstIndex(from: end + 1)
        return first..<max(first, behind)
    }

    /// Handles and types, of one width only (3.4.3.1).
    func findInformation(
        _ start: UInt16, _ end: UInt16, from client: Int, reply: inout ByteBlock
    ) throws(Refusal) {
        var list = ListResponse(room: Int(links[client].mtu) - 2)
        for index in try indices(start, end) {
            let type = table.attributes[index].type
            guard list.take(2 + type.width.rawValue) else { break }
            if list.count == 1 {
                reply.append(ATTOpcode.findInformationResponse.rawValue)
                reply.append(type.width == .short ? UInt8(1) : UInt8(2))
            }
            reply.append(table.attributes[index].handle)
            if let short = type.short, type.width == .short {
                reply.append(short)
            } else {
                reply.append(full: type)
            }
        }
        if list.count == 0 { throw Refusal(.attributeNotFound, start) }
    }

    /// The groups whose declaration has this type and value; what may not be read is not compared
    /// (3.4.3.3).
    mutating func findByTypeValue(
        _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, _ value: Span<UInt8>,
        from client: Int, reply: inout ByteBlock
    ) throws(Refusal) {
        var list = ListResponse(room: Int(links[client].mtu) - 1)
        for index in try indices(start, end)
        where table.attributes[index].type == type
            && objection(toReading: index, by: client) == nil
        {
            computeHash(at: index)
            guard isValue(at: index, for: client, equalTo: value) else { continue }
            guard list.take(4) else { break }
            if list.count == 1 { reply.append(ATTOpcode.findByTypeValueResponse.rawValue) }
            reply.append(table.attributes[index].handle)
            reply.append(table.attributes[index].groupEnd)
        }
        if list.count == 0 { throw Refusal(.attributeNotFound, start) }
    }

    private func isValue(at index: Int, for client: Int, equalTo value: Span<UInt8>) -> Bool {
        switch table.attributes[index].kind {
        case .clientConfiguration:
            let bits = configurations[slot(of: index, client: client)] & 3
            return value.count == 2 && value[0] == bits && value[1] == 0
        case .clientSupportedFeatures:
            return value.count == 1 && value[0] == links[client].features
        case .value, .service, .include, .characteristic, .serverConfiguration, .databaseHash,
            .serviceChanged:
            return table.isValue(at: index, equalTo: value)
        }
    }

    /// Handles and values. The first value that may not be read is the answer's error, a later one
    /// ends the list (3.4.4.1).
    mutating func readByType(
        _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, from client: Int,
        reply: inout ByteBlock, emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        var list = ListResponse(room: Int(links[client].mtu) - 2)
        let valueMax = list.valueMax(header: 2)
        for index in try indices(start, end) where table.attributes[index].type == type {
            if let objection = objection(toReading: index, by: client) {
                if list.count > 0 { break }
                throw Refusal(objection, table.attributes[index].handle)
            }
            computeHash(at: index)
            let length = min(valueLength(at: index, for: client), valueMax)
            guard list.take(2 + length) else { break }
            if list.count == 1 {
                reply.append(ATTOpcode.readByTypeResponse.rawValue)
                reply.append(UInt8(2 + length))
            }
            reply.append(table.attributes[index].handle)
            appendValue(at: index, for: client, limit: length, to: &reply)
            noteRead(of: index, by: client, opcode: .readByTypeRequest, emit: &emit)
        }
        if list.count == 0 { throw Refusal(.attributeNotFound, start) }
    }

    /// Services with their end and UUID (3.4.4.9).
    func readByGroupType(
        _ start: UInt16, _ end: UInt16, _ type: BluetoothUUID, from client: Int,
        reply: inout ByteBlock
    ) throws(Refusal) {
        var list = ListResponse(room: Int(links[client].mtu) - 2)
        let indices = try indices(start, end)
        guard type == GATTType.primaryService || type == GATTType.secondaryService else {
            throw Refusal(.unsupportedGroupType, start)
        }
        let valueMax = list.valueMax(header: 4)
        for index in indices where table.attributes[index].type == type {
            if let objection = objection(toReading: index, by: client) {
                if list.count > 0 { break }
                throw Refusal(objection, table.attributes[index].handle)
            }
            let length = min(valueLength(at: index, for: client), valueMax)
            guard list.take(4 + length) else { break }
            if list.count == 1 {
                reply.append(ATTOpcode.readByGroupTypeResponse.rawValue)
                reply.append(UInt8(4 + length))
            }
            reply.append(table.attributes[index].handle)
            reply.append(table.attributes[index].groupEnd)
            appendValue(at: index, for: client, limit: length, to: &reply)
        }
        if list.count == 0 { throw Refusal(.attributeNotFound, start) }
    }
}

extension ByteBlock {
    /// Appends a UUID in its 128-bit form, without a copy.
    mutating func append(full uuid: BluetoothUUID) {
        for half in [uuid.low, uuid.high] {
            append(UInt32(truncatingIfNeeded: half))
            append(UInt32(truncatingIfNeeded: half >> 32))
        }
    }
}
