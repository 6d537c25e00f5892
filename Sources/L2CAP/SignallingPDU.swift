// The commands of the LE signalling channel; each record once.
public import Wire

/// The code of a signalling command (Core 6.0, Vol 3, Part A, 4).
public struct SignallingCode: OpenCode, CustomStringConvertible {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let commandReject = SignallingCode(rawValue: 0x01)
    public static let disconnectionRequest = SignallingCode(rawValue: 0x06)
    public static let disconnectionResponse = SignallingCode(rawValue: 0x07)
    public static let connectionParameterUpdateRequest = SignallingCode(rawValue: 0x12)
    public static let connectionParameterUpdateResponse = SignallingCode(rawValue: 0x13)
    public static let leCreditBasedConnectionRequest = SignallingCode(rawValue: 0x14)
    public static let leCreditBasedConnectionResponse = SignallingCode(rawValue: 0x15)
    public static let flowControlCredit = SignallingCode(rawValue: 0x16)
    public static let creditBasedConnectionResponse = SignallingCode(rawValue: 0x18)
    public static let creditBasedReconfigureResponse = SignallingCode(rawValue: 0x1A)

    /// Whether this is an answer on an LE link: one that was not asked for is ignored.
    public var isResponse: Bool {
        switch self {
        case .commandReject, .disconnectionResponse, .connectionParameterUpdateResponse,
            .leCreditBasedConnectionResponse, .creditBasedConnectionResponse,
            .creditBasedReconfigureResponse:
            true
        default: false
        }
    }

    public var description: String { "signalling code " + Hex.code(rawValue) }
}

/// What stands before every command: code, identifier and the length of what follows.
public struct SignallingHeader: Record {
    public static let octets = 4

    public var code = SignallingCode(rawValue: 0)
    /// Pairs a response with its request; 0 is never used.
    public var identifier: UInt8 = 0
    public var length: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("code", &code)
        try visitor.field("identifier", &identifier)
        try visitor.field("length", &length)
    }
}

/// The data of a signalling command.
public protocol SignallingPDU: Record {
    static var code: SignallingCode { get }
}

/// Command Reject (Core 6.0, Vol 3, Part A, 4.1).
public struct CommandReject: SignallingPDU {
    public static let code = SignallingCode.commandReject
    public static let commandNotUnderstood: UInt16 = 0x0000
    public static let signallingMTUExceeded: UInt16 = 0x0001
    public static let invalidCID: UInt16 = 0x0002

    public var reason: UInt16 = 0
    /// For `signallingMTUExceeded` the MTU, for `invalidCID` both channel identifiers.
    public var data: [UInt8] = []

    public init() {}

    public init(reason: UInt16, data: [UInt8] = []) {
        self.reason = reason
        self.data = data
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("reason", &reason)
        try visitor.rest("data", &data)
    }
}

/// Disconnection Request (Core 6.0, Vol 3, Part A, 4.6).
public struct DisconnectionRequest: SignallingPDU {
    public static let code = SignallingCode.disconnectionRequest

    public var destinationCID: UInt16 = 0
    public var sourceCID: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("destination-cid", &destinationCID)
        try visitor.field("source-cid", &sourceCID)
    }
}

/// Disconnection Response (Core 6.0, Vol 3, Part A, 4.7).
public struct DisconnectionResponse: SignallingPDU {
    public static let code = SignallingCode.disconnectionResponse

    public var destinationCID: UInt16 = 0
    public var sourceCID: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("destination-cid", &destinationCID)
        try visitor.field("source-cid", &sourceCID)
    }
}

/// Connection Parameter Update Request, peripheral to central (Core 6.0, Vol 3, Part A, 4.20).
public struct ConnectionParameterUpdateRequest: SignallingPDU {
    public static let code = SignallingCode.connectionParameterUpdateRequest

    /// In steps of 1.25 ms, 6 to 3,200, as is the maximum.
    public var intervalMin: UInt16 = 0
    public var intervalMax: UInt16 = 0
    /// In connection events, 0 to 499.
    public var latency: UInt16 = 0
    /// In steps of 10 ms, 10 to 3,200.
    public var timeout: UInt16 = 0

    public init() {}

    public init(intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, timeout: UInt16) {
        self.intervalMin = intervalMin
        self.intervalMax = intervalMax
        self.latency = latency
        self.timeout = timeout
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("interval-min", &intervalMin)
        try visitor.field("interval-max", &intervalMax)
        try visitor.field("latency", &latency)
        try visitor.field("timeout", &timeout)
    }

    /// Whether a controller can take these values: in range, and the timeout longer than twice the
    /// longest time between two events that the peripheral listens to.
    public var isValid: Bool {
        (6...3200).contains(intervalMin) && intervalMin <= intervalMax && intervalMax <= 3200
            && latency <= 499 && (10...3200).contains(timeout)
            && Int(timeout) * 4 > (1 + Int(latency)) * Int(intervalMax)
    }
}

/// Connection Parameter Update Response (Core 6.0, Vol 3, Part A, 4.21).
public struct ConnectionParameterUpdateResponse: SignallingPDU {
    public static let code = SignallingCode.connectionParameterUpdateResponse
    public static let accepted: UInt16 = 0x0000
    public static let rejected: UInt16 = 0x0001

    public var result: UInt16 = 0

    public init() {}

    public init(result: UInt16) { self.result = result }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("result", &result)
    }
}

/// LE Credit Based Connection Request (Core 6.0, Vol 3, Part A, 4.22).
public struct LECreditBasedConnectionRequest: SignallingPDU {
    public static let code = SignallingCode.leCreditBasedConnectionRequest

    public var spsm: UInt16 = 0
    public var sourceCID: UInt16 = 0
    /// Octets of an SDU, at least 23.
    public var mtu: UInt16 = 0
    /// Octets of a frame's payload, 23 to 65,533.
    public var mps: UInt16 = 0
    public var initialCredits: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("spsm", &spsm)
        try visitor.field("source-cid", &sourceCID)
        try visitor.field("mtu", &mtu)
        try visitor.field("mps", &mps)
        try visitor.field("initial-credits", &initialCredits)
    }
}

/// LE Credit Based Connection Response (Core 6.0, Vol 3, Part A, 4.23).
public struct LECreditBasedConnectionResponse: SignallingPDU {
    public static let code = SignallingCode.leCreditBasedConnectionResponse
    public static let spsmNotSupported: UInt16 = 0x0002

    public var destinationCID: UInt16 = 0
    public var mtu: UInt16 = 0
    public var mps: UInt16 = 0
    public var initialCredits: UInt16 = 0
    public var result: UInt16 = 0

    public init() {}

    public init(result: UInt16) { self.result = result }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("destination-cid", &destinationCID)
        try visitor.field("mtu", &mtu)
        try visitor.field("mps", &mps)
        try visitor.field("initial-credits", &initialCredits)
        try visitor.field("result", &result)
    }
}

/// Flow Control Credit (Core 6.0, Vol 3, Part A, 4.24).
public struct FlowControlCredit: SignallingPDU {
    public static let code = SignallingCode.flowControlCredit

    public var cid: UInt16 = 0
    public var credits: UInt16 = 0

    public init() {}

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("cid", &cid)
        try visitor.field("credits", &credits)
    }
}

extension ByteBlock {
    /// Appends a whole signalling command.
    public mutating func append<PDU: SignallingPDU>(signalling pdu: PDU, identifier: UInt8) {
        append(PDU.code.rawValue)
        append(identifier)
        let place = count
        append(UInt16(0))
        append(record: pdu)
        patch(UInt16(truncatingIfNeeded: count - place - 2), at: place)
    }
}
