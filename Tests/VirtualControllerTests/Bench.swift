// Hosts of the virtual air, in virtual time: what they send, what they have received, and when.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

/// An air with its hosts' mailboxes.
struct Bench {
    /// One packet for a host.
    struct Received {
        var at: Instant
        var packet: [UInt8]

        var isACL: Bool { packet.first == H4PacketType.acl.rawValue }
        var eventCode: UInt8? { packet.first == H4PacketType.event.rawValue ? packet[1] : nil }
        var isMeta: Bool { eventCode == EventCode.leMeta.rawValue }
        var subevent: UInt8? { isMeta ? packet[3] : nil }
    }

    var air: Air
    var now = Instant.zero
    var mailboxes: [[Received]] = []

    init(
        seed: UInt64 = 1, timing: Air.Timing = .radio, controllers: Int = 2,
        features: ControllerFeatures = .all
    ) {
        air = Air(seed: seed, timing: timing)
        for _ in 0..<controllers { add(features: features) }
    }

    mutating func add(address: DeviceAddress? = nil, features: ControllerFeatures = .all) {
        let port = air.addController(address: address, features: features)
        while mailboxes.count <= port { mailboxes.append([]) }
    }

    // MARK: Sending

    mutating func send(_ port: Int, raw packet: [UInt8]) {
        air.receive(packet.span, from: port, at: now)
        collect()
    }

    mutating func send<Command: HCICommand>(
        _ port: Int, _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) {
        var copy = command
        change(&copy)
        var block = ByteBlock()
        block.append(command: copy)
        send(port, raw: block.bytes)
    }

    /// Sends a command and gives the status of its Command Complete or Command Status.
    @discardableResult
    mutating func status<Command: HCICommand>(
        _ port: Int, _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) -> HCIStatus? {
        let before = mailboxes[port].count
        send(port, command, change)
        for received in mailboxes[port][before...] {
            let packet = received.packet
            if received.eventCode == 0x0E, packet.count >= 7,
                packet.span.uint16(at: 4) == Command.opcode.rawValue
            {
                return HCIStatus(rawValue: packet[6])
            }
            if received.eventCode == 0x0F, packet.span.uint16(at: 5) == Command.opcode.rawValue {
                return HCIStatus(rawValue: packet[3])
            }
        }
        return nil
    }

    /// Sends a command and gives its decoded return parameters.
    mutating func answer<Command: HCICommand>(
        _ port: Int, _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) -> Command.Return? {
        let before = mailboxes[port].count
        send(port, command, change)
        for received in mailboxes[port][before...]
        where received.eventCode == 0x0E
            && received.packet.span.uint16(at: 4) == Command.opcode.rawValue
        {
            return try? Command.Return(
                hci: received.packet.span.extracting(6..<received.packet.count))
        }
        return nil
    }

    /// The same; the test ends where there is no answer.
    mutating func required<Command: HCICommand>(
        _ port: Int, _ command: Command
    ) throws -> Command.Return {
        let answer = answer(port, command)
        return try #require(answer)
    }

    mutating func sendACL(
        _ port: Int, _ handle: ConnectionHandle, _ data: [UInt8], isStart: Bool = true
    ) {
        var block = ByteBlock()
        block.append(
            acl: ACLHeader(
                handle: handle, boundary: isStart ? .firstFromHost : .continuing, length: data.count
            ))
        block.append(data)
        send(port, raw: block.bytes)
    }

    // MARK: Time

    private mutating func collect() {
        var block = ByteBlock()
        for port in mailboxes.indices where air.hasOutput(port) {
            block.removeAll()
            air.drain(port, into: &block)
            var offset = 0
            while case .packet(_, let end) = H4.frame(block.bytes.span, from: offset) {
                mailboxes[port].append(Received(at: now, packet: Array(block.bytes[offset..<end])))
                offset = end
            }
            #expect(offset == block.count, "the controller sends whole packets")
        }
    }

    /// Lets `span` pass, stopping at every deadline as a driver does.
    mutating func run(for span: TimeSpan) {
        let end = now + span
        while let due = air.deadline, due <= end {
            now = max(now, due)
            air.expire(at: now)
            collect()
        }
        now = end
        air.expire(at: now)
        collect()
    }

    /// Runs until `isDone`, at most `span`.
    @discardableResult
    mutating func run(atMost span: TimeSpan, until isDone: (Bench) -> Bool) -> Bool {
        let end = now + span
        while !isDone(self) {
            guard let due = air.deadline, due <= end else {
                run(for: end - now)
                return isDone(self)
            }
            now = max(now, due)
            air.expire(at: now)
            collect()
        }
        return true
    }

    // MARK: Receiving

    func events<Event: HCIEvent>(_ port: Int, _ type: Event.Type) -> [(at: Instant, event: Event)] {
        mailboxes[port].compactMap { received in
            guard received.eventCode == Event.code.rawValue else { return nil }
            var start = 3
            if let subevent = Event.subevent {
                guard received.subevent == subevent.rawValue else { return nil }
                start = 4
            }
            let parameters = received.packet.span.extracting(start..<received.packet.count)
            guard let event = try? Event(hci: parameters) else { return nil }
            return (received.at, event)
        }
    }

