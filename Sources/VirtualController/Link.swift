// One connection between two controllers: its timing, its two sides and what waits to be sent.
import HCI
import SansIO
import Wire

/// The two ends of a connection.
enum Role: Int {
    case central = 0
    case peripheral = 1
    var other: Role { self == .central ? .peripheral : .central }
    static let both = [Role.central, .peripheral]
}

/// Connection parameters in HCI's units: 1.25 ms, events, 10 ms.
struct LinkParameters: Equatable {
    var interval: UInt16
    var latency: UInt16
    var timeout: UInt16

    /// The ranges and the rule that every table of connection parameters has (Core 6.0, Vol 4, Part
    /// E, 7.8.12): the time-out is more than twice the longest silence.
    static func areValid(min: UInt16, max: UInt16, latency: UInt16, timeout: UInt16) -> Bool {
        guard min >= ConnectionInterval.minimum.steps, min <= max,
            max <= ConnectionInterval.maximum.steps, latency <= 0x01F3,
            (0x000A...0x0C80).contains(timeout)
        else { return false }
        let silence = Int64(max) * ConnectionInterval.stepMicroseconds * (Int64(latency) + 1)
        return Int64(timeout) * 10_000 > 2 * silence
    }
}

/// The longest data PDU of one direction, in octets and microseconds.
struct DataLength: Equatable {
    var octets = Capabilities.dataOctetsMin
    var time = Capabilities.dataTimeMin

    func limited(by other: DataLength) -> DataLength {
        DataLength(octets: min(octets, other.octets), time: min(time, other.time))
    }

    /// Octets that fit both limits; the time counts header and MIC, at 1 Mbit/s or coded.
    func payload(on phy: UInt8) -> Int {
        let fitting = phy == PHY.leCoded ? (Int(time) - 720) / 64 - 4 : Int(time) / 8 - 14
        return min(Int(octets), max(fitting, Int(Capabilities.dataOctetsMin)))
    }
}

/// Link-layer control PDUs (Core 6.0, Vol 6, Part B, 2.4.2), as far as they are spoken here.
enum ControlPDU {
    case terminate(HCIStatus)
    case connectionUpdate(LinkParameters)
    case parameterRequest(min: UInt16, LinkParameters)
    case parameterReject(HCIStatus)
    /// Carries the central's classification as it is when this is received.
    case channelMap
    case featureRequest
    case featureResponse
    case versionIndication
    case lengthRequest(DataLength)
    case lengthResponse(DataLength)
    /// Whoever asks decides here, so only the answer needs to carry preferences.
    case phyRequest
    case phyResponse(tx: UInt8, rx: UInt8)
    /// On the air no key is in it; the two controllers find out by their first encrypted packet.
    case encryptionRequest(rand: UInt64, ediv: UInt16, key: [UInt8])
    case encryptionReject(HCIStatus)
    /// The peripheral has its key.
    case startEncryption(key: [UInt8])
    case centralEncrypts(key: [UInt8])
    case peripheralEncrypts

    /// Octets behind the PDU header, opcode included.
    var octets: Int {
        switch self {
        case .terminate: 2
        case .connectionUpdate: 12
        case .parameterRequest: 24
        case .parameterReject, .phyRequest, .phyResponse: 3
        case .channelMap: 8
        case .featureRequest, .featureResponse, .lengthRequest, .lengthResponse: 9
        case .versionIndication: 6
        case .encryptionRequest: 23
        case .encryptionReject: 3
        // The central's answer is the first packet that is encrypted, with 4 octets of MIC.
        case .startEncryption: 1
        case .centralEncrypts, .peripheralEncrypts: 5
        }
    }
}

/// What one side waits to send, in order: the host's ACL packets and control PDUs.
struct TransmitQueue {
    enum Item {
        /// Octets of one ACL packet that are still to send, and whether they begin an L2CAP PDU.
        case data(octets: Int, isStart: Bool)
        case control(ControlPDU)
    }

    private var items: [Item] = []
    private var head = 0
    /// The ACL packets' octets, one after another.
    private(set) var bytes: [UInt8] = []
    /// Where the first unsent octet is.
    private(set) var offset = 0
    /// Octets of the PDU that the peer has and has not acknowledged yet. Where the acknowledgement
    /// is lost, it is sent again and ignored.
    var delivered: Int?

    var isEmpty: Bool { head == items.count }
    var first: Item? { isEmpty ? nil : items[head] }

    mutating func append(_ data: Span<UInt8>, isStart: Bool) {
        items.append(.data(octets: data.count, isStart: isStart))
        data.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ control: ControlPDU) { items.append(.control(control)) }

    /// Octets of the PDU that goes next.
    func nextOctets(max longest: Int) -> Int {
        switch first {
        case .data(let octets, _): min(octets, longest)
        case .control(let control): control.octets
        case nil: 0
        }
    }

