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
    private var doors: Doors
    /// By the devices' numbers.
    private let keepers: [StateKeeper?]
    private let end: Instant?

    init(
        loop: consuming EventLoop, world: World, reporter: Reporter, guests: AirGuests,
        doors: Doors, keepers: [StateKeeper?], end: Instant?
    ) {
        self.loop = loop
        self.world = world
        self.reporter = reporter
        self.guests = guests
        self.doors = doors
        self.keepers = keepers
        self.end = end
    }

    /// Runs until a signal, the end of the duration, or an outcome of the central.
    mutating func run() throws(SystemError) -> ExitCode {
        if world.ports.contains(where: { $0.device.asksTimeOfDay }) { tellTime(at: loop.now()) }
        guests.begin(on: &world)
        world.powerOn(at: loop.now())
        var outcome = try turn()
        while outcome == nil {
            let listening = try doors.listen(isAsked: world.awaitsAnswer(), &loop)
            try loop.wait(until: earliest(earliest(world.deadline, listening), end))
            let now = loop.now()
            if loop.signal != nil || end.map({ $0 <= now }) == true { break }
            if world.followsTimeOfDay() { tellTime(at: now) }
            if let deadline = world.deadline, deadline <= now { world.run(at: now) }
            for event in loop.events { try handle(event, at: now) }
            try doors.serve(&loop, &reporter, at: now) { number, action in
                world.perform(on: number, at: now, action)
            }
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
        doors.tellTime(at: now) { number, action in world.perform(on: number, at: now, action) }
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
        try doors.flush(&loop, &reporter, at: now)
        return reporter.flush { world.takeCapture(of: $0) } ?? outcome
    }

    private mutating func handle(_ event: ReadyEvent, at now: Instant) throws(SystemError) {
        try doors.handle(event, at: now, &loop)
        try guests.handle(event, on: &world, &reporter, loop: &loop, at: now)
    }
}
