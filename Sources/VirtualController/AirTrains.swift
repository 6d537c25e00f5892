// Periodic advertising on the air: who finds a train, follows it and loses it.
import HCI
import SansIO
import Wire

extension Air {
    // MARK: Trains

    /// A set that has been enabled sends the train that its host wants, and goes on with it.
    mutating func beginTrain(_ set: Int) {
        guard advertisers[set].periodic.isEnabled, advertisers[set].isEnabled,
            !advertisers[set].periodic.isRunning
        else { return }
        advertisers[set].periodic.begin(at: clock)
        beginTrainStretch(set)
        // The advertisement says from now on where the train is.
        renewStretch(set)
    }

    /// The train is no longer on the air; those who follow it will miss it.
    mutating func endTrain(_ set: Int) {
        guard advertisers[set].periodic.isRunning else { return }
        var start = 0
        while let port = advertisers[set].periodic.followers.next(from: start) {
            start = port + 1
            for index in controllers[port].syncs.indices
            where controllers[port].syncs[index].set == set {
                controllers[port].syncs[index].set = nil
            }
            scheduleTimer(port)
        }
        endTrainStretch(set)
        advertisers[set].periodic.end()
        trainQueue.set(set, to: nil)
        renewStretch(set)
    }

    /// A train runs event by event only while somebody follows it.
    private mutating func scheduleTrain(_ set: Int) {
        let train = advertisers[set].periodic
        let due = train.nextEnd(after: clock, on: advertisers[set].secondaryPHY)
        trainQueue.set(set, to: train.followers.isEmpty ? nil : due)
    }

    /// The PDUs of one periodic advertising event have ended.
    mutating func stepTrain(_ set: Int) {
        let advertiser = advertisers[set]
        let segment = advertiser.periodic.segment(on: advertiser.secondaryPHY)
        var start = 0
        while let port = advertiser.periodic.followers.next(from: start) {
            start = port + 1
            var index = 0
            while index < controllers[port].syncs.count {
                let handle = controllers[port].syncs[index].handle
                if controllers[port].syncs[index].set == set {
                    hearTrain(of: advertiser, segment, port, index)
                }
                // A sync that has been lost is gone, and another one has its place.
                let isThere =
                    index < controllers[port].syncs.count
                    && controllers[port].syncs[index].handle == handle
                if isThere { index += 1 }
            }
            updateFollower(port, of: set)
        }
        scheduleTrain(set)
    }

    private mutating func hearTrain(
        of advertiser: Advertiser, _ segment: AuxiliarySegment, _ port: Int, _ index: Int
    ) {
        let sync = controllers[port].syncs[index]
        if sync.isEstablished, sync.skipped < sync.request.skip {
            controllers[port].syncs[index].skipped += 1
            return
        }
        var received = 0
        while received < segment.pduCount, !isLost() { received += 1 }
        guard received > 0 else { return missTrain(port, index) }
        controllers[port].syncs[index].skipped = 0
        controllers[port].syncs[index].lastHeard = clock
        if !sync.isEstablished {
            controllers[port].syncs[index].isEstablished = true
            controllers[port].syncRequest = nil
            reportSync(port, sync, advertiser, .success)
        }
        reportTrain(of: advertiser, segment, received: received, port, index)
    }

    private mutating func missTrain(_ port: Int, _ index: Int) {
        controllers[port].syncs[index].missed += 1
        let sync = controllers[port].syncs[index]
        let isOver =
            sync.isEstablished
            ? clock - sync.lastHeard >= sync.request.timeout : sync.missed >= Sync.attempts
        if isOver { loseSync(port, index) }
    }

    /// Reports the data of one event, in as many events of HCI as they need.
    private mutating func reportTrain(
        of advertiser: Advertiser, _ segment: AuxiliarySegment, received: Int, _ port: Int,
        _ index: Int
    ) {
        let train = advertiser.periodic
        let rssi = signalStrength(advertiser.power)
        let sync = controllers[port].syncs[index]
        guard sync.isReporting, !controllers[port].isBacklogged else { return }
        if train.includesADI, sync.filtersDuplicates, sync.lastDID == train.did { return }
        let isWhole = received == segment.pduCount
        if isWhole { controllers[port].syncs[index].lastDID = train.did }
        let octets = isWhole ? segment.dataOctets : segment.octets(in: received)
        var report = LEPeriodicAdvertisingReport()
        report.syncHandle = sync.handle
        report.rssi = rssi
        if train.includesTxPower { report.txPower = advertiser.power }
        var offset = 0
        repeat {
            let end = min(offset + LEPeriodicAdvertisingReport.dataOctetsMax, octets)
            report.data = Array(train.data[offset..<end])
            // Complete, more to come, truncated.
            report.dataStatus = end < octets ? 1 : isWhole ? 0 : 2
            controllers[port].send(report)
            offset = end
        } while offset < octets
    }