    /// Takes away the PDU that has been delivered; true where it ended an ACL packet.
    mutating func removeDelivered() -> Bool {
        guard let sent = delivered, !isEmpty else { return false }
        delivered = nil
        var isWhole = false
        if case .data(let octets, _) = items[head] {
            offset += sent
            guard sent == octets else {
                items[head] = .data(octets: octets - sent, isStart: false)
                return false
            }
            isWhole = true
        }
        head += 1
        if isEmpty {
            items.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
            head = 0
            offset = 0
        } else if head >= 64 {
            items.removeFirst(head)
            bytes.removeFirst(offset)
            head = 0
            offset = 0
        }
        return isWhole
    }
}

/// Procedures of the link layer that one side's host has begun and that are not complete.
struct Procedures: OptionSet {
    let rawValue: UInt16
    static let connectionUpdate = Procedures(rawValue: 1 << 0)
    static let features = Procedures(rawValue: 1 << 1)
    static let version = Procedures(rawValue: 1 << 2)
    static let dataLength = Procedures(rawValue: 1 << 3)
    static let phy = Procedures(rawValue: 1 << 4)
    static let terminate = Procedures(rawValue: 1 << 5)
    /// The host owes an answer to LE Remote Connection Parameter Request.
    static let parameterAnswer = Procedures(rawValue: 1 << 6)
    /// The peripheral does not have the central's newest channel map.
    static let channelMap = Procedures(rawValue: 1 << 7)
    /// The central's host has begun to encrypt the link.
    static let encryption = Procedures(rawValue: 1 << 8)
    /// The peripheral's host owes an answer to LE Long Term Key Request.
    static let keyAnswer = Procedures(rawValue: 1 << 9)
}

/// One end of a connection.
struct LinkSide {
    /// Nil once the controller has gone or was reset.
    var port: Int?
    var handle: ConnectionHandle
    var address: AirAddress
    /// Whether the controller made the address.
    var isAddressMade = false
    /// The other end, as far as this one knows who it is.
    var peer: AirAddress?
    var queue = TransmitQueue()
    /// ACL packets of the host in the queue.
    var packetsHeld = 0
    var lastHeard: Instant
    var procedures: Procedures = []
    /// The key its host gave for the encryption that is being started.
    var key: [UInt8] = []
    var isVersionSent = false
    var isPeerVersionKnown = false
    /// What the host wants to send at most, and what both sides have agreed on for sending.
    var wantedLength = DataLength()
    var length = DataLength()
    /// The PHY this side sends on, and what it would like for both directions.
    var phy = PHY.le1M
    var preferredTxPHYs: UInt8
    var preferredRxPHYs: UInt8
}

/// A connection. Where both ends are there, nothing is lost and nothing waits to be sent, its
/// events are not run: the next one is computed from `anchor`.
struct Link {
    var parameters: LinkParameters
    var sides: [LinkSide]
    var channelMap: UInt64
    /// A connection event in which the peripheral took part, and from which the others are counted.
    var anchor: Instant
    /// The peripheral listens at the next event whatever its latency.
    var isAwake = false
    /// Whether packets have gone both ways; until then six events are the time-out.
    var isEstablished = false
    /// Whether what both hosts send is encrypted.
    var isEncrypted = false
    /// The next exchange of packets, in the open event or the first one of a new event.
    var nextExchange: Instant?
    var isEventOpen = false
    /// New parameters and when they begin.
    var update: (parameters: LinkParameters, instant: Instant)?

    var interval: TimeSpan {
        .microseconds(Int64(parameters.interval) * ConnectionInterval.stepMicroseconds)
    }
    var isWhole: Bool { sides[0].port != nil && sides[1].port != nil }
    var isFree: Bool { sides[0].port == nil && sides[1].port == nil }
    var hasTraffic: Bool { !sides[0].queue.isEmpty || !sides[1].queue.isEmpty }

    /// How long a side waits for the other: the supervision timeout, six events before the first
    /// packet (Core 6.0, Vol 6, Part B, 4.5.2).
    var patience: TimeSpan {
        isEstablished ? .milliseconds(Int64(parameters.timeout) * 10) : interval * 6
    }

    /// Lets pass the event in which the peripheral listened without need.
    mutating func fallAsleep(at now: Instant) {
        guard isAwake, anchor + interval < now else { return }
        anchor = anchor + interval
        isAwake = false
    }

    /// The first event at or after `now`, and after the last one, in which the peripheral takes
    /// part.
    func nextEvent(at now: Instant) -> Instant {
        let isNow = isAwake || !sides[Role.peripheral.rawValue].queue.isEmpty
        let stride = isNow ? interval : interval * (Int64(parameters.latency) + 1)
        let elapsed = (now - anchor).microseconds
        guard elapsed > stride.microseconds else { return anchor + stride }
        let count = (elapsed - 1) / stride.microseconds + 1
        return anchor + stride * count
    }

    /// Microseconds that the next exchange takes, both packets and both spaces.
    var exchangeTime: Int64 {
        var time = 2 * Radio.interFrameSpace
        for index in 0..<2 {
            let longest = sides[index].length.payload(on: sides[index].phy)
            let octets = sides[index].queue.nextOctets(max: longest)
            time += Radio.airTime(octets: octets, phy: sides[index].phy)
        }
        return time
    }
}
