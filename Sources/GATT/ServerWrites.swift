// Write Request, Write Command, Prepare and Execute Write (Core 6.0, Vol 3, Part F, 3.4.5, 3.4.6).
import SansIO
import Wire

/// What a client has prepared to write, in the order it came.
struct PrepareQueue: Sendable {
    /// Parts of a queue: one value of 512 octets at MTU 23 takes 29, a reliable write several.
    static let partsMax = 128
    /// Octets of a queue: eight values of full length.
    static let octetsMax = 4096

    struct Part: Sendable {
        let handle: UInt16
        let offset: UInt16
        /// Where its octets lie in `octets`.
        let start: Int
        let count: Int
    }

    private(set) var parts: [Part] = []
    private(set) var octets = ByteBlock(capacity: 0)

    /// False where the queue is full.
    mutating func append(_ part: Span<UInt8>, to handle: UInt16, offset: UInt16) -> Bool {
        guard parts.count < Self.partsMax, octets.count + part.count <= Self.octetsMax else {
            return false
        }
        parts.append(
            Part(handle: handle, offset: offset, start: octets.count, count: part.count))
        octets.append(part)
        return true
    }

    mutating func removeAll() {
        parts.removeAll(keepingCapacity: true)
        octets.removeAll()
    }
}

extension GATTServer {
    /// The index of `handle`, once its value may be written over this link.
    private func writable(
        _ handle: UInt16, by client: Int, isCommand: Bool
    ) throws(Refusal) -> Int {
        guard let index = table.index(of: handle) else { throw Refusal(.invalidHandle, handle) }
        let permissions = table.attributes[index].permissions
        let access = isCommand ? permissions.writeCommand : permissions.write
        if access.level == .refused { throw Refusal(.writeNotPermitted, handle) }
        try check(access, handle, by: client)
        return index
    }

    private func check(_ access: Access, _ handle: UInt16, by client: Int) throws(Refusal) {
        let security = links[client].security
        if let objection = security.objection(to: access, by: settings.unencryptedError) {
            throw Refusal(objection, handle)
        }
    }

    mutating func write(
        _ value: Span<UInt8>, to handle: UInt16, from client: Int, isCommand: Bool,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        let index = try writable(handle, by: client, isCommand: isCommand)
        try checkValue(value, at: index, from: client)
        store(value, at: index, from: client, isCommand: isCommand, emit: &emit)
    }

    /// Stores a value whose right to be written has been checked.
    mutating func writeVerified(
        _ value: Span<UInt8>, at index: Int, from client: Int, emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        try checkValue(value, at: index, from: client)
        store(value, at: index, from: client, isCommand: true, emit: &emit)
    }

    /// Refuses a value that the attribute cannot take.
    private func checkValue(
        _ value: Span<UInt8>, at index: Int, from client: Int
    ) throws(Refusal) {
        let handle = table.attributes[index].handle
        let isLengthRight =
            switch table.attributes[index].kind {
            case .clientConfiguration, .serverConfiguration: value.count == 2
            case .clientSupportedFeatures:
                value.count >= 1 && value.count <= Int(table.attributes[index].maximumLength)
            case .value, .service, .include, .characteristic, .databaseHash, .serviceChanged:
                value.count <= Int(table.attributes[index].maximumLength)
            }
        guard isLengthRight else { throw Refusal(.invalidAttributeValueLength, handle) }
        switch table.attributes[index].kind {
        case .clientConfiguration: try checkConfiguration(value, at: index, from: client)
        case .clientSupportedFeatures:
            // A bit once set stays (Core 6.0, Vol 3, Part G, 7.2).
            guard links[client].features & ~value[0] == 0 else {
                throw Refusal(.valueNotAllowed, handle)
            }
        case .value, .service, .include, .characteristic, .serverConfiguration, .databaseHash,
            .serviceChanged:
            if !writeRules.isEmpty || !busy.isEmpty {
                try checkRules(value, of: handle, from: client)
            }
        }
    }

    /// Only what the characteristic offers may be asked for, and only as secured as it is sent.
    private func checkConfiguration(
        _ value: Span<UInt8>, at index: Int, from client: Int
    ) throws(Refusal) {
        let handle = table.attributes[index].handle
        let offered = table.attributes[Int(table.attributes[index].partner)].permissions
        let isNotifyWeaker = offered.notify.level < offered.indicate.level
        let weakest = isNotifyWeaker ? offered.notify : offered.indicate
        if weakest.level != .refused { try check(weakest, handle, by: client) }
        if value[0] & 1 != 0 { try checkOffer(offered.notify, handle, by: client) }
        if value[0] & 2 != 0 { try checkOffer(offered.indicate, handle, by: client) }
        guard value[0] & ~3 == 0, value[1] == 0 else { throw Refusal(settings.cccdError, handle) }
    }

    private func checkOffer(
        _ access: Access, _ handle: UInt16, by client: Int
    ) throws(Refusal) {
        if access.level == .refused { throw Refusal(settings.cccdError, handle) }
        try check(access, handle, by: client)
    }

