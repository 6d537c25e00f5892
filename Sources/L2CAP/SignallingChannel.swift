// The LE signalling channel of one link, for the peripheral and for the central.
public import SansIO
public import Wire

/// What the signalling channel tells its host.
public enum SignallingEvent: Equatable, Sendable {
    /// The central has answered the request for connection parameters.
    case parametersAnswered(accepted: Bool)
    /// The peer does not know the command; or it did not answer within 30 s.
    case parametersUnanswered
    /// The peripheral asked for these parameters and was told that they are accepted: update the
    /// connection.
    case parametersRequested(ConnectionParameterUpdateRequest)
    /// A command was answered by Command Reject.
    case rejected(SignallingCode)
}

/// The LE signalling channel (Core 6.0, Vol 3, Part A, 4), without credit-based channels: a request
/// for one is answered by "SPSM not supported".
public struct SignallingChannel: Sendable {
    /// The signalling MTU of an LE link, in octets (Core 6.0, Vol 3, Part A, 4).
    public static let mtu = 23
    /// How long an answer is awaited: the response timer may be set up to 60 s (Part A, 6.2.1).
    static let responseTimeout = TimeSpan.seconds(30)

    /// Which side this is: only a peripheral asks, only a central grants.
    public enum Role: Sendable { case peripheral, central }

    private let role: Role
    private var identifier: UInt8 = 0
    /// The identifier of the request that awaits its answer.
    private var awaited: UInt8?
    /// When `expire` must be called next.
    public private(set) var deadline: Instant?

    public init(role: Role) { self.role = role }

    /// Appends a Connection Parameter Update Request of a peripheral.
    /// - Returns: false, and nothing written, while one is unanswered or where the values are out
    ///   of range.
    public mutating func requestParameters(
        _ request: ConnectionParameterUpdateRequest, at now: Instant, into pdu: inout ByteBlock
    ) -> Bool {
        guard role == .peripheral, awaited == nil, request.isValid else { return false }
        identifier = identifier == UInt8.max ? 1 : identifier + 1
        awaited = identifier
        deadline = now + Self.responseTimeout
        pdu.append(signalling: request, identifier: identifier)
        return true
    }

    /// Takes one signalling PDU and appends the answer, if there is one, to `reply`.
    public mutating func receive(
        _ pdu: Span<UInt8>, at now: Instant, reply: inout ByteBlock,
        emit: inout Outputs<SignallingEvent>
    ) {
        guard pdu.count >= SignallingHeader.octets else { return }
        let (code, identifier) = (SignallingCode(rawValue: pdu[0]), pdu[1])
        guard identifier != 0 else { return }
        let data = pdu.extracting(SignallingHeader.octets..<pdu.count)
        if code.isResponse { return take(response: code, identifier, data, emit: &emit) }
        if pdu.count > Self.mtu {
            let mtu = [UInt8(Self.mtu), 0]
            reply.append(
                signalling: CommandReject(
                    reason: CommandReject.signallingMTUExceeded, data: mtu),
                identifier: identifier)
            return emit.append(.rejected(code))
        }
        do throws(WireError) {
            // One command a PDU on LE: all that follows the header is its data.
            guard data.count == Int(pdu.uint16(at: 2)) else {
                throw WireError.invalid(field: "length")
            }
            try answer(code, identifier, data, reply: &reply, emit: &emit)
        } catch {
            reply.append(
                signalling: CommandReject(reason: CommandReject.commandNotUnderstood),
                identifier: identifier)
            emit.append(.rejected(code))
        }
    }

    /// Answers a request; a throw stands for "not understood".
    private func answer(
        _ code: SignallingCode, _ identifier: UInt8, _ data: Span<UInt8>,
        reply: inout ByteBlock, emit: inout Outputs<SignallingEvent>
    ) throws(WireError) {
        switch code {
        // Only a central answers it (Core 6.0, Vol 3, Part A, 4.20).
        case .connectionParameterUpdateRequest where role == .central:
            let request = try ConnectionParameterUpdateRequest(decoding: data)
            let result =
                request.isValid
                ? ConnectionParameterUpdateResponse.accepted
                : ConnectionParameterUpdateResponse.rejected
            reply.append(
                signalling: ConnectionParameterUpdateResponse(result: result),
                identifier: identifier)
            if request.isValid { emit.append(.parametersRequested(request)) }
        case .leCreditBasedConnectionRequest:
            _ = try LECreditBasedConnectionRequest(decoding: data)
            reply.append(
                signalling: LECreditBasedConnectionResponse(
                    result: LECreditBasedConnectionResponse.spsmNotSupported),
                identifier: identifier)
        case .disconnectionRequest:
            let request = try DisconnectionRequest(decoding: data)
            // There is no such channel; the reject repeats both identifiers (Part A, 4.1).
            reply.append(
                signalling: CommandReject(
                    reason: CommandReject.invalidCID, data: request.encoded),
                identifier: identifier)
            emit.append(.rejected(code))
        case .flowControlCredit: _ = try FlowControlCredit(decoding: data)
        default: throw .invalid(field: "code")
        }
    }

    private mutating func take(
        response code: SignallingCode, _ identifier: UInt8, _ data: Span<UInt8>,
        emit: inout Outputs<SignallingEvent>
    ) {
        guard identifier == awaited else { return }
        if code == .commandReject {
            emit.append(.parametersUnanswered)
        } else if code == .connectionParameterUpdateResponse, data.count == 2 {
            let accepted = data.uint16(at: 0) == ConnectionParameterUpdateResponse.accepted
            emit.append(.parametersAnswered(accepted: accepted))
        } else {
            return
        }
        awaited = nil
        deadline = nil
    }

    /// Gives up an answer that has not come in time.
    public mutating func expire(at now: Instant, emit: inout Outputs<SignallingEvent>) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        awaited = nil
        emit.append(.parametersUnanswered)
    }
}
