// The device's end of the wire: framing and capture between a byte stream and the device.
import HCI
public import SansIO
public import Wire

/// An emulated device behind an H4 byte stream, with an optional capture of all that passes.
///
/// Every driver, real or virtual, moves octets through this and nothing else.
public struct DevicePort: Sendable {
    public var device: EmulatedDevice
    /// What has gone both ways, as a btsnoop file; nil takes nothing down.
    public var capture: BtsnoopWriter?
    private var framer = H4Framer()

    public init(device: EmulatedDevice, capture: BtsnoopWriter? = nil) {
        self.device = device
        self.capture = capture
    }

    /// The stream begins (anew): the controller is reset and brought up.
    public mutating func powerOn(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        framer.reset()
        let before = out.count
        device.powerOn(at: now, sending: &out, emit: &emit)
        captureSent(out, from: before, at: now)
    }

    /// Takes what was read from the stream.
    /// - Returns: the octet at which the stream stopped being H4; nil while it is well.
    public mutating func receive(
        _ chunk: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<DeviceEvent>
    ) -> UInt8? {
        var offset = 0
        while true {
            let before = out.count
            switch framer.next(in: chunk, offset: &offset) {
            case .inChunk(let range):
                let packet = chunk.extracting(range)
                capture?.append(packet, isReceived: true, at: now)
                device.receive(packet, at: now, sending: &out, emit: &emit)
            case .gathered:
                let gathered = framer.gathered
                capture?.append(gathered.span, isReceived: true, at: now)
                device.receive(gathered.span, at: now, sending: &out, emit: &emit)
            case .needMore: return nil
            case .unknownType(let octet): return octet
            }
            captureSent(out, from: before, at: now)
        }
    }

    public var deadline: Instant? { device.deadline }

    public mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<DeviceEvent>
    ) {
        let before = out.count
        device.expire(at: now, sending: &out, emit: &emit)
        captureSent(out, from: before, at: now)
    }

    /// Does something to the device that may send packets.
    public mutating func perform(
        at now: Instant, sending out: inout ByteBlock,
        _ action: (inout EmulatedDevice, inout ByteBlock) -> Void
    ) {
        let before = out.count
        action(&device, &out)
        captureSent(out, from: before, at: now)
    }

    /// The controller or the way to it is gone: links are over, nothing can be sent.
    public mutating func controllerIsGone(at now: Instant, emit: inout Outputs<DeviceEvent>) {
        framer.reset()
        device.controllerIsGone(at: now, emit: &emit)
    }

    /// What is to be appended to the capture file; empty without a capture.
    public mutating func takeCapture() -> [UInt8] {
        guard let bytes = capture?.block.bytes, !bytes.isEmpty else { return [] }
        capture?.block.removeAll()
        return bytes
    }

    private mutating func captureSent(_ out: borrowing ByteBlock, from start: Int, at now: Instant)
    {
        capture?.appendSent(out, from: start, at: now)
    }
}

extension BtsnoopWriter {
    /// Takes down whole packets that were sent.
    /// - Parameter start: where they begin in `out`.
    mutating func appendSent(_ out: borrowing ByteBlock, from start: Int, at now: Instant) {
        guard out.count > start else { return }
        let sent = out.bytes.span
        var offset = start
        while case .packet(_, let end) = H4.frame(sent, from: offset) {
            append(sent.extracting(offset..<end), isReceived: false, at: now)
            offset = end
        }
    }
}

extension [DevicePort] {
    /// Asks a device in place: an element that is read out of an array is copied, a whole device.
    public mutating func ask<Answer>(
        _ number: Int, _ question: (inout DevicePort) -> Answer
    ) -> Answer {
        question(&self[number])
    }
}
