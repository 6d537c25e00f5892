// LE commands of periodic advertising and of the synchronization to it.
import HCI
import SansIO
import Wire

extension Air {
    mutating func servePeriodic(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        guard controllers[port].features.contains(.periodicAdvertising) else { return false }
        switch opcode {
        case .leSetPeriodicAdvertisingParameters:
            return set(LESetPeriodicAdvertisingParameters.self, parameters, port) { air, command in
                air.setTrainParameters(port, command)
            }
        case .leSetPeriodicAdvertisingData:
            return set(LESetPeriodicAdvertisingData.self, parameters, port) { air, command in
                air.setTrainData(port, command)
            }
        case .leSetPeriodicAdvertisingEnable:
            return set(LESetPeriodicAdvertisingEnable.self, parameters, port) { air, command in
                air.enableTrain(port, command)
            }
        case .lePeriodicAdvertisingCreateSync:
            return begin(LEPeriodicAdvertisingCreateSync.self, parameters, port) { air, command in
                air.createSync(port, command)
            }
        case .lePeriodicAdvertisingCreateSyncCancel: return cancelSync(parameters, port)
        case .lePeriodicAdvertisingTerminateSync:
            return set(LEPeriodicAdvertisingTerminateSync.self, parameters, port) { air, command in
                guard let index = air.find(port, sync: command.syncHandle) else {
                    return .unknownAdvertisingIdentifier
                }
                air.removeSync(port, index)
                return .success
            }
        case .leSetPeriodicAdvertisingReceiveEnable:
            return set(LESetPeriodicAdvertisingReceiveEnable.self, parameters, port) {
                air, command in
                guard command.enable <= 0b11 else { return .invalidParameters }
                guard let index = air.find(port, sync: command.syncHandle) else {
                    return .unknownAdvertisingIdentifier
                }
                air.controllers[port].syncs[index].isReporting = command.enable & 0b01 != 0
                air.controllers[port].syncs[index].filtersDuplicates = command.enable & 0b10 != 0
                return .success
            }
        default: return servePeriodicList(opcode, parameters, port)
        }
    }

    // MARK: Trains

    /// Core 6.0, Vol 4, Part E, 7.8.61. Of a range of intervals the longest is taken.
    private mutating func setTrainParameters(
        _ port: Int, _ command: LESetPeriodicAdvertisingParameters
    ) -> HCIStatus {
        let (found, status) = named(port, command.advertisingHandle)
        guard let set = found else { return status }
        guard advertisers[set].properties.maySendTrain,
            command.intervalMin >= Self.periodicIntervalMin,
            command.intervalMin <= command.intervalMax
        else { return .invalidParameters }
        guard !advertisers[set].periodic.isEnabled else { return .commandDisallowed }
        var train = advertisers[set].periodic
        train.interval = command.intervalMax
        train.includesTxPower =
            AdvertisingEventProperties(rawValue: command.properties).contains(.includeTxPower)
        guard train.data.isEmpty || train.fits(on: advertisers[set].secondaryPHY) else {
            return .packetTooLong
        }
        advertisers[set].periodic = train
        return .success
    }

    /// 7.5 ms.
    private static let periodicIntervalMin: UInt16 = 0x0006

    /// Core 6.0, Vol 4, Part E, 7.8.62.
    private mutating func setTrainData(
        _ port: Int, _ command: LESetPeriodicAdvertisingData
    ) -> HCIStatus {
        let (found, status) = named(port, command.advertisingHandle)
        guard let set = found else { return status }
        var train = advertisers[set].periodic
        guard train.interval > 0 else { return .commandDisallowed }
        guard advertisers[set].properties.maySendTrain else { return .invalidParameters }
        if command.operation == AdvertisingDataOperation.unchanged {
            guard train.isEnabled, !train.data.isEmpty, command.data.isEmpty else {
                return .invalidParameters
            }
        } else {
            let status = Self.join(
                command.operation, command.data, to: &train.data, isPartial: &train.isPartial,
                isEnabled: train.isEnabled)
            guard status.isSuccess else {
                if status == .memoryCapacityExceeded { advertisers[set].periodic = train }
                return status
            }
            if !train.fits(on: advertisers[set].secondaryPHY) {
                guard !train.isEnabled else { return .packetTooLong }
                train.data = []
                train.isPartial = false
                advertisers[set].periodic = train
                return .packetTooLong
            }
        }
        train.did = (train.did + 1) & 0x0FFF
        let isOther = train.data.count != advertisers[set].periodic.data.count
        if isOther { endTrainStretch(set) }
        advertisers[set].periodic = train
        if isOther { beginTrainStretch(set) }
        return .success
    }

    /// Core 6.0, Vol 4, Part E, 7.8.63.
    private mutating func enableTrain(
        _ port: Int, _ command: LESetPeriodicAdvertisingEnable
    ) -> HCIStatus {
        guard command.enable <= 0b11 else { return .invalidParameters }
        let (found, status) = named(port, command.advertisingHandle)
        guard let set = found else { return status }
        guard command.enable & 0b01 != 0 else {
            endTrain(set)
            advertisers[set].periodic.isEnabled = false
            return .success
        }
        let train = advertisers[set].periodic
        guard train.interval > 0, !train.isPartial else { return .commandDisallowed }
        guard advertisers[set].properties.maySendTrain else { return .invalidParameters }
        guard train.fits(on: advertisers[set].secondaryPHY) else { return .packetTooLong }
        advertisers[set].periodic.isEnabled = true
        advertisers[set].periodic.includesADI = command.enable & 0b10 != 0
        beginTrain(set)
        return .success
    }

