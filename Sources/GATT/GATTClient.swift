// The GATT client of a central on one bearer: one procedure at a time, results as events.
public import SansIO
public import Wire

/// Why a client's procedure has failed.
public enum GATTClientFailure: Equatable, Sendable {
    /// The server's Error Response, and the handle it names.
    case error(ATTError, handle: UInt16)
    /// The server's answer does not fit the request.
    case invalidResponse
    /// No answer within 30 s: nothing more is sent on this bearer (Core 6.0, Vol 3, Part F, 3.3.3).
    case timeout
    /// Another procedure is under way, or the bearer has timed out.
    case busy
}

/// What a client tells its host.
public enum GATTClientEvent: Equatable, Sendable {
    /// The MTU of the bearer is now this many octets.
    case mtu(UInt16)
    /// All primary services with characteristics and descriptors, in handle order.
    case discovered([DiscoveredService])
    case value(handle: UInt16, [UInt8])
    /// A write was answered; a command was sent.
    case written(handle: UInt16)
    case failed(GATTClient.Procedure, GATTClientFailure)
    case notification(handle: UInt16, [UInt8])
    /// An indication, which has been confirmed.
    case indication(handle: UInt16, [UInt8])
}

/// A GATT client (Core 6.0, Vol 3, Part G, 4). Pure: PDUs and time in, PDUs and events out.
public struct GATTClient: Sendable {
    /// What a client can be asked to do.
    public enum Procedure: Equatable, Sendable {
        case exchangeMTU
        /// Primary services, characteristics and descriptors.
        case discover
        /// A whole value, by Read and Read Blob.
        case read(handle: UInt16)
        /// By Write Request, or by Prepare and Execute Write where the MTU asks for it; of a value
        /// above 65,535 octets the first ones.
        case write(handle: UInt16, value: [UInt8])
        case writeCommand(handle: UInt16, value: [UInt8])
        /// Writes a Client Characteristic Configuration.
        case subscribe(cccd: UInt16, notify: Bool, indicate: Bool)
    }

    /// The request that awaits its answer.
    enum State: Equatable, Sendable {
        case idle
        case exchangingMTU
        case findingServices
        case findingCharacteristics(service: Int)
        case findingDescriptors(service: Int, characteristic: Int, end: UInt16)
        case reading(handle: UInt16)
        case writing(handle: UInt16)
        case preparing(handle: UInt16, offset: Int, count: Int)
        case executing(handle: UInt16)
        /// The server's echo was wrong; the queue is being emptied.
        case cancelling
        case timedOut
    }

    /// The ATT_MTU of the bearer, in octets.
    public private(set) var mtu = ATTLimit.mtuDefault
    /// When `expire` must be called next.
    public private(set) var deadline: Instant?
    private let rxMTU: UInt16
    var state = State.idle
    private var procedure = Procedure.exchangeMTU
    var services: [DiscoveredService] = []
    /// The value read so far, or to be written.
    var value: [UInt8] = []

    /// - Parameter mtu: the own receive MTU to offer, kept within 23 to 517 octets.
    public init(mtu: UInt16 = ATTLimit.mtuMax) {
        rxMTU = min(max(mtu, ATTLimit.mtuDefault), ATTLimit.mtuMax)
    }

    /// Whether no answer is awaited.
    public var isIdle: Bool { state == .idle }

    /// Begins a procedure: appends its first PDU to `request`. Its end comes as an event.
    public mutating func start(
        _ procedure: Procedure, at now: Instant, request: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        if case .writeCommand(let handle, let value) = procedure {
            return sendCommand(procedure, handle, value, into: &request, emit: &emit)
        }
        guard state == .idle else { return emit.append(.failed(procedure, .busy)) }
        self.procedure = procedure
        switch procedure {
        case .exchangeMTU:
            request.append(ATTOpcode.exchangeMTURequest.rawValue)
            request.append(rxMTU)
            state = .exchangingMTU
        case .discover:
            services = []
            findServices(from: 1, into: &request)
        case .read(let handle):
            value = []
            request.append(ATTOpcode.readRequest.rawValue)
            request.append(handle)
            state = .reading(handle: handle)
        case .write(let handle, let value): startWrite(value, to: handle, into: &request)
        case .writeCommand: break
        case .subscribe(let cccd, let notify, let indicate):
            startWrite([(notify ? 1 : 0) | (indicate ? 2 : 0), 0], to: cccd, into: &request)
        }
        deadline = now + .seconds(ATTLimit.transactionTimeoutSeconds)
    }

    private mutating func sendCommand(
        _ procedure: Procedure, _ handle: UInt16, _ value: [UInt8], into request: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        guard state != .timedOut else { return emit.append(.failed(procedure, .busy)) }
        guard value.count + 3 <= Int(mtu) else {
            let failure = GATTClientFailure.error(.invalidAttributeValueLength, handle: handle)
            return emit.append(.failed(procedure, failure))
        }
        request.append(ATTOpcode.writeCommand.rawValue)
        request.append(handle)
        request.append(value)
        emit.append(.written(handle: handle))
    }

