// LE commands that set up a controller: masks, buffers, features, addresses, lists and defaults.
import HCI
import SansIO
import Wire

extension Air {
    mutating func serveSetUp(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        switch opcode {
        case .leSetEventMask:
            return set(LESetEventMask.self, parameters, port) { air, command in
                air.controllers[port].leEventMask = command.leEventMask
                return .success
            }
        case .leReadBufferSize:
            return complete(LEReadBufferSize.self, parameters, port) { _, _ in
                var answer = LEBufferSize()
                answer.aclDataPacketLength = UInt16(Capabilities.aclOctetsMax)
                answer.totalACLDataPackets = UInt8(Capabilities.aclPacketsMax)
                return answer
            }
        case .leReadLocalSupportedFeatures:
            return complete(LEReadLocalSupportedFeatures.self, parameters, port) { air, _ in
                var answer = LELocalSupportedFeatures()
                answer.leFeatures = air.leFeatures(port)
                return answer
            }
        case .leReadSupportedStates:
            return complete(LEReadSupportedStates.self, parameters, port) { _, _ in
                var answer = LESupportedStates()
                answer.leStates = Capabilities.leStates
                return answer
            }
        case .leRand:
            return complete(LERand.self, parameters, port) { air, _ in
                var answer = LERandomNumber()
                answer.randomNumber = air.controllers[port].random.next()
                return answer
            }
        case .leSetRandomAddress:
            return set(LESetRandomAddress.self, parameters, port) { air, command in
                air.setRandomAddress(port, command)
            }
        case .leReadAdvertisingPhysicalChannelTxPower:
            return complete(LEReadAdvertisingPhysicalChannelTxPower.self, parameters, port) {
                _, _ in
                var answer = LEAdvertisingTxPower()
                answer.txPowerLevel = Radio.transmitPower
                return answer
            }
        default:
            return serveAcceptList(opcode, parameters, port)
                || serveDefaults(opcode, parameters, port)
        }
    }

    /// An address in use is not changed (Core 6.0, Vol 4, Part E, 7.8.4). Sets have their own.
    private mutating func setRandomAddress(_ port: Int, _ command: LESetRandomAddress) -> HCIStatus
    {
        guard !advertisers[controllers[port].sets[0]].isEnabled, !controllers[port].isListening
        else { return .commandDisallowed }
        controllers[port].randomAddress = command.randomAddress
        return .success
    }

    // MARK: Filter accept list

