// Links on the air: how they begin, exchange packets in connection events, and end.
import HCI
import SansIO
import Wire

extension Air {
    /// In ideal timing: when a lost packet is sent again, or a host that does not read is tried.
    private static let idealRetry = TimeSpan.microseconds(1_250)

    // MARK: Beginning

    /// Creates the link that CONNECT_IND, which has just ended, asks for.
    /// - Parameters: the advertiser as it was when it was heard; `isHeard` is false where the PDU
    ///   was lost, so that only the central has the link.
    mutating func connect(
        central: Int, _ initiator: Initiator, as own: AirAddress, to set: Int,
        _ advertiser: Advertiser, isHeard: Bool
    ) {
        let phy = advertiser.properties.isLegacy ? PHY.le1M : advertiser.secondaryPHY
        guard let peripheral = advertiser.port, let parameters = initiator.parameters(on: phy)
        else { return }
        let address = advertiser.address
        controllers[central].initiator = nil
        updateListeners()
        var ends = [newSide(central, own), newSide(peripheral, address)]
        ends[0].isAddressMade = initiator.ownAddressType.isIdentity && own.isResolvable
        ends[1].isAddressMade = advertiser.addressEnd != nil && address.isResolvable
        ends[0].peer = identity(central, of: address)
        ends[1].peer = identity(peripheral, of: own)
        (ends[0].phy, ends[1].phy) = (phy, phy)
        var link = Link(
            parameters: parameters, sides: [ends[0], ends[1]],
            channelMap: controllers[central].channelClassification, anchor: clock)
        link.anchor = clock + .microseconds(Radio.transmitWindowDelay) - link.interval
        link.isAwake = true
        if !isHeard { link.sides[Role.peripheral.rawValue].port = nil }
        let slot = links.firstIndex(where: \.isFree) ?? links.count
        if slot == links.count { links.append(link) } else { links[slot] = link }
        // Both ends have to know it (Core 6.0, Vol 6, Part B, 4.5.8).
        let hasSecondAlgorithm = [central, peripheral].allSatisfy {
            controllers[$0].features.contains(.extendedAdvertising)
        }
        for role in Role.both {
            guard let port = link.sides[role.rawValue].port else { continue }
            controllers[port].links.append(slot)
            reportConnection(slot, role, isSecondAlgorithm: hasSecondAlgorithm)
            if role == .peripheral {
                reportTermination(of: set, .success, link.sides[role.rawValue].handle)
            }
            let wanted = link.sides[role.rawValue].wantedLength
            if wanted != DataLength() { push(slot, role, .lengthRequest(wanted)) }
        }
        proceed(slot)
    }

    private mutating func newSide(_ port: Int, _ address: AirAddress) -> LinkSide {
        let slots = controllers[port].links
        let handle = controllers[port].nextHandle { candidate in
            slots.contains { slot in
                (0..<2).contains {
                    links[slot].sides[$0].port == port && links[slot].sides[$0].handle == candidate
                }
            }
        }
        return LinkSide(
            port: port, handle: handle, address: address, lastHeard: clock,
            wantedLength: controllers[port].suggestedLength,
            preferredTxPHYs: controllers[port].preferredTxPHYs,
            preferredRxPHYs: controllers[port].preferredRxPHYs)
    }

    private mutating func reportConnection(_ slot: Int, _ role: Role, isSecondAlgorithm: Bool) {
        let link = links[slot]
        guard let port = link.sides[role.rawValue].port else { return }
        var event = LEEnhancedConnectionComplete()
        event.connectionHandle = link.sides[role.rawValue].handle
        event.role = UInt8(role.rawValue)
        let (own, peer) = (link.sides[role.rawValue], link.sides[role.other.rawValue].address)
        (event.peerAddressType, event.peerAddress) = resolve(port, peer)
        if event.peerAddressType != peer.type { event.peerResolvablePrivateAddress = peer.address }
        if own.isAddressMade { event.localResolvablePrivateAddress = own.address.address }
        event.connectionInterval = link.parameters.interval
        event.peripheralLatency = link.parameters.latency
        event.supervisionTimeout = link.parameters.timeout
        report(connection: event, peer, to: port)
        guard controllers[port].features.contains(.extendedAdvertising) else { return }
        var selection = LEChannelSelectionAlgorithm()
        selection.connectionHandle = own.handle
        selection.algorithm = isSecondAlgorithm ? 1 : 0
        controllers[port].send(selection)
    }

    /// Tells a host that no connection came about.
    mutating func reportNoConnection(_ port: Int, role: Role, _ status: HCIStatus) {
        var event = LEEnhancedConnectionComplete()
        event.status = status
        event.role = UInt8(role.rawValue)
        report(connection: event, nil, to: port)
    }