    /// Stores a value that has been checked, and reports it.
    private mutating func store(
        _ value: Span<UInt8>, at index: Int, from client: Int, isCommand: Bool,
        emit: inout Outputs<ServerEvent>
    ) {
        switch table.attributes[index].kind {
        case .clientConfiguration:
            let bits = value[0] & 3
            configurations[slot(of: index, client: client)] = bits | Self.writtenOnThisLink
            hasNewsOfClients = true
            let valueHandle = table.attributes[Int(table.attributes[index].partner)].handle
            emit.append(
                .subscribed(
                    client: client, valueHandle: valueHandle, notify: bits & 1 != 0,
                    indicate: bits & 2 != 0))
        case .clientSupportedFeatures:
            links[client].features = value[0] & ClientFeatures.known
            hasNewsOfClients = true
            emit.append(.features(client: client, features: links[client].features))
        case .value, .service, .include, .characteristic, .serverConfiguration, .databaseHash,
            .serviceChanged:
            guard table.store(value, at: index) else { return }
            let handle = table.attributes[index].handle
            emit.append(.written(client: client, handle: handle, isCommand: isCommand))
        }
    }

    // MARK: Queued writes

    /// Queues a part. The value itself is looked at when the queue is executed (3.4.6.1).
    mutating func prepareWrite(
        _ part: Span<UInt8>, to handle: UInt16, offset: UInt16, from client: Int,
        reply: inout ByteBlock
    ) throws(Refusal) {
        _ = try writable(handle, by: client, isCommand: false)
        // The answer repeats the part, so a request above the MTU could not be answered.
        guard part.count + 5 <= Int(links[client].mtu) else { throw Refusal(.invalidPDU, handle) }
        guard queues[client].append(part, to: handle, offset: offset) else {
            throw Refusal(.prepareQueueFull, handle)
        }
        reply.append(ATTOpcode.prepareWriteResponse.rawValue)
        reply.append(handle)
        reply.append(offset)
        reply.append(part)
    }

    /// Writes all that is queued or nothing of it; the queue is empty afterwards (3.4.6.3).
    mutating func executeWrite(
        flags: UInt8, from client: Int, reply: inout ByteBlock,
        emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        guard flags <= 1 else { throw Refusal(.invalidPDU, 0) }
        // Taken out of the client's state, so that what is below may change the rest.
        var queue = PrepareQueue()
        swap(&queue, &queues[client])
        var block = ByteBlock(capacity: 0)
        swap(&block, &assembly)
        defer {
            queue.removeAll()
            swap(&queue, &queues[client])
            swap(&block, &assembly)
        }
        if flags == 1 {
            try checkReliability(of: queue)
            try execute(queue, for: client, assembling: &block, isStoring: false, emit: &emit)
            try execute(queue, for: client, assembling: &block, isStoring: true, emit: &emit)
        }
        reply.append(ATTOpcode.executeWriteResponse.rawValue)
    }

    /// Checks every value that the queue makes, or stores them.
    private mutating func execute(
        _ queue: PrepareQueue, for client: Int, assembling block: inout ByteBlock,
        isStoring: Bool, emit: inout Outputs<ServerEvent>
    ) throws(Refusal) {
        for place in queue.parts.indices where queue.isFirst(place) {
            let handle = queue.parts[place].handle
            let index = try writable(handle, by: client, isCommand: false)
            try assemble(queue, from: place, at: index, for: client, into: &block)
            if isStoring {
                store(block.bytes.span, at: index, from: client, isCommand: false, emit: &emit)
            } else {
                try checkValue(block.bytes.span, at: index, from: client)
            }
        }
    }

    /// Refuses writes to several values of which one is not reliable, where the settings ask so.
    private func checkReliability(of queue: PrepareQueue) throws(Refusal) {
        guard settings.reliableWrites == .extendedProperty, let first = queue.parts.first,
            queue.parts.contains(where: { $0.handle != first.handle })
        else { return }
        for part in queue.parts {
            guard let index = table.index(of: part.handle), table.attributes[index].isReliable
            else { throw Refusal(.requestNotSupported, part.handle) }
        }
    }

    /// Puts the parts for one handle together, in their order. Parts that begin at 0 are the whole
    /// value, as a Write Request's is; others change the present one from their offset on.
    private func assemble(
        _ queue: PrepareQueue, from place: Int, at index: Int, for client: Int,
        into block: inout ByteBlock
    ) throws(Refusal) {
        let first = queue.parts[place]
        block.removeAll()
        if first.offset > 0 {
            appendValue(at: index, for: client, limit: ATTLimit.valueMax, to: &block)
        }
        for part in queue.parts[place...] where part.handle == first.handle {
            let (start, end) = (Int(part.offset), Int(part.offset) + part.count)
            guard start <= block.count else { throw Refusal(.invalidOffset, part.handle) }
            // Also bounds the block, whatever the offsets are.
            guard end <= ATTLimit.valueMax else {
                throw Refusal(.invalidAttributeValueLength, part.handle)
            }
            let octets = queue.octets.bytes.span.extracting(part.start..<part.start + part.count)
            let overwritten = min(block.count - start, part.count)
            for step in 0..<overwritten { block.patch(octets[step], at: start + step) }
            block.append(octets.extracting(overwritten..<part.count))
        }
    }
}

extension PrepareQueue {
    /// Whether no part before `place` is for the same handle.
    func isFirst(_ place: Int) -> Bool {
        !parts[..<place].contains { $0.handle == parts[place].handle }
    }
}

/// Bits of Client Supported Features (Core 6.0, Vol 3, Part G, 7.2).
public enum ClientFeatures {
    public static let robustCaching: UInt8 = 0x01
    public static let enhancedBearer: UInt8 = 0x02
    public static let multipleHandleValueNotifications: UInt8 = 0x04
    static let known: UInt8 = 0x07
}
