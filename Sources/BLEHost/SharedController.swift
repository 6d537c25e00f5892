// One controller with advertising sets, shared by several hosts that know nothing of one another.
import HCI
public import Wire

/// Stands between one controller and several hosts, whole H4 packets in and out.
///
/// Each host has some of the controller's advertising sets and the links that come by them: which
/// set a link has come by, Advertising Set Terminated says, and until then what arrives on it
/// waits. What hosts ask alike to begin with, the controller is asked once. Commands go to the
/// controller one at a time; its ACL buffers are divided.
public struct SharedController: Sendable {
    /// How many advertising sets each host can do with, at least and at most.
    private let needs: [ClosedRange<Int>]
    /// Which advertising handles each host has: those of its sets, counted from 0 by the host.
    private var handles: [Range<Int>]
    /// Commands that wait, and the one that is unanswered, with whose it is.
    private var waiting: [Request] = []
    private var unanswered: (opcode: Opcode, host: Int?)?
    private var mayCommand = true
    /// The answers to what hosts ask alike.
    private var answers: [Opcode: [UInt8]] = [:]
    private var owners: [UInt16: Int] = [:]
    /// Packets on links that nobody owns yet, in their order.
    private var held: [(handle: UInt16, packet: [UInt8])] = []
    /// What was said of links that have not been announced yet.
    private var early: [(handle: UInt16, host: Int, packet: [UInt8])] = []
    /// ACL packets that wait for a buffer of the controller's.
    private var data: [[UInt8]] = []
    private var freeBuffers = 1
    /// Packets in the controller by link.
    private var inController: [UInt16: Int] = [:]
    private var setsOfController: Int?
    private var output: [ByteBlock]

    private struct Request: Sendable {
        /// nil: its own.
        var host: Int?
        var opcode: Opcode
        var packet: [UInt8]
    }

    /// Packets that wait for their link's owner; more are the peer's fault.
    static let heldMax = 64

    /// - Parameter sets: how many advertising sets each host can do with, at least and at most.
    public init(sets: [ClosedRange<Int>]) {
        needs = sets
        handles = Self.divided(.max, sets)
        output = sets.map { _ in ByteBlock(capacity: 512) }
    }

    public var hostCount: Int { needs.count }

    private var setsNeeded: Int { needs.reduce(0) { $0 + $1.lowerBound } }

    /// Each host's part of so many sets: what it cannot do without, then in their order what is
    /// left.
    private static func divided(_ count: Int, _ needs: [ClosedRange<Int>]) -> [Range<Int>] {
        var spare = count - needs.reduce(0) { $0 + $1.lowerBound }
        var start = 0
        return needs.map { need in
            let more = min(max(spare, 0), need.upperBound - need.lowerBound)
            spare -= more
            defer { start += need.lowerBound + more }
            return start..<start + need.lowerBound + more
        }
    }

    /// Why the controller cannot be shared; nil while nothing speaks against it.
    public private(set) var refusal: String?

    /// Begins anew, for a controller that is brought up.
    public mutating func start() {
        self = SharedController(sets: needs)
    }

    /// Moves the packets for a host to the end of `block`.
    public mutating func drain(_ host: Int, into block: inout ByteBlock) {
        block.append(output[host].bytes)
        output[host].removeAll()
    }

    public func hasOutput(_ host: Int) -> Bool { !output[host].isEmpty }

    // MARK: from the hosts

    /// Takes one whole H4 packet from a host.
    public mutating func send(
        _ packet: Span<UInt8>, from host: Int, sending out: inout ByteBlock
    ) {
        guard packet.count >= 4 else { return }
        switch H4PacketType(rawValue: packet[0]) {
        case .command:
            let opcode = Opcode(rawValue: packet.uint16(at: 1))
            waiting.append(
                Request(host: host, opcode: opcode, packet: packet.copied(0..<packet.count)))
            pump(&out)
        case .acl:
            data.append(packet.copied(0..<packet.count))
            pumpData(&out)
        case .event, .synchronous, .isochronous, nil: break
        }
    }

    /// Where a command names advertising handles.
    private static func handlePlaces(_ packet: [UInt8], _ opcode: Opcode) -> [Int] {
        switch opcode {
        case .leSetAdvertisingSetRandomAddress, .leSetExtendedAdvertisingParameters,
            .leSetExtendedAdvertisingData, .leSetExtendedScanResponseData,
            .leRemoveAdvertisingSet, .leSetPeriodicAdvertisingParameters,
            .leSetPeriodicAdvertisingData:
            packet.count > 4 ? [4] : []
        case .leSetPeriodicAdvertisingEnable: packet.count > 5 ? [5] : []
        case .leSetExtendedAdvertisingEnable: Array(stride(from: 6, to: packet.count, by: 4))
        default: []
        }
    }

