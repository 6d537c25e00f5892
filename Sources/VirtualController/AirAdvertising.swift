// Advertising on the air: who hears a PDU, who answers it, and how a connection begins.
import HCI
import SansIO
import Wire

extension Air {
    mutating func scheduleAdvertiser(_ set: Int) {
        var due: Instant?
        if advertisers[set].isEnabled {
            due = advertisers[set].end
            if !listeners.isEmpty || advertisers[set].eventsMax > 0 {
                due = earliest(due, advertisers[set].stepEnd)
            }
        }
        queue.set(set, to: due)
    }

    /// Brings an advertiser that nobody has heard up to the present.
    mutating func skipUnheard(_ set: Int) {
        guard advertisers[set].isEnabled, advertisers[set].eventsMax == 0 else { return }
        advertisers[set].skip(to: clock)
    }

    mutating func startAdvertising(
        _ set: Int, as own: AirAddress, duration: TimeSpan? = nil, eventsMax: Int = 0
    ) {
        let type = advertisers[set].ownAddressType
        advertisers[set].rename(own, target: target(set), until: addressEnd(set, type))
        advertisers[set].enable(at: clock, duration: duration, eventsMax: eventsMax)
        beginStretch(set)
        scheduleAdvertiser(set)
    }

    mutating func stopAdvertising(_ set: Int) {
        if listeners.isEmpty { skipUnheard(set) }
        endStretch(set)
        advertisers[set].disable()
        queue.set(set, to: nil)
    }

    /// Something of an advertiser ends on the air now.
    mutating func stepAdvertiser(_ set: Int) {
        renewAddresses(set)
        let advertiser = advertisers[set]
        guard advertiser.isEnabled, let port = advertiser.port else {
            return queue.set(set, to: nil)
        }
        if let end = advertiser.end, end <= clock {
            stopAdvertising(set)
            return reportEnd(of: set, .advertisingTimeout)
        }
        switch advertiser.step {
        case .advertisement:
            if advertiser.properties.isLegacy {
                hearAdvertisement(of: set, port, advertiser)
            } else {
                hearPointer(of: set, port, advertiser)
            }
        case .auxiliary: hearAuxiliary(of: set, port, advertiser)
        case .scanResponse: hearScanResponse(of: set, port, advertiser)
        case .connectIndication(let central):
            hearConnectIndication(of: central, set, port, advertiser)
        }
        let max = advertisers[set].eventsMax
        if max > 0, advertisers[set].isEnabled, advertisers[set].eventsDone >= max {
            stopAdvertising(set)
            return reportEnd(of: set, .limitReached)
        }
        scheduleAdvertiser(set)
    }

    /// Advertising has ended by itself.
    private mutating func reportEnd(of set: Int, _ status: HCIStatus) {
        guard let port = advertisers[set].port else { return }
        if advertisers[set].handle == nil {
            reportNoConnection(port, role: .peripheral, status)
        } else {
            reportTermination(of: set, status, ConnectionHandle(rawValue: 0))
        }
    }

    /// Tells the host of a set that it is disabled.
    mutating func reportTermination(
        of set: Int, _ status: HCIStatus, _ connection: ConnectionHandle
    ) {
        guard let port = advertisers[set].port, let handle = advertisers[set].handle else { return }
        var event = LEAdvertisingSetTerminated()
        event.status = status
        event.advertisingHandle = handle
        event.connectionHandle = connection
        // Events are counted where the host has limited them.
        if advertisers[set].eventsMax > 0 {
            event.numCompletedEvents = UInt8(clamping: advertisers[set].eventsDone)
        }
        controllers[port].send(event)
    }

    /// Shows the legacy PDU that has just ended to everybody, and begins what answers it.
    private mutating func hearAdvertisement(
        of set: Int, _ port: Int, _ advertiser: Advertiser
    ) {
        var requesters: [Int] = []
        var initiator: Int?
        for listener in listeners where listener != port {
            if connects(listener, to: port, advertiser), !isLost() {
                initiator = initiator ?? listener
            }
            guard scans(listener, advertiser), !isLost() else { continue }
            report(advertiser, isResponse: false, to: listener)
            if requestsScan(listener, of: port, advertiser) { requesters.append(listener) }
        }
        answer(set, requesters, initiator)
    }

    /// Begins what follows an advertisement that these controllers answer.
    mutating func answer(_ set: Int, _ requesters: [Int], _ initiator: Int?) {
        if let initiator {
            advertisers[set].beginConnectIndication(from: initiator)
        } else if !requesters.isEmpty, !isLost() {
            // Requests at the same instant: the strongest is understood and the response reaches
            // all.
            advertisers[set].requesters = requesters
            advertisers[set].beginScanResponse()
        } else {
            advertisers[set].advance()
        }
    }

    private mutating func hearScanResponse(of set: Int, _ port: Int, _ advertiser: Advertiser) {
        reportRequest(of: set, port, advertiser)
        for listener in advertiser.requesters where controllers[listener].scanner.isEnabled {
            if advertiser.properties.isLegacy {
                guard !isLost() else { continue }
                report(advertiser, isResponse: true, to: listener)
            } else {
                reportAuxiliary(advertiser, isResponse: true, to: listener)
            }
        }
        advertisers[set].advance()
    }

    /// Tells the host of a set whose scan request has been understood.
    private mutating func reportRequest(of set: Int, _ port: Int, _ advertiser: Advertiser) {
        guard advertiser.notifiesScanRequests, let handle = advertiser.handle,
            let scanner = advertiser.requesters.first,
            let own = scannerAddress(scanner, advertiser), !controllers[port].isBacklogged
        else { return }
        var event = LEScanRequestReceived()
        event.advertisingHandle = handle
        (event.scannerAddressType, event.scannerAddress) = resolve(port, own)
        controllers[port].send(event)
    }

