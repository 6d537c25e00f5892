// Encryption of a link: the hosts' commands and what the two controllers say to each other.
import HCI
import SMP
import SansIO
import Wire

extension Air {
    mutating func serveEncryption(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .leEncrypt:
            return complete(LEEncrypt.self, parameters, port) { air, command in
                var answer = LEEncrypted()
                let block = air.cipher?.encrypt(
                    command.plaintext.reversed(), key: command.key.reversed())
                if let block {
                    answer.encryptedData = block.reversed()
                } else {
                    answer.status = .hardwareFailure
                }
                return answer
            }
        case .leEnableEncryption:
            return begin(LEEnableEncryption.self, parameters, port) { air, command in
                air.enableEncryption(port, command)
            }
        case .leLongTermKeyRequestReply:
            return complete(LELongTermKeyRequestReply.self, parameters, port) { air, command in
                let status = air.answerKey(port, command.connectionHandle, command.longTermKey)
                return StatusAndHandle(status, command.connectionHandle)
            }
        case .leLongTermKeyRequestNegativeReply:
            return complete(
                LELongTermKeyRequestNegativeReply.self, parameters, port
            ) { air, command in
                let status = air.answerKey(port, command.connectionHandle, nil)
                return StatusAndHandle(status, command.connectionHandle)
            }
        default: return false
        }
    }

    /// Only a central begins it (Core 6.0, Vol 4, Part E, 7.8.24).
    private mutating func enableEncryption(
        _ port: Int, _ command: LEEnableEncryption
    ) -> HCIStatus {
        guard let end = find(port, command.connectionHandle) else {
            return .unknownConnectionIdentifier
        }
        guard end.role == .central else { return .commandDisallowed }
        return request(
            port, command.connectionHandle, .encryption,
            .encryptionRequest(
                rand: command.randomNumber, ediv: command.encryptedDiversifier,
                key: command.longTermKey))
    }

    private mutating func answerKey(
        _ port: Int, _ handle: ConnectionHandle, _ key: [UInt8]?
    ) -> HCIStatus {
        guard let end = find(port, handle) else { return .unknownConnectionIdentifier }
        guard self.end(.keyAnswer, end.slot, end.role) else { return .commandDisallowed }
        if let key {
            push(end.slot, end.role, .startEncryption(key: key))
        } else if links[end.slot].isEncrypted {
            // A link that was encrypted goes on so or not at all (Core 6.0, Vol 6, Part B,
            // 5.1.3.2).
            push(end.slot, end.role, .terminate(.pinOrKeyMissing))
        } else {
            push(end.slot, end.role, .encryptionReject(.pinOrKeyMissing))
        }
        touched.append(end.slot)
        return .success
    }

    /// A step of the encryption start procedure has come to `role` (Core 6.0, Vol 6, Part B,
    /// 5.1.3.1).
    mutating func receiveEncryption(
        _ control: ControlPDU, _ slot: Int, _ role: Role, _ port: Int
    ) {
        switch control {
        case .encryptionRequest(let rand, let ediv, let key):
            links[slot].sides[role.other.rawValue].key = key
            guard controllers[port].wants(.leMeta, .longTermKeyRequest) else {
                return push(slot, role, .encryptionReject(.unsupportedRemoteFeature))
            }
            links[slot].sides[role.rawValue].procedures.insert(.keyAnswer)
            var event = LELongTermKeyRequest()
            event.connectionHandle = links[slot].sides[role.rawValue].handle
            event.randomNumber = rand
            event.encryptedDiversifier = ediv
            controllers[port].send(event)
        case .encryptionReject(let status):
            if end(.encryption, slot, role) { reportEncryption(slot, role, status) }
        case .startEncryption(let key):
            links[slot].sides[role.other.rawValue].key = key
            push(slot, role, .centralEncrypts(key: links[slot].sides[role.rawValue].key))
        case .centralEncrypts(let key):
            guard key == links[slot].sides[role.rawValue].key else {
                // The first encrypted packet does not fit: this side is off at once, the other one
                // hears nothing any more.
                return failEncryption(slot, role, port)
            }
            reportEncryption(slot, role, .success)
            push(slot, role, .peripheralEncrypts)
        case .peripheralEncrypts:
            if end(.encryption, slot, role) { reportEncryption(slot, role, .success) }
            links[slot].isEncrypted = true
        case .terminate, .connectionUpdate, .parameterRequest, .parameterReject, .channelMap,
            .featureRequest, .featureResponse, .versionIndication, .lengthRequest,
            .lengthResponse, .phyRequest, .phyResponse:
            break
        }
    }

    private mutating func failEncryption(_ slot: Int, _ role: Role, _ port: Int) {
        reportEnd(slot, role, .micFailure)
        leave(slot, port)
    }

    private mutating func reportEncryption(_ slot: Int, _ role: Role, _ status: HCIStatus) {
        guard let port = links[slot].sides[role.rawValue].port else { return }
        let handle = links[slot].sides[role.rawValue].handle
        if links[slot].isEncrypted {
            var event = EncryptionKeyRefreshComplete()
            event.status = status
            event.connectionHandle = handle
            return controllers[port].send(event)
        }
        var event = EncryptionChange()
        event.status = status
        event.connectionHandle = handle
        event.encryptionEnabled = status.isSuccess ? 1 : 0
        controllers[port].send(event)
    }
}