    /// Sends the next command, and answers those that need not be sent.
    private mutating func pump(_ out: inout ByteBlock) {
        while unanswered == nil, !waiting.isEmpty {
            let request = waiting[0]
            if let host = request.host, let answer = ownAnswer(to: request, from: host) {
                waiting.removeFirst()
                complete(request.opcode, answer, to: host)
                continue
            }
            guard mayCommand else { return }
            waiting.removeFirst()
            unanswered = (request.opcode, request.host)
            mayCommand = false
            var packet = request.packet
            if request.opcode == .leSetEventMask { Self.addSetEvents(to: &packet) }
            let offset = request.host.map { handles[$0].lowerBound } ?? 0
            for place in Self.handlePlaces(packet, request.opcode) {
                packet[place] = UInt8(truncatingIfNeeded: Int(packet[place]) + offset)
            }
            out.append(packet)
        }
    }

    /// Advertising Set Terminated and Scan Request Received are bits 17 and 18 of LE Set Event
    /// Mask (7.8.1).
    private static func addSetEvents(to packet: inout [UInt8]) {
        if packet.count == 12 { packet[6] |= 1 << 1 | 1 << 2 }
    }

    /// The return parameters of a command that the controller does not see.
    private func ownAnswer(to request: Request, from host: Int) -> [UInt8]? {
        let places = Self.handlePlaces(request.packet, request.opcode)
        // The next handle is another host's set.
        guard places.allSatisfy({ request.packet[$0] < handles[host].count }) else {
            return [HCIStatus.memoryCapacityExceeded.rawValue, 0]
        }
        switch request.opcode {
        case .leReadNumberOfSupportedAdvertisingSets where setsOfController != nil:
            return [0, UInt8(truncatingIfNeeded: handles[host].count)]
        // One family a power-on, and it is the other one.
        case .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData,
            .leSetAdvertisingEnable:
            return [HCIStatus.commandDisallowed.rawValue]
        // Sets have addresses of their own; the controller's is the first host's.
        case .leSetRandomAddress where host > 0: return [0]
        default: return answers[request.opcode]
        }
    }

    private mutating func complete(_ opcode: Opcode, _ parameters: [UInt8], to host: Int) {
        output[host].append([
            H4PacketType.event.rawValue, EventCode.commandComplete.rawValue,
            UInt8(truncatingIfNeeded: 3 + parameters.count), 1,
            UInt8(truncatingIfNeeded: opcode.rawValue),
            UInt8(truncatingIfNeeded: opcode.rawValue >> 8),
        ])
        output[host].append(parameters)
    }

    /// Sends ACL packets while the controller has buffers.
    private mutating func pumpData(_ out: inout ByteBlock) {
        while freeBuffers > 0, !data.isEmpty {
            let packet = data.removeFirst()
            let handle = packet.span.uint16(at: 1) & 0x0FFF
            // Its link has ended meanwhile, and its host knows.
            guard owners[handle] != nil else { continue }
            inController[handle, default: 0] += 1
            freeBuffers -= 1
            out.append(packet)
        }
    }

    // MARK: from the controller

    /// Takes one whole H4 packet from the controller.
    public mutating func receive(_ packet: Span<UInt8>, sending out: inout ByteBlock) {
        guard packet.count >= 3 else { return }
        switch H4PacketType(rawValue: packet[0]) {
        case .acl where packet.count >= 5:
            deliver(packet, on: packet.uint16(at: 1) & 0x0FFF)
        case .event: receive(event: packet, &out)
        case .acl, .command, .synchronous, .isochronous, nil: break
        }
        pump(&out)
        pumpData(&out)
    }

