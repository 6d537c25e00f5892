// Commands about one link: ending it, its parameters, its peer's version and features, its PDUs.
import HCI
import SansIO
import Wire

extension Air {
    mutating func serveLink(_ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int) -> Bool {
        switch opcode {
        case .disconnect:
            return begin(Disconnect.self, parameters, port) { air, command in
                air.disconnect(port, command)
            }
        case .readRemoteVersionInformation: return readRemoteVersion(parameters, port)
        case .leReadRemoteFeatures:
            return begin(LEReadRemoteFeatures.self, parameters, port) { air, command in
                air.request(port, command.connectionHandle, .features, .featureRequest)
            }
        case .leConnectionUpdate:
            return begin(LEConnectionUpdate.self, parameters, port) { air, command in
                air.updateConnection(port, command)
            }
        case .leRemoteConnectionParameterRequestReply:
            return complete(
                LERemoteConnectionParameterRequestReply.self, parameters, port
            ) { air, command in
                let status = air.answerParameters(port, command)
                return StatusAndHandle(status, command.connectionHandle)
            }
        case .leRemoteConnectionParameterRequestNegativeReply:
            return complete(
                LERemoteConnectionParameterRequestNegativeReply.self, parameters, port
            ) { air, command in
                let answer = ControlPDU.parameterReject(command.reason)
                let status = air.answer(port, command.connectionHandle, answer)
                return StatusAndHandle(status, command.connectionHandle)
            }
        case .leReadChannelMap:
            return complete(LEReadChannelMap.self, parameters, port) { air, command in
                air.readChannelMap(port, command.connectionHandle)
            }
        case .leSetDataLength:
            return complete(LESetDataLength.self, parameters, port) { air, command in
                StatusAndHandle(air.setDataLength(port, command), command.connectionHandle)
            }
        case .leReadPHY:
            return complete(LEReadPHY.self, parameters, port) { air, command in
                air.readPHY(port, command.connectionHandle)
            }
        case .leSetPHY:
            return begin(LESetPHY.self, parameters, port) { air, command in
                air.setPHY(port, command)
            }
        default: return serveEncryption(opcode, parameters, port)
        }
    }

    /// Begins a procedure of the link layer; one of each kind at a time.
    mutating func request(
        _ port: Int, _ handle: ConnectionHandle, _ procedure: Procedures, _ control: ControlPDU
    ) -> HCIStatus {
        guard let end = find(port, handle) else { return .unknownConnectionIdentifier }
        let side = end.role.rawValue
        guard links[end.slot].sides[side].procedures.isDisjoint(with: [procedure, .terminate])
        else {
            return .commandDisallowed
        }
        links[end.slot].sides[side].procedures.insert(procedure)
        push(end.slot, end.role, control)
        touched.append(end.slot)
        return .success
    }

    /// The reasons that a host may give (Core 6.0, Vol 4, Part E, 7.1.6).
    private static let disconnectReasons: [UInt8] = [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B]

    private mutating func disconnect(_ port: Int, _ command: Disconnect) -> HCIStatus {
        guard find(port, command.connectionHandle) != nil else {
            return .unknownConnectionIdentifier
        }
        guard Self.disconnectReasons.contains(command.reason.rawValue) else {
            return .invalidParameters
        }
        return request(port, command.connectionHandle, .terminate, .terminate(command.reason))
    }

    /// Versions are exchanged once; a second question is answered from memory (Core 6.0, Vol 6,
    /// Part B, 5.1.5).
    private mutating func readRemoteVersion(_ parameters: Span<UInt8>, _ port: Int) -> Bool {
        var known: (slot: Int, role: Role)?
        let isServed = begin(ReadRemoteVersionInformation.self, parameters, port) { air, command in
            guard let end = air.find(port, command.connectionHandle) else {
                return .unknownConnectionIdentifier
            }
            let side = air.links[end.slot].sides[end.role.rawValue]
            if side.isPeerVersionKnown {
                known = end
                return .success
            }
            let handle = command.connectionHandle
            let status = air.request(port, handle, .version, .versionIndication)
            if status.isSuccess {
                air.links[end.slot].sides[end.role.rawValue].isVersionSent = true
            }
            return status
        }
        if let known { reportVersion(known.slot, known.role) }
        return isServed
    }

    // MARK: Connection parameters

