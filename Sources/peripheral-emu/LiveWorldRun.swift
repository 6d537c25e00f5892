// The driver of the embedded controller in real time, whose air other hosts join.
import Advertising
import BLEHost
import Emulator
import LinuxIO
import SansIO
import Simulation

/// Runs a world by the system's clock.
struct LiveWorldRun: ~Copyable {
    private var loop: EventLoop
    private var world: World
    private var reporter: Reporter
    private var guests: AirGuests
    /// By the devices' numbers.
    private var activities: [LiveActivity?]
    private let control: ControlDoor?
    private let answers: AnswerDoor?
    private let keepers: [StateKeeper?]
    private let watch: ProfileWatch?
    private var felt = Outputs<ActivityInput>()
    private var clock = WallClock()
    private let end: Instant?

    init(
        loop: consuming EventLoop, world: World, reporter: Reporter, guests: AirGuests,
        activities: [LiveActivity?], control: ControlDoor?, answers: AnswerDoor?,
        watch: ProfileWatch?, keepers: [StateKeeper?], end: Instant?
    ) {
        self.loop = loop
        self.world = world
        self.reporter = reporter
        self.guests = guests
        self.activities = activities
        self.control = control
        self.answers = answers
        self.keepers = keepers
        self.watch = watch
        self.end = end
    }

    /// Runs until a signal, the end of the duration, or an outcome of the central.
    mutating func run() throws(SystemError) -> ExitCode {
        if world.ports.contains(where: { $0.device.asksTimeOfDay }) { tellTime(at: loop.now()) }
        guests.begin(on: &world)
        world.powerOn(at: loop.now())
        var outcome = try turn()
        while outcome == nil {
            var deadline = world.deadline
            for activity in activities { deadline = earliest(deadline, activity?.deadline) }
            deadline = earliest(earliest(deadline, control?.deadline), watch?.deadline)
            deadline = earliest(deadline, try answers?.listen(to: world.ports[0].device, &loop))
            try loop.wait(until: earliest(deadline, end))
            let now = loop.now()
            if loop.signal != nil || end.map({ $0 <= now }) == true { break }
            if world.followsTimeOfDay() { tellTime(at: now) }
            if let deadline = world.deadline, deadline <= now { world.run(at: now) }
            for event in loop.events { try handle(event, at: now) }
            try feel(at: now)
            answer(at: now)
            flash(at: now)
            outcome = try turn()
        }
        if outcome == nil, loop.signal == nil { outcome = reporter.cutOff(world, at: loop.now()) }
        try powerOff()
        reporter.summarise(world.ports, at: loop.now())
        return reporter.finish(outcome ?? .done)
    }

    /// Switches the device off and lets it say good-bye.
    private mutating func powerOff() throws(SystemError) {
        let limit = loop.now() + World.farewellLimit
        world.powerOff(at: loop.now())
        _ = try turn()
        while !world.isQuiet, loop.now() < limit {
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

    /// Gives the devices what their live sources have for them.
    private mutating func feel(at now: Instant) throws(SystemError) {
        for (number, activity) in activities.enumerated() {
            guard let activity else { continue }
            try activity.takeTurn(of: &loop, at: now, emit: &felt)
            guard !felt.isEmpty else { continue }
            world.feel(felt.elements, by: number, at: now)
            felt.removeAll()
        }
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
        while let line = answers?.nextLine(for: world.ports[0].device) {
            var refusal: AnswerError?
            world.perform(at: now) { device, out, events in
                do throws(AnswerError) {
                    try device.answer(line: line, at: now, sending: &out, emit: &events)
                } catch { refusal = error }
            }
            if let refusal { reporter.log(.warning, "\(refusal)", at: now) }
        }
    }

    /// Gives the device a new version of its profile, where there is one.
    private mutating func flash(at now: Instant) {
        guard let watch, let profile = watch.next(at: now, &reporter) else { return }
        let refusal = world.ports[0].device.refusal(of: profile)
        guard watch.take(profile, refusal: refusal, at: now, &loop, &activities[0], &reporter)
        else { return }
        tellTime(at: now)
        world.perform(at: now) { device, out, events in
            device.replace(profile: profile, at: now, sending: &out, emit: &events)
        }
    }

    /// Writes out what a turn has brought; first what is to be kept.
    private mutating func turn() throws(SystemError) -> ExitCode? {
        let now = loop.now()
        for (number, keeper) in keepers.enumerated() {
            keeper?.store(world.takeStateChanges(of: number), &reporter, at: now)
        }
        try guests.flush(from: &world, &reporter, loop: &loop, at: now)
        let outcome = reporter.report(world.events.elements, of: world, at: now)
        world.events.removeAll()
        try control?.flush(&reporter, loop: &loop, at: now)
        return reporter.flush(capture: world.takeCapture()) ?? outcome
    }

    private mutating func handle(_ event: ReadyEvent, at now: Instant) throws(SystemError) {
        try control?.handle(event, loop: &loop)
        answers?.handle(event, loop: &loop)
        try watch?.handle(event, at: now)
        try guests.handle(event, on: &world, &reporter, loop: &loop, at: now)
    }
}
