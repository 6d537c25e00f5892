// The driver of the embedded controller in real time, whose air other hosts join over TCP.
import Advertising
import BLEHost
import Emulator
import HCI
import LinuxIO
import SansIO
import Simulation
import Wire

/// Runs a world by the system's clock.
struct LiveWorldRun: ~Copyable {
    private var loop: EventLoop
    private var world: World
    private var reporter: Reporter
    private var server: AirServer?
    private let activity: LiveActivity?
    private let control: ControlDoor?
    private let keeper: StateKeeper?
    private var felt = Outputs<ActivityInput>()
    private var clock = WallClock()
    private var guests: [Guest] = []
    private var buffer = ReadBuffer()
    private let end: Instant?

    /// Octets on their way to a guest; what comes after them waits in the air.
    private static let guestOctetsMax = 65_536

    /// A host that joined the air, and its controller.
    private struct Guest {
        let peer: AirPeer
        let controller: Int
        var framer = H4Framer()
    }

    init(
        loop: consuming EventLoop, world: World, reporter: Reporter, server: AirServer?,
        activity: LiveActivity?, control: ControlDoor?, keeper: StateKeeper?,
        end: Instant?
    ) {
        self.loop = loop
        self.world = world
        self.reporter = reporter
        self.reporter.console.isLive = true
        self.server = server
        self.activity = activity
        self.control = control
        self.keeper = keeper
        self.end = end
    }

    /// Runs until a signal, the end of the duration, or an outcome of the central.
    mutating func run() throws(SystemError) -> ExitCode {
        let device = world.port.device
        if device.asksTimeOfDay { tellTime(at: loop.now()) }
        world.powerOn(at: loop.now())
        var outcome = try turn()
        while outcome == nil {
            let deadline = earliest(world.deadline, activity?.deadline)
            try loop.wait(until: earliest(earliest(deadline, control?.deadline), end))
            let now = loop.now()
            if loop.signal != nil || end.map({ $0 <= now }) == true { break }
            if device.followsTimeOfDay { tellTime(at: now) }
            if let deadline = world.deadline, deadline <= now { world.run(at: now) }
            for event in loop.events { try handle(event, at: now) }
            try activity?.expire(at: now, loop: &loop, emit: &felt)
            feel(at: now)
            answer(at: now)
            outcome = try turn()
        }
        if outcome == nil, loop.signal == nil { outcome = reporter.cutOff(world, at: loop.now()) }
        try powerOff()
        reporter.summarise(world.port.device, at: loop.now())
        return reporter.finish(outcome ?? .done)
    }

    /// Switches the device off and lets it say good-bye.
    private mutating func powerOff() throws(SystemError) {
        let limit = loop.now() + World.farewellLimit
        world.powerOff(at: loop.now())
        _ = try turn()
        while !world.port.device.host.isQuiet, loop.now() < limit {
            try loop.wait(until: earliest(world.deadline, limit))
            let now = loop.now()
            if let deadline = world.deadline, deadline <= now { world.run(at: now) }
            for event in loop.events { try handle(event, at: now) }
            _ = try turn()
        }
    }

    private mutating func tellTime(at now: Instant) {
        if let time = clock.jump(at: now) { world.setTimeOfDay(time, at: now) }
    }

    private mutating func feel(at now: Instant) {
        guard !felt.isEmpty else { return }
        world.feel(felt.elements, at: now)
        felt.removeAll()
    }

    /// Does what clients of the control socket ask for.
    private mutating func answer(at now: Instant) {
        control?.answer(&reporter) { line, session in
            var answer: String?
            world.perform(at: now) { device, out, events in
                answer = session.answer(
                    line.span, of: &device, at: now, sending: &out, emit: &events)
            }
            return answer
        }
    }

    /// Writes out what a turn has brought; first what is to be kept.
    private mutating func turn() throws(SystemError) -> ExitCode? {
        let now = loop.now()
        keeper?.store(world.takeStateChanges(), &reporter, at: now)
        if let server {
            // A host that does not read is held off by the air, which sees its packets wait.
            for index in guests.indices
            where guests[index].peer.output.count < Self.guestOctetsMax {
                world.drain(guests[index].controller, into: &guests[index].peer.output)
            }
            for departure in try server.flush(&loop) { depart(departure, at: now) }
        }
        let outcome = reporter.report(world.events.elements, of: world, at: now)
        world.events.removeAll()
        try control?.flush(&reporter, loop: &loop, at: now)
        return reporter.flush(capture: world.takeCapture()) ?? outcome
    }

    private mutating func handle(_ event: ReadyEvent, at now: Instant) throws(SystemError) {
        try activity?.handle(event, loop: &loop, at: now, emit: &felt)
        try control?.handle(event, loop: &loop)
        guard let server else { return }
        switch try server.handle(event, loop: &loop, buffer: &buffer) {
        case .opened(let peer):
            guard let controller = world.addHost() else {
                let text = "\(peer.name) cannot join: the air has no controller left"
                reporter.log(.warning, text, at: now)
                _ = server.drop(peer, reason: "no controller left", loop: &loop)
                return
            }
            guests.append(Guest(peer: peer, controller: controller))
            reporter.log(.info, "\(peer.name) joined the air", at: now)
        case .bytes(let peer, let count): take(count, from: peer, at: now)
        case .closed(let peer, let reason):
            depart(.closed(peer, reason: reason), at: now)
        case .nothing: break
        }
    }

    private mutating func take(_ count: Int, from peer: AirPeer, at now: Instant) {
        guard let index = guests.firstIndex(where: { $0.peer === peer }) else { return }
        let bytes = buffer.bytes
        let chunk = bytes.span.extracting(0..<count)
        var offset = 0
        while true {
            switch guests[index].framer.next(in: chunk, offset: &offset) {
            case .inChunk(let range):
                let packet = chunk.extracting(range)
                world.receive(packet, from: guests[index].controller, at: now)
            case .gathered:
                let packet = guests[index].framer.gathered
                world.receive(packet.span, from: guests[index].controller, at: now)
            case .needMore: return
            case .unknownType(let octet):
                let reason = "octet \(Hex.code(octet)) is no H4 packet type"
                if let event = server?.drop(peer, reason: reason, loop: &loop) {
                    depart(event, at: now)
                }
                return
            }
        }
    }

    private mutating func depart(_ event: AirEvent, at now: Instant) {
        guard case .closed(let peer, let reason) = event else { return }
        guard let index = guests.firstIndex(where: { $0.peer === peer }) else { return }
        world.removeHost(guests[index].controller, at: now)
        guests.remove(at: index)
        reporter.log(.info, "\(peer.name) left the air: \(reason)", at: now)
    }
}
