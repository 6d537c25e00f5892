// Turns what happens into lines, the capture file and an exit code; the same for every driver.
import Advertising
import BLEHost
import Emulator
import Glibc
import LinuxIO
import SMP
import SansIO
import Simulation
import Wire

/// What a run prints and writes.
struct Reporter {
    var console: Console
    /// By the controllers' numbers; nil where no more can be written.
    private var captures: [FileOutput?]
    private var isCaptureCut = false
    /// Whether the end of the duration has said what the central is missing.
    private var isCutOff = false
    /// Power-on; times in the log count from here.
    private var start: Instant
    /// Whether the capture is written out at each turn: who looks on sees it grow, and a kill loses
    /// nothing. Virtual time is over before anybody looks.
    private let isLive: Bool
    /// Whether events are told as JSON, one object a line of standard output.
    private let json: Bool
    /// How a question of a pairing is answered; said behind each one.
    var answerHint: LogLine?
    /// Whether somebody watches the events from outside.
    var isWatched = false
    /// Events as JSON for who watches.
    private var watched: [JSONValue] = []
    /// What the devices are called in lines, by number; empty where there is one.
    private let names: [String]

    init(
        console: Console, captures: [FileOutput], start: Instant, isLive: Bool, json: Bool = false,
        names: [String] = []
    ) {
        self.names = names.count > 1 ? names : []
        self.json = json
        self.isLive = isLive
        self.console = console
        self.console.isLive = isLive
        self.captures = captures
        self.start = start
    }

    /// - Parameter number: the accessory's that it is about; nil for none.
    mutating func log(
        _ level: LogLevel, _ text: String, of number: Int? = nil, at now: Instant
    ) {
        console.log(LogLine(level, prefix(number) + text), at: now - start)
    }

    /// `NAME: ` of several accessories.
    private func prefix(_ number: Int?) -> String {
        guard let number, !names.isEmpty else { return "" }
        return names[number] + ": "
    }

    /// An event's object, with the accessory's name where there are several.
    private func named(_ object: JSONValue, _ number: Int) -> JSONValue {
        names.isEmpty ? object : object.with(ControlMethod.accessory, .string(names[number]))
    }

    /// Prints a device's event.
    /// - Parameter number: the device's.
    mutating func report(
        _ event: DeviceEvent, of device: EmulatedDevice, number: Int = 0, at now: Instant
    ) {
        if json || isWatched,
            let object = device.json(for: event, at: now - start, upTo: console.level)
        {
            tell(named(object, number))
        }
        guard !json, var line = device.line(for: event, upTo: console.level) else { return }
        line.text = prefix(number) + line.text
        console.log(line, at: now - start)
        if case .host(.security(.question(_, _, let isAnswered)), _) = event, !isAnswered,
            let answerHint
        {
            console.log(answerHint, at: now - start)
        }
    }

    /// Says why a new version of the profile is not flashed.
    mutating func refuseFlash(
        _ file: String, _ errors: [String], of number: Int, at now: Instant
    ) {
        for error in errors { console.error(error) }
        let text = "\(file) was not flashed: the version before goes on"
        log(.error, text, of: number, at: now)
        let object = JSONValue.members(
            ("time", .real((now - start).seconds)), ("level", .string("error")),
            ("event", .string("flash-refused")), ("text", .string(text)),
            ("errors", .array(errors.map { .string($0) })))
        tell(named(object, number))
    }

    /// Prints an event's object, and keeps it for who watches.
    private mutating func tell(_ object: JSONValue) {
        if json { console.print(object.text()) }
        if isWatched { watched.append(object) }
    }

    /// The objects of the events since the last call, while somebody watches.
    mutating func takeWatched() -> [JSONValue] {
        defer { watched.removeAll() }
        return watched
    }

    /// Prints a world's events; an exit code where the run is over.
    mutating func report(_ events: [WorldEvent], of world: World, at now: Instant) -> ExitCode? {
        var outcome: ExitCode?
        for event in events {
            switch event {
            case .device(let event, let number):
                report(event, of: world.ports[number].device, number: number, at: now)
                if case .host(.failed, _) = event { outcome = .failure }
            case .central(.line(let text), let number):
                if !json { console.print(prefix(number) + text) }
                let object = JSONValue.members(
                    ("time", .real((now - start).seconds)), ("event", .string("central")),
                    ("text", .string(text)))
                tell(named(object, number))
            case .central(.finished, _): outcome = outcome ?? .done
            case .central(.incomplete, _) where isCutOff: break
            case .central(.incomplete(let missing), let number):
                log(.error, "the central is missing: \(missing)", of: number, at: now)
                outcome = .failure
            }
        }
        return outcome
    }

    /// Writes out lines and captures; an exit code where a capture cannot be written.
    /// - Parameter take: what is to be appended to the capture of a controller's number.
    mutating func flush(capture take: (Int) -> [UInt8]) -> ExitCode? {
        var outcome: ExitCode?
        for number in captures.indices {
            let bytes = take(number)
            guard !bytes.isEmpty else { continue }
            do throws(SystemError) {
                try captures[number]?.write(bytes)
                if isLive { try captures[number]?.flush() }
            } catch {
                console.log(LogLine(.error, "the capture ends here: \(error)"))
                captures[number] = nil
                isCaptureCut = true
                // That nobody reads it is no reason for the accessory to end.
                if error.code != EAGAIN { outcome = .failure }
            }
        }
        console.flush()
        return outcome
    }

    /// Prints what intervals a run of these devices has had; nothing where one never advertised.
    mutating func summarise(_ ports: [DevicePort], at now: Instant) {
        for (number, port) in ports.enumerated() {
            summarise(port.device, number: number, at: now)
        }
    }

    private mutating func summarise(_ device: EmulatedDevice, number: Int, at now: Instant) {
        guard console.level >= .info, device.host.hasEverAdvertised else { return }
        if !names.isEmpty { console.log(LogLine(.info, names[number])) }
        for line in device.intervalReport(until: now) { console.log(LogLine(.info, line)) }
    }

    /// What the end of the duration has cut off; an exit code where something is missing.
    mutating func cutOff(_ world: World, at now: Instant) -> ExitCode? {
        guard let missing = world.central?.unfinished else { return nil }
        isCutOff = true
        let text = "the duration is over and the central is missing: \(missing)"
        log(.error, text, of: world.visited, at: now)
        return .failure
    }

    /// Writes out what is left.
    mutating func finish(_ code: ExitCode) -> ExitCode {
        var code = code
        for number in captures.indices {
            do throws(SystemError) {
                try captures[number]?.close()
            } catch {
                console.log(LogLine(.error, "the capture is incomplete: \(error)"))
                code = .failure
            }
        }
        return console.finish(code == .done && isCaptureCut ? .failure : code)
    }
}