    func reports(_ port: Int) -> [(at: Instant, report: LEAdvertisingReport.Report)] {
        events(port, LEAdvertisingReport.self).flatMap { event in
            event.event.reports.map { (event.at, $0) }
        }
    }

    func acl(_ port: Int) -> [(header: ACLHeader, data: [UInt8])] {
        mailboxes[port].filter(\.isACL).compactMap { received in
            guard let header = ACLHeader(packet: received.packet.span) else { return nil }
            return (header, Array(received.packet[ACLHeader.octets...]))
        }
    }

    func completedPackets(_ port: Int) -> Int {
        events(port, NumberOfCompletedPackets.self)
            .flatMap(\.event.entries).reduce(0) { $0 + Int($1.count) }
    }

    mutating func forget() {
        for port in mailboxes.indices { mailboxes[port] = [] }
    }

    // MARK: Usual set-ups

    static let address = DeviceAddress("C0:11:22:33:44:55") ?? DeviceAddress()
    static let data: [UInt8] = [2, 1, 6, 5, 9, 84, 101, 115, 116]

    /// Unmasks everything that hosts unmask, the enhanced connection event excepted.
    mutating func prepare(_ port: Int, enhanced: Bool = false) {
        status(port, Reset())
        status(port, SetEventMask()) { $0.eventMask = 0x3FFF_FFFF_FFFF_FFFF }
        status(port, LESetEventMask()) { $0.leEventMask = enhanced ? 0xFFFF : 0xFFFF & ~(1 << 9) }
    }

    mutating func advertise(
        _ port: Int, milliseconds: Int64 = 100, type: UInt8 = 0,
        _ change: (inout LESetAdvertisingParameters) -> Void = { _ in }
    ) {
        status(port, LESetRandomAddress()) { $0.randomAddress = Self.address }
        status(port, LESetAdvertisingData()) {
            $0.length = UInt8(Self.data.count)
            $0.data = Self.data
        }
        status(port, LESetScanResponseData()) {
            $0.length = 3
            $0.data = [2, 10, 0]
        }
        let interval = AdvertisingInterval(microseconds: milliseconds * 1000)?.steps ?? 160
        let parameters = status(port, LESetAdvertisingParameters()) {
            $0.intervalMin = interval
            $0.intervalMax = interval
            $0.advertisingType = type
            $0.ownAddressType = .randomDevice
            $0.channelMap = 7
            change(&$0)
        }
        #expect(parameters == .success)
        #expect(status(port, LESetAdvertisingEnable()) { $0.enable = 1 } == .success)
    }

    mutating func scan(
        _ port: Int, active: Bool = false, interval: UInt16 = 16, window: UInt16 = 16,
        filterDuplicates: Bool = false, filterPolicy: UInt8 = 0
    ) {
        let parameters = status(port, LESetScanParameters()) {
            $0.scanType = active ? 1 : 0
            $0.scanInterval = interval
            $0.scanWindow = window
            $0.filterPolicy = filterPolicy
        }
        #expect(parameters == .success)
        let enable = status(port, LESetScanEnable()) {
            $0.enable = 1
            $0.filterDuplicates = filterDuplicates ? 1 : 0
        }
        #expect(enable == .success)
    }

    /// - Parameters: interval in 1.25 ms, timeout in 10 ms.
    @discardableResult
    mutating func connect(
        _ port: Int, interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 100,
        _ change: (inout LECreateConnection) -> Void = { _ in }
    ) -> HCIStatus? {
        status(port, LECreateConnection()) {
            $0.scanInterval = 16
            $0.scanWindow = 16
            $0.peerAddressType = .randomDevice
            $0.peerAddress = Self.address
            $0.intervalMin = interval
            $0.intervalMax = interval
            $0.maxLatency = latency
            $0.supervisionTimeout = timeout
            change(&$0)
        }
    }

    /// Port 0 is a peripheral, port 1 its central; both handles.
    static func linked(
        seed: UInt64 = 1, timing: Air.Timing = .radio, interval: UInt16 = 24, latency: UInt16 = 0,
        timeout: UInt16 = 100, features: ControllerFeatures = .all
    ) -> (bench: Bench, peripheral: ConnectionHandle, central: ConnectionHandle) {
        var bench = Bench(seed: seed, timing: timing, features: features)
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        #expect(
            bench.connect(1, interval: interval, latency: latency, timeout: timeout) == .success)
        bench.run(for: .seconds(2))
        let events = (0...1).map { bench.events($0, LEConnectionComplete.self).first?.event }
        #expect(events[0]?.status == .success && events[1]?.status == .success)
        bench.forget()
        return (
            bench, events[0]?.connectionHandle ?? .maximum, events[1]?.connectionHandle ?? .maximum
        )
    }
}
