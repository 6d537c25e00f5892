// A controller from Reset on: initialisation, command and ACL credits, links. Shared by both roles.
import HCI
import L2CAP
import SMP
import SansIO
import Wire

/// The host's end of one HCI, without a role: it brings the controller up, keeps commands and ACL
/// data within the controller's credits and turns its events into few words.
///
/// Octets from the controller never end it: malformed events are noted and ignored.
public struct ControllerSession: Sendable {
    enum State: Equatable, Sendable {
        case off
        case initialising(InitialisationStep)
        case ready
        case failed
    }

    private(set) var state: State = .off
    private(set) var information = ControllerInformation()
    private(set) var table = LinkTable()
    private var commands = CommandQueue()
    /// Set when the controller is brought up.
    var randomAddress: DeviceAddress?
    /// Whether the controller's resolving list is of use.
    private let usesResolvingList: Bool
    /// Whether advertising sets are of use.
    var usesSets = false
    /// Commands that were done without and said; each is said once a power-on.
    private var noted: [Opcode] = []
    /// Of a scanning host.
    private var parts = AdvertisementParts()
    /// Events that were ignored because they were malformed or named nothing that exists.
    private(set) var ignoredEvents = 0
    /// What was ignored and said; each is said once a power-on.
    private var ignoredKinds: [EventCode] = []
    /// The number of ignored events at which it is said next.
    private var ignoredNext = 10

    /// - Parameter randomAddress: set as the controller's random address; nil leaves it alone.
    init(randomAddress: DeviceAddress?, usesResolvingList: Bool = false) {
        self.randomAddress = randomAddress
        self.usesResolvingList = usesResolvingList
    }

    var isReady: Bool { state == .ready }

    /// Begins anew with Reset, whatever was before.
    mutating func start(at now: Instant, sending out: inout ByteBlock) {
        commands.reset()
        table.reset()
        information = ControllerInformation()
        information.isAskedToResolve = usesResolvingList
        information.isAskedForSets = usesSets
        noted.removeAll()
        parts = AdvertisementParts()
        ignoredEvents = 0
        ignoredKinds.removeAll()
        ignoredNext = 10
        state = .initialising(.reset)
        enqueue(.reset)
        commands.pump(at: now, sending: &out)
    }

    /// Forgets the controller, until the next `start`.
    mutating func stop() {
        commands.reset()
        table.reset()
        state = .off
    }

    /// All links are over.
    mutating func forgetLinks() { table.reset() }

    /// Queues a command of the role's own; its answer comes as `.answered` or a failure.
    mutating func send<Command: HCICommand>(
        _ command: Command, _ need: CommandNeed, at now: Instant, sending out: inout ByteBlock
    ) {
        commands.enqueue(command, need)
        commands.pump(at: now, sending: &out)
    }

    /// Takes back commands that enable something, and were queued and not sent; how many they were.
    mutating func cancelEnable(_ opcode: Opcode) -> Int { commands.cancelEnable(opcode) }

    // MARK: time

    var deadline: Instant? { commands.deadline }

    mutating func expire(
        at now: Instant, sending out: inout ByteBlock, emit: inout Outputs<SessionEvent>
    ) {
        while state != .failed, let late = commands.timedOut(at: now) {
            guard late.need.mayBeUnanswered else {
                fail(.commandTimeout(late.opcode), &emit)
                return
            }
            doWithout(late.opcode, .unanswered(late.opcode), &emit)
            resume(after: late.opcode, .unspecifiedError, at: now, &out, &emit)
        }
        guard state != .failed else { return }
        if commands.endStarvation(at: now) { emit.append(.note(.noCredits)) }
        commands.pump(at: now, sending: &out)
    }

    /// The role cannot use the controller.
    mutating func fail(_ failure: ControllerFailure, _ emit: inout Outputs<SessionEvent>) {
        state = .failed
        commands.reset()
        emit.append(.failed(failure))
    }

    private mutating func doWithout(
        _ opcode: Opcode, _ note: ControllerNote, _ emit: inout Outputs<SessionEvent>
    ) {
        guard !noted.contains(opcode) else { return }
        noted.append(opcode)
        emit.append(.note(note))
    }

