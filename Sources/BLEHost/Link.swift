// One connection: its recombiner, and what waits for the controller's buffers.
import HCI
public import L2CAP
import Wire

/// A connection's slot. Slots are reused, so that nothing is allocated per connection in steady
/// state.
public struct Link: Sendable {
    public internal(set) var isOpen = false
    public internal(set) var information = ConnectionInformation(
        handle: ConnectionHandle(rawValue: 0), isPeripheral: true, peerAddress: DeviceAddress(),
        peerAddressType: .publicDevice, interval: ConnectionInterval(steps: 0), latency: 0,
        supervisionTimeout: 0)
    public internal(set) var recombiner = Recombiner()
    /// Whole ACL packets that wait for a buffer, from `queueStart` on.
    var queue = ByteBlock(capacity: 0)
    var queueStart = 0
    /// Packets that the controller has and has not reported completed.
    var packetsInController = 0
    /// Whether Disconnect has been sent.
    var isClosing = false

    var handle: ConnectionHandle { information.handle }
    var hasQueue: Bool { queueStart < queue.count }

    mutating func open(_ information: ConnectionInformation) {
        self.information = information
        isOpen = true
        isClosing = false
        recombiner.reset()
        queue.removeAll()
        queueStart = 0
        packetsInController = 0
    }

    /// Moves the queue's first packet to `out`.
    mutating func sendFirst(_ out: inout ByteBlock) {
        let length = Int(queue.bytes.span.uint16(at: queueStart + 3))
        let end = queueStart + ACLHeader.octets + length
        out.append(queue.bytes.span.extracting(queueStart..<end))
        packetsInController += 1
        queueStart = end
        if queueStart == queue.count {
            queue.removeAll()
            queueStart = 0
        }
    }
}