    // MARK: Synchronization

    private func find(_ port: Int, sync handle: SyncHandle) -> Int? {
        controllers[port].syncs.firstIndex { $0.handle == handle && $0.isEstablished }
    }

    /// Core 6.0, Vol 4, Part E, 7.8.67.
    private mutating func createSync(
        _ port: Int, _ command: LEPeriodicAdvertisingCreateSync
    ) -> HCIStatus {
        guard controllers[port].syncRequest == nil else { return .commandDisallowed }
        let type = command.advertiserAddressType
        let isListed = command.options & 0b001 != 0
        guard command.options <= 0b111, command.skip <= 0x01F3,
            (0x000A...0x4000).contains(command.syncTimeout), command.syncCTEType <= 0x1F
        else { return .invalidParameters }
        var advertiser: PeriodicAdvertiser?
        if !isListed {
            guard type == .publicDevice || type == .randomDevice,
                command.advertisingSid <= AdvertisingLimits.sidMax
            else { return .invalidParameters }
            let identity = AirAddress(
                isRandom: type == .randomDevice, address: command.advertiserAddress)
            let wanted = PeriodicAdvertiser(identity: identity, sid: command.advertisingSid)
            guard !controllers[port].syncs.contains(where: { $0.advertiser == wanted }) else {
                return .connectionAlreadyExists
            }
            advertiser = wanted
        }
        guard controllers[port].syncs.count < Capabilities.syncsMax else {
            return .memoryCapacityExceeded
        }
        controllers[port].syncRequest = SyncRequest(
            advertiser: advertiser, skip: command.skip,
            timeout: .milliseconds(10 * Int64(command.syncTimeout)),
            isReporting: command.options & 0b010 == 0,
            filtersDuplicates: command.options & 0b100 != 0)
        return .success
    }

    /// Core 6.0, Vol 4, Part E, 7.8.68.
    private mutating func cancelSync(_ parameters: Span<UInt8>, _ port: Int) -> Bool {
        let wasPending = controllers[port].syncRequest != nil
        controllers[port].syncRequest = nil
        if let index = controllers[port].syncs.firstIndex(where: { !$0.isEstablished }) {
            removeSync(port, index)
        }
        let isServed = set(LEPeriodicAdvertisingCreateSyncCancel.self, parameters, port) { _, _ in
            wasPending ? .success : .commandDisallowed
        }
        if wasPending { reportSync(port, nil, nil, .operationCancelledByHost) }
        return isServed
    }

    // MARK: Periodic advertiser list

    private mutating func servePeriodicList(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leAddDeviceToPeriodicAdvertiserList:
            return set(LEAddDeviceToPeriodicAdvertiserList.self, parameters, port) { air, command in
                air.changePeriodicList(port, command.entry, isAdded: true)
            }
        case .leRemoveDeviceFromPeriodicAdvertiserList:
            return set(LERemoveDeviceFromPeriodicAdvertiserList.self, parameters, port) {
                air, command in
                air.changePeriodicList(port, command.entry, isAdded: false)
            }
        case .leClearPeriodicAdvertiserList:
            return set(LEClearPeriodicAdvertiserList.self, parameters, port) { air, _ in
                guard air.controllers[port].syncRequest == nil else { return .commandDisallowed }
                air.controllers[port].periodicList = []
                return .success
            }
        case .leReadPeriodicAdvertiserListSize:
            return complete(LEReadPeriodicAdvertiserListSize.self, parameters, port) { _, _ in
                var answer = PeriodicAdvertiserListSize()
                answer.periodicAdvertiserListSize = UInt8(Capabilities.periodicAdvertiserListMax)
                return answer
            }
        default: return false
        }
    }

    /// Core 6.0, Vol 4, Part E, 7.8.70 and 7.8.71. The list is not changed while it is searched.
    private mutating func changePeriodicList(
        _ port: Int, _ named: PeriodicAdvertiserEntry, isAdded: Bool
    ) -> HCIStatus {
        guard controllers[port].syncRequest == nil else { return .commandDisallowed }
        let type = named.addressType
        guard type == .publicDevice || type == .randomDevice, named.sid <= AdvertisingLimits.sidMax
        else { return .invalidParameters }
        let identity = AirAddress(isRandom: type == .randomDevice, address: named.address)
        let entry = PeriodicAdvertiser(identity: identity, sid: named.sid)
        let place = controllers[port].periodicList.firstIndex(of: entry)
        switch (isAdded, place) {
        case (true, nil):
            guard controllers[port].periodicList.count < Capabilities.periodicAdvertiserListMax
            else { return .memoryCapacityExceeded }
            controllers[port].periodicList.append(entry)
        case (true, _?): return .invalidParameters
        case (false, let place?): controllers[port].periodicList.remove(at: place)
        case (false, nil): return .unknownAdvertisingIdentifier
        }
        return .success
    }
}
