// The PDUs of the Attribute Protocol, read in place: fields, and where the variable parts lie.
public import Wire

/// Where octets lie within the PDU they were read from.
public struct OctetRange: Equatable, Sendable {
    public let offset: Int
    public let count: Int

    @inlinable public init(offset: Int, count: Int) {
        self.offset = offset
        self.count = count
    }

    /// The range from `offset`, which is not behind the end, to the end of `bytes`.
    @inlinable init(from offset: Int, of bytes: Span<UInt8>) {
        self.init(offset: offset, count: bytes.count - offset)
    }

    public var range: Range<Int> { offset..<offset + count }
}

/// Why octets are not an ATT PDU.
public enum ATTPDUError: Error, Equatable, Sendable {
    case empty
    /// The specification knows no such opcode.
    case unknown(ATTOpcode)
    /// The opcode is known and the length or a field's form is wrong.
    case invalid(ATTOpcode)
}

/// An ATT PDU (Core 6.0, Vol 3, Part F, 3.4). Variable parts are given by their place in the PDU.
public enum ATTPDU: Equatable, Sendable {
    case errorResponse(request: ATTOpcode, handle: UInt16, error: ATTError)
    case exchangeMTURequest(clientRxMTU: UInt16)
    case exchangeMTUResponse(serverRxMTU: UInt16)
    case findInformationRequest(start: UInt16, end: UInt16)
    /// Format 1: entries of handle and 16-bit UUID; format 2: of handle and 128-bit UUID.
    case findInformationResponse(format: UInt8, entries: OctetRange)
    case findByTypeValueRequest(start: UInt16, end: UInt16, type: UInt16, value: OctetRange)
    /// Entries of found handle and group end handle.
    case findByTypeValueResponse(entries: OctetRange)
    case readByTypeRequest(start: UInt16, end: UInt16, type: BluetoothUUID)
    case readByTypeResponse(entryLength: Int, entries: OctetRange)
    case readRequest(handle: UInt16)
    case readResponse(value: OctetRange)
    case readBlobRequest(handle: UInt16, offset: UInt16)
    case readBlobResponse(value: OctetRange)
    case readMultipleRequest(handles: OctetRange)
    case readMultipleResponse(values: OctetRange)
    case readByGroupTypeRequest(start: UInt16, end: UInt16, type: BluetoothUUID)
    case readByGroupTypeResponse(entryLength: Int, entries: OctetRange)
    case writeRequest(handle: UInt16, value: OctetRange)
    case writeResponse
    case writeCommand(handle: UInt16, value: OctetRange)
    case signedWriteCommand(handle: UInt16, value: OctetRange, signature: OctetRange)
    case prepareWriteRequest(handle: UInt16, offset: UInt16, value: OctetRange)
    case prepareWriteResponse(handle: UInt16, offset: UInt16, value: OctetRange)
    case executeWriteRequest(flags: UInt8)
    case executeWriteResponse
    case handleValueNotification(handle: UInt16, value: OctetRange)
    case handleValueIndication(handle: UInt16, value: OctetRange)
    case handleValueConfirmation
    case readMultipleVariableRequest(handles: OctetRange)
    /// Entries of length and value, the last one perhaps cut.
    case readMultipleVariableResponse(entries: OctetRange)
    /// Entries of handle, length and value.
    case multipleHandleValueNotification(entries: OctetRange)

    /// Reads a PDU. Its length must be what the opcode asks for, nothing may be left over.
    public init(decoding bytes: Span<UInt8>) throws(ATTPDUError) {
        guard bytes.count > 0 else { throw .empty }
        // Centrals mostly read and write, so these are told apart first.
        switch bytes[0] {
        case 0x0A where bytes.count == 3: self = .readRequest(handle: bytes.uint16(at: 1))
        case 0x52 where bytes.count >= 3:
            self = .writeCommand(handle: bytes.uint16(at: 1), value: OctetRange(from: 3, of: bytes))
        case 0x12 where bytes.count >= 3:
            self = .writeRequest(handle: bytes.uint16(at: 1), value: OctetRange(from: 3, of: bytes))
        case 0x02...0x20 where bytes[0] & 1 == 0, 0xD2:
            self = try Self.fromClient(bytes)
        case 0x01...0x23 where bytes[0] & 1 == 1: self = try Self.fromServer(bytes)
        case 0x52: throw .invalid(.writeCommand)
        default: throw .unknown(ATTOpcode(rawValue: bytes[0]))
        }
    }

