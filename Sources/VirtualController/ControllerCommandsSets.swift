// LE commands of advertising sets.
import HCI
import SansIO
import Wire

extension Air {
    mutating func serveSets(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        guard controllers[port].features.contains(.extendedAdvertising) else { return false }
        switch opcode {
        case .leSetAdvertisingSetRandomAddress:
            return set(LESetAdvertisingSetRandomAddress.self, parameters, port) { air, command in
                air.setRandomAddress(port, command)
            }
        case .leSetExtendedAdvertisingParameters:
            return complete(LESetExtendedAdvertisingParameters.self, parameters, port) {
                air, command in
                air.setParameters(port, command)
            }
        case .leSetExtendedAdvertisingData:
            return set(LESetExtendedAdvertisingData.self, parameters, port) { air, command in
                air.setData(port, command)
            }
        case .leSetExtendedScanResponseData:
            return set(LESetExtendedScanResponseData.self, parameters, port) { air, command in
                air.setScanResponse(port, command)
            }
        case .leSetExtendedAdvertisingEnable:
            return set(LESetExtendedAdvertisingEnable.self, parameters, port) { air, command in
                air.enableSets(port, command)
            }
        case .leRemoveAdvertisingSet:
            return set(LERemoveAdvertisingSet.self, parameters, port) { air, command in
                let (found, status) = air.named(port, command.advertisingHandle)
                guard let index = found else { return status }
                guard !air.isBusy(index) else { return .commandDisallowed }
                air.removeSet(index, port)
                return .success
            }
        case .leClearAdvertisingSets:
            return set(LEClearAdvertisingSets.self, parameters, port) { air, _ in
                let isBusy = air.controllers[port].sets.contains { air.isBusy($0) }
                guard !isBusy else { return .commandDisallowed }
                air.removeSets(port)
                return .success
            }
        default: return serveLimits(opcode, parameters, port)
        }
    }

