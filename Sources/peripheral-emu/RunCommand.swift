// `run`: the accessory on a controller, in real or in virtual time.
import Advertising
import Emulator
import LinuxIO
import OpenSSLCrypto
import Profiles
import SMP
import SansIO
import Simulation
import Wire

enum RunCommand {
    /// The seed of the virtual controller's runs, where none is given.
    static let virtualSeed: UInt64 = 1

    static func run(_ options: RunOptions) -> ExitCode {
        var console = Console(level: options.logLevel)
        defer { console.flush() }
        let files = ProfileFile.Files()
        guard let profile = ProfileFile.load(for: options, files, &console) else { return .usage }
        let keeper: StateKeeper?
        do throws(StateKeeper.Refusal) {
            keeper = try StateKeeper.open(options, profile, &console)
        } catch {
            console.error("\(error)")
            return .failure
        }
        if options.capture != nil, profile.security.map({ $0.policy != .refused }) == true {
            let text = "capture: it will hold the keys of pairings, readable to who has the file"
            console.log(LogLine(.info, text))
        }
        // The run prints with a copy.
        console.flush()
        do throws(SystemError) {
            let controller: ControllerSpec
            if let asked = options.controller {
                controller = asked
            } else {
                let choice = AdaptersCommand.choice()
                controller = choice.controller
                console.log(LogLine(.info, choice.reason))
            }
            if profile.advertising.isEmpty {
                console.log(
                    LogLine(.warning, "the profile has no 'advertising': no central finds it"))
            }
            switch controller {
            case .virtual:
                if options.withCentral, profile.hasSecuredAccess {
                    let text = "the built-in central does not pair: what asks for encryption stays "
                    console.log(LogLine(.info, text + "closed to it"))
                }
                let world = makeWorld(profile, options, keeper)
                return options.virtualTime
                    ? try runVirtual(world, options, keeper, console)
                    : try runLive(world, options, files, keeper, console)
            case .transport(let spec):
                return try runOn(spec, profile, options, files, keeper, console)
            }
        } catch {
            console.error("\(error)")
            return .failure
        }
    }

    private static func makeDevice(
        _ profile: DeviceProfile, seed: UInt64, _ options: RunOptions, _ keeper: StateKeeper?
    ) -> EmulatedDevice {
        var device = EmulatedDevice(
            profile: profile, seed: seed, authenticator: OpenSSLAuthenticator(),
            cipher: OpenSSLCipher(),
            keys: options.virtualTime ? nil : GeneratorRandom(SystemRandomNumberGenerator()),
            state: keeper?.state)
        device.reportsAccess = options.logLevel >= .info || options.control != nil
        device.reportsSending = options.logLevel >= .debug
        return device
    }

    private static func makeWorld(
        _ profile: DeviceProfile, _ options: RunOptions, _ keeper: StateKeeper?
    ) -> World {
        let seed = options.seed ?? virtualSeed
        let device = makeDevice(profile, seed: seed, options, keeper)
        var central: ScriptedCentral?
        if options.withCentral {
            var random = SeededRandom(seed: seed, stream: "central")
            central = ScriptedCentral(
                target: profile.device.address.isPrivate ? nil : device.randomAddress,
                address: DeviceAddress.randomStatic(from: random.next()))
        }
        return World(
            port: DevicePort(device: device), seed: seed, timing: options.airTiming,
            loss: options.airLoss ?? 0,
            central: central, cipher: OpenSSLCipher())
    }

    /// To be called before the event loop takes the signals: opening a pipe waits for its reader,
    /// and must end with them.
    private static func openCapture(_ options: RunOptions) throws(SystemError) -> FileOutput? {
        guard let path = options.capture else { return nil }
        return try FileOutput(
            path: path == "-" ? "/dev/stdout" : path, isLive: !options.virtualTime)
    }

    private static func runVirtual(
        _ world: World, _ options: RunOptions, _ keeper: StateKeeper?, _ console: Console
    ) throws(SystemError) -> ExitCode {
        var world = world
        if options.capture != nil { world.capture(epoch: BtsnoopWriter.virtualEpoch) }
        let reporter = Reporter(
            console: console, capture: try openCapture(options), start: .zero,
            isLive: false, json: options.json)
        var run = VirtualTimeRun(
            world: world, reporter: reporter, keeper: keeper, duration: options.duration ?? .zero)
        return run.run()
    }