    /// Takes one ATT PDU of the server and appends what is to be sent next to `reply`.
    public mutating func receive(
        _ pdu: Span<UInt8>, at now: Instant, reply: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        guard state != .timedOut, pdu.count > 0 else { return }
        let decoded: ATTPDU
        do throws(ATTPDUError) { decoded = try ATTPDU(decoding: pdu) } catch {
            return receive(malformed: error, reply: &reply, emit: &emit)
        }
        switch decoded {
        case .handleValueNotification(let handle, let value):
            emit.append(.notification(handle: handle, pdu.copied(value.range)))
        case .handleValueIndication(let handle, let value):
            reply.append(ATTOpcode.handleValueConfirmation.rawValue)
            emit.append(.indication(handle: handle, pdu.copied(value.range)))
        case .multipleHandleValueNotification(let entries):
            receive(notifications: pdu.extracting(entries.range), emit: &emit)
        case .exchangeMTURequest(let mtu):
            reply.append(ATTOpcode.exchangeMTUResponse.rawValue)
            reply.append(rxMTU)
            setMTU(mtu, emit: &emit)
        case .findInformationRequest, .findByTypeValueRequest, .readByTypeRequest, .readRequest,
            .readBlobRequest, .readMultipleRequest, .readByGroupTypeRequest, .writeRequest,
            .prepareWriteRequest, .executeWriteRequest, .readMultipleVariableRequest:
            // This side has no server.
            let opcode = ATTOpcode(rawValue: pdu[0])
            reply.appendError(.requestNotSupported, handle: 0, request: opcode)
        case .writeCommand, .signedWriteCommand, .handleValueConfirmation: break
        case .errorResponse, .exchangeMTUResponse, .findInformationResponse,
            .findByTypeValueResponse, .readByTypeResponse, .readResponse, .readBlobResponse,
            .readMultipleResponse, .readByGroupTypeResponse, .writeResponse,
            .prepareWriteResponse, .executeWriteResponse, .readMultipleVariableResponse:
            guard state != .idle else { return }
            answered(decoded, pdu, at: now, next: &reply, emit: &emit)
        }
    }