    /// The enhanced event where its bit is set, else the first one, never both (Core 6.0, Vol 4,
    /// Part E, 7.7.65.10). The first one has the address on the air.
    private mutating func report(
        connection: LEEnhancedConnectionComplete, _ peer: AirAddress?, to port: Int
    ) {
        guard !controllers[port].wants(.leMeta, .enhancedConnectionComplete) else {
            return controllers[port].send(connection)
        }
        var event = LEConnectionComplete()
        event.status = connection.status
        event.connectionHandle = connection.connectionHandle
        event.role = connection.role
        event.peerAddressType = peer?.type ?? connection.peerAddressType
        event.peerAddress = peer?.address ?? connection.peerAddress
        event.connectionInterval = connection.connectionInterval
        event.peripheralLatency = connection.peripheralLatency
        event.supervisionTimeout = connection.supervisionTimeout
        controllers[port].send(event)
    }

    // MARK: Data from a host

    /// The link that a host calls `handle`, and which end of it the host is.
    func find(_ port: Int, _ handle: ConnectionHandle) -> (slot: Int, role: Role)? {
        for slot in controllers[port].links {
            for role in Role.both
            where links[slot].sides[role.rawValue].port == port
                && links[slot].sides[role.rawValue].handle == handle
            {
                return (slot, role)
            }
        }
        return nil
    }

    /// Takes an ACL packet of a host. Packets for links that have ended are dropped without a word:
    /// the host may not know yet.
    mutating func receiveACL(_ packet: Span<UInt8>, from port: Int) {
        guard let header = ACLHeader(packet: packet), let end = find(port, header.handle) else {
            return
        }
        guard header.length <= Capabilities.aclOctetsMax,
            controllers[port].packetsHeld < Capabilities.aclPacketsMax
        else {
            var overflow = DataBufferOverflow()
            overflow.linkType = 1
            return controllers[port].send(overflow)
        }
        controllers[port].packetsHeld += 1
        links[end.slot].sides[end.role.rawValue].packetsHeld += 1
        links[end.slot].sides[end.role.rawValue].queue.append(
            packet.extracting(ACLHeader.octets..<packet.count), isStart: header.isStart)
        touched.append(end.slot)
    }

    /// Queues a control PDU; `proceed` or the open event sends it.
    mutating func push(_ slot: Int, _ role: Role, _ control: ControlPDU) {
        links[slot].sides[role.rawValue].queue.append(control)
    }

    // MARK: Time

    /// Sends what can be sent now, and says when the link goes on.
    mutating func proceed(_ slot: Int) {
        if timing == .ideal {
            while links[slot].isWhole, canSend(slot), exchange(slot) {}
        }
        schedule(slot)
    }

    mutating func schedule(_ slot: Int) {
        linkQueue.set(slot, to: links[slot].isFree ? nil : nextStep(of: slot))
    }

    /// When the link goes on; nil where it is idle and nothing can go wrong.
    private mutating func nextStep(of slot: Int) -> Instant? {
        guard links[slot].isWhole else { return supervisionEnd(of: slot) }
        if timing == .ideal { return links[slot].hasTraffic ? clock + Self.idealRetry : nil }
        var due = loss > 0 ? supervisionEnd(of: slot) : nil
        due = earliest(due, links[slot].update?.instant)
        if !links[slot].isEventOpen {
            let isDue = links[slot].hasTraffic || loss > 0
            if loss == 0 { links[slot].fallAsleep(at: clock) }
            links[slot].nextExchange = isDue ? links[slot].nextEvent(at: clock) : nil
        }
        return earliest(due, links[slot].nextExchange)
    }

    private func supervisionEnd(of slot: Int) -> Instant? {
        var due: Instant?
        for role in Role.both where links[slot].sides[role.rawValue].port != nil {
            due = earliest(due, links[slot].sides[role.rawValue].lastHeard + links[slot].patience)
        }
        return due
    }

    /// Something of this link is due now.
    mutating func stepLink(_ slot: Int) {
        guard !links[slot].isFree else { return schedule(slot) }
        if !links[slot].isWhole || (loss > 0 && timing == .radio) {
            if let end = supervisionEnd(of: slot), end <= clock { return expireSupervision(slot) }
        }
        guard timing == .radio else { return proceed(slot) }
        if let update = links[slot].update, update.instant <= clock { applyUpdate(slot) }
        if let due = links[slot].nextExchange, due <= clock { runExchange(slot) }
        schedule(slot)
    }

    /// Each side that has waited in vain is told so; the other one follows in its own time.
    private mutating func expireSupervision(_ slot: Int) {
        let reason: HCIStatus =
            links[slot].isEstablished ? .connectionTimeout : .connectionFailedToBeEstablished
        for role in Role.both {
            let side = links[slot].sides[role.rawValue]
            guard let port = side.port, side.lastHeard + links[slot].patience <= clock else {
                continue
            }
            let isAsked = side.procedures.contains(.terminate)
            reportEnd(slot, role, isAsked ? .terminatedByLocalHost : reason)
            leave(slot, port)
        }
        schedule(slot)
    }

    // MARK: Connection events