    private static func runLive(
        _ world: World, _ options: RunOptions, _ files: ProfileFile.Files, _ keeper: StateKeeper?,
        _ console: Console
    ) throws(SystemError) -> ExitCode {
        var world = world
        let capture = try openCapture(options)
        var loop = try EventLoop()
        let start = loop.now()
        world.setClock(epoch: loop.unixMicroseconds(at: .zero))
        if options.capture != nil { world.capture(epoch: loop.unixMicroseconds(at: .zero)) }
        var reporter = Reporter(
            console: console, capture: capture, start: start, isLive: true, json: options.json)
        let guests = try AirGuests(options, loop: &loop, &reporter)
        let activity = try openActivity(world.port.device, &loop, &reporter)
        let control = try openControl(options, &loop, &reporter)
        let answers = try openAnswers(world.port.device, options, &loop, &reporter)
        let watch = try openWatch(world.port.device, options, files, &loop, &reporter)
        warnOfStuckFiles([options.control], &reporter, at: loop.now())
        // All doors are open.
        try Capabilities.drop(keepingNetAdmin: false)
        var run = LiveWorldRun(
            loop: loop, world: world, reporter: reporter, guests: guests, activity: activity,
            control: control, answers: answers, watch: watch, keeper: keeper,
            end: options.duration.map { start + $0 })
        return try run.run()
    }

    /// Says which files will be left behind, since the capabilities are given up before the end.
    private static func warnOfStuckFiles(
        _ paths: [String?], _ reporter: inout Reporter, at now: Instant
    ) {
        for case let path? in paths where Capabilities.areNeeded(at: path) {
            reporter.log(
                .warning,
                "\(path) cannot be removed or made anew later: its folder is another user's, and "
                    + "root's power over it is given up; choose a folder of root's, such as /run",
                at: now)
        }
    }

    private static func openActivity(
        _ device: EmulatedDevice, _ loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) -> LiveActivity? {
        let sources = device.profile.activity?.sources ?? []
        let activity = try LiveActivity(sources, loop: &loop)
        for name in activity?.names ?? [] {
            reporter.log(.info, "activity: following \(name)", at: loop.now())
        }
        return activity
    }

    private static func openControl(
        _ options: RunOptions, _ loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) -> ControlDoor? {
        guard let path = options.control else { return nil }
        let door = try ControlDoor(path: path, loop: &loop)
        reporter.log(.info, "control: listening at \(path)", at: loop.now())
        return door
    }

    private static func openWatch(
        _ device: EmulatedDevice, _ options: RunOptions, _ files: ProfileFile.Files,
        _ loop: inout EventLoop, _ reporter: inout Reporter
    ) throws(SystemError) -> ProfileWatch? {
        guard options.watches else { return nil }
        let watch = try ProfileWatch(options, device.profile, files, &loop)
        reporter.log(.info, "watching \(device.profile.file)", at: loop.now())
        return watch
    }

    /// Standard input is only for who can be asked, and only once: activity may come there.
    private static func openAnswers(
        _ device: EmulatedDevice, _ options: RunOptions, _ loop: inout EventLoop,
        _ reporter: inout Reporter
    ) throws(SystemError) -> AnswerDoor? {
        guard device.profile.canAsk else { return nil }
        let door = try AnswerDoor(options, device.profile, loop: &loop)
        reporter.answerHint = AnswerDoor.hint(options, door)
        return door
    }

    private static func runOn(
        _ spec: TransportSpec, _ profile: DeviceProfile, _ options: RunOptions,
        _ files: ProfileFile.Files, _ keeper: StateKeeper?, _ console: Console
    ) throws(SystemError) -> ExitCode {
        let seed = options.seed ?? machineID() ?? virtualSeed
        let capture = try openCapture(options)
        var loop = try EventLoop()
        let start = loop.now()
        var port = DevicePort(device: makeDevice(profile, seed: seed, options, keeper))
        port.device.setClock(epoch: loop.unixMicroseconds(at: .zero))
        if options.capture != nil {
            port.capture = BtsnoopWriter(epoch: loop.unixMicroseconds(at: .zero))
        }
        var reporter = Reporter(
            console: console, capture: capture, start: start, isLive: true, json: options.json)
        let activity = try openActivity(port.device, &loop, &reporter)
        let control = try openControl(options, &loop, &reporter)
        let answers = try openAnswers(port.device, options, &loop, &reporter)
        let watch = try openWatch(port.device, options, files, &loop, &reporter)
        let transport = spec.closed()
        warnOfStuckFiles([options.control, transport.ownFile], &reporter, at: loop.now())
        var run = LiveTransportRun(
            loop: loop, port: port, reporter: reporter, transport: transport,
            keepsNetAdmin: spec.isAdapter, activity: activity, control: control, answers: answers,
            watch: watch, keeper: keeper, end: options.duration.map { start + $0 },
            reconnects: options.reconnects)
        return try run.run()
    }
}
