// H4 framing: the packet type octet, where a packet ends, and the writing of whole packets.
public import Wire

/// The H4 packet indicator (Core 6.0, Vol 4, Part A, 2).
public enum H4PacketType: UInt8, Sendable {
    case command = 0x01
    case acl = 0x02
    case synchronous = 0x03
    case event = 0x04
    case isochronous = 0x05

    /// Octets between the type octet and the payload.
    @inlinable var headerOctets: Int {
        switch self {
        case .command, .synchronous: 3
        case .acl, .isochronous: 4
        case .event: 2
        }
    }
}

/// What stands at one place of a byte stream.
public enum H4Frame: Equatable, Sendable {
    /// A whole packet, its type octet included, ends before `end`.
    case packet(H4PacketType, end: Int)
    /// The packet needs octets that have not come yet.
    case incomplete
    /// The octet at the place is no packet type: the stream is lost.
    case unknownType(UInt8)
}

/// Where H4 packets begin and end (Core 6.0, Vol 4, Part A, 2; Part E, 5.4).
public enum H4 {
    /// The longest packet: ACL data of 65,535 octets with its header.
    public static let packetOctetsMax = 1 + 4 + 65_535

    /// Looks at the packet that begins at `start`.
    public static func frame(_ bytes: Span<UInt8>, from start: Int) -> H4Frame {
        guard start >= 0, start < bytes.count else { return .incomplete }
        guard let type = H4PacketType(rawValue: bytes[start]) else {
            return .unknownType(bytes[start])
        }
        let payload = start + 1 + type.headerOctets
        guard payload <= bytes.count else { return .incomplete }
        let length =
            switch type {
            case .command, .synchronous: Int(bytes[start + 3])
            case .acl: Int(bytes.uint16(at: start + 3))
            case .isochronous: Int(bytes.uint16(at: start + 3) & 0x3FFF)
            case .event: Int(bytes[start + 2])
            }
        return payload + length <= bytes.count ? .packet(type, end: payload + length) : .incomplete
    }
}

/// Cuts a byte stream into H4 packets: whole ones are handed out in place, only a packet that is
/// split between two reads is gathered.
public struct H4Framer: Sendable {
    /// Where the next packet is.
    public enum Step: Equatable, Sendable {
        /// At this range of the chunk, type octet included.
        case inChunk(Range<Int>)
        /// In `gathered`, which was begun by an earlier chunk.
        case gathered
        /// The chunk is used up.
        case needMore
        /// This octet is no packet type; nothing after it can be read.
        case unknownType(UInt8)
    }

    /// The packet of a `.gathered` step.
    public private(set) var gathered: [UInt8] = []
    private var isHandedOut = false

    public init() {}

    /// Whether a packet has been begun and not finished.
    public var isInsidePacket: Bool { !gathered.isEmpty && !isHandedOut }

    /// Forgets a packet that was begun: the stream starts anew.
    public mutating func reset() {
        gathered.removeAll(keepingCapacity: true)
        isHandedOut = false
    }

    /// The next packet of `chunk`; `offset` begins at 0 for each chunk and is moved on.
    public mutating func next(in chunk: Span<UInt8>, offset: inout Int) -> Step {
        if isHandedOut { reset() }
        if gathered.isEmpty {
            switch H4.frame(chunk, from: offset) {
            case .packet(_, let end):
                defer { offset = end }
                return .inChunk(offset..<end)
            case .unknownType(let octet): return .unknownType(octet)
            case .incomplete:
                while offset < chunk.count { take(1, of: chunk, &offset) }
                return .needMore
            }
        }
        while true {
            switch H4.frame(gathered.span, from: 0) {
            case .packet:
                isHandedOut = true
                return .gathered
            case .unknownType(let octet): return .unknownType(octet)
            case .incomplete:
                guard offset < chunk.count else { return .needMore }
                take(missing, of: chunk, &offset)
            }
        }
    }

