// Puts the fragments of one link's ACL packets together to L2CAP PDUs.
public import Wire

/// Why a fragment, and what came before it, was dropped.
public enum RecombinerDrop: Equatable, Sendable {
    /// A continuation without a start.
    case noStart
    /// The PDU's length is above the recombiner's limit.
    case aboveLimit
    /// There were more octets than the PDU's length says.
    case overrun
}

/// What one fragment led to.
public enum RecombinerResult: Equatable, Sendable {
    /// More fragments must come.
    case incomplete
    /// The fragment is a whole PDU; its payload lies in `range` of the fragment.
    case frame(cid: UInt16, range: Range<Int>)
    /// The PDU is complete, its payload lies in the recombiner's `payload`.
    case recombined(cid: UInt16)
    case dropped(RecombinerDrop)
}

/// Recombination of L2CAP PDUs (Core 6.0, Vol 3, Part A, 7.2.2). A start while a PDU is incomplete
/// drops that one.
public struct Recombiner: Sendable {
    /// The payload of the last recombined PDU, until the next fragment comes.
    public var payload: ByteBlock
    private let payloadMax: Int
    /// The octets of the header so far: the first fragment may be shorter than it.
    private var header = InlineArray<4, UInt8>(repeating: 0)
    private var headerCount = 0
    private var isOpen = false

    /// - Parameter payloadMax: octets, to 65,535; longer PDUs are dropped. The default holds the
    ///   largest ATT PDU, 517, and the frames of ordinary credit-based channels.
    public init(payloadMax: Int = 2048) {
        self.payloadMax = payloadMax
        payload = ByteBlock(capacity: 0)
    }

    /// Forgets what has come so far, as on a new link.
    public mutating func reset() {
        isOpen = false
        headerCount = 0
        payload.removeAll()
    }

    /// Takes one fragment, the data of one ACL packet.
    /// - Parameter isStart: whether the packet begins a PDU (boundary flag 0b00 or 0b10).
    public mutating func handle(_ fragment: Span<UInt8>, isStart: Bool) -> RecombinerResult {
        if isStart {
            if fragment.count >= L2CAPHeader.octets {
                let length = Int(fragment.uint16(at: 0))
                if fragment.count == length + L2CAPHeader.octets, length <= payloadMax {
                    isOpen = false
                    return .frame(
                        cid: fragment.uint16(at: 2), range: L2CAPHeader.octets..<fragment.count)
                }
            }
            reset()
            isOpen = true
        }
        guard isOpen else { return .dropped(.noStart) }
        let taken = min(L2CAPHeader.octets - headerCount, fragment.count)
        for index in 0..<taken { header[headerCount + index] = fragment[index] }
        headerCount += taken
        guard headerCount == L2CAPHeader.octets else { return .incomplete }
        let length = Int(header[0]) | Int(header[1]) << 8
        guard length <= payloadMax else { return drop(.aboveLimit) }
        guard payload.count + fragment.count - taken <= length else { return drop(.overrun) }
        payload.append(fragment.extracting(taken..<fragment.count))
        guard payload.count == length else { return .incomplete }
        isOpen = false
        return .recombined(cid: UInt16(header[2]) | UInt16(header[3]) << 8)
    }

    private mutating func drop(_ reason: RecombinerDrop) -> RecombinerResult {
        reset()
        return .dropped(reason)
    }
}
