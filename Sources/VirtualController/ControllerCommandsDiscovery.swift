// LE commands of advertising, scanning and initiating.
import HCI
import SansIO
import Wire

extension Air {
    mutating func serveDiscovery(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        switch opcode {
        case .leSetAdvertisingParameters:
            return set(LESetAdvertisingParameters.self, parameters, port) { air, command in
                air.setAdvertisingParameters(port, command)
            }
        case .leSetAdvertisingData:
            return set(LESetAdvertisingData.self, parameters, port) { air, command in
                guard Int(command.length) <= command.data.count else { return .invalidParameters }
                air.changeAdvertiser(air.controllers[port].sets[0]) {
                    $0.data = Array(command.data.prefix(Int(command.length)))
                }
                return .success
            }
        case .leSetScanResponseData:
            return set(LESetScanResponseData.self, parameters, port) { air, command in
                guard Int(command.length) <= command.data.count else { return .invalidParameters }
                air.changeAdvertiser(air.controllers[port].sets[0]) {
                    $0.scanResponse = Array(command.data.prefix(Int(command.length)))
                }
                return .success
            }
        case .leSetAdvertisingEnable:
            return set(LESetAdvertisingEnable.self, parameters, port) { air, command in
                air.enableAdvertising(port, command.enable)
            }
        case .leSetScanParameters:
            return set(LESetScanParameters.self, parameters, port) { air, command in
                air.setScanParameters(port, command)
            }
        case .leSetScanEnable:
            return set(LESetScanEnable.self, parameters, port) { air, command in
                air.enableScanning(port, command)
            }
        case .leCreateConnection:
            return begin(LECreateConnection.self, parameters, port) { air, command in
                air.createConnection(port, command)
            }
        case .leCreateConnectionCancel:
            let wasInitiating = controllers[port].initiator != nil
            controllers[port].initiator = nil
            updateListeners()
            let isServed = set(LECreateConnectionCancel.self, parameters, port) { _, _ in
                wasInitiating ? .success : .commandDisallowed
            }
            if wasInitiating {
                reportNoConnection(port, role: .central, .unknownConnectionIdentifier)
            }
            return isServed
        default: return false
        }
    }

    // MARK: Advertising

    /// Changes data of an advertiser; events until now had the old one.
    mutating func changeAdvertiser(_ set: Int, _ change: (inout Advertiser) -> Void) {
        if listeners.isEmpty { skipUnheard(set) }
        let before = (advertisers[set].data.count, advertisers[set].scanResponse.count)
        change(&advertisers[set])
        let after = (advertisers[set].data.count, advertisers[set].scanResponse.count)
        if advertisers[set].isEnabled, before != after {
            endStretch(set)
            beginStretch(set)
        }
    }

    /// Core 6.0, Vol 4, Part E, 7.8.5. Of a range of intervals the longest is taken.
    private mutating func setAdvertisingParameters(
        _ port: Int, _ command: LESetAdvertisingParameters
    ) -> HCIStatus {
        let set = controllers[port].sets[0]
        guard !advertisers[set].isEnabled else { return .commandDisallowed }
        guard let properties = AdvertisingEventProperties(legacyType: command.advertisingType),
            (1...0b111).contains(command.channelMap), command.filterPolicy <= 3,
            command.peerAddressType == .publicDevice || command.peerAddressType == .randomDevice
        else { return .invalidParameters }
        let status = check(command.ownAddressType)
        guard status.isSuccess else { return status }
        if !properties.isHighDuty {
            let range = AdvertisingInterval.minimum.steps...AdvertisingInterval.maximum.steps
            guard range.contains(command.intervalMin), range.contains(command.intervalMax),
                command.intervalMin <= command.intervalMax
            else { return .invalidParameters }
        }
        advertisers[set].properties = properties
        advertisers[set].interval = AdvertisingInterval(steps: command.intervalMax).microseconds
        advertisers[set].ownAddressType = command.ownAddressType
        advertisers[set].peer = AirAddress(
            isRandom: command.peerAddressType == .randomDevice, address: command.peerAddress)
        advertisers[set].channelMap = command.channelMap
        advertisers[set].filterPolicy = command.filterPolicy
        return .success
    }

    /// Types 2 and 3 are those of privacy.
    func check(_ type: AddressType) -> HCIStatus {
        switch type {
        case .publicDevice, .randomDevice: .success
        case .publicIdentity, .randomIdentity:
            hasPrivacy ? .success : .unsupportedFeatureOrParameter
        default: .invalidParameters
        }
    }

    /// Core 6.0, Vol 4, Part E, 7.8.9.
    private mutating func enableAdvertising(_ port: Int, _ enable: UInt8) -> HCIStatus {
        guard enable <= 1 else { return .invalidParameters }
        let set = controllers[port].sets[0]
        guard advertisers[set].isEnabled != (enable == 1) else { return .success }
        guard enable == 1 else {
            stopAdvertising(set)
            return .success
        }
        guard let own = ownAddress(set) else { return .invalidParameters }
        let status = checkConnections(set, port)
        guard status.isSuccess else { return status }
        let isHighDuty = advertisers[set].properties.isHighDuty
        startAdvertising(
            set, as: own, duration: isHighDuty ? .microseconds(Radio.highDutyDuration) : nil)
        return .success
    }

