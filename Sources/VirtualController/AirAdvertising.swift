// Advertising on the air: who hears a PDU, who answers it, and how a connection begins.
import HCI
import SansIO
import Wire

extension Air {
    mutating func scheduleAdvertiser(_ port: Int) {
        var due: Instant?
        if controllers[port].advertiser.isEnabled {
            due = controllers[port].advertiser.end
            if !listeners.isEmpty { due = earliest(due, controllers[port].advertiser.stepEnd) }
        }
        queue.set(port, to: due)
    }

    /// Brings an advertiser that nobody has heard up to the present.
    mutating func skipUnheard(_ port: Int) {
        guard controllers[port].advertiser.isEnabled else { return }
        controllers[port].advertiser.skip(to: clock)
    }

    mutating func startAdvertising(_ port: Int, as own: AirAddress) {
        let type = controllers[port].advertiser.ownAddressType
        controllers[port].advertiser.rename(
            own, target: target(port), until: addressEnd(port, type))
        controllers[port].advertiser.enable(at: clock)
        beginStretch(port)
        scheduleAdvertiser(port)
    }

    mutating func stopAdvertising(_ port: Int) {
        if listeners.isEmpty { skipUnheard(port) }
        endStretch(port)
        controllers[port].advertiser.disable()
        queue.set(port, to: nil)
    }

    /// Something of the advertiser on `port` ends on the air now.
    mutating func stepAdvertiser(_ port: Int) {
        renewAddresses(port)
        let advertiser = controllers[port].advertiser
        guard advertiser.isEnabled else { return queue.set(port, to: nil) }
        if let end = advertiser.end, end <= clock {
            stopAdvertising(port)
            return reportNoConnection(port, role: .peripheral, .advertisingTimeout)
        }
        switch advertiser.step {
        case .advertisement: hearAdvertisement(of: port, advertiser)
        case .scanResponse: hearScanResponse(of: port, advertiser)
        case .connectIndication(let central):
            hearConnectIndication(of: central, port, advertiser)
        }
        scheduleAdvertiser(port)
    }

    /// Shows the PDU that has just ended to everybody, and begins what answers it.
    private mutating func hearAdvertisement(of port: Int, _ advertiser: Advertiser) {
        var requesters: [Int] = []
        var initiator: Int?
        for listener in listeners where listener != port {
            if connects(listener, to: port, advertiser), !isLost() {
                initiator = initiator ?? listener
            }
            guard scans(listener, advertiser), !isLost() else { continue }
            report(advertiser, advertiser.type.report, advertiser.data, to: listener)
            if requestsScan(listener, of: port, advertiser) { requesters.append(listener) }
        }
        if let initiator {
            controllers[port].advertiser.beginConnectIndication(from: initiator)
        } else if !requesters.isEmpty, !isLost() {
            // Requests at the same instant: the strongest is understood and the response reaches
            // all.
            controllers[port].advertiser.requesters = requesters
            controllers[port].advertiser.beginScanResponse()
        } else {
            controllers[port].advertiser.advance()
        }
    }

    private mutating func hearScanResponse(of port: Int, _ advertiser: Advertiser) {
        for listener in advertiser.requesters {
            guard controllers[listener].scanner.isEnabled, !isLost() else { continue }
            report(advertiser, 4, advertiser.scanResponse, to: listener)
        }
        controllers[port].advertiser.advance()
    }

    private mutating func hearConnectIndication(
        of central: Int, _ port: Int, _ advertiser: Advertiser
    ) {
        guard let initiator = controllers[central].initiator,
            seeks(central, initiator, advertiser),
            let own = ownAddress(
                central, initiator.ownAddressType,
                towards: identity(central, of: advertiser.address))
        else {
            controllers[port].advertiser.advance()
            return
        }
        let isHeard = !isLost()
        if isHeard {
            stopAdvertising(port)
        } else {
            controllers[port].advertiser.advance()
        }
        connect(
            central: central, initiator, as: own, to: port, advertiser.address, isHeard: isHeard)
    }

    /// Whether the initiator on `port` wants to connect to this advertiser.
    private func seeks(_ port: Int, _ initiator: Initiator, _ advertiser: Advertiser) -> Bool {
        guard admits(port, advertiser.address) else { return false }
        if initiator.peer == advertiser.address { return true }
        let identity = identity(port, of: advertiser.address)
        if let peer = initiator.peer { return peer == identity }
        return controllers[port].acceptList.contains(identity)
    }

    private func hears(_ plan: ListeningPlan, _ advertiser: Advertiser) -> Bool {
        switch timing {
        case .ideal: advertiser.isFirstChannel && advertiser.start >= plan.beginning
        case .radio:
            plan.hears(
                channel: advertiser.channel, from: advertiser.start, to: advertiser.stepEnd)
        }
    }

    /// Whether the scanner on `listener` hears this PDU and its filter lets it pass.
    private func scans(_ listener: Int, _ advertiser: Advertiser) -> Bool {
        let controller = controllers[listener]
        guard controller.scanner.isEnabled, hears(controller.scanner.plan, advertiser) else {
            return false
        }
        guard admits(listener, advertiser.address) else { return false }
        if controller.scanner.filterPolicy & 1 == 1,
            !controller.acceptList.contains(identity(listener, of: advertiser.address))
        {
            return false
        }
        // Directed advertisements are for their target alone.
        return !advertiser.type.isDirected
            || isTarget(listener, advertiser.target, own: scannerAddress(listener, advertiser))
    }

    private func scannerAddress(_ listener: Int, _ advertiser: Advertiser) -> AirAddress? {
        ownAddress(
            listener, controllers[listener].scanner.ownAddressType,
            towards: identity(listener, of: advertiser.address))
    }

    private func requestsScan(_ listener: Int, of port: Int, _ advertiser: Advertiser) -> Bool {
        guard advertiser.type.isScannable, controllers[listener].scanner.isActive,
            let own = scannerAddress(listener, advertiser), admits(port, own)
        else { return false }
        return advertiser.filterPolicy & 0b01 == 0
            || controllers[port].acceptList.contains(identity(port, of: own))
    }

    /// Whether the initiator on `listener` hears this PDU and may connect to its sender.
    private func connects(_ listener: Int, to port: Int, _ advertiser: Advertiser) -> Bool {
        guard advertiser.type.isConnectable, let initiator = controllers[listener].initiator,
            hears(initiator.plan, advertiser)
        else { return false }
        let peer = identity(listener, of: advertiser.address)
        guard seeks(listener, initiator, advertiser),
            let own = ownAddress(listener, initiator.ownAddressType, towards: peer),
            admits(port, own)
        else { return false }
        if advertiser.type.isDirected {
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

    private mutating func report(
        _ advertiser: Advertiser, _ type: UInt8, _ data: [UInt8], to listener: Int
    ) {
        let rssi = signalStrength()
        guard !controllers[listener].isBacklogged,
            controllers[listener].scanner.admits(
                identity(listener, of: advertiser.address), report: type)
        else { return }
        var report = LEAdvertisingReport.Report()
        report.eventType = type
        (report.addressType, report.address) = resolve(listener, advertiser.address)
        report.data = advertiser.type.isDirected ? [] : data
        report.rssi = rssi
        controllers[listener].send(LEAdvertisingReport([report]))
    }
}
