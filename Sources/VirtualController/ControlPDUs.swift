// What the two ends of a link say to each other: the link layer's control procedures.
import HCI
import SansIO
import Wire

extension Air {
    /// The end `role` of a link has received a control PDU.
    mutating func receive(_ control: ControlPDU, _ slot: Int, _ role: Role) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        switch control {
        case .terminate(let reason): terminate(slot, by: role.other, reason)
        case .connectionUpdate(let parameters):
            scheduleUpdate(slot, parameters)
        case .parameterRequest(let min, let parameters):
            receiveParameterRequest(slot, role, min: min, parameters)
        case .parameterReject(let status): finishUpdate(slot, role, status)
        case .channelMap:
            guard end(.channelMap, slot, role.other),
                let central = links[slot].sides[role.other.rawValue].port
            else { return }
            links[slot].channelMap = controllers[central].channelClassification
        case .featureRequest: push(slot, role, .featureResponse)
        case .featureResponse:
            guard end(.features, slot, role) else { return }
            var event = LEReadRemoteFeaturesComplete()
            event.connectionHandle = links[slot].sides[role.rawValue].handle
            event.leFeatures = leFeatures(links[slot].sides[role.other.rawValue].port ?? port)
            controllers[port].send(event)
        case .versionIndication: receiveVersion(slot, role)
        case .lengthRequest(let peer):
            push(slot, role, .lengthResponse(links[slot].sides[role.rawValue].wantedLength))
            agreeLengths(slot, role, peer)
        case .lengthResponse(let peer):
            _ = end(.dataLength, slot, role)
            agreeLengths(slot, role, peer)
        case .phyRequest:
            let side = links[slot].sides[role.rawValue]
            push(slot, role, .phyResponse(tx: side.preferredTxPHYs, rx: side.preferredRxPHYs))
        case .phyResponse(let tx, let rx): agreePHYs(slot, role, tx: tx, rx: rx)
        case .encryptionRequest, .encryptionReject, .startEncryption, .centralEncrypts,
            .peripheralEncrypts:
            receiveEncryption(control, slot, role, port)
        }
    }

    /// Takes `procedure` out of those that the host at `role` waits for; false where it does not.
    mutating func end(_ procedure: Procedures, _ slot: Int, _ role: Role) -> Bool {
        links[slot].sides[role.rawValue].procedures.remove(procedure) != nil
    }

    // MARK: Version

    private mutating func receiveVersion(_ slot: Int, _ role: Role) {
        links[slot].sides[role.rawValue].isPeerVersionKnown = true
        if !links[slot].sides[role.rawValue].isVersionSent {
            links[slot].sides[role.rawValue].isVersionSent = true
            push(slot, role, .versionIndication)
        }
        if end(.version, slot, role) { reportVersion(slot, role) }
    }

    /// Every controller here has the same version.
    mutating func reportVersion(_ slot: Int, _ role: Role) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        var event = ReadRemoteVersionInformationComplete()
        event.connectionHandle = links[slot].sides[role.rawValue].handle
        event.version = Capabilities.version
        event.companyIdentifier = Capabilities.companyIdentifier
        event.subversion = Capabilities.subversion
        controllers[port].send(event)
    }

    // MARK: Data length and PHY

    /// Both ends know the other's wish now (Core 6.0, Vol 6, Part B, 5.1.9). Every end receives the
    /// longest PDU.
    private mutating func agreeLengths(_ slot: Int, _ role: Role, _ peer: DataLength) {
        let own = links[slot].sides[role.rawValue].wantedLength
        var longest = ControllerFeatures.all.longestData
        for side in links[slot].sides {
            guard let port = side.port else { continue }
            longest = longest.limited(by: controllers[port].features.longestData)
        }
        let lengths = [own.limited(by: longest), peer.limited(by: longest)]
        let isNew =
            links[slot].sides[role.rawValue].length != lengths[0]
            || links[slot].sides[role.other.rawValue].length != lengths[1]
        guard isNew else { return }
        links[slot].sides[role.rawValue].length = lengths[0]
        links[slot].sides[role.other.rawValue].length = lengths[1]
        for side in [role, role.other] {
            guard let port = links[slot].sides[side.rawValue].port else { continue }
            var event = LEDataLengthChange()
            event.connectionHandle = links[slot].sides[side.rawValue].handle
            event.maxTxOctets = links[slot].sides[side.rawValue].length.octets
            event.maxTxTime = links[slot].sides[side.rawValue].length.time
            event.maxRxOctets = links[slot].sides[side.other.rawValue].length.octets
            event.maxRxTime = links[slot].sides[side.other.rawValue].length.time
            controllers[port].send(event)
        }
    }

    /// The end that asked has the other's preferences: each direction takes the fastest PHY that
    /// both like, or stays (Core 6.0, Vol 6, Part B, 5.1.10).
    private mutating func agreePHYs(_ slot: Int, _ role: Role, tx: UInt8, rx: UInt8) {
        let own = links[slot].sides[role.rawValue]
        let before = [own.phy, links[slot].sides[role.other.rawValue].phy]
        let after = [
            Self.choosePHY(own.preferredTxPHYs & rx, before[0]),
            Self.choosePHY(own.preferredRxPHYs & tx, before[1]),
        ]
        links[slot].sides[role.rawValue].phy = after[0]
        links[slot].sides[role.other.rawValue].phy = after[1]
        let isAsked = end(.phy, slot, role)
        if isAsked || before != after { reportPHYs(slot, role) }
        if before != after { reportPHYs(slot, role.other) }
    }

    private static func choosePHY(_ common: UInt8, _ current: UInt8) -> UInt8 {
        if common & PHY.preferences2M != 0 { return PHY.le2M }
        if common & PHY.preferences1M != 0 { return PHY.le1M }
        return common & PHY.preferencesCoded != 0 ? PHY.leCoded : current
    }

    private mutating func reportPHYs(_ slot: Int, _ role: Role) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        var event = LEPHYUpdateComplete()
        event.connectionHandle = links[slot].sides[role.rawValue].handle
        event.txPHY = links[slot].sides[role.rawValue].phy
        event.rxPHY = links[slot].sides[role.other.rawValue].phy
        controllers[port].send(event)
    }

    // MARK: Connection parameters

    /// The central's host decides, unless it does not want to be asked (Core 6.0, Vol 6, Part B,
    /// 5.1.7).
    private mutating func receiveParameterRequest(
        _ slot: Int, _ role: Role, min: UInt16, _ parameters: LinkParameters
    ) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        let procedures = links[slot].sides[role.rawValue].procedures
        guard !procedures.contains(.connectionUpdate), links[slot].update == nil else {
            return push(slot, role, .parameterReject(.differentTransactionCollision))
        }
        guard controllers[port].wants(.leMeta, .remoteConnectionParameterRequest) else {
            return push(slot, role, .parameterReject(.unsupportedRemoteFeature))
        }
        links[slot].sides[role.rawValue].procedures.insert(.parameterAnswer)
        var event = LERemoteConnectionParameterRequest()
        event.connectionHandle = links[slot].sides[role.rawValue].handle
        event.intervalMin = min
        event.intervalMax = parameters.interval
        event.maxLatency = parameters.latency
        event.timeout = parameters.timeout
        controllers[port].send(event)
    }

    /// The peripheral knows the new parameters; they begin six events later, at once in ideal
    /// timing.
    private mutating func scheduleUpdate(_ slot: Int, _ parameters: LinkParameters) {
        let events = timing == .ideal ? 0 : 6 + Int64(links[slot].parameters.latency)
        links[slot].update = (parameters, links[slot].anchor + links[slot].interval * events)
        if timing == .ideal { applyUpdate(slot) }
    }

    mutating func applyUpdate(_ slot: Int) {
        guard let update = links[slot].update else { return }
        links[slot].update = nil
        links[slot].isEventOpen = false
        links[slot].nextExchange = nil
        let isNew = links[slot].parameters != update.parameters
        links[slot].parameters = update.parameters
        // The instant is the first event with the new interval.
        links[slot].anchor = update.instant - links[slot].interval
        links[slot].isAwake = true
        for role in Role.both {
            let isAsked = end(.connectionUpdate, slot, role)
            if isNew || isAsked { reportUpdate(slot, role, .success) }
        }
    }

    private mutating func finishUpdate(_ slot: Int, _ role: Role, _ status: HCIStatus) {
        if end(.connectionUpdate, slot, role) { reportUpdate(slot, role, status) }
    }

    private mutating func reportUpdate(_ slot: Int, _ role: Role, _ status: HCIStatus) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        var event = LEConnectionUpdateComplete()
        event.status = status
        event.connectionHandle = links[slot].sides[role.rawValue].handle
        event.connectionInterval = links[slot].parameters.interval
        event.peripheralLatency = links[slot].parameters.latency
        event.supervisionTimeout = links[slot].parameters.timeout
        controllers[port].send(event)
    }
}
