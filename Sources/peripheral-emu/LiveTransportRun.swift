// The driver of a controller behind a transport: its loss, its return, and the end.
import Advertising
import BLEHost
import Emulator
import LinuxIO
import SansIO
import Wire

/// Runs devices on a controller that can disappear and come back.
struct LiveTransportRun: ~Copyable {
    private var loop: EventLoop
    private var group: DeviceGroup
    private var reporter: Reporter
    private let transport: ByteTransport
    private let token: Token
    private var doors: Doors
    /// By the devices' numbers.
    private let keepers: [StateKeeper?]
    private var buffer = ReadBuffer()
    private var out = ByteBlock(capacity: 65_536)
    private var events = Outputs<AccessoryEvent>()
    private let end: Instant?
    private let reconnects: Bool
    /// Whether the transport is to be opened again with CAP_NET_ADMIN.
    private let keepsNetAdmin: Bool
    private let start: Instant
    private var state: State

    private enum State {
        /// The transport is open, or on its way to be.
        case open
        /// Nothing is there; tried again at `next`.
        case away(next: Instant)
        case ended(ExitCode)
    }

    /// How long an unreachable controller is tried before it has ever advertised.
    static let firstContactLimit = TimeSpan.seconds(10)
    /// Pauses between tries double from the first to the last.
    static let pauseMin = TimeSpan.milliseconds(50)
    static let pauseMax = TimeSpan.seconds(5)
    /// How long a clean end waits for the controller to end links and advertising.
    static let endLimit = TimeSpan.milliseconds(500)

    init(
        loop: consuming EventLoop, group: DeviceGroup, reporter: Reporter, transport: ByteTransport,
        keepsNetAdmin: Bool, doors: Doors, keepers: [StateKeeper?], end: Instant?, reconnects: Bool
    ) {
        token = loop.makeToken()
        start = loop.now()
        // The first try is the first turn's.
        state = .away(next: start)
        self.loop = loop
        self.group = group
        self.reporter = reporter
        self.transport = transport
        self.doors = doors
        self.keepers = keepers
        self.end = end
        self.reconnects = reconnects
        self.keepsNetAdmin = keepsNetAdmin
    }

    /// Runs until a signal, the end of the duration, or a controller that cannot be used.
    mutating func run() throws(SystemError) -> ExitCode {
        if group.ports.contains(where: { $0.device.asksTimeOfDay }) { tellTime(at: start) }
        while true {
            try flush()
            if case .ended(let code) = state {
                reporter.summarise(group.ports, at: loop.now())
                return reporter.finish(code)
            }
            try loop.watch(transport, as: token)
            let listening = try doors.listen(isAsked: group.awaitsAnswer(), &loop)
            try loop.wait(until: earliest(nextDeadline(), listening))
            let now = loop.now()
            if loop.signal != nil || end.map({ $0 <= now }) == true { break }
            if group.followsTimeOfDay() { tellTime(at: now) }
            if case .away(let next) = state, next <= now { reopen(at: now) }
            if let limit = contactLimit(), limit <= now, transport.isConnecting {
                lose(lastReason.isEmpty ? "\(transport.name) does not answer" : lastReason, at: now)
            }
            for event in loop.events where event.token == token { read(at: now) }
            for event in loop.events { try doors.handle(event, at: now, &loop) }
            if let deadline = group.nextDeadline(), deadline <= now {
                group.expire(at: now, sending: &out, emit: &events)
            }
            try doors.serve(&loop, &reporter, at: now) { number, action in
                group.perform(on: number, at: now, sending: &out, emit: &events, action)
            }
            settle(at: now)
        }
        return try finish()
    }

    private mutating func nextDeadline() -> Instant? {
        var deadline = earliest(group.nextDeadline(), end)
        if case .away(let next) = state { deadline = earliest(deadline, next) }
        if transport.isConnecting { deadline = earliest(deadline, contactLimit()) }
        return deadline
    }

    /// When a controller that has never advertised is given up; nil once it has.
    private mutating func contactLimit() -> Instant? {
        group.hasEverAdvertised() ? nil : start + Self.firstContactLimit
    }

    private mutating func tellTime(at now: Instant) {
        doors.tellTime(at: now) { number, action in
            group.perform(on: number, at: now, sending: &out, emit: &events, action)
        }
    }

    // MARK: the transport

