// Notifications and indications of a peripheral host.
import GATT
import L2CAP
public import SansIO
public import Wire

extension PeripheralHost {
    /// Notifies or indicates the value of `handle` to every client that asked for it.
    public mutating func notify(
        _ handle: UInt16, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        for link in session.table.links.indices where session.table.links[link].isOpen {
            _ = notify(handle, to: link, at: now, &out, &emit)
        }
        process(at: now, &out, &emit)
    }

    /// The same to these links.
    /// - Returns: those to which it was sent now.
    public mutating func notify(
        _ handle: UInt16, to links: [Int], at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) -> [Int] {
        var sent: [Int] = []
        for link in links where session.table.links[link].isOpen {
            if notify(handle, to: link, at: now, &out, &emit) { sent.append(link) }
        }
        process(at: now, &out, &emit)
        return sent
    }

    /// Notifies or indicates values that change at one instant: in one PDU where a client takes
    /// that and they fit, else one by one.
    public mutating func notify(
        _ handles: [UInt16], at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) {
        for link in session.table.links.indices where session.table.links[link].isOpen {
            let isTogether = notifyTogether(handles, to: link, at: now, &out, &emit)
            for handle in handles where !isTogether || !server.isNotified(handle, of: link) {
                _ = notify(handle, to: link, at: now, &out, &emit)
            }
        }
        process(at: now, &out, &emit)
    }

    private mutating func notifyTogether(
        _ handles: [UInt16], to link: Int, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) -> Bool {
        guard server.takesMultiple(link) else { return false }
        let asked = handles.filter { server.isNotified($0, of: link) }
        reply.removeAll()
        guard case .notification = server.multipleNotification(of: asked, to: link, into: &reply)
        else { return false }
        sendReply(cid: L2CAPChannel.attribute, to: link, at: now, &out)
        if reportsSending {
            for handle in asked {
                let value = server.value(of: handle, for: link) ?? []
                emit.append(.sent(link: link, handle: handle, value, isIndication: false))
            }
        }
        return true
    }

    /// Notifies or indicates the value of `handle` to every client that asked for it and whose link
    /// can send at once; the others miss it.
    /// - Returns: whether it went to anyone.
    public mutating func stream(
        _ handle: UInt16, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<PeripheralEvent>
    ) -> Bool {
        var isSent = false
        for link in session.table.links.indices
        where session.table.links[link].isOpen && session.table.canSend(on: link)
            && !server.awaitsConfirmation(of: link)
        {
            if notify(handle, to: link, at: now, &out, &emit) { isSent = true }
        }
        return isSent
    }

    mutating func notify(
        _ handle: UInt16, to link: Int, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) -> Bool {
        reply.removeAll()
        let result = server.notification(of: handle, to: link, at: now, into: &reply)
        switch result {
        case .notification(let isCut), .indication(let isCut):
            if isCut { tellOverflow(handle, link, isCut: true, &emit) }
            if reportsSending { tellSent(handle, link, &emit) }
            sendReply(cid: L2CAPChannel.attribute, to: link, at: now, &out)
            return true
        case .tooLong:
            tellOverflow(handle, link, isCut: false, &emit)
            return false
        case .pending, .notSubscribed, .refused, .unavailable: return false
        }
    }

    /// Tells of the Handle Value Notification or Indication that is in `reply`.
    private func tellSent(
        _ handle: UInt16, _ link: Int, _ emit: inout Outputs<PeripheralEvent>
    ) {
        let pdu = reply.bytes
        let isIndication = pdu.first == ATTOpcode.handleValueIndication.rawValue
        emit.append(
            .sent(
                link: link, handle: handle, Array(pdu.dropFirst(3)), isIndication: isIndication))
    }

    private mutating func tellOverflow(
        _ handle: UInt16, _ link: Int, isCut: Bool, _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard !overflows.contains(where: { $0.link == link && $0.handle == handle }) else { return }
        overflows.append((link, handle))
        let room = Int(server.mtu(of: link)) - 3
        emit.append(.overflow(link: link, handle: handle, room: room, isCut: isCut))
    }

    mutating func sendPendingIndication(
        to client: Int, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<PeripheralEvent>
    ) {
        guard let handle = server.pendingIndication(of: client) else { return }
        _ = notify(handle, to: client, at: now, &out, &emit)
    }
}