    /// Counts an event that is ignored. Each kind is said once, and the number whenever it has
    /// grown tenfold: a controller that sends nothing else must not fill the log.
    private mutating func ignore(
        _ code: EventCode, _ note: ControllerNote?, _ emit: inout Outputs<SessionEvent>
    ) {
        ignoredEvents += 1
        if let note, !ignoredKinds.contains(code) {
            ignoredKinds.append(code)
            emit.append(.note(note))
        }
        if ignoredEvents == ignoredNext {
            emit.append(.note(.ignoredEvents(ignoredEvents)))
            ignoredNext = ignoredNext.multipliedReportingOverflow(by: 10).partialValue
        }
    }

    // MARK: initialisation

    private mutating func enqueue(_ step: InitialisationStep) {
        step.enqueue(into: &commands, information, randomAddress: randomAddress)
    }

    /// Goes on after a step's command was answered, refused or never answered.
    private mutating func advance(
        from step: InitialisationStep, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<SessionEvent>
    ) {
        var next = step.next
        while let candidate = next {
            if candidate.isWanted(information, hasRandomAddress: randomAddress != nil) {
                if candidate.isListed(information) {
                    state = .initialising(candidate)
                    enqueue(candidate)
                    commands.pump(at: now, sending: &out)
                    return
                }
                emit.append(.note(.notListed(candidate.opcode)))
            }
            next = candidate.next
        }
        table.configure(
            packetOctets: information.aclOctets, packets: information.aclPackets)
        state = .ready
        emit.append(.ready)
    }

    /// A command is through: during initialisation the next step follows, later the role is told.
    private mutating func resume(
        after opcode: Opcode, _ status: HCIStatus, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<SessionEvent>
    ) {
        switch state {
        case .initialising(let step) where step.opcode == opcode:
            advance(from: step, at: now, &out, &emit)
        case .initialising, .ready: emit.append(.answered(opcode, status))
        case .off, .failed: break
        }
    }

    // MARK: events

    /// Takes one whole H4 event packet.
    mutating func receive(
        event packet: Span<UInt8>, at now: Instant, sending out: inout ByteBlock,
        emit: inout Outputs<SessionEvent>
    ) {
        guard packet.count >= 3, state != .off, state != .failed else { return }
        let code = EventCode(rawValue: packet[1])
        // What comes before Reset is answered is of the time before it: links that it has ended
        // without a word, on a controller that was at work for another host.
        guard state != .initialising(.reset) || code == .commandComplete || code == .commandStatus
        else { return }
        let parameters = packet.extracting(3..<packet.count)
        do {
            switch code {
            case .numberOfCompletedPackets: try completedPackets(parameters, &emit)
            case .commandComplete: try commandComplete(parameters, at: now, &out, &emit)
            case .commandStatus:
                let event = try CommandStatus(hci: parameters)
                answered(
                    event.commandOpcode, event.status, credits: event.numHCICommandPackets,
                    parameters: nil, at: now, &out, &emit)
            case .disconnectionComplete: try disconnected(parameters, &emit)
            case .hardwareError:
                fail(.hardwareError(try HardwareError(hci: parameters).hardwareCode), &emit)
            case .encryptionChange:
                let event = try EncryptionChange(hci: parameters)
                encryptionChanged(
                    event.connectionHandle, event.status, event.encryptionEnabled != 0, &emit)
            case .encryptionChangeV2:
                let event = try EncryptionChangeV2(hci: parameters)
                encryptionChanged(
                    event.connectionHandle, event.status, event.encryptionEnabled != 0, &emit)
            case .encryptionKeyRefreshComplete:
                let event = try EncryptionKeyRefreshComplete(hci: parameters)
                encryptionChanged(event.connectionHandle, event.status, true, &emit)
            case .leMeta: try leMeta(parameters, at: now, &out, &emit)
            default: break
            }
        } catch {
            ignore(code, .malformedEvent(code, "\(error)"), &emit)
        }
        guard state != .failed else { return }
        commands.pump(at: now, sending: &out)
        table.pump(sending: &out)
    }

    /// The one event of every packet's path: read in place, nothing allocated.
    private mutating func completedPackets(
        _ parameters: Span<UInt8>, _ emit: inout Outputs<SessionEvent>
    ) throws(WireError) {
        guard let count = parameters.count > 0 ? Int(parameters[0]) : nil,
            parameters.count >= 1 + 4 * count
        else {
            throw .truncated(field: "handles", needed: 1, available: parameters.count)
        }
        for entry in 0..<count {
            let handle = parameters.uint16(at: 1 + 4 * entry)
            let packets = Int(parameters.uint16(at: 3 + 4 * entry))
            if let index = table.index(of: ConnectionHandle(rawValue: handle)) {
                table.completed(packets, on: index)
            }
            // A count for a link that has just gone is normal: its packets are free already.
        }
    }