    private mutating func read(at now: Instant) {
        do throws(SystemError) {
            switch try transport.read(into: &buffer) {
            case .opened:
                reporter.log(.info, "\(transport.name) is open", at: now)
                try Capabilities.drop(keepingNetAdmin: keepsNetAdmin)
                group.powerOn(at: now, sending: &out, emit: &events)
            case .bytes(let count):
                let bytes = buffer.bytes
                let chunk = bytes.span.extracting(0..<count)
                let rubbish = group.receive(chunk, at: now, sending: &out, emit: &events)
                if let rubbish {
                    lose("octet \(Hex.code(rubbish)) is no H4 packet type", at: now)
                }
            case .wouldBlock: break
            case .closed: lose("\(transport.name) was closed by the other side", at: now)
            }
        } catch { lose("\(error)", isFinal: !error.isPassing, at: now) }
    }

    private mutating func reopen(at now: Instant) {
        do throws(SystemError) {
            try transport.reopen()
            state = .open
            if transport.isWaiting, transport.place != lastPlace {
                lastPlace = transport.place
                reporter.log(.info, "waiting for a controller at \(lastPlace)", at: now)
            }
        } catch { lose("\(error)", isFinal: !error.isPassing, at: now) }
    }

    /// Where it was said last that a controller is waited for.
    private var lastPlace = ""
    /// The pause before the last try.
    private var lastPause = TimeSpan.zero
    /// What was said of the loss; said again only when it changes.
    private var lastReason = ""

    private var nextPause: TimeSpan {
        min(max(lastPause * 2, Self.pauseMin), Self.pauseMax)
    }

    /// The controller is gone. What happens next depends on whether it ever worked.
    private mutating func lose(_ reason: String, isFinal: Bool = false, at now: Instant) {
        transport.hangUp()
        loop.unwatch(token)
        out.removeAll()
        group.controllerIsGone(at: now, emit: &events)
        let everWorked = group.hasEverAdvertised()
        let isLate = contactLimit().map { $0 <= now } ?? false
        if isFinal && !everWorked || isLate || everWorked && !reconnects {
            reporter.log(.error, isLate ? "\(reason); tried for 10 s" : reason, at: now)
            transport.close()
            state = .ended(.failure)
            return
        }
        if reason != lastReason {
            lastReason = reason
            reporter.log(.warning, "\(reason); trying again", at: now)
        }
        lastPause = nextPause
        // The last try of a first contact is made when its time is over, not before.
        let next = now + lastPause
        state = .away(next: contactLimit().map { min($0, next) } ?? next)
    }

    // MARK: what the device says

    /// Prints what the device says and acts on it.
    private mutating func settle(at now: Instant) {
        var failure: ControllerFailure?
        for told in events.elements {
            if case .host(.failed(let why), _) = told.event {
                // Said with what comes of it.
                failure = failure ?? why
                continue
            }
            report(told, at: now)
            if case .advertising = told.event {
                lastPause = .zero
                lastReason = ""
            }
        }
        events.removeAll()
        guard let failure else { return }
        let everWorked = group.hasEverAdvertised()
        lose("\(failure)", isFinal: !everWorked, at: now)
        for told in events.elements { report(told, at: now) }
        events.removeAll()
    }

    private mutating func report(_ told: AccessoryEvent, at now: Instant) {
        reporter.report(
            told.event, of: group.ports[told.number].device, number: told.number, at: now)
    }

    /// What is to be kept, then one write a turn, then the capture and the lines. Nothing is
    /// acknowledged to a central that a power cut could still undo.
    private mutating func flush() throws(SystemError) {
        let now = loop.now()
        for (number, keeper) in keepers.enumerated() {
            keeper?.store(group.takeStateChanges(of: number), &reporter, at: now)
        }
        do throws(SystemError) {
            try transport.write(&out)
        } catch { lose("\(error)", at: now) }
        settle(at: now)
        try doors.flush(&loop, &reporter, at: now)
        if let code = reporter.flush(capture: { _ in group.takeCapture() }) {
            state = .ended(code)
        }
    }

    // MARK: the end

    /// Ends links and advertising on the controller, then the run.
    private mutating func finish() throws(SystemError) -> ExitCode {
        let limit = loop.now() + Self.endLimit
        let isSignalled = loop.signal != nil
        for number in group.ports.indices {
            group.perform(on: number, at: loop.now(), sending: &out, emit: &events) {
                device, out, emit in
                device.powerOff(at: loop.now(), sending: &out, emit: &emit)
            }
        }
        try flush()
        while transport.isOpen, !group.isQuiet, loop.now() < limit {
            try loop.watch(transport, as: token)
            try loop.wait(until: limit)
            let now = loop.now()
            for event in loop.events where event.token == token { read(at: now) }
            for event in loop.events { try doors.handle(event, at: now, &loop) }
            try flush()
        }
        transport.close()
        reporter.summarise(group.ports, at: loop.now())
        guard group.hasEverAdvertised() || isSignalled else {
            reporter.log(
                .error, "the duration is over and no controller has advertised", at: loop.now())
            return reporter.finish(.failure)
        }
        return reporter.finish(.done)
    }
}