    private mutating func serveAcceptList(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leReadFilterAcceptListSize:
            return complete(LEReadFilterAcceptListSize.self, parameters, port) { _, _ in
                var answer = FilterAcceptListSize()
                answer.filterAcceptListSize = UInt8(Capabilities.filterAcceptListMax)
                return answer
            }
        case .leClearFilterAcceptList:
            return set(LEClearFilterAcceptList.self, parameters, port) { air, _ in
                guard !air.usesAcceptList(port) else { return .commandDisallowed }
                air.controllers[port].acceptList = []
                air.controllers[port].acceptsAnonymous = false
                return .success
            }
        case .leAddDeviceToFilterAcceptList:
            return set(LEAddDeviceToFilterAcceptList.self, parameters, port) { air, command in
                air.changeAcceptList(port, command.addressType, command.address, isAdded: true)
            }
        case .leRemoveDeviceFromFilterAcceptList:
            return set(LERemoveDeviceFromFilterAcceptList.self, parameters, port) { air, command in
                air.changeAcceptList(port, command.addressType, command.address, isAdded: false)
            }
        default: return false
        }
    }

    /// The list is not changed while a filter uses it (Core 6.0, Vol 4, Part E, 7.8.15 to 7.8.17).
    private func usesAcceptList(_ port: Int) -> Bool {
        let controller = controllers[port]
        for set in controller.sets
        where advertisers[set].isEnabled && advertisers[set].filterPolicy != 0 {
            return true
        }
        if controller.scanner.isEnabled, controller.scanner.filterPolicy & 1 == 1 { return true }
        return controller.initiator.map { $0.peer == nil } ?? false
    }

    private mutating func changeAcceptList(
        _ port: Int, _ type: AddressType, _ address: DeviceAddress, isAdded: Bool
    ) -> HCIStatus {
        guard !usesAcceptList(port) else { return .commandDisallowed }
        if type == .anonymous {
            controllers[port].acceptsAnonymous = isAdded
            return .success
        }
        guard type == .publicDevice || type == .randomDevice else { return .invalidParameters }
        let entry = AirAddress(isRandom: type == .randomDevice, address: address)
        let place = controllers[port].acceptList.firstIndex(of: entry)
        switch (isAdded, place) {
        case (true, nil):
            guard controllers[port].acceptList.count < Capabilities.filterAcceptListMax else {
                return .memoryCapacityExceeded
            }
            controllers[port].acceptList.append(entry)
        case (false, let place?): controllers[port].acceptList.remove(at: place)
        case (true, _?), (false, nil): break
        }
        return .success
    }

    // MARK: Defaults of new links

    private mutating func serveDefaults(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leReadSuggestedDefaultDataLength:
            return complete(LEReadSuggestedDefaultDataLength.self, parameters, port) { air, _ in
                var answer = LESuggestedDefaultDataLength()
                answer.suggestedMaxTxOctets = air.controllers[port].suggestedLength.octets
                answer.suggestedMaxTxTime = air.controllers[port].suggestedLength.time
                return answer
            }
        case .leWriteSuggestedDefaultDataLength:
            return set(LEWriteSuggestedDefaultDataLength.self, parameters, port) { air, command in
                let length = DataLength(
                    octets: command.suggestedMaxTxOctets, time: command.suggestedMaxTxTime)
                guard length.isNamable else { return .invalidParameters }
                air.controllers[port].suggestedLength = length
                return .success
            }
        case .leReadMaximumDataLength:
            return complete(LEReadMaximumDataLength.self, parameters, port) { air, _ in
                let longest = air.controllers[port].features.longestData
                var answer = LEMaximumDataLength()
                answer.supportedMaxTxOctets = longest.octets
                answer.supportedMaxTxTime = longest.time
                answer.supportedMaxRxOctets = longest.octets
                answer.supportedMaxRxTime = longest.time
                return answer
            }
        case .leSetDefaultPHY:
            return set(LESetDefaultPHY.self, parameters, port) { air, command in
                let choice = air.choosePHYs(
                    port, all: command.allPHYs, tx: command.txPHYs, rx: command.rxPHYs)
                guard choice.status.isSuccess else { return choice.status }
                air.controllers[port].preferredTxPHYs = choice.tx
                air.controllers[port].preferredRxPHYs = choice.rx
                return .success
            }
        case .leSetHostChannelClassification:
            return set(LESetHostChannelClassification.self, parameters, port) { air, command in
                air.classifyChannels(port, command.channelMap)
            }
        default: return false
        }
    }

    /// Links that are central here follow the host's classification (Core 6.0, Vol 4, Part E,
    /// 7.8.19).
    private mutating func classifyChannels(_ port: Int, _ octets: [UInt8]) -> HCIStatus {
        var map: UInt64 = 0
        for (index, octet) in octets.enumerated() { map |= UInt64(octet) << UInt64(8 * index) }
        // A link needs two channels; the three highest bits are no data channels.
        guard map & ~Capabilities.channelMapAll == 0, map.nonzeroBitCount >= 2 else {
            return .invalidParameters
        }
        guard controllers[port].channelClassification != map else { return .success }
        controllers[port].channelClassification = map
        for slot in controllers[port].links
        where links[slot].sides[Role.central.rawValue].port == port {
            let central = Role.central.rawValue
            // One PDU at a time: the one that waits carries the newest map.
            guard links[slot].sides[central].procedures.insert(.channelMap).inserted else {
                continue
            }
            push(slot, .central, .channelMap)
            touched.append(slot)
        }
        return .success
    }
}

extension DataLength {
    /// Whether a host may name these values (Core 6.0, Vol 4, Part E, 7.8.33).
    var isNamable: Bool {
        (Capabilities.dataOctetsMin...Capabilities.dataOctetsMax).contains(octets)
            && (Capabilities.dataTimeMin...Capabilities.dataTimeCodedMax).contains(time)
    }
}

extension Air {
    /// The preferences of LE Set PHY and LE Set Default PHY (Core 6.0, Vol 4, Part E, 7.8.48): bits
    /// 0 and 1 of `all` say that there is none for sending and receiving.
    func choosePHYs(
        _ port: Int, all: UInt8, tx: UInt8, rx: UInt8
    ) -> (status: HCIStatus, tx: UInt8, rx: UInt8) {
        let supported = controllers[port].features.phyPreferences
        let wantedTx = all & 0b01 != 0 ? supported : tx
        let wantedRx = all & 0b10 != 0 ? supported : rx
        guard wantedTx != 0, wantedRx != 0, all <= 0b11, (wantedTx | wantedRx) & ~0b111 == 0 else {
            return (.invalidParameters, 0, 0)
        }
        let (usableTx, usableRx) = (wantedTx & supported, wantedRx & supported)
        guard usableTx != 0, usableRx != 0 else { return (.unsupportedFeatureOrParameter, 0, 0) }
        return (.success, usableTx, usableRx)
    }
}