    private mutating func commandComplete(
        _ parameters: Span<UInt8>, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<SessionEvent>
    ) throws(WireError) {
        let event = try CommandComplete(hci: parameters)
        // Every command this host sends returns a status first.
        let status = event.returnParameters.first.map { HCIStatus(rawValue: $0) } ?? .success
        answered(
            event.commandOpcode, status, credits: event.numHCICommandPackets,
            parameters: event.returnParameters, at: now, &out, &emit)
    }

    private mutating func answered(
        _ opcode: Opcode, _ status: HCIStatus, credits: UInt8, parameters: [UInt8]?,
        at now: Instant, _ out: inout ByteBlock, _ emit: inout Outputs<SessionEvent>
    ) {
        guard let entry = commands.answer(opcode, credits: credits) else {
            guard opcode != .none else { return }
            ignore(.commandComplete, nil, &emit)
            if opcode == .reset, state == .ready { fail(.unexpectedReset, &emit) }
            return
        }
        if !status.isSuccess {
            let isExpected = entry.need.isAttempt && status.isAboutParameters
            guard entry.need.mayBeRefused || isExpected else {
                fail(.commandRefused(opcode, status), &emit)
                return
            }
            if !isExpected, !entry.need.isToldBySender {
                doWithout(opcode, .refused(opcode, status), &emit)
            }
            if opcode == .disconnect, status == .unknownConnectionIdentifier {
                endUnknownLink(of: entry.packet.span, &emit)
            }
        } else if case .initialising(let step) = state, step.opcode == opcode, let parameters {
            do {
                try step.read(parameters.span, into: &information)
            } catch {
                ignore(.commandComplete, .malformedEvent(.commandComplete, "\(error)"), &emit)
            }
        }
        resume(after: opcode, status, at: now, &out, &emit)
    }

    private mutating func disconnected(
        _ parameters: Span<UInt8>, _ emit: inout Outputs<SessionEvent>
    ) throws(WireError) {
        let event = try DisconnectionComplete(hci: parameters)
        guard event.status.isSuccess else { return }
        guard let index = table.index(of: event.connectionHandle) else {
            let note = ControllerNote.unknownConnection(event.connectionHandle.rawValue)
            ignore(.disconnectionComplete, note, &emit)
            return
        }
        close(index, event.reason, &emit)
    }

    private mutating func close(
        _ index: Int, _ reason: HCIStatus, _ emit: inout Outputs<SessionEvent>
    ) {
        table.close(index)
        let peer = table.links[index].information.peerAddress
        emit.append(.disconnected(link: index, peer: peer, reason))
    }

    /// The controller does not know the connection that it was asked to end: its end was not told.
    private mutating func endUnknownLink(
        of command: Span<UInt8>, _ emit: inout Outputs<SessionEvent>
    ) {
        let handle = ConnectionHandle(rawValue: command.uint16(at: 4))
        guard let index = table.index(of: handle), table.links[index].isClosing else { return }
        close(index, .unknownConnectionIdentifier, &emit)
    }

