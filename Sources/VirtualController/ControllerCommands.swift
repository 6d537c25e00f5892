// Commands of a host: finding the one that is meant, and the answer's form.
import HCI
import SansIO
import Wire

extension Air {
    /// Octets of the type octet and the header of a command packet.
    private static let headerOctets = 4

    /// Serves one whole H4 command packet.
    mutating func serve(_ packet: Span<UInt8>, from port: Int) {
        guard packet.count >= Self.headerOctets else { return }
        let opcode = Opcode(rawValue: packet.uint16(at: 1))
        let parameters = packet.extracting(Self.headerOctets..<packet.count)
        guard chooseFamily(opcode, port) else {
            return refuse(opcode, port)
        }
        let isServed =
            serveBaseband(opcode, parameters, port) || serveSetUp(opcode, parameters, port)
            || serveDiscovery(opcode, parameters, port) || serveSets(opcode, parameters, port)
            || serveLink(opcode, parameters, port) || servePrivacy(opcode, parameters, port)
        if !isServed { answer(opcode, status: .unknownCommand, port) }
    }

    // MARK: Families

    /// Remembers which family of commands the host uses; false where it has used the other one.
    private mutating func chooseFamily(_ opcode: Opcode, _ port: Int) -> Bool {
        guard let family = CommandFamily(of: opcode, controllers[port].features) else {
            return true
        }
        if controllers[port].family == nil { controllers[port].family = family }
        return controllers[port].family == family
    }

    /// Answers a command of the other family.
    private mutating func refuse(_ opcode: Opcode, _ port: Int) {
        switch opcode {
        case .leCreateConnection, .leExtendedCreateConnection, .lePeriodicAdvertisingCreateSync:
            answer(opcode, status: .commandDisallowed, port)
        default:
            let answer = StatusOnly(.commandDisallowed)
            controllers[port].output.appendCommandComplete(opcode, answer)
        }
    }

    // MARK: Answers

    /// Command Status.
    mutating func answer(_ opcode: Opcode, status: HCIStatus, _ port: Int) {
        var event = CommandStatus()
        event.status = status
        event.numHCICommandPackets = 1
        event.commandOpcode = opcode
        controllers[port].send(event)
    }

    /// Decodes a command that Command Complete answers with what `body` returns. Parameters that
    /// are too short are invalid.
    mutating func complete<Command: HCICommand>(
        _ type: Command.Type, _ parameters: Span<UInt8>, _ port: Int,
        _ body: (inout Air, Command) -> Command.Return
    ) -> Bool {
        do throws(WireError) {
            let command = try Command(hci: parameters)
            let answer = body(&self, command)
            controllers[port].output.appendCommandComplete(Command.opcode, answer)
        } catch {
            let answer = StatusOnly(.invalidParameters)
            controllers[port].output.appendCommandComplete(Command.opcode, answer)
        }
        return true
    }

    /// The same for commands that return a status alone.
    mutating func set<Command: HCICommand>(
        _ type: Command.Type, _ parameters: Span<UInt8>, _ port: Int,
        _ body: (inout Air, Command) -> HCIStatus
    ) -> Bool where Command.Return == StatusOnly {
        complete(type, parameters, port) { StatusOnly(body(&$0, $1)) }
    }

    /// Decodes a command that Command Status answers and that goes on afterwards.
    mutating func begin<Command: HCICommand>(
        _ type: Command.Type, _ parameters: Span<UInt8>, _ port: Int,
        _ body: (inout Air, Command) -> HCIStatus
    ) -> Bool {
        var status = HCIStatus.invalidParameters
        if let command = try? Command(hci: parameters) { status = body(&self, command) }
        answer(Command.opcode, status: status, port)
        return true
    }

    // MARK: Link control, baseband, informational and status commands

    private mutating func serveBaseband(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .reset:
            return set(Reset.self, parameters, port) { air, _ in
                air.silence(port)
                return .success
            }
        case .setEventMask:
            return set(SetEventMask.self, parameters, port) { air, command in
                air.controllers[port].eventMask = command.eventMask
                return .success
            }
        case .setEventMaskPage2:
            // Nothing of page 2 is ever sent.
            return set(SetEventMaskPage2.self, parameters, port) { _, _ in .success }
        case .writeLEHostSupport:
            return set(WriteLEHostSupport.self, parameters, port) { _, command in
                command.leSupportedHost <= 1 ? .success : .invalidParameters
            }
        case .readTransmitPowerLevel:
            return complete(ReadTransmitPowerLevel.self, parameters, port) { air, command in
                var answer = TransmitPowerLevel()
                answer.connectionHandle = command.connectionHandle
                answer.transmitPowerLevel = Radio.transmitPower
                answer.status = air.handleStatus(port, command.connectionHandle)
                if command.type > 1 { answer.status = .invalidParameters }
                return answer
            }
        case .readRSSI:
            return complete(ReadRSSI.self, parameters, port) { air, command in
                var answer = RSSI()
                answer.connectionHandle = command.connectionHandle
                answer.status = air.handleStatus(port, command.connectionHandle)
                answer.rssi = air.signalStrength()
                return answer
            }
        default: return serveInformation(opcode, parameters, port)
        }
    }

    private mutating func serveInformation(
        _ opcode: Opcode, _ parameters: Span<UInt8>, _ port: Int
    ) -> Bool {
        switch opcode {
        case .readLocalVersionInformation:
            return complete(ReadLocalVersionInformation.self, parameters, port) { _, _ in
                var answer = LocalVersionInformation()
                answer.hciVersion = Capabilities.version
                answer.lmpVersion = Capabilities.version
                answer.companyIdentifier = Capabilities.companyIdentifier
                answer.hciSubversion = Capabilities.subversion
                answer.lmpSubversion = Capabilities.subversion
                return answer
            }
        case .readLocalSupportedCommands:
            return complete(ReadLocalSupportedCommands.self, parameters, port) { air, _ in
                var answer = LocalSupportedCommands()
                answer.supportedCommands = Capabilities.supportedCommands(
                    air.controllers[port].features, hasPrivacy: air.hasPrivacy)
                return answer
            }
        case .readLocalSupportedFeatures:
            return complete(ReadLocalSupportedFeatures.self, parameters, port) { _, _ in
                var answer = LocalSupportedFeatures()
                answer.lmpFeatures = Capabilities.lmpFeatures
                return answer
            }
        case .readBufferSize:
            return complete(ReadBufferSize.self, parameters, port) { _, _ in
                var answer = BufferSize()
                answer.aclDataPacketLength = UInt16(Capabilities.aclOctetsMax)
                answer.totalACLDataPackets = UInt16(Capabilities.aclPacketsMax)
                return answer
            }
        case .readBDADDR:
            return complete(ReadBDADDR.self, parameters, port) { air, _ in
                var answer = BDADDR()
                answer.bdAddr = air.controllers[port].publicAddress
                return answer
            }
        default: return false
        }
    }

    /// Whether the host on `port` has a link of this handle.
    func handleStatus(_ port: Int, _ handle: ConnectionHandle) -> HCIStatus {
        find(port, handle) == nil ? .unknownConnectionIdentifier : .success
    }
}
