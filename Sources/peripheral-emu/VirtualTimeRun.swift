// The driver of virtual time: jumps from deadline to deadline until the duration is over.
import BLEHost
import Emulator
import LinuxIO
import SansIO
import Simulation

/// Runs a world without waiting for anything.
struct VirtualTimeRun {
    private var world: World
    private var reporter: Reporter
    /// By the devices' numbers.
    private let keepers: [StateKeeper?]
    private let end: Instant

    init(world: World, reporter: Reporter, keepers: [StateKeeper?], duration: TimeSpan) {
        self.keepers = keepers
        self.world = world
        self.reporter = reporter
        end = .zero + duration
    }

    mutating func run() -> ExitCode {
        // Virtual time begins at midnight.
        world.setTimeOfDay(.zero, at: .zero)
        world.powerOn(at: .zero)
        var outcome = report(at: .zero)
        while outcome == nil, let deadline = world.deadline, deadline <= end {
            world.run(at: deadline)
            outcome = report(at: deadline)
        }
        if outcome == nil {
            // Nothing happens between the last deadline and the end, but it is time as well.
            world.run(at: end)
            outcome = report(at: end) ?? reporter.cutOff(world, at: end)
        }
        powerOff()
        reporter.summarise(world.ports, at: world.now)
        return reporter.finish(outcome ?? .done)
    }

    /// Switches the device off and lets it say good-bye.
    private mutating func powerOff() {
        let start = world.now
        world.powerOff(at: start)
        _ = report(at: start)
        let limit = start + World.farewellLimit
        while !world.isQuiet, let deadline = world.deadline, deadline <= limit {
            world.run(at: deadline)
            _ = report(at: deadline)
        }
    }

    private mutating func report(at now: Instant) -> ExitCode? {
        for (number, keeper) in keepers.enumerated() {
            keeper?.store(world.takeStateChanges(of: number), &reporter, at: now)
        }
        let outcome = reporter.report(world.events.elements, of: world, at: now)
        world.events.removeAll()
        return reporter.flush { world.takeCapture(of: $0) } ?? outcome
    }
}
