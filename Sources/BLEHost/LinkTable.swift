// All connections of a controller and the sharing of its ACL buffers among them.
import HCI
import L2CAP
import Wire

/// The links of one controller. Data goes out while the controller has buffers (Core 6.0, Vol 4,
/// Part E, 4.1.1), else it waits in its link's queue; queues are served in turn.
public struct LinkTable: Sendable {
    /// Connections at once: more than any controller in the recipes gives a peripheral.
    public static let linksMax = 16
    /// Octets that may wait on one link: 64 KiB hold a hundred responses of the largest MTU.
    static let queueOctetsMax = 65_536

    public internal(set) var links: [Link] = []
    private(set) var openCount = 0
    private(set) var freePackets = 1
    /// All packets that the controller buffers.
    private var allPackets = 1
    private var packetOctets = 27
    private var nextTurn = 0

    /// Forgets every link; the controller was reset.
    mutating func reset() {
        for index in links.indices { links[index].isOpen = false }
        openCount = 0
        freePackets = 1
        allPackets = 1
    }

    mutating func configure(packetOctets: Int, packets: Int) {
        self.packetOctets = packetOctets
        freePackets = packets
        allPackets = packets
    }

    /// How many packets one link may have in the controller: where there are enough, one is left
    /// for each other link, so that a peer out of reach does not stop the others.
    private var packetsPerLinkMax: Int { max(allPackets - openCount + 1, 1) }

    func index(of handle: ConnectionHandle) -> Int? {
        links.firstIndex { $0.isOpen && $0.handle == handle }
    }

    /// Takes a slot; nil where all are in use.
    mutating func open(_ information: ConnectionInformation) -> Int? {
        let index = links.firstIndex { !$0.isOpen } ?? links.count
        guard index < Self.linksMax else { return nil }
        if index == links.count { links.append(Link()) }
        links[index].open(information)
        openCount += 1
        return index
    }

    /// Frees the slot. Packets that the controller still had count as completed (4.1.1).
    mutating func close(_ index: Int) {
        freePackets += links[index].packetsInController
        links[index].packetsInController = 0
        guard links[index].isOpen else { return }
        links[index].isOpen = false
        openCount -= 1
    }

    /// Whether a PDU would go to the controller at once.
    func canSend(on index: Int) -> Bool {
        links[index].isOpen && !links[index].hasQueue && hasBuffer(for: index)
    }

    private func hasBuffer(for index: Int) -> Bool {
        freePackets > 0 && links[index].packetsInController < packetsPerLinkMax
    }

    /// Sends one L2CAP PDU in as many fragments as the controller's packet size asks.
    /// - Returns: false where too much waits already, and nothing was taken.
    mutating func send(
        _ payload: Span<UInt8>, cid: UInt16, on index: Int, sending out: inout ByteBlock
    ) -> Bool {
        guard links[index].isOpen else { return true }
        let total = payload.count + 4
        if canSend(on: index), total <= packetOctets {
            // The common case: one fragment, written where it is sent from.
            out.append(
                acl: ACLHeader(
                    handle: links[index].handle, boundary: .firstFromHost, length: total))
            out.appendL2CAPHeader(length: payload.count, cid: cid)
            out.append(payload)
            freePackets -= 1
            links[index].packetsInController += 1
            return true
        }
        guard links[index].queue.count - links[index].queueStart + total <= Self.queueOctetsMax
        else { return false }
        enqueue(payload, cid: cid, on: index)
        pump(sending: &out)
        return true
    }

    private mutating func enqueue(_ payload: Span<UInt8>, cid: UInt16, on index: Int) {
        let handle = links[index].handle
        let first = min(packetOctets, payload.count + 4)
        links[index].queue.append(
            acl: ACLHeader(handle: handle, boundary: .firstFromHost, length: first))
        links[index].queue.appendL2CAPHeader(length: payload.count, cid: cid)
        var offset = first - 4
        links[index].queue.append(payload.extracting(0..<offset))
        while offset < payload.count {
            let end = min(offset + packetOctets, payload.count)
            links[index].queue.append(
                acl: ACLHeader(handle: handle, boundary: .continuing, length: end - offset))
            links[index].queue.append(payload.extracting(offset..<end))
            offset = end
        }
    }

    /// Gives waiting packets to the controller, one from each link in turn.
    mutating func pump(sending out: inout ByteBlock) {
        var idle = 0
        while freePackets > 0, idle < links.count {
            let index = nextTurn % links.count
            nextTurn = (index + 1) % links.count
            guard links[index].isOpen, links[index].hasQueue, hasBuffer(for: index) else {
                idle += 1
                continue
            }
            idle = 0
            links[index].sendFirst(&out)
            freePackets -= 1
        }
    }

    /// The controller has sent `count` packets of a link. More than it had is the controller's
    /// mistake and counts as all it had.
    mutating func completed(_ count: Int, on index: Int) {
        let returned = min(count, links[index].packetsInController)
        links[index].packetsInController -= returned
        freePackets += returned
    }
}