    private mutating func serveLimits(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leReadMaximumAdvertisingDataLength:
            return complete(LEReadMaximumAdvertisingDataLength.self, parameters, port) { _, _ in
                var answer = LEMaximumAdvertisingDataLength()
                answer.maxAdvertisingDataLength = UInt16(Capabilities.advertisingDataMax)
                return answer
            }
        case .leReadNumberOfSupportedAdvertisingSets:
            return complete(LEReadNumberOfSupportedAdvertisingSets.self, parameters, port) {
                _, _ in
                var answer = LENumberOfSupportedAdvertisingSets()
                answer.numSupportedAdvertisingSets = UInt8(Capabilities.setsMax)
                return answer
            }
        case .leReadTransmitPower:
            return complete(LEReadTransmitPower.self, parameters, port) { _, _ in
                var answer = LETransmitPowerRange()
                answer.minTxPower = Radio.transmitPowerMin
                answer.maxTxPower = Radio.transmitPowerMax
                return answer
            }
        default:
            return serveExtendedScanning(opcode, parameters, port)
                || servePeriodic(opcode, parameters, port)
        }
    }

    // MARK: The table

    /// The place of a host's set in the air's table.
    func find(_ port: Int, set handle: UInt8) -> Int? {
        controllers[port].sets.first { advertisers[$0].handle == handle }
    }

    /// The set that a command names by this handle, else what is wrong.
    func named(_ port: Int, _ handle: UInt8) -> (set: Int?, status: HCIStatus) {
        guard handle <= AdvertisingLimits.handleMax else { return (nil, .invalidParameters) }
        guard let set = find(port, set: handle) else { return (nil, .unknownAdvertisingIdentifier) }
        return (set, .success)
    }

    /// Whether a set may not be removed.
    private func isBusy(_ set: Int) -> Bool {
        advertisers[set].isEnabled || advertisers[set].periodic.isEnabled
    }

    private mutating func removeSet(_ set: Int, _ port: Int) {
        endTrain(set)
        controllers[port].eventsOfRemoved += advertisers[set].events
        controllers[port].sets.removeAll { $0 == set }
        advertisers[set].port = nil
    }

    /// Removes every set but the legacy commands' advertiser. They are disabled.
    mutating func removeSets(_ port: Int) {
        for set in controllers[port].sets.dropFirst() { removeSet(set, port) }
    }

    // MARK: Parameters

    /// Core 6.0, Vol 4, Part E, 7.8.52.
    private mutating func setRandomAddress(
        _ port: Int, _ command: LESetAdvertisingSetRandomAddress
    ) -> HCIStatus {
        let (found, status) = named(port, command.advertisingHandle)
        guard let set = found else { return status }
        let isEnabled = advertisers[set].isEnabled
        guard !isEnabled || !advertisers[set].properties.isConnectable else {
            return .commandDisallowed
        }
        advertisers[set].randomAddress = command.randomAddress
        if isEnabled { renameAdvertiser(set) }
        return .success
    }

    /// Gives an enabled advertiser the address that it has by its parameters now.
    private mutating func renameAdvertiser(_ set: Int) {
        guard let own = ownAddress(set) else { return }
        advertisers[set].rename(
            own, target: target(set), until: addressEnd(set, advertisers[set].ownAddressType))
    }

    /// Core 6.0, Vol 4, Part E, 7.8.53. Of a range of intervals the longest is taken.
    private mutating func setParameters(
        _ port: Int, _ command: LESetExtendedAdvertisingParameters
    ) -> LESelectedTxPower {
        var answer = LESelectedTxPower()
        let known = find(port, set: command.advertisingHandle)
        answer.status = check(command, port, known)
        guard answer.status.isSuccess else { return answer }
        var changed = known.map { advertisers[$0] } ?? newSet(port, command.advertisingHandle)
        changed.properties = AdvertisingEventProperties(rawValue: command.eventProperties)
        changed.interval = Int64(command.intervalMax) * AdvertisingInterval.stepMicroseconds
        changed.channelMap = command.channelMap
        changed.ownAddressType = command.ownAddressType
        changed.peer = AirAddress(
            isRandom: command.peerAddressType == .randomDevice, address: command.peerAddress)
        changed.filterPolicy = command.filterPolicy
        changed.power = Self.power(command.txPower)
        changed.primaryPHY = command.primaryPHY
        changed.secondaryPHY = changed.properties.isLegacy ? PHY.le1M : command.secondaryPHY
        changed.sid = command.advertisingSid
        changed.notifiesScanRequests = command.scanRequestNotification == 1
        answer.status = checkData(of: changed)
        guard answer.status.isSuccess else { return answer }
        answer.selectedTxPower = changed.power
        if let known {
            advertisers[known] = changed
        } else {
            controllers[port].setsCreated += 1
            controllers[port].sets.append(addAdvertiser(changed))
        }
        return answer
    }

    private func newSet(_ port: Int, _ handle: UInt8) -> Advertiser {
        let number = controllers[port].setsCreated
        // The first one has the legacy advertiser's delays: a host that changes to sets does not
        // change its times.
        let stream = "advDelay \(port)" + (number == 0 ? "" : " set \(number)")
        // Sets with the same SID and address are told apart by their DIDs.
        return Advertiser(
            port: port, handle: handle, did: UInt16(truncatingIfNeeded: 1 + 257 * number),
            random: SeededRandom(seed: seed, stream: stream))
    }

    /// At most what the host asks for; 127 leaves it to the controller.
    private static func power(_ wanted: Int8) -> Int8 {
        wanted == 127
            ? Radio.transmitPower
            : min(max(wanted, Radio.transmitPowerMin), Radio.transmitPowerMax)
    }

    /// The parameters by themselves, and with the state of the set that is there.
    private func check(
        _ command: LESetExtendedAdvertisingParameters, _ port: Int, _ known: Int?
    ) -> HCIStatus {
        guard command.advertisingHandle <= AdvertisingLimits.handleMax else {
            return .invalidParameters
        }
        if let known {
            guard !advertisers[known].isEnabled else { return .commandDisallowed }
        } else if controllers[port].sets.count > Capabilities.setsMax {
            return .memoryCapacityExceeded
        }
        let properties = AdvertisingEventProperties(rawValue: command.eventProperties)
        guard properties.isPossible, (1...0b111).contains(command.channelMap),
            command.peerAddressType == .publicDevice || command.peerAddressType == .randomDevice,
            command.filterPolicy <= 3, command.txPower <= 20 || command.txPower == 127,
            command.txPower != -128, command.advertisingSid <= AdvertisingLimits.sidMax,
            command.scanRequestNotification <= 1,
            !properties.isLegacy || command.primaryPHY == PHY.le1M
        else { return .invalidParameters }
        let phys = controllers[port].features.contains(.codedPHY) ? 1...3 : 1...2 as ClosedRange
        guard command.primaryPHY != PHY.le2M, phys.contains(Int(command.primaryPHY)),
            properties.isLegacy || phys.contains(Int(command.secondaryPHY))
        else { return .unsupportedFeatureOrParameter }
        if !properties.isHighDuty {
            let shortest = UInt32(AdvertisingInterval.minimum.steps)
            guard command.intervalMin >= shortest, command.intervalMax >= shortest else {
                return .unsupportedFeatureOrParameter
            }
            guard command.intervalMin <= command.intervalMax else { return .invalidParameters }
        }
        if let known, advertisers[known].periodic.isEnabled {
            guard properties.maySendTrain else { return .invalidParameters }
            guard command.secondaryPHY == advertisers[known].secondaryPHY else {
                return .commandDisallowed
            }
        }
        return check(command.ownAddressType)
    }

    /// Whether data that a set has go with its parameters.
    private func checkData(of advertiser: Advertiser) -> HCIStatus {
        let properties = advertiser.properties
        if !properties.mayHaveData, !advertiser.data.isEmpty { return .invalidParameters }
        if properties.isLegacy {
            let isShort =
                advertiser.data.count <= Self.legacyDataMax
                && advertiser.scanResponse.count <= Self.legacyDataMax
            return isShort ? .success : .invalidParameters
        }
        let isEmpty = advertiser.data.isEmpty && advertiser.scanResponse.isEmpty
        return isEmpty || advertiser.longestEvent <= advertiser.interval ? .success : .packetTooLong
    }

    private static let legacyDataMax = 31

    /// Data of legacy PDUs come whole.
    private static func fitsLegacy(_ operation: UInt8, _ data: [UInt8]) -> Bool {
        operation == AdvertisingDataOperation.complete && data.count <= legacyDataMax
    }

    // MARK: Data

    /// Core 6.0, Vol 4, Part E, 7.8.54.
    private mutating func setData(
        _ port: Int, _ command: LESetExtendedAdvertisingData
    ) -> HCIStatus {
        guard command.fragmentPreference <= 1 else { return .invalidParameters }
        let (found, refusal) = named(port, command.advertisingHandle)
        guard let set = found else { return refusal }
        let before = advertisers[set]
        guard before.properties.mayHaveData else { return .invalidParameters }
        if before.properties.isLegacy {
            guard Self.fitsLegacy(command.operation, command.data) else {
                return .invalidParameters
            }
        }
        if command.operation == AdvertisingDataOperation.unchanged {
            guard before.isEnabled, !before.data.isEmpty, command.data.isEmpty else {
                return .invalidParameters
            }
            advertisers[set].did = (before.did + 1) & 0x0FFF
            return .success
        }
        var after = before
        let status = Self.join(
            command.operation, command.data, to: &after.data, isPartial: &after.isDataPartial,
            isEnabled: before.isEnabled)
        guard status.isSuccess else {
            if status == .memoryCapacityExceeded { changeData(set, after) }
            return status
        }
        if before.isEnabled, !before.properties.isLegacy {
            let isTooLong =
                after.longestEvent > after.interval
                || before.properties.isConnectable && !after.fitsOnePDU
            guard !isTooLong else { return .packetTooLong }
        }
        changeData(set, after)
        return .success
    }

    /// Core 6.0, Vol 4, Part E, 7.8.55.
    private mutating func setScanResponse(
        _ port: Int, _ command: LESetExtendedScanResponseData
    ) -> HCIStatus {
        guard command.fragmentPreference <= 1 else { return .invalidParameters }
        let (found, refusal) = named(port, command.advertisingHandle)
        guard let set = found else { return refusal }
        let before = advertisers[set]
        let properties = before.properties
        guard properties.isScannable || command.data.isEmpty,
            command.operation != AdvertisingDataOperation.unchanged
        else { return .invalidParameters }
        if properties.isScannable, properties.isLegacy {
            guard Self.fitsLegacy(command.operation, command.data) else {
                return .invalidParameters
            }
        }
        if before.isEnabled, properties.isScannable, !properties.isLegacy, command.data.isEmpty {
            return .commandDisallowed
        }
        var after = before
        let status = Self.join(
            command.operation, command.data, to: &after.scanResponse,
            isPartial: &after.isResponsePartial, isEnabled: before.isEnabled)
        guard status.isSuccess else {
            if status == .memoryCapacityExceeded { changeData(set, after) }
            return status
        }
        if !properties.isLegacy, after.longestEvent > after.interval {
            guard !before.isEnabled else { return .packetTooLong }
            after.scanResponse = []
            after.isResponsePartial = false
            changeData(set, after)
            return .packetTooLong
        }
        changeData(set, after)
        return .success
    }

    private mutating func changeData(_ set: Int, _ after: Advertiser) {
        changeAdvertiser(set) {
            $0.data = after.data
            $0.scanResponse = after.scanResponse
            $0.isDataPartial = after.isDataPartial
            $0.isResponsePartial = after.isResponsePartial
            $0.did = ($0.did + 1) & 0x0FFF
        }
    }

    /// Puts a fragment to what is there. What exceeds the memory is discarded as a whole.
    static func join(
        _ operation: UInt8, _ fragment: [UInt8], to data: inout [UInt8], isPartial: inout Bool,
        isEnabled: Bool
    ) -> HCIStatus {
        guard operation <= AdvertisingDataOperation.complete else { return .invalidParameters }
        let isComplete = operation == AdvertisingDataOperation.complete
        guard isComplete || !fragment.isEmpty else { return .invalidParameters }
        guard isComplete || !isEnabled else { return .commandDisallowed }
        if isComplete || operation == AdvertisingDataOperation.first {
            data = fragment
        } else {
            // Nothing has been begun that this could go on with.
            guard isPartial else { return .commandDisallowed }
            data += fragment
        }
        isPartial =
            operation == AdvertisingDataOperation.first
            || operation == AdvertisingDataOperation.intermediate
        guard data.count <= Capabilities.advertisingDataMax else {
            data = []
            isPartial = false
            return .memoryCapacityExceeded
        }
        return .success
    }

    // MARK: Enabling

    /// Core 6.0, Vol 4, Part E, 7.8.56.
    private mutating func enableSets(
        _ port: Int, _ command: LESetExtendedAdvertisingEnable
    ) -> HCIStatus {
        guard command.enable <= 1, command.sets.count <= Self.setsEnabledMax else {
            return .invalidParameters
        }
        var wanted: [Int] = []
        for entry in command.sets {
            let (found, status) = named(port, entry.advertisingHandle)
            guard let set = found else { return status }
            guard !wanted.contains(set) else { return .invalidParameters }
            wanted.append(set)
        }
        guard command.enable == 1 else {
            let all = command.sets.isEmpty ? controllers[port].sets : wanted
            for set in all where advertisers[set].isEnabled { stopAdvertising(set) }
            return .success
        }
        guard !wanted.isEmpty else { return .invalidParameters }
        var addresses: [AirAddress] = []
        for (index, set) in wanted.enumerated() {
            let status = checkEnabling(set, port, duration: command.sets[index].duration)
            guard status.isSuccess else { return status }
            guard let own = ownAddress(set) else { return .invalidParameters }
            addresses.append(own)
        }
        for (index, set) in wanted.enumerated() {
            let entry = command.sets[index]
            let duration: TimeSpan? =
                entry.duration == 0 ? nil : .milliseconds(10 * Int64(entry.duration))
            if advertisers[set].isEnabled {
                renameAdvertiser(set)
                if listeners.isEmpty { skipUnheard(set) }
                advertisers[set].limit(
                    from: clock, duration: duration, eventsMax: Int(entry.maxEvents))
                scheduleAdvertiser(set)
            } else {
                startAdvertising(
                    set, as: addresses[index], duration: duration, eventsMax: Int(entry.maxEvents))
                beginTrain(set)
            }
        }
        return .success
    }

    /// Num_Sets is at most this.
    private static let setsEnabledMax = 0x3F

    private func checkEnabling(_ set: Int, _ port: Int, duration: UInt16) -> HCIStatus {
        let advertiser = advertisers[set]
        let properties = advertiser.properties
        if properties.isHighDuty {
            let longest = Radio.highDutyDuration / 10_000
            guard duration > 0, duration <= longest else { return .invalidParameters }
        }
        guard !advertiser.isDataPartial, !advertiser.isResponsePartial else {
            return .commandDisallowed
        }
        if !properties.isLegacy {
            if properties.isScannable, advertiser.scanResponse.isEmpty { return .commandDisallowed }
            if properties.isConnectable, !advertiser.fitsOnePDU { return .invalidParameters }
            if advertiser.longestEvent > advertiser.interval { return .packetTooLong }
        }
        return checkConnections(set, port)
    }
}

extension AdvertisingEventProperties {
    /// Whether the specification knows such events (Core 6.0, Vol 4, Part E, 7.8.53).
    fileprivate var isPossible: Bool {
        if isLegacy {
            return [0x13, 0x15, 0x1D, 0x12, 0x10].contains(rawValue)
        }
        let known: Self = [.connectable, .scannable, .directed, .anonymous, .includeTxPower]
        guard isSubset(of: known), !(isConnectable && isScannable) else { return false }
        return !isAnonymous || !isConnectable && !isScannable
    }

    fileprivate var mayHaveData: Bool { isLegacy ? !isDirected : !isScannable }

    /// Whether a set with such events may have a periodic advertising train.
    var maySendTrain: Bool { !isConnectable && !isScannable && !isLegacy && !isAnonymous }
}
