// Notifications, indications and their confirmation (Core 6.0, Vol 3, Part F, 3.4.7; Part G, 4.10).
public import SansIO
public import Wire

extension GATTServer {
    /// Octets before the value in a notification or an indication.
    private static let headerOctets = 3

    /// Appends the value of `handle` to `pdu` as the notification or the indication that the
    /// client has asked for, or says why not. Where it asked for both it gets a notification.
    public mutating func notification(
        of handle: UInt16, to client: Int, at now: Instant, into pdu: inout ByteBlock
    ) -> NotificationResult {
        guard links[client].isConnected, !links[client].isTimedOut,
            let index = table.index(of: handle)
        else { return .unavailable }
        // What the client has to learn goes before what the application set.
        let isServiceChanged =
            table.attributes[index].kind == .serviceChanged && links[client].changedStart != 0
        let bits = subscription(of: index, client: client)
        let permissions = table.attributes[index].permissions
        let isNotification = bits & 1 != 0 && permissions.notify.level != .refused
        guard isNotification || bits & 2 != 0 && permissions.indicate.level != .refused else {
            return .notSubscribed
        }
        let access = isNotification ? permissions.notify : permissions.indicate
        if let objection = links[client].security.objection(
            to: access, by: settings.unencryptedError)
        {
            return .refused(objection)
        }
        if isUnaware(client), !isServiceChanged { return .refused(.databaseOutOfSync) }
        let room = Int(links[client].mtu) - Self.headerOctets
        let length = isServiceChanged ? 4 : Int(table.attributes[index].length)
        if length > room, settings.oversize == .refuse { return .tooLong }
        if isNotification {
            pdu.append(ATTOpcode.handleValueNotification.rawValue)
        } else {
            guard links[client].indicated == 0 else {
                if !waiting[client].contains(handle) { waiting[client].append(handle) }
                return .pending
            }
            pdu.append(ATTOpcode.handleValueIndication.rawValue)
            beginIndication(of: handle, to: client, at: now)
        }
        pdu.append(handle)
        if isServiceChanged {
            pdu.append(links[client].changedStart)
            pdu.append(links[client].changedEnd)
            links[client].hasChangedAgain = false
        } else {
            appendValue(at: index, for: client, limit: room, to: &pdu)
        }
        let truncated = length > room
        return isNotification
            ? .notification(truncated: truncated) : .indication(truncated: truncated)
    }

    /// Whether an indication is on its way to the client and not confirmed yet.
    public func awaitsConfirmation(of client: Int) -> Bool { links[client].indicated != 0 }

    /// Whether the client takes several values in one PDU.
    public func takesMultiple(_ client: Int) -> Bool {
        links[client].features & ClientFeatures.multipleHandleValueNotifications != 0
    }

    /// Whether the client has asked for notifications of the value of `handle`.
    public func isNotified(_ handle: UInt16, of client: Int) -> Bool {
        guard let index = table.index(of: handle) else { return false }
        return table.attributes[index].permissions.notify.level != .refused
            && subscription(of: index, client: client) & 1 != 0
    }

    /// Appends the values of two or more handles as one Multiple Handle Value Notification
    /// (Part F, 3.4.7.4), where the client supports it and wants each as a notification. Nothing is
    /// cut: what does not fit is `tooLong`.
    public func multipleNotification(
        of handles: [UInt16], to client: Int, into pdu: inout ByteBlock
    ) -> NotificationResult {
        let link = links[client]
        guard link.isConnected, !link.isTimedOut, handles.count >= 2 else { return .unavailable }
        guard takesMultiple(client) else { return .notSubscribed }
        if isUnaware(client) { return .refused(.databaseOutOfSync) }
        let start = pdu.count
        pdu.append(ATTOpcode.multipleHandleValueNotification.rawValue)
        for handle in handles {
            if let objection = appendNotified(handle, to: client, into: &pdu) {
                pdu.truncate(to: start)
                return objection
            }
        }
        guard pdu.count - start <= Int(link.mtu) else {
            pdu.truncate(to: start)
            return .tooLong
        }
        return .notification(truncated: false)
    }

    /// Appends handle, length and value of one of several notified values, or says why not.
    private func appendNotified(
        _ handle: UInt16, to client: Int, into pdu: inout ByteBlock
    ) -> NotificationResult? {
        guard let index = table.index(of: handle) else { return .unavailable }
        guard isNotified(handle, of: client) else { return .notSubscribed }
        let access = table.attributes[index].permissions.notify
        if let objection = links[client].security.objection(
            to: access, by: settings.unencryptedError)
        {
            return .refused(objection)
        }
        let length = valueLength(at: index, for: client)
        pdu.append(handle)
        pdu.append(UInt16(length))
        appendValue(at: index, for: client, limit: length, to: &pdu)
        return nil
    }

    /// What the client's CCCD of the value at `index` says. A CCCD that is an ordinary value says
    /// the same to all.
    func subscription(of index: Int, client: Int) -> UInt8 {
        let partner = Int(table.attributes[index].partner)
        guard partner >= 0 else { return 0 }
        if table.attributes[partner].configuration >= 0 {
            return configurations[slot(of: partner, client: client)] & 3
        }
        return table.attributes[partner].length > 0
            ? table.arena[Int(table.attributes[partner].offset)] & 3 : 0
    }

    private mutating func beginIndication(of handle: UInt16, to client: Int, at now: Instant) {
        waiting[client].removeAll { $0 == handle }
        links[client].indicated = handle
        links[client].indicationDeadline =
            now + .seconds(ATTLimit.transactionTimeoutSeconds)
        deadline = earliest(deadline, links[client].indicationDeadline)
    }

    /// Takes a confirmation; one that nothing awaits is ignored.
    mutating func confirm(_ client: Int, emit: inout Outputs<ServerEvent>) {
        let handle = links[client].indicated
        guard handle != 0 else { return }
        links[client].indicated = 0
        findDeadline()
        if let index = table.index(of: handle), table.attributes[index].kind == .serviceChanged {
            confirmServiceChanged(client)
        }
        emit.append(.confirmed(client: client, handle: handle))
        if let next = pendingIndication(of: client) {
            emit.append(.indicationReady(client: client, handle: next))
        }
    }

    /// The handle to be indicated to the client now: a Service Changed that it has not confirmed,
    /// or the first that waits. Nil while an indication is in flight.
    public func pendingIndication(of client: Int) -> UInt16? {
        guard links[client].isConnected, !links[client].isTimedOut, links[client].indicated == 0
        else { return nil }
        if links[client].changedStart != 0, let index = serviceChangedIndex,
            subscription(of: index, client: client) & 2 != 0
        {
            return table.attributes[index].handle
        }
        return waiting[client].first
    }
}