    /// Whether what is advertised may become a connection.
    func checkConnections(_ set: Int, _ port: Int) -> HCIStatus {
        let properties = advertisers[set].properties
        guard properties.isConnectable else { return .success }
        if controllers[port].links.count >= Capabilities.linksMax {
            return .connectionLimitExceeded
        }
        let isDone = properties.isDirected && isLinked(port, to: advertisers[set].peer)
        return isDone ? .connectionAlreadyExists : .success
    }

    // MARK: Scanning

    /// Core 6.0, Vol 4, Part E, 7.8.10.
    private mutating func setScanParameters(_ port: Int, _ command: LESetScanParameters)
        -> HCIStatus
    {
        guard !controllers[port].scanner.isEnabled else { return .commandDisallowed }
        guard command.scanType <= 1, command.filterPolicy <= 3,
            Self.isScanRange(command.scanInterval, command.scanWindow)
        else { return .invalidParameters }
        // Policies 2 and 3 are for directed advertisements to unresolved private addresses.
        guard command.filterPolicy <= 1 else { return .unsupportedFeatureOrParameter }
        let status = check(command.ownAddressType)
        guard status.isSuccess else { return status }
        controllers[port].scanner.le1M = Scanner.Mode(
            isActive: command.scanType == 1, interval: command.scanInterval,
            window: command.scanWindow)
        controllers[port].scanner.ownAddressType = command.ownAddressType
        controllers[port].scanner.filterPolicy = command.filterPolicy
        return .success
    }

    /// 2.5 ms to 10.24 s, the window at most the interval.
    static func isScanRange(_ interval: UInt16, _ window: UInt16) -> Bool {
        (0x0004...0x4000).contains(interval) && window >= 0x0004 && window <= interval
    }

    /// Core 6.0, Vol 4, Part E, 7.8.11.
    private mutating func enableScanning(_ port: Int, _ command: LESetScanEnable) -> HCIStatus {
        guard command.enable <= 1, command.enable == 0 || command.filterDuplicates <= 1 else {
            return .invalidParameters
        }
        guard command.enable == 1 else {
            controllers[port].scanner.disable()
            updateListeners()
            return .success
        }
        let type = controllers[port].scanner.ownAddressType
        guard ownAddress(port, type, towards: nil) != nil else { return .invalidParameters }
        controllers[port].scanner.enable(
            filtersDuplicates: command.filterDuplicates == 1, at: clock)
        updateListeners()
        return .success
    }

    // MARK: Initiating

    /// Core 6.0, Vol 4, Part E, 7.8.12. Of a range of intervals the longest is taken.
    private mutating func createConnection(_ port: Int, _ command: LECreateConnection) -> HCIStatus
    {
        guard controllers[port].initiator == nil else { return .commandDisallowed }
        guard Self.isScanRange(command.scanInterval, command.scanWindow),
            command.initiatorFilterPolicy <= 1, command.minCeLength <= command.maxCeLength,
            LinkParameters.areValid(
                min: command.intervalMin, max: command.intervalMax, latency: command.maxLatency,
                timeout: command.supervisionTimeout)
        else { return .invalidParameters }
        let plan = ListeningPlan(
            interval: command.scanInterval, window: command.scanWindow, from: clock)
        let parameters = LinkParameters(
            interval: command.intervalMax, latency: command.maxLatency,
            timeout: command.supervisionTimeout)
        let initiator = Initiator(
            plan1M: plan, ownAddressType: command.ownAddressType, parameters: [parameters])
        return initiate(
            port, initiator, isFiltered: command.initiatorFilterPolicy == 1,
            command.peerAddressType, command.peerAddress)
    }

    /// Begins to seek a peer, or any device of the filter accept list.
    mutating func initiate(
        _ port: Int, _ initiator: Initiator, isFiltered: Bool, _ peerType: AddressType,
        _ peerAddress: DeviceAddress
    ) -> HCIStatus {
        for type in [initiator.ownAddressType, isFiltered ? .publicDevice : peerType] {
            let status = check(type)
            guard status.isSuccess else { return status }
        }
        guard ownAddress(port, initiator.ownAddressType, towards: nil) != nil else {
            return .invalidParameters
        }
        guard controllers[port].links.count < Capabilities.linksMax else {
            return .connectionLimitExceeded
        }
        let peer = AirAddress(isRandom: peerType.rawValue & 1 == 1, address: peerAddress)
        if !isFiltered, isLinked(port, to: peer) { return .connectionAlreadyExists }
        var initiator = initiator
        initiator.peer = isFiltered ? nil : peer
        controllers[port].initiator = initiator
        updateListeners()
        return .success
    }
}