    private mutating func receive(event packet: Span<UInt8>, _ out: inout ByteBlock) {
        let body = packet.extracting(3..<packet.count)
        switch EventCode(rawValue: packet[1]) {
        case .commandComplete where body.count >= 3:
            answered(Opcode(rawValue: body.uint16(at: 1)), credits: body[0], packet)
        case .commandStatus where body.count >= 4:
            answered(Opcode(rawValue: body.uint16(at: 2)), credits: body[1], packet)
        case .numberOfCompletedPackets: completed(body)
        case .disconnectionComplete where body.count >= 3:
            let handle = body.uint16(at: 1) & 0x0FFF
            deliver(packet, on: handle)
            if body[0] == 0 { forget(handle) }
        case .encryptionChange, .encryptionChangeV2, .encryptionKeyRefreshComplete:
            if body.count >= 3 { deliver(packet, on: body.uint16(at: 1) & 0x0FFF) }
        case .leMeta where body.count >= 1: receive(leMeta: body, packet)
        default: for host in output.indices { output[host].append(packet) }
        }
    }

    private mutating func receive(leMeta body: Span<UInt8>, _ packet: Span<UInt8>) {
        /// The link that an event names at `place`.
        func handle(at place: Int) -> UInt16? {
            body.count >= place + 2 ? body.uint16(at: place) & 0x0FFF : nil
        }
        switch LESubevent(rawValue: body[0]) {
        case .connectionComplete, .enhancedConnectionComplete:
            // A failed one is told by Advertising Set Terminated too.
            guard body.count >= 4, body[1] == 0, let handle = handle(at: 2) else { return }
            forget(handle)
            hold(packet, on: handle)
            guard let place = early.firstIndex(where: { $0.handle == handle }) else { return }
            let (_, host, terminated) = early.remove(at: place)
            give(handle, to: host, terminated)
        case .advertisingSetTerminated where body.count >= 6:
            terminated(body, packet)
        case .scanRequestReceived where body.count >= 2:
            if let (host, moved) = owner(ofSet: body[1]) {
                var octets = packet.copied(0..<packet.count)
                octets[4] = moved
                output[host].append(octets)
            }
        case .connectionUpdateComplete, .readRemoteFeaturesComplete, .phyUpdateComplete:
            if let handle = handle(at: 2) { deliver(packet, on: handle) }
        default: if let handle = handle(at: 1) { deliver(packet, on: handle) }
        }
    }

    /// Says whose a link is. Nobody's is ended: its central would wait for an answer.
    private mutating func terminated(_ body: Span<UInt8>, _ packet: Span<UInt8>) {
        guard let (host, moved) = owner(ofSet: body[2]) else {
            let handle = body.uint16(at: 3) & 0x0FFF
            if body[1] == 0, held.contains(where: { $0.handle == handle }) { disconnect(handle) }
            return
        }
        var octets = packet.copied(0..<packet.count)
        octets[5] = moved
        guard body[1] == 0 else { return output[host].append(octets) }
        let handle = body.uint16(at: 3) & 0x0FFF
        if held.contains(where: { $0.handle == handle }) {
            give(handle, to: host, octets)
        } else if early.count < Self.heldMax {
            early.append((handle, host, octets))
        }
    }

    private mutating func disconnect(_ handle: UInt16) {
        var command = Disconnect()
        command.connectionHandle = ConnectionHandle(rawValue: handle)
        command.reason = .remoteUserTerminated
        ask(command)
    }

    /// Asks the controller something of its own, before all that waits.
    private mutating func ask<Command: HCICommand>(_ command: Command) {
        var block = ByteBlock(capacity: 8)
        block.append(command: command)
        waiting.insert(
            Request(host: nil, opcode: Command.opcode, packet: block.bytes), at: 0)
    }

    /// Gives a link to its owner, with what has waited; what it came by is said right behind its
    /// announcement.
    private mutating func give(_ handle: UInt16, to host: Int, _ terminated: [UInt8]) {
        owners[handle] = host
        var isAnnounced = false
        for (other, packet) in held where other == handle {
            output[host].append(packet)
            if !isAnnounced { output[host].append(terminated) }
            isAnnounced = true
        }
        held.removeAll { $0.handle == handle }
    }

    private mutating func hold(_ packet: Span<UInt8>, on handle: UInt16) {
        if held.count < Self.heldMax { held.append((handle, packet.copied(0..<packet.count))) }
    }

    /// Gives a packet to the owner of its link; before there is one it waits.
    private mutating func deliver(_ packet: Span<UInt8>, on handle: UInt16) {
        if let host = owners[handle] {
            output[host].append(packet)
        } else if held.contains(where: { $0.handle == handle }) {
            hold(packet, on: handle)
        }
    }

