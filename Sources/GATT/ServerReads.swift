// Read, Read Blob, Read Multiple and its variable form (Core 6.0, Vol 3, Part F, 3.4.4).
import SansIO
import Wire

extension GATTServer {
    /// The index of `handle`, once its value may be read over this link.
    mutating func readable(_ handle: UInt16, by client: Int) throws(Refusal) -> Int {
        guard let index = table.index(of: handle) else { throw Refusal(.invalidHandle, handle) }
        if let objection = objection(toReading: index, by: client) {
            throw Refusal(objection, handle)
        }
        computeHash(at: index)
        return index
    }

    /// Why the value at `index` may not be read over this link; nil where it may.
    func objection(toReading index: Int, by client: Int) -> ATTError? {
        let access = table.attributes[index].permissions.read
        if access.level == .refused { return .readNotPermitted }
        return links[client].security.objection(to: access, by: settings.unencryptedError)
    }

    /// How many octets `client` finds in the value at `index`.
    func valueLength(at index: Int, for client: Int) -> Int {
        switch table.attributes[index].kind {
        case .clientConfiguration: 2
        case .clientSupportedFeatures: 1
        case .value, .service, .include, .characteristic, .serverConfiguration, .databaseHash,
            .serviceChanged:
            Int(table.attributes[index].length)
        }
    }

    /// Appends the value at `index` as `client` finds it, from `offset`, at most `limit` octets.
    func appendValue(
        at index: Int, for client: Int, from offset: Int = 0, limit: Int, to block: inout ByteBlock
    ) {
        switch table.attributes[index].kind {
        case .clientConfiguration:
            let bits = configurations[slot(of: index, client: client)] & 3
            if offset == 0, limit > 0 { block.append(bits) }
            if offset < 2, offset + limit >= 2 { block.append(UInt8(0)) }
        case .clientSupportedFeatures:
            if offset == 0, limit > 0 { block.append(links[client].features) }
        case .value, .service, .include, .characteristic, .serverConfiguration, .databaseHash,
            .serviceChanged:
            let range = table.range(at: index)
            let start = min(range.lowerBound + offset, range.upperBound)
            let end = min(start + max(limit, 0), range.upperBound)
            block.append(table.arena, in: start..<end)
        }
    }

    /// Notes that a value was read.
    mutating func noteRead(
        of index: Int, by client: Int, opcode: ATTOpcode, emit: inout Outputs<ServerEvent>
    ) {
        if table.attributes[index].kind == .databaseHash { noteHashRead(by: client) }
        if reportsAccess {
            let handle = table.attributes[index].handle
            emit.append(.read(client: client, handle: handle, opcode: opcode))
        }
    }

    mutating func read(
        _ handle: UInt16, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        let index = try readable(handle, by: client)
        // Read before the call: in its arguments it would cost a copy of the whole server.
        let room = Int(links[client].mtu) - 1
        reply.append(ATTOpcode.readResponse.rawValue)
        appendValue(at: index, for: client, limit: room, to: &reply)
        noteRead(of: index, by: client, opcode: .readRequest, emit: &emit)
    }

    mutating func readBlob(
        _ handle: UInt16, offset: UInt16, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        let index = try readable(handle, by: client)
        guard Int(offset) <= valueLength(at: index, for: client) else {
            throw Refusal(.invalidOffset, handle)
        }
        let room = Int(links[client].mtu) - 1
        reply.append(ATTOpcode.readBlobResponse.rawValue)
        appendValue(at: index, for: client, from: Int(offset), limit: room, to: &reply)
        noteRead(of: index, by: client, opcode: .readBlobRequest, emit: &emit)
    }

    /// All values one after another, cut to MTU - 1; none where one may not be read.
    mutating func readMultiple(
        _ handles: Span<UInt8>, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        try checkAll(handles, by: client)
        reply.append(ATTOpcode.readMultipleResponse.rawValue)
        var room = Int(links[client].mtu) - 1
        for place in stride(from: 0, to: handles.count, by: 2) {
            guard let index = table.index(of: handles.uint16(at: place)) else { continue }
            appendValue(at: index, for: client, limit: room, to: &reply)
            room = max(0, room - valueLength(at: index, for: client))
            noteRead(of: index, by: client, opcode: .readMultipleRequest, emit: &emit)
        }
    }

    /// The same with each value's length before it; the list is cut to MTU - 1, but no length is.
    mutating func readMultipleVariable(
        _ handles: Span<UInt8>, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        try checkAll(handles, by: client)
        reply.append(ATTOpcode.readMultipleVariableResponse.rawValue)
        var room = Int(links[client].mtu) - 1
        for place in stride(from: 0, to: handles.count, by: 2) where room >= 2 {
            guard let index = table.index(of: handles.uint16(at: place)) else { continue }
            let length = valueLength(at: index, for: client)
            reply.append(UInt16(length))
            appendValue(at: index, for: client, limit: room - 2, to: &reply)
            room = max(0, room - 2 - length)
            noteRead(of: index, by: client, opcode: .readMultipleVariableRequest, emit: &emit)
        }
    }

    /// Refuses a list of handles because of the first that may not be read.
    private mutating func checkAll(_ handles: Span<UInt8>, by client: Int) throws(Refusal) {
        for place in stride(from: 0, to: handles.count, by: 2) {
            _ = try readable(handles.uint16(at: place), by: client)
        }
    }
}