    /// The central sets the parameters, the peripheral asks for them (Core 6.0, Vol 4, Part E,
    /// 7.8.18).
    private mutating func updateConnection(_ port: Int, _ command: LEConnectionUpdate) -> HCIStatus
    {
        guard let end = find(port, command.connectionHandle) else {
            return .unknownConnectionIdentifier
        }
        guard
            LinkParameters.areValid(
                min: command.intervalMin, max: command.intervalMax, latency: command.maxLatency,
                timeout: command.supervisionTimeout), command.minCeLength <= command.maxCeLength
        else { return .invalidParameters }
        let parameters = LinkParameters(
            interval: command.intervalMax, latency: command.maxLatency,
            timeout: command.supervisionTimeout)
        return request(
            port, command.connectionHandle, .connectionUpdate,
            end.role == .central
                ? .connectionUpdate(parameters)
                : .parameterRequest(min: command.intervalMin, parameters))
    }

    private mutating func answerParameters(
        _ port: Int, _ command: LERemoteConnectionParameterRequestReply
    ) -> HCIStatus {
        guard
            LinkParameters.areValid(
                min: command.intervalMin, max: command.intervalMax, latency: command.maxLatency,
                timeout: command.timeout), command.minCeLength <= command.maxCeLength
        else { return .invalidParameters }
        let parameters = LinkParameters(
            interval: command.intervalMax, latency: command.maxLatency, timeout: command.timeout)
        return answer(port, command.connectionHandle, .connectionUpdate(parameters))
    }

    /// Sends the host's answer to LE Remote Connection Parameter Request, if one is owed.
    private mutating func answer(
        _ port: Int, _ handle: ConnectionHandle, _ control: ControlPDU
    ) -> HCIStatus {
        guard let end = find(port, handle) else { return .unknownConnectionIdentifier }
        let side = end.role.rawValue
        guard links[end.slot].sides[side].procedures.remove(.parameterAnswer) != nil else {
            return .commandDisallowed
        }
        push(end.slot, end.role, control)
        touched.append(end.slot)
        return .success
    }

    // MARK: Channels, data length, PHY

    private func readChannelMap(_ port: Int, _ handle: ConnectionHandle) -> LEChannelMap {
        var answer = LEChannelMap()
        answer.connectionHandle = handle
        guard let end = find(port, handle) else {
            answer.status = .unknownConnectionIdentifier
            return answer
        }
        for index in 0..<answer.channelMap.count {
            answer.channelMap[index] =
                UInt8(truncatingIfNeeded: links[end.slot].channelMap >> UInt64(8 * index))
        }
        return answer
    }

    private mutating func setDataLength(_ port: Int, _ command: LESetDataLength) -> HCIStatus {
        guard let end = find(port, command.connectionHandle) else {
            return .unknownConnectionIdentifier
        }
        let length = DataLength(octets: command.txOctets, time: command.txTime)
        guard length.isNamable else { return .invalidParameters }
        let status = request(
            port, command.connectionHandle, .dataLength, .lengthRequest(length))
        if status.isSuccess { links[end.slot].sides[end.role.rawValue].wantedLength = length }
        return status
    }

    private func readPHY(_ port: Int, _ handle: ConnectionHandle) -> LEPHY {
        var answer = LEPHY()
        answer.connectionHandle = handle
        guard let end = find(port, handle) else {
            answer.status = .unknownConnectionIdentifier
            return answer
        }
        answer.txPHY = links[end.slot].sides[end.role.rawValue].phy
        answer.rxPHY = links[end.slot].sides[end.role.other.rawValue].phy
        return answer
    }

    private mutating func setPHY(_ port: Int, _ command: LESetPHY) -> HCIStatus {
        guard let end = find(port, command.connectionHandle) else {
            return .unknownConnectionIdentifier
        }
        let choice = choosePHYs(
            port, all: command.allPHYs, tx: command.txPHYs, rx: command.rxPHYs)
        guard choice.status.isSuccess else { return choice.status }
        let status = request(port, command.connectionHandle, .phy, .phyRequest)
        if status.isSuccess {
            links[end.slot].sides[end.role.rawValue].preferredTxPHYs = choice.tx
            links[end.slot].sides[end.role.rawValue].preferredRxPHYs = choice.rx
        }
        return status
    }
}