    /// A link is over; packets that the controller still had count as completed (4.1.1).
    private mutating func forget(_ handle: UInt16) {
        freeBuffers += inController.removeValue(forKey: handle) ?? 0
        owners[handle] = nil
        held.removeAll { $0.handle == handle }
    }

    private mutating func completed(_ body: Span<UInt8>) {
        guard body.count >= 1 else { return }
        for entry in 0..<Int(body[0]) where body.count >= 5 + 4 * entry {
            let handle = body.uint16(at: 1 + 4 * entry) & 0x0FFF
            let count = body.uint16(at: 3 + 4 * entry)
            guard let host = owners[handle], let all = inController[handle] else { continue }
            let returned = min(Int(count), all)
            inController[handle] = all - returned
            freeBuffers += returned
            output[host].append([
                H4PacketType.event.rawValue, EventCode.numberOfCompletedPackets.rawValue, 5, 1,
            ])
            output[host].append(body.extracting(1 + 4 * entry..<5 + 4 * entry))
        }
    }

    private func owner(ofSet set: UInt8) -> (host: Int, set: UInt8)? {
        guard let host = handles.firstIndex(where: { $0.contains(Int(set)) }) else { return nil }
        return (host, UInt8(truncatingIfNeeded: Int(set) - handles[host].lowerBound))
    }

    // MARK: answers

    /// What is asked once: its answer serves all.
    private static let askedOnce: [Opcode] = [
        .reset, .readLocalVersionInformation, .readLocalSupportedCommands,
        .readLocalSupportedFeatures, .readBDADDR, .setEventMask, .leSetEventMask,
        .leReadLocalSupportedFeatures, .leReadBufferSizeV2, .leReadBufferSize, .readBufferSize,
        .leWriteSuggestedDefaultDataLength, .leSetDefaultPHY,
        .leReadMaximumAdvertisingDataLength,
    ]

    /// Where return parameters stand in the packet of a Command Complete.
    private static let parameters = 6

    private mutating func answered(_ opcode: Opcode, credits: UInt8, _ packet: Span<UInt8>) {
        mayCommand = credits > 0
        guard let (awaited, host) = unanswered, awaited == opcode else { return }
        unanswered = nil
        var octets = packet.copied(0..<packet.count)
        guard let host else {
            if opcode == .leReadNumberOfSupportedAdvertisingSets { tookCount(octets) }
            return
        }
        let isComplete = packet[1] == EventCode.commandComplete.rawValue
        octets[isComplete ? 3 : 4] = 1
        if isComplete {
            divide(&octets, opcode)
            if Self.askedOnce.contains(opcode), octets.count > Self.parameters {
                answers[opcode] = Array(octets[Self.parameters...])
            }
        }
        output[host].append(octets)
        if opcode == .reset { ask(LEReadNumberOfSupportedAdvertisingSets()) }
    }

    /// How many sets the controller has.
    private mutating func tookCount(_ octets: [UInt8]) {
        let answer = octets.dropFirst(Self.parameters)
        guard octets[1] == EventCode.commandComplete.rawValue, answer.first == 0,
            let count = answer.dropFirst().first
        else {
            refusal =
                "the controller has no extended advertising, and \(hostCount) accessories need an "
                + "advertising set each: use another controller, or one accessory"
            return
        }
        setsOfController = Int(count)
        handles = Self.divided(Int(count), needs)
        guard Int(count) < setsNeeded else { return }
        refusal =
            "the controller has \(count) advertising sets, and \(hostCount) accessories need "
            + "\(setsNeeded): use another controller, or fewer accessories"
    }

    /// What each host is told of what all share: its part of the buffers, and no resolving list,
    /// which they would take from one another.
    private mutating func divide(_ octets: inout [UInt8], _ opcode: Opcode) {
        let first = Self.parameters
        switch opcode {
        case .leReadLocalSupportedFeatures where octets.count > first + 1:
            octets[first + 1] &= ~(1 << 6)
        case .leReadBufferSize where octets.count > first + 3: divide(&octets, at: first + 3)
        case .leReadBufferSizeV2 where octets.count > first + 3: divide(&octets, at: first + 3)
        case .readBufferSize where octets.count > first + 5 && octets[first + 5] == 0:
            divide(&octets, at: first + 4)
        default: break
        }
    }

    private mutating func divide(_ octets: inout [UInt8], at place: Int) {
        let count = Int(octets[place])
        guard count > 0 else { return }
        freeBuffers = count
        octets[place] = UInt8(clamping: max(count / max(hostCount, 1), 1))
    }
}
