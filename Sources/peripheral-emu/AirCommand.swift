// `air`: the virtual air without an accessory of its own.
import LinuxIO
import SansIO
import VirtualController

enum AirCommand {
    static func run(_ options: RunOptions) -> ExitCode {
        let console = Console(level: options.logLevel)
        do throws(SystemError) {
            var loop = try EventLoop()
            let start = loop.now()
            var reporter = Reporter(console: console, captures: [], start: start, isLive: true)
            let guests = try AirGuests(options, loop: &loop, &reporter)
            guard !guests.hasNoDoor else { return reporter.finish(.failure) }
            try Capabilities.drop(keepingNetAdmin: false)
            var air = Air(seed: options.seed ?? RunCommand.virtualSeed, timing: options.airTiming)
            air.loss = options.airLoss ?? 0
            return try serve(
                air, guests, loop, reporter, until: options.duration.map { start + $0 })
        } catch {
            var console = console
            console.error("\(error)")
            return console.finish(.failure)
        }
    }

    /// Runs until a signal or the end.
    private static func serve(
        _ air: Air, _ guests: AirGuests, _ loop: consuming EventLoop, _ reporter: Reporter,
        until end: Instant?
    ) throws(SystemError) -> ExitCode {
        var (air, guests, reporter) = (air, guests, reporter)
        guests.begin(on: &air)
        while true {
            let now = loop.now()
            try guests.flush(from: &air, &reporter, loop: &loop, at: now)
            if let code = reporter.flush(capture: { _ in [] }) { return reporter.finish(code) }
            try loop.wait(until: earliest(air.deadline, end))
            let woken = loop.now()
            if loop.signal != nil || end.map({ $0 <= woken }) == true {
                return reporter.finish(.done)
            }
            air.expire(at: woken)
            for event in loop.events {
                try guests.handle(event, on: &air, &reporter, loop: &loop, at: woken)
            }
        }
    }
}