    private mutating func leMeta(
        _ parameters: Span<UInt8>, at now: Instant, _ out: inout ByteBlock,
        _ emit: inout Outputs<SessionEvent>
    ) throws(WireError) {
        guard parameters.count > 0 else {
            throw .truncated(field: "subevent_code", needed: 1, available: 0)
        }
        let body = parameters.extracting(1..<parameters.count)
        switch LESubevent(rawValue: parameters[0]) {
        case .connectionComplete:
            let event = try LEConnectionComplete(hci: body)
            connected(
                event.status,
                ConnectionInformation(
                    handle: event.connectionHandle, isPeripheral: event.role == 1,
                    peerAddress: event.peerAddress, peerAddressType: event.peerAddressType,
                    interval: ConnectionInterval(steps: event.connectionInterval),
                    latency: event.peripheralLatency,
                    supervisionTimeout: event.supervisionTimeout), at: now, &out, &emit)
        case .enhancedConnectionComplete:
            let event = try LEEnhancedConnectionComplete(hci: body)
            var information = ConnectionInformation(
                handle: event.connectionHandle, isPeripheral: event.role == 1,
                peerAddress: event.peerAddress, peerAddressType: event.peerAddressType,
                interval: ConnectionInterval(steps: event.connectionInterval),
                latency: event.peripheralLatency,
                supervisionTimeout: event.supervisionTimeout)
            if information.isPeerIdentity, event.peerResolvablePrivateAddress != DeviceAddress() {
                information.peerPrivateAddress = event.peerResolvablePrivateAddress
            }
            connected(event.status, information, at: now, &out, &emit)
        case .connectionUpdateComplete:
            updated(try LEConnectionUpdateComplete(hci: body), &emit)
        case .phyUpdateComplete: updated(try LEPHYUpdateComplete(hci: body), &emit)
        case .remoteConnectionParameterRequest:
            // What a central asks for is its to decide; unanswered it would end the link.
            let event = try LERemoteConnectionParameterRequest(hci: body)
            var reply = LERemoteConnectionParameterRequestReply()
            reply.connectionHandle = event.connectionHandle
            reply.intervalMin = event.intervalMin
            reply.intervalMax = event.intervalMax
            reply.maxLatency = event.maxLatency
            reply.timeout = event.timeout
            answer(reply, at: now, &out)
        case .longTermKeyRequest:
            let event = try LELongTermKeyRequest(hci: body)
            guard let index = table.index(of: event.connectionHandle) else {
                return answerKey(nil, of: event.connectionHandle, at: now, &out)
            }
            emit.append(
                .keyRequested(
                    link: index, ediv: event.encryptedDiversifier, rand: event.randomNumber))
        case .advertisingSetTerminated:
            let event = try LEAdvertisingSetTerminated(hci: body)
            let link = event.status.isSuccess ? table.index(of: event.connectionHandle) : nil
            emit.append(.setTerminated(handle: event.advertisingHandle, link: link))
        case .scanRequestReceived:
            let event = try LEScanRequestReceived(hci: body)
            let isRandom = event.scannerAddressType.rawValue & 1 == 1
            emit.append(
                .scanRequested(
                    handle: event.advertisingHandle,
                    LinkAddress(event.scannerAddress, isRandom: isRandom)))
        case .advertisingReport: try heard(LEAdvertisingReport(hci: body), &emit)
        case .extendedAdvertisingReport: try heard(LEExtendedAdvertisingReport(hci: body), &emit)
        default: break
        }
    }

    private mutating func heard(_ event: LEAdvertisingReport, _ emit: inout Outputs<SessionEvent>) {
        for report in event.reports { emit.append(.report(HeardAdvertisement(report))) }
    }

    private mutating func heard(
        _ event: LEExtendedAdvertisingReport, _ emit: inout Outputs<SessionEvent>
    ) {
        for report in event.reports {
            if let whole = parts.take(report) { emit.append(.report(whole)) }
        }
    }

    private mutating func updated(
        _ event: LEConnectionUpdateComplete, _ emit: inout Outputs<SessionEvent>
    ) {
        guard event.status.isSuccess, let index = table.index(of: event.connectionHandle)
        else { return }
        table.links[index].information.interval = ConnectionInterval(
            steps: event.connectionInterval)
        table.links[index].information.latency = event.peripheralLatency
        table.links[index].information.supervisionTimeout = event.supervisionTimeout
        emit.append(.connectionUpdated(link: index))
    }

    /// Also told where nothing has changed, since a host had asked: that is no news.
    private mutating func updated(
        _ event: LEPHYUpdateComplete, _ emit: inout Outputs<SessionEvent>
    ) {
        guard event.status.isSuccess, let index = table.index(of: event.connectionHandle)
        else { return }
        let old = table.links[index].information
        table.links[index].information.txPHY = event.txPHY
        table.links[index].information.rxPHY = event.rxPHY
        guard table.links[index].information != old else { return }
        emit.append(.phyUpdated(link: index))
    }

    private mutating func encryptionChanged(
        _ handle: ConnectionHandle, _ status: HCIStatus, _ isEnabled: Bool,
        _ emit: inout Outputs<SessionEvent>
    ) {
        guard let index = table.index(of: handle) else { return }
        emit.append(
            .encryptionChanged(link: index, isSuccess: status.isSuccess, isEnabled: isEnabled))
    }