    /// Gives the procedure up whose answer has not come in time.
    public mutating func expire(at now: Instant, emit: inout Outputs<GATTClientEvent>) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        state = .timedOut
        emit.append(.failed(procedure, .timeout))
    }

    private mutating func receive(
        malformed error: ATTPDUError, reply: inout ByteBlock, emit: inout Outputs<GATTClientEvent>
    ) {
        switch error {
        case .empty: break
        case .unknown(let opcode):
            guard !opcode.isCommand else { return }
            reply.appendError(.requestNotSupported, handle: 0, request: opcode)
        case .invalid(let opcode):
            if opcode.isRequest {
                reply.appendError(.invalidPDU, handle: 0, request: opcode)
            } else if state != .idle, opcode != .handleValueNotification,
                opcode != .handleValueIndication, !opcode.isCommand
            {
                fail(.invalidResponse, emit: &emit)
            }
        }
    }

    private func receive(
        notifications entries: Span<UInt8>, emit: inout Outputs<GATTClientEvent>
    ) {
        var place = 0
        while place + 4 <= entries.count {
            let handle = entries.uint16(at: place)
            let end = place + 4 + Int(entries.uint16(at: place + 2))
            guard end <= entries.count else { return }
            emit.append(.notification(handle: handle, entries.copied(place + 4..<end)))
            place = end
        }
    }

    private mutating func setMTU(_ other: UInt16, emit: inout Outputs<GATTClientEvent>) {
        mtu = max(min(other, rxMTU), ATTLimit.mtuDefault)
        emit.append(.mtu(mtu))
    }

    // MARK: Answers

    /// Takes the answer to the request under way and goes on.
    private mutating func answered(
        _ response: ATTPDU, _ pdu: Span<UInt8>, at now: Instant, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        let written = next.count
        do throws(GATTClientFailure.Thrown) {
            if case .errorResponse(let request, let handle, let error) = response {
                try refused(request, handle, error, next: &next, emit: &emit)
            } else {
                try go(on: response, pdu, next: &next, emit: &emit)
            }
        } catch {
            next.truncate(to: written)
            return fail(error.failure, emit: &emit)
        }
        deadline =
            next.count > written ? now + .seconds(ATTLimit.transactionTimeoutSeconds) : nil
    }

    private mutating func fail(
        _ failure: GATTClientFailure, emit: inout Outputs<GATTClientEvent>
    ) {
        finish()
        emit.append(.failed(procedure, failure))
    }

    mutating func finish() {
        state = .idle
        deadline = nil
    }

    /// An Error Response: the end of a list, or of the procedure.
    private mutating func refused(
        _ request: ATTOpcode, _ handle: UInt16, _ error: ATTError, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) throws(GATTClientFailure.Thrown) {
        let isEnd = error == .attributeNotFound
        switch state {
        case .findingServices where isEnd: findCharacteristics(of: 0, next: &next, emit: &emit)
        case .findingCharacteristics(let service) where isEnd:
            findDescriptors(service, 0, next: &next, emit: &emit)
        case .findingDescriptors(let service, let characteristic, _) where isEnd:
            findDescriptors(service, characteristic + 1, next: &next, emit: &emit)
        case .reading(let handle)
        where request == .readBlobRequest && !value.isEmpty
            && (error == .invalidOffset || error == .attributeNotLong):
            // The first part was the whole value (Core 6.0, Vol 3, Part F, 3.4.4.5).
            finish()
            emit.append(.value(handle: handle, value))
        case .idle, .exchangingMTU, .findingServices, .findingCharacteristics,
            .findingDescriptors, .reading, .writing, .preparing, .executing, .cancelling, .timedOut:
            throw .init(.error(error, handle: handle))
        }
    }

    private mutating func go(
        on response: ATTPDU, _ pdu: Span<UInt8>, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) throws(GATTClientFailure.Thrown) {
        switch (state, response) {
        case (.exchangingMTU, .exchangeMTUResponse(let mtu)):
            finish()
            setMTU(mtu, emit: &emit)
        case (.findingServices, .readByGroupTypeResponse(let length, let entries)):
            try addServices(length, pdu.extracting(entries.range), next: &next, emit: &emit)
        case (.findingCharacteristics(let service), .readByTypeResponse(let length, let entries)):
            try addCharacteristics(
                length, pdu.extracting(entries.range), to: service, next: &next, emit: &emit)
        case (
            .findingDescriptors(let service, let characteristic, let end),
            .findInformationResponse(let format, let entries)
        ):
            try addDescriptors(
                format, pdu.extracting(entries.range), to: (service, characteristic), end: end,
                next: &next, emit: &emit)
        case (.reading(let handle), .readResponse(let part)) where value.isEmpty:
            addPart(pdu.extracting(part.range), of: handle, next: &next, emit: &emit)
        case (.reading(let handle), .readBlobResponse(let part)) where !value.isEmpty:
            addPart(pdu.extracting(part.range), of: handle, next: &next, emit: &emit)
        case (.writing(let handle), .writeResponse),
            (.executing(let handle), .executeWriteResponse):
            finish()
            emit.append(.written(handle: handle))
        case (
            .preparing(let handle, let offset, let count),
            .prepareWriteResponse(let echoedHandle, let echoedOffset, let part)
        ):
            let isRight =
                echoedHandle == handle && Int(echoedOffset) == offset
                && pdu.copied(part.range)[...] == value[offset..<offset + count]
            prepare(isRight ? offset + count : nil, of: handle, into: &next)
        case (.cancelling, .executeWriteResponse): throw .init(.invalidResponse)
        default: throw .init(.invalidResponse)
        }
    }

    // MARK: Reading and writing

    private mutating func addPart(
        _ part: Span<UInt8>, of handle: UInt16, next: inout ByteBlock,
        emit: inout Outputs<GATTClientEvent>
    ) {
        value.append(contentsOf: part.copied())
        // A full answer may not be all; no value is longer than 512 octets.
        guard part.count == Int(mtu) - 1, value.count < ATTLimit.valueMax else {
            finish()
            return emit.append(.value(handle: handle, value))
        }
        next.append(ATTOpcode.readBlobRequest.rawValue)
        next.append(handle)
        next.append(UInt16(value.count))
    }

    private mutating func startWrite(
        _ value: [UInt8], to handle: UInt16, into request: inout ByteBlock
    ) {
        self.value = Array(value.prefix(Int(UInt16.max)))
        guard value.count + 3 > Int(mtu) else {
            request.append(ATTOpcode.writeRequest.rawValue)
            request.append(handle)
            request.append(value)
            state = .writing(handle: handle)
            return
        }
        prepare(0, of: handle, into: &request)
    }

    /// Prepares the part from `offset`, executes behind the last one; nil: gives the queue up.
    private mutating func prepare(_ offset: Int?, of handle: UInt16, into next: inout ByteBlock) {
        guard let offset, offset < value.count else {
            next.append(ATTOpcode.executeWriteRequest.rawValue)
            next.append(UInt8(offset == nil ? 0 : 1))
            state = offset == nil ? .cancelling : .executing(handle: handle)
            return
        }
        let count = min(value.count - offset, Int(mtu) - 5)
        next.append(ATTOpcode.prepareWriteRequest.rawValue)
        next.append(handle)
        next.append(UInt16(offset))
        next.append(value.span.extracting(offset..<offset + count))
        state = .preparing(handle: handle, offset: offset, count: count)
    }
}

extension GATTClientFailure {
    /// The failure as it is thrown within the client.
    struct Thrown: Error {
        let failure: GATTClientFailure
        init(_ failure: GATTClientFailure) { self.failure = failure }
    }
}