    // MARK: Synchronization

    /// The scanner on `port` has received an AUX_ADV_IND that says where the train is.
    mutating func synchronize(_ port: Int, to set: Int, _ advertiser: Advertiser) {
        guard advertiser.periodic.isRunning, let request = controllers[port].syncRequest,
            !controllers[port].syncs.contains(where: { !$0.isEstablished })
        else { return }
        let sender = PeriodicAdvertiser(
            identity: identity(port, of: advertiser.address), sid: advertiser.sid)
        let onAir = PeriodicAdvertiser(identity: advertiser.address, sid: advertiser.sid)
        let isWanted: Bool
        if let wanted = request.advertiser {
            isWanted = wanted == sender || wanted == onAir
        } else {
            isWanted = controllers[port].periodicList.contains(sender)
        }
        guard isWanted, !controllers[port].syncs.contains(where: { $0.advertiser == sender }),
            !isLost()
        else { return }
        let handle = nextSyncHandle(port)
        controllers[port].syncs.append(
            Sync(
                handle: handle, advertiser: sender, set: set, request: request,
                period: advertiser.periodic.period, isReporting: request.isReporting,
                filtersDuplicates: request.filtersDuplicates, lastHeard: clock))
        advertisers[set].periodic.followers.insert(port)
        scheduleTrain(set)
    }

    /// A handle that no sync of the controller has, as late as possible after its last use.
    private mutating func nextSyncHandle(_ port: Int) -> SyncHandle {
        var raw = controllers[port].lastSyncHandle
        repeat {
            raw = raw >= SyncHandle.maximum.rawValue ? 1 : raw + 1
        } while controllers[port].syncs.contains { $0.handle.rawValue == raw }
        controllers[port].lastSyncHandle = raw
        return SyncHandle(rawValue: raw)
    }

    /// The train has not been heard for too long.
    private mutating func loseSync(_ port: Int, _ index: Int) {
        let sync = controllers[port].syncs.remove(at: index)
        guard sync.isEstablished else {
            controllers[port].syncRequest = nil
            return reportSync(port, sync, nil, .connectionFailedToBeEstablished)
        }
        var event = LEPeriodicAdvertisingSyncLost()
        event.syncHandle = sync.handle
        controllers[port].send(event)
    }

    /// Ends syncs whose trains have ended long enough ago.
    mutating func loseTrains(_ port: Int) {
        while let index = controllers[port].syncs.firstIndex(where: {
            $0.set == nil && $0.end <= clock
        }) {
            loseSync(port, index)
        }
    }

    /// When the first of them is due.
    func nextLoss(_ port: Int) -> Instant? {
        var due: Instant?
        for sync in controllers[port].syncs where sync.set == nil { due = earliest(due, sync.end) }
        return due
    }

    /// Takes a sync away that its host does not want any more.
    mutating func removeSync(_ port: Int, _ index: Int) {
        let sync = controllers[port].syncs.remove(at: index)
        if let set = sync.set {
            updateFollower(port, of: set)
            scheduleTrain(set)
        }
        scheduleTimer(port)
    }

    private mutating func updateFollower(_ port: Int, of set: Int) {
        if !controllers[port].syncs.contains(where: { $0.set == set }) {
            advertisers[set].periodic.followers.remove(port)
        }
    }

    /// Tells the host that it is synchronized, or why it is not.
    mutating func reportSync(
        _ port: Int, _ sync: Sync?, _ advertiser: Advertiser?, _ status: HCIStatus
    ) {
        var event = LEPeriodicAdvertisingSyncEstablished()
        event.status = status
        if let sync, let advertiser {
            event.syncHandle = sync.handle
            event.advertisingSid = sync.advertiser.sid
            (event.advertiserAddressType, event.advertiserAddress) = resolve(
                port, advertiser.address)
            event.advertiserPHY = advertiser.secondaryPHY
            event.periodicAdvertisingInterval = advertiser.periodic.interval
        }
        controllers[port].send(event)
    }
}