    private mutating func hearConnectIndication(
        of central: Int, _ set: Int, _ port: Int, _ advertiser: Advertiser
    ) {
        guard let initiator = controllers[central].initiator,
            seeks(central, initiator, advertiser),
            let own = ownAddress(
                central, initiator.ownAddressType,
                towards: identity(central, of: advertiser.address))
        else {
            advertisers[set].advance()
            return
        }
        let isHeard = !isLost()
        // Without AUX_CONNECT_RSP the initiator goes on as before.
        if !isHeard, !advertiser.properties.isLegacy { return advertisers[set].advance() }
        if isHeard {
            stopAdvertising(set)
        } else {
            advertisers[set].advance()
        }
        connect(central: central, initiator, as: own, to: set, advertiser, isHeard: isHeard)
    }

    // MARK: Filters

    /// Whether the initiator on `port` wants to connect to this advertiser.
    private func seeks(_ port: Int, _ initiator: Initiator, _ advertiser: Advertiser) -> Bool {
        guard admits(port, advertiser.address) else { return false }
        if initiator.peer == advertiser.address { return true }
        let identity = identity(port, of: advertiser.address)
        if let peer = initiator.peer { return peer == identity }
        return controllers[port].acceptList.contains(identity)
    }

    /// Whether whoever listens as planned hears the PDU on a primary channel.
    func hears(_ plan: ListeningPlan?, _ advertiser: Advertiser) -> Bool {
        guard let plan else { return false }
        return switch timing {
        case .ideal:
            advertiser.isFirstChannel && plan.isOpen(from: advertiser.start, to: advertiser.start)
        case .radio:
            plan.hears(
                channel: advertiser.channel, from: advertiser.start, to: advertiser.stepEnd)
        }
    }

    /// Whether the scanner on `listener` hears this legacy PDU and its filter lets it pass.
    private func scans(_ listener: Int, _ advertiser: Advertiser) -> Bool {
        let scanner = controllers[listener].scanner
        return scanner.isEnabled && hears(scanner.plan(on: PHY.le1M), advertiser)
            && accepts(listener, advertiser)
    }

    /// Whether the filter of the scanner on `listener` lets this advertiser pass.
    func accepts(_ listener: Int, _ advertiser: Advertiser) -> Bool {
        let isFiltered = controllers[listener].scanner.filterPolicy & 1 == 1
        if advertiser.properties.isAnonymous {
            if isFiltered, !controllers[listener].acceptsAnonymous { return false }
        } else {
            guard admits(listener, advertiser.address) else { return false }
            if isFiltered {
                let identity = identity(listener, of: advertiser.address)
                guard controllers[listener].acceptList.contains(identity) else { return false }
            }
        }
        // Directed advertisements are for their target alone.
        return !advertiser.properties.isDirected
            || isTarget(listener, advertiser.target, own: scannerAddress(listener, advertiser))
    }

    func scannerAddress(_ listener: Int, _ advertiser: Advertiser) -> AirAddress? {
        ownAddress(
            listener, controllers[listener].scanner.ownAddressType,
            towards: identity(listener, of: advertiser.address))
    }

    func requestsScan(_ listener: Int, of port: Int, _ advertiser: Advertiser) -> Bool {
        guard advertiser.properties.isScannable,
            controllers[listener].scanner.isActive(on: advertiser.primaryPHY),
            let own = scannerAddress(listener, advertiser), admits(port, own)
        else { return false }
        return advertiser.filterPolicy & 0b01 == 0
            || controllers[port].acceptList.contains(identity(port, of: own))
    }

    /// Whether the initiator on `listener` hears this legacy PDU and may connect to its sender.
    private func connects(_ listener: Int, to port: Int, _ advertiser: Advertiser) -> Bool {
        guard advertiser.properties.isConnectable, let initiator = controllers[listener].initiator,
            hears(initiator.plan(on: PHY.le1M), advertiser)
        else { return false }
        return mayConnect(listener, initiator, to: port, advertiser)
    }

    /// Whether the initiator may connect to this connectable advertiser, which it has heard.
    func mayConnect(
        _ listener: Int, _ initiator: Initiator, to port: Int, _ advertiser: Advertiser
    ) -> Bool {
        let peer = identity(listener, of: advertiser.address)
        guard seeks(listener, initiator, advertiser),
            let own = ownAddress(listener, initiator.ownAddressType, towards: peer),
            admits(port, own)
        else { return false }
        if advertiser.properties.isDirected {
            guard isTarget(listener, advertiser.target, own: own) else { return false }
        } else if advertiser.filterPolicy & 0b10 != 0 {
            guard controllers[port].acceptList.contains(identity(port, of: own)) else {
                return false
            }
        }
        // Whoever has no place for one more link ignores the other, and two links between the same
        // two addresses do not exist.
        return controllers[listener].links.count < Capabilities.linksMax
            && controllers[port].links.count < Capabilities.linksMax
            && !isLinked(listener, to: peer)
    }

    /// Whether the controller on `port` has a link to `peer`.
    func isLinked(_ port: Int, to peer: AirAddress) -> Bool {
        for slot in controllers[port].links {
            for role in Role.both
            where links[slot].sides[role.rawValue].port == port
                && (links[slot].sides[role.other.rawValue].address == peer
                    || links[slot].sides[role.rawValue].peer == peer)
            {
                return true
            }
        }
        return false
    }
}
