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
    private var capture: FileOutput?
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
        console: Console, capture: FileOutput?, start: Instant, isLive: Bool, json: Bool = false,
        names: [String] = []
    ) {
        self.names = names.count > 1 ? names : []
        self.json = json
        self.isLive = isLive
        self.console = console
        self.console.isLive = isLive
        self.capture = capture
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
            case .central(.line(let text)):
                if !json { console.print(text) }
                tell(
                    .members(
                        ("time", .real((now - start).seconds)), ("event", .string("central")),
                        ("text", .string(text))))
            case .central(.finished): outcome = outcome ?? .done
            case .central(.incomplete) where isCutOff: break
            case .central(.incomplete(let missing)):
                console.log(LogLine(.error, "the central is missing: \(missing)"), at: now - start)
                outcome = .failure
            }
        }
        return outcome
    }

    /// Writes out lines and capture; an exit code where the capture cannot be written.
    mutating func flush(capture bytes: [UInt8]) -> ExitCode? {
        var outcome: ExitCode?
        if !bytes.isEmpty, capture != nil {
            do throws(SystemError) {
                try capture?.write(bytes)
                if isLive { try capture?.flush() }
            } catch {
                console.log(LogLine(.error, "the capture ends here: \(error)"))
                capture = nil
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
        console.log(LogLine(.error, text), at: now - start)
        return .failure
    }

    /// Writes out what is left.
    mutating func finish(_ code: ExitCode) -> ExitCode {
        var code = code
        do throws(SystemError) {
            try capture?.close()
        } catch {
            console.log(LogLine(.error, "the capture is incomplete: \(error)"))
            code = .failure
        }
        return console.finish(code == .done && isCaptureCut ? .failure : code)
    }
}