    /// Octets certainly still missing: to the end of the header, then to the end of the packet.
    private var missing: Int {
        guard let type = H4PacketType(rawValue: gathered[0]) else { return 1 }
        let header = 1 + type.headerOctets
        guard gathered.count >= header else { return header - gathered.count }
        let length =
            switch type {
            case .command, .synchronous: Int(gathered[3])
            case .acl: Int(gathered.span.uint16(at: 3))
            case .isochronous: Int(gathered.span.uint16(at: 3) & 0x3FFF)
            case .event: Int(gathered[2])
            }
        return max(header + length - gathered.count, 1)
    }

    private mutating func take(_ count: Int, of chunk: Span<UInt8>, _ offset: inout Int) {
        let end = min(offset + count, chunk.count)
        while offset < end {
            gathered.append(chunk[offset])
            offset += 1
        }
    }
}

/// The header of an ACL data packet (Core 6.0, Vol 4, Part E, 5.4.2).
public struct ACLHeader: Equatable, Sendable {
    /// Packet_Boundary_Flag.
    public enum Boundary: UInt8, Sendable {
        /// First non-automatically-flushable, host to controller on LE.
        case firstFromHost = 0b00
        case continuing = 0b01
        /// First automatically flushable, controller to host on LE.
        case firstFromController = 0b10
        case complete = 0b11
    }

    public var handle: ConnectionHandle
    public var boundary: Boundary
    /// Octets of data behind the header.
    public var length: Int

    /// Octets of the type octet and this header.
    public static let octets = 5

    /// Reads the header of a whole H4 packet that starts with its type octet; nil where it is too
    /// short.
    public init?(packet: Span<UInt8>) {
        guard packet.count >= Self.octets else { return nil }
        let word = packet.uint16(at: 1)
        handle = ConnectionHandle(rawValue: word)
        boundary = Boundary(rawValue: UInt8(word >> 12 & 0b11)) ?? .complete
        length = Int(packet.uint16(at: 3))
    }

    public init(handle: ConnectionHandle, boundary: Boundary, length: Int) {
        self.handle = handle
        self.boundary = boundary
        self.length = length
    }

    /// Whether this begins an L2CAP PDU.
    public var isStart: Bool { boundary != .continuing }
}

extension ByteBlock {
    /// Appends a whole HCI command packet.
    public mutating func append<Command: HCICommand>(command: Command) {
        append(H4PacketType.command.rawValue)
        append(Command.opcode.rawValue)
        let length = count
        append(UInt8(0))
        append(record: command)
        patch(UInt8(truncatingIfNeeded: count - length - 1), at: length)
    }

    /// Appends a whole HCI event packet.
    public mutating func append<Event: HCIEvent>(event: Event) {
        append(H4PacketType.event.rawValue)
        append(Event.code.rawValue)
        let length = count
        append(UInt8(0))
        if let subevent = Event.subevent { append(subevent.rawValue) }
        append(record: event)
        patch(UInt8(truncatingIfNeeded: count - length - 1), at: length)
    }

    /// Appends a Command Complete event with its return parameters.
    public mutating func appendCommandComplete(
        _ opcode: Opcode, credits: UInt8 = 1, _ parameters: some Record
    ) {
        append(H4PacketType.event.rawValue)
        append(EventCode.commandComplete.rawValue)
        let length = count
        append(UInt8(0))
        append(credits)
        append(opcode.rawValue)
        append(record: parameters)
        patch(UInt8(truncatingIfNeeded: count - length - 1), at: length)
    }

    /// Appends the type octet and header of an ACL data packet; the data is appended next.
    public mutating func append(acl header: ACLHeader) {
        append(H4PacketType.acl.rawValue)
        append(header.handle.rawValue | UInt16(header.boundary.rawValue) &<< 12)
        append(UInt16(truncatingIfNeeded: header.length))
    }
}