    /// Runs the exchange that is due, the first of a connection event or a further one of an open
    /// event.
    private mutating func runExchange(_ slot: Int) {
        let cost = TimeSpan.microseconds(links[slot].exchangeTime)
        if links[slot].isEventOpen {
            // The event closes where the exchange would not end before the next anchor point.
            guard clock + cost <= links[slot].anchor + links[slot].interval else {
                links[slot].isEventOpen = false
                return
            }
        } else {
            links[slot].anchor = clock
            links[slot].isEventOpen = true
        }
        let hadTraffic = links[slot].hasTraffic
        let isHeard = exchange(slot)
        guard !links[slot].isFree else { return }
        links[slot].isAwake = hadTraffic
        links[slot].isEventOpen = isHeard && canSend(slot)
        if links[slot].isEventOpen { links[slot].nextExchange = clock + cost }
    }

    /// One packet from the central and the peripheral's answer; false where one was lost.
    private mutating func exchange(_ slot: Int) -> Bool {
        guard transfer(slot, from: .central) else { return false }
        guard links[slot].isWhole, transfer(slot, from: .peripheral) else { return false }
        guard links[slot].isWhole else { return false }
        links[slot].isEstablished = true
        acknowledge(slot, .central)
        acknowledge(slot, .peripheral)
        return true
    }

    /// Whether the host at the other end has left so much unread that its controller takes no data.
    private func isHeldOff(_ slot: Int, from role: Role) -> Bool {
        guard case .data = links[slot].sides[role.rawValue].queue.first,
            let port = links[slot].sides[role.other.rawValue].port
        else { return false }
        return controllers[port].isBacklogged
    }

    private func canSend(_ slot: Int) -> Bool {
        Role.both.contains {
            !links[slot].sides[$0.rawValue].queue.isEmpty && !isHeldOff(slot, from: $0)
        }
    }

    /// Puts one packet of `role` on the air; false where it is lost.
    private mutating func transfer(_ slot: Int, from role: Role) -> Bool {
        guard !isLost() else { return false }
        let sender = role.rawValue
        let receiver = role.other.rawValue
        links[slot].sides[receiver].lastHeard = clock
        guard let item = links[slot].sides[sender].queue.first,
            links[slot].sides[sender].queue.delivered == nil, !isHeldOff(slot, from: role)
        else { return true }
        let count = links[slot].sides[sender].queue.nextOctets(
            max: links[slot].sides[sender].length.payload(on: links[slot].sides[sender].phy))
        links[slot].sides[sender].queue.delivered = count
        switch item {
        case .control(let control): receive(control, slot, role.other)
        case .data(_, let isStart):
            // An empty packet says nothing to the peer's host.
            guard count > 0, let port = links[slot].sides[receiver].port else { break }
            let offset = links[slot].sides[sender].queue.offset
            controllers[port].output.append(
                acl: ACLHeader(
                    handle: links[slot].sides[receiver].handle,
                    boundary: isStart ? .firstFromController : .continuing, length: count))
            let bytes = links[slot].sides[sender].queue.bytes
            controllers[port].output.append(bytes.span.extracting(offset..<offset + count))
        }
        return true
    }

    /// The packet that `role` sent has been acknowledged.
    private mutating func acknowledge(_ slot: Int, _ role: Role) {
        let sender = role.rawValue
        guard links[slot].sides[sender].queue.removeDelivered(),
            let port = links[slot].sides[sender].port
        else { return }
        links[slot].sides[sender].packetsHeld -= 1
        controllers[port].packetsHeld -= 1
        let handle = links[slot].sides[sender].handle
        controllers[port].send(NumberOfCompletedPackets([.init(handle, 1)]))
    }

    // MARK: Ending

    /// Ends the link at both ends; `role` is the one whose host asked for it.
    mutating func terminate(_ slot: Int, by role: Role, _ reason: HCIStatus) {
        reportEnd(slot, role, .terminatedByLocalHost)
        reportEnd(slot, role.other, reason)
        for side in Role.both {
            if let port = links[slot].sides[side.rawValue].port { leave(slot, port) }
        }
    }

    mutating func reportEnd(_ slot: Int, _ role: Role, _ reason: HCIStatus) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        var event = DisconnectionComplete()
        event.connectionHandle = links[slot].sides[role.rawValue].handle
        event.reason = reason
        controllers[port].send(event)
    }

    /// Takes the controller on `port` out of the link. The other end, if there is one, hears
    /// nothing from now on.
    mutating func leave(_ slot: Int, _ port: Int) {
        if loss == 0 || timing == .ideal { hearBothSides(slot) }
        for index in 0..<2 where links[slot].sides[index].port == port {
            controllers[port].packetsHeld -= links[slot].sides[index].packetsHeld
            links[slot].sides[index].port = nil
        }
        controllers[port].links.removeAll { $0 == slot }
        links[slot].isEventOpen = false
        links[slot].nextExchange = nil
        links[slot].update = nil
        schedule(slot)
    }

    /// Without loss, idle events are not run; both ends have heard each other until now.
    mutating func hearBothSides(_ slot: Int) {
        guard links[slot].isWhole else { return }
        if links[slot].anchor + links[slot].interval <= clock { links[slot].isEstablished = true }
        for index in 0..<2 { links[slot].sides[index].lastHeard = clock }
    }
}