    /// Answers `.keyRequested`; nil: there is no key.
    mutating func answerKey(
        _ key: [UInt8]?, on link: Int, at now: Instant, sending out: inout ByteBlock
    ) {
        guard table.links.indices.contains(link), table.links[link].isOpen else { return }
        answerKey(key, of: table.links[link].handle, at: now, &out)
    }

    private mutating func answerKey(
        _ key: [UInt8]?, of handle: ConnectionHandle, at now: Instant, _ out: inout ByteBlock
    ) {
        guard let key else {
            var reply = LELongTermKeyRequestNegativeReply()
            reply.connectionHandle = handle
            return answer(reply, at: now, &out)
        }
        var reply = LELongTermKeyRequestReply()
        reply.connectionHandle = handle
        reply.longTermKey = key
        answer(reply, at: now, &out)
    }

    /// Queues the reply to an event.
    private mutating func answer<Command: HCICommand>(
        _ reply: Command, at now: Instant, _ out: inout ByteBlock
    ) {
        guard commands.hasRoomForReply else { return }
        send(reply, .optional, at: now, sending: &out)
    }

    private mutating func connected(
        _ status: HCIStatus, _ information: ConnectionInformation, at now: Instant,
        _ out: inout ByteBlock, _ emit: inout Outputs<SessionEvent>
    ) {
        guard status.isSuccess else {
            emit.append(.connectionFailed(status))
            return
        }
        // A controller that announces a handle twice has lost the first link.
        if let old = table.index(of: information.handle) { close(old, .unspecifiedError, &emit) }
        // What the controller was asked before it told of this may no longer be possible.
        if state == .ready { commands.allowRefusals() }
        guard let index = table.open(information) else {
            guard commands.hasRoomForReply else { return }
            emit.append(.note(.tooManyLinks(information.handle)))
            disconnect(information.handle, .remoteLowResources, at: now, sending: &out)
            return
        }
        emit.append(.connected(link: index, information))
    }

    // MARK: data

    /// Takes one whole H4 ACL packet.
    /// - Returns: the link and what its recombiner made of the fragment, which begins behind the
    ///   header; nil for data of no link.
    mutating func receive(acl packet: Span<UInt8>) -> (link: Int, result: RecombinerResult)? {
        guard let header = ACLHeader(packet: packet), let index = table.index(of: header.handle)
        else {
            ignoredEvents += 1
            return nil
        }
        let fragment = packet.extracting(ACLHeader.octets..<packet.count)
        return (
            index, table.links[index].recombiner.handle(fragment, isStart: header.isStart)
        )
    }

    /// Moves the recombined payload of a link out, so that it can be read while the link changes.
    mutating func takePayload(of link: Int) -> ByteBlock {
        var payload = ByteBlock(capacity: 0)
        swap(&payload, &table.links[link].recombiner.payload)
        return payload
    }

    /// Gives the payload's memory back.
    mutating func returnPayload(_ payload: ByteBlock, of link: Int) {
        table.links[link].recombiner.payload = payload
    }

    /// Sends one L2CAP PDU. A link whose queue is full is disconnected: its peer takes no data and
    /// keeps asking for more.
    mutating func send(
        _ payload: Span<UInt8>, cid: UInt16, on link: Int, at now: Instant,
        sending out: inout ByteBlock, emit: inout Outputs<SessionEvent>
    ) {
        guard !table.send(payload, cid: cid, on: link, sending: &out) else { return }
        guard !table.links[link].isClosing else { return }
        emit.append(.note(.linkOverflow(table.links[link].handle)))
        disconnect(link, .remoteLowResources, at: now, sending: &out)
    }

    /// Asks the controller to end a link; `.disconnected` follows.
    mutating func disconnect(
        _ link: Int, _ reason: HCIStatus, at now: Instant, sending out: inout ByteBlock
    ) {
        guard table.links.indices.contains(link), table.links[link].isOpen,
            !table.links[link].isClosing
        else { return }
        table.links[link].isClosing = true
        disconnect(table.links[link].handle, reason, at: now, sending: &out)
    }

    private mutating func disconnect(
        _ handle: ConnectionHandle, _ reason: HCIStatus, at now: Instant,
        sending out: inout ByteBlock
    ) {
        var command = Disconnect()
        command.connectionHandle = handle
        command.reason = reason
        send(command, .refusable, at: now, sending: &out)
    }
}