    /// Requests, confirmation and signed command: what a client sends.
    private static func fromClient(_ bytes: Span<UInt8>) throws(ATTPDUError) -> ATTPDU {
        let count = bytes.count
        switch bytes[0] {
        case 0x02 where count == 3: return .exchangeMTURequest(clientRxMTU: bytes.uint16(at: 1))
        case 0x04 where count == 5:
            return .findInformationRequest(start: bytes.uint16(at: 1), end: bytes.uint16(at: 3))
        case 0x06 where count >= 7:
            return .findByTypeValueRequest(
                start: bytes.uint16(at: 1), end: bytes.uint16(at: 3), type: bytes.uint16(at: 5),
                value: OctetRange(from: 7, of: bytes))
        case 0x08 where count == 7 || count == 21, 0x10 where count == 7 || count == 21:
            guard let type = BluetoothUUID(littleEndian: bytes.extracting(5..<count)) else { break }
            let (start, end) = (bytes.uint16(at: 1), bytes.uint16(at: 3))
            return bytes[0] == 0x08
                ? .readByTypeRequest(start: start, end: end, type: type)
                : .readByGroupTypeRequest(start: start, end: end, type: type)
        case 0x0C where count == 5:
            return .readBlobRequest(handle: bytes.uint16(at: 1), offset: bytes.uint16(at: 3))
        case 0x0E where count >= 5 && count & 1 == 1:
            return .readMultipleRequest(handles: OctetRange(from: 1, of: bytes))
        case 0x16 where count >= 5:
            return .prepareWriteRequest(
                handle: bytes.uint16(at: 1), offset: bytes.uint16(at: 3),
                value: OctetRange(from: 5, of: bytes))
        case 0x18 where count == 2: return .executeWriteRequest(flags: bytes[1])
        case 0x1E where count == 1: return .handleValueConfirmation
        case 0x20 where count >= 5 && count & 1 == 1:
            return .readMultipleVariableRequest(handles: OctetRange(from: 1, of: bytes))
        case 0xD2 where count >= 15:
            return .signedWriteCommand(
                handle: bytes.uint16(at: 1), value: OctetRange(offset: 3, count: count - 15),
                signature: OctetRange(offset: count - 12, count: 12))
        case 0x14, 0x1A, 0x1C: throw .unknown(ATTOpcode(rawValue: bytes[0]))
        default: break
        }
        throw .invalid(ATTOpcode(rawValue: bytes[0]))
    }

    /// Responses, notifications and indication: what a server sends.
    private static func fromServer(_ bytes: Span<UInt8>) throws(ATTPDUError) -> ATTPDU {
        let count = bytes.count
        switch bytes[0] {
        case 0x01 where count == 5:
            return .errorResponse(
                request: ATTOpcode(rawValue: bytes[1]), handle: bytes.uint16(at: 2),
                error: ATTError(rawValue: bytes[4]))
        case 0x03 where count == 3: return .exchangeMTUResponse(serverRxMTU: bytes.uint16(at: 1))
        case 0x05 where count >= 6:
            let entryLength = bytes[1] == 1 ? 4 : bytes[1] == 2 ? 18 : count
            guard (count - 2) % entryLength == 0 else { break }
            return .findInformationResponse(
                format: bytes[1], entries: OctetRange(from: 2, of: bytes))
        case 0x07 where count >= 5 && count & 3 == 1:
            return .findByTypeValueResponse(entries: OctetRange(from: 1, of: bytes))
        case 0x09 where count >= 4, 0x11 where count >= 6:
            // An entry starts with one handle, in a group type response with two.
            let (length, least) = (Int(bytes[1]), bytes[0] == 0x09 ? 2 : 4)
            guard length >= least, (count - 2) % length == 0 else { break }
            let entries = OctetRange(from: 2, of: bytes)
            return bytes[0] == 0x09
                ? .readByTypeResponse(entryLength: length, entries: entries)
                : .readByGroupTypeResponse(entryLength: length, entries: entries)
        case 0x0B: return .readResponse(value: OctetRange(from: 1, of: bytes))
        case 0x0D: return .readBlobResponse(value: OctetRange(from: 1, of: bytes))
        case 0x0F: return .readMultipleResponse(values: OctetRange(from: 1, of: bytes))
        case 0x13 where count == 1: return .writeResponse
        case 0x17 where count >= 5:
            return .prepareWriteResponse(
                handle: bytes.uint16(at: 1), offset: bytes.uint16(at: 3),
                value: OctetRange(from: 5, of: bytes))
        case 0x19 where count == 1: return .executeWriteResponse
        case 0x1B where count >= 3:
            return .handleValueNotification(
                handle: bytes.uint16(at: 1), value: OctetRange(from: 3, of: bytes))
        case 0x1D where count >= 3:
            return .handleValueIndication(
                handle: bytes.uint16(at: 1), value: OctetRange(from: 3, of: bytes))
        case 0x21: return .readMultipleVariableResponse(entries: OctetRange(from: 1, of: bytes))
        case 0x23 where count >= 9:
            return .multipleHandleValueNotification(entries: OctetRange(from: 1, of: bytes))
        case 0x15, 0x1F, 0x22: throw .unknown(ATTOpcode(rawValue: bytes[0]))
        default: break
        }
        throw .invalid(ATTOpcode(rawValue: bytes[0]))
    }
}

extension ByteBlock {
    /// Appends an Error Response (Core 6.0, Vol 3, Part F, 3.4.1.1).
    mutating func appendError(_ error: ATTError, handle: UInt16, request: ATTOpcode) {
        append(ATTOpcode.errorResponse.rawValue)
        append(request.rawValue)
        append(handle)
        append(error.rawValue)
    }
}
