// Extended advertising on the air: pointers on the primary channels, data on the secondary ones.
import HCI
import SansIO
import Wire

extension Air {
    /// Whoever hears ADV_EXT_IND, which has just ended, follows its pointer.
    mutating func hearPointer(of set: Int, _ port: Int, _ advertiser: Advertiser) {
        for listener in listeners where listener != port {
            guard follows(listener, advertiser), !isLost() else { continue }
            advertisers[set].followers.insert(listener)
        }
        advertisers[set].advance()
    }

    /// Whether the controller on `listener` hears this ADV_EXT_IND and can follow it. Legacy
    /// commands scan and connect by legacy PDUs alone.
    private func follows(_ listener: Int, _ advertiser: Advertiser) -> Bool {
        guard controllers[listener].family == .extended else { return false }
        if advertiser.secondaryPHY == PHY.leCoded,
            !controllers[listener].features.contains(.codedPHY)
        {
            return false
        }
        if controllers[listener].scanner.isEnabled,
            hears(controllers[listener].scanner.plan(on: advertiser.primaryPHY), advertiser)
        {
            return true
        }
        guard let initiator = controllers[listener].initiator else { return false }
        return hears(initiator.plan(on: advertiser.primaryPHY), advertiser)
    }

    /// Shows the auxiliary PDUs that have just ended to those who followed the pointer, and begins
    /// what answers them.
    mutating func hearAuxiliary(of set: Int, _ port: Int, _ advertiser: Advertiser) {
        var requesters: [Int] = []
        var initiator: Int?
        var start = 0
        while let listener = advertiser.followers.next(from: start) {
            start = listener + 1
            guard isPresent(listener), controllers[listener].family == .extended else { continue }
            if advertiser.properties.isConnectable, let wish = controllers[listener].initiator,
                wish.plan(on: advertiser.primaryPHY) != nil,
                mayConnect(listener, wish, to: port, advertiser), !isLost()
            {
                initiator = initiator ?? listener
            }
            guard controllers[listener].scanner.isEnabled,
                controllers[listener].scanner.plan(on: advertiser.primaryPHY) != nil
            else { continue }
            if advertiser.periodic.isRunning { synchronize(listener, to: set, advertiser) }
            guard accepts(listener, advertiser),
                reportAuxiliary(advertiser, isResponse: false, to: listener)
            else { continue }
            if requestsScan(listener, of: port, advertiser) { requesters.append(listener) }
        }
        answer(set, requesters, initiator)
    }

    /// Reports what `listener` receives of the advertisement or of the scan response; false where
    /// it receives nothing.
    @discardableResult
    mutating func reportAuxiliary(
        _ advertiser: Advertiser, isResponse: Bool, to listener: Int
    ) -> Bool {
        let segment = isResponse ? advertiser.response : advertiser.advertisement
        var received = 0
        while received < segment.pduCount, !isLost() { received += 1 }
        guard received > 0 else { return false }
        let isWhole = received == segment.pduCount
        let octets = isWhole ? segment.dataOctets : segment.octets(in: received)
        let rssi = signalStrength(advertiser.power)
        guard !controllers[listener].isBacklogged,
            controllers[listener].scanner.admits(
                duplicateKey(advertiser, isResponse: isResponse, by: listener), at: clock)
        else { return true }
        var report = LEExtendedAdvertisingReport.Report()
        report.eventType = advertiser.properties.report
        if isResponse { report.eventType.insert(.scanResponse) }
        fill(&report, advertiser, rssi, for: listener)
        report.secondaryPHY = advertiser.secondaryPHY
        report.advertisingSid = advertiser.sid
        if advertiser.properties.contains(.includeTxPower), !isResponse {
            report.txPower = advertiser.power
        }
        if !isResponse, advertiser.periodic.isRunning {
            report.periodicAdvertisingInterval = advertiser.periodic.interval
        }
        let data = isResponse ? advertiser.scanResponse : advertiser.data
        send(report, data, octets: octets, isWhole: isWhole, to: listener)
        return true
    }

    /// Sends a report with the first `octets` of `data`, in as many events as they need.
    private mutating func send(
        _ report: LEExtendedAdvertisingReport.Report, _ data: [UInt8], octets: Int, isWhole: Bool,
        to listener: Int
    ) {
        var part = report
        var offset = 0
        repeat {
            let end = min(offset + LEExtendedAdvertisingReport.dataOctetsMax, octets)
            part.data = end - offset == data.count ? data : Array(data[offset..<end])
            part.eventType = report.eventType
            if end < octets {
                part.eventType.insert(.moreToCome)
            } else if !isWhole {
                part.eventType.insert(.truncated)
            }
            controllers[listener].send(LEExtendedAdvertisingReport([part]))
            offset = end
        } while offset < octets
    }

    // MARK: Reports of both kinds

    private func duplicateKey(
        _ advertiser: Advertiser, isResponse: Bool, by listener: Int
    ) -> DuplicateKey {
        guard !advertiser.properties.isAnonymous else {
            return DuplicateKey(anonymousSid: advertiser.sid, did: advertiser.did)
        }
        let identity = identity(listener, of: advertiser.address)
        guard !advertiser.properties.isLegacy else {
            return DuplicateKey(
                identity, report: isResponse ? 4 : advertiser.properties.legacyReport)
        }
        return DuplicateKey(
            identity, sid: advertiser.sid, did: advertiser.did, isResponse: isResponse)
    }

    /// Who sent it, to whom, on which PHY, and how strong.
    private mutating func fill(
        _ report: inout LEExtendedAdvertisingReport.Report, _ advertiser: Advertiser, _ rssi: Int8,
        for listener: Int
    ) {
        if advertiser.properties.isAnonymous {
            report.addressType = .anonymous
        } else {
            (report.addressType, report.address) = resolve(listener, advertiser.address)
        }
        report.primaryPHY = advertiser.primaryPHY
        report.rssi = rssi
        if advertiser.properties.isDirected {
            report.directAddressType = advertiser.target.type
            report.directAddress = advertiser.target.address
        }
    }

    /// Reports a legacy advertisement or scan response in the form of the host's commands.
    mutating func report(_ advertiser: Advertiser, isResponse: Bool, to listener: Int) {
        let rssi = signalStrength(advertiser.power)
        guard !controllers[listener].isBacklogged,
            controllers[listener].scanner.admits(
                duplicateKey(advertiser, isResponse: isResponse, by: listener), at: clock)
        else { return }
        let type = isResponse ? 4 : advertiser.properties.legacyReport
        let own = isResponse ? advertiser.scanResponse : advertiser.data
        let data = advertiser.properties.isDirected ? [] : own
        guard controllers[listener].family != .extended else {
            var report = LEExtendedAdvertisingReport.Report()
            report.eventType = advertiser.properties.report
            if isResponse { report.eventType.insert(.scanResponse) }
            fill(&report, advertiser, rssi, for: listener)
            report.data = data
            return controllers[listener].send(LEExtendedAdvertisingReport([report]))
        }
        var report = LEAdvertisingReport.Report()
        report.eventType = type
        (report.addressType, report.address) = resolve(listener, advertiser.address)
        report.data = data
        report.rssi = rssi
        controllers[listener].send(LEAdvertisingReport([report]))
    }
}
