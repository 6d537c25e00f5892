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
        guard let (profiles, files) = ProfileFile.loadAll(for: options, &console) else {
            return .usage
        }
        var accessories = Accessories(profiles, files, options.names)
        do throws(StateKeeper.Refusal) {
            for (number, profile) in profiles.enumerated() {
                accessories.keepers.append(
                    try StateKeeper.open(options, profile, number: number, &console))
            }
        } catch {
            console.error("\(error)")
            return .failure
        }
        let canPair = profiles.contains { $0.security.map { $0.policy != .refused } == true }
        if options.capture != nil, canPair {
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
            for profile in profiles where profile.advertising.isEmpty {
                let which = profiles.count > 1 ? profile.file : "the profile"
                console.log(
                    LogLine(.warning, "\(which) has no 'advertising': no central finds it"))
            }
            // A run has a console of its own: what is gathered here would be told again at its end.
            console.flush()
            switch controller {
            case .virtual:
                if options.withCentral, profiles.contains(where: \.hasSecuredAccess) {
                    let text = "the built-in central does not pair: what asks for encryption stays "
                    console.log(LogLine(.info, text + "closed to it"))
                }
                guard let paths = capturePaths(accessories.names, options, &console) else {
                    return .usage
                }
                let world = makeWorld(accessories, options)
                console.flush()
                return options.virtualTime
                    ? try runVirtual(world, accessories, paths, options, console)
                    : try runLive(world, accessories, paths, options, console)
            case .transport(let spec):
                return try runOn(spec, accessories, options, console)
            }
        } catch {
            console.error("\(error)")
            return .failure
        }
    }

    /// The accessories of a run, by their numbers.
    private struct Accessories {
        let profiles: [DeviceProfile]
        let files: [ProfileFile.Files]
        var keepers: [StateKeeper?] = []
        let names: AccessoryNames

        init(
            _ profiles: [DeviceProfile], _ files: [ProfileFile.Files], _ names: AccessoryNames
        ) {
            self.profiles = profiles
            self.files = files
            self.names = names
        }

        /// The seed of one: addresses follow from it and the device's name, and differ.
        func seed(_ seed: UInt64, of number: Int) -> UInt64 {
            let name = profiles[number].device.name
            return seed &+ UInt64(profiles[..<number].count { $0.device.name == name })
        }
    }

    private static func makeDevices(
        _ accessories: Accessories, seed: UInt64, _ options: RunOptions
    ) -> [EmulatedDevice] {
        accessories.profiles.indices.map { number in
            makeDevice(
                accessories.profiles[number], seed: accessories.seed(seed, of: number), options,
                accessories.keepers[number])
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
        if options.watches { device.expectFlash() }
        return device
    }

    private static func makeWorld(_ accessories: Accessories, _ options: RunOptions) -> World {
        let seed = options.seed ?? virtualSeed
        let devices = makeDevices(accessories, seed: seed, options)
        let device = devices[0]
        var central: ScriptedCentral?
        if options.withCentral {
            var random = SeededRandom(seed: seed, stream: "central")
            central = ScriptedCentral(
                targets: device.lastingAddresses ?? [], sets: device.profile.setsForAnyone,
                address: DeviceAddress.randomStatic(from: random.next()))
        }
        return World(
            port: DevicePort(device: device),
            others: devices.dropFirst().map { DevicePort(device: $0) }, seed: seed,
            timing: options.airTiming,
            loss: options.airLoss ?? 0,
            central: central, cipher: OpenSSLCipher())
    }

    /// The capture files on the virtual air, where each accessory has a controller; nil where there
    /// cannot be as many, which has been said.
    private static func capturePaths(
        _ names: AccessoryNames, _ options: RunOptions, _ console: inout Console
    ) -> [String]? {
        guard let path = options.capture else { return [] }
        guard names.areSeveral else { return [path] }
        guard !Options.standardOutput.contains(path) else {
            console.error(
                "--capture \(path): \(names.all.count) accessories have a controller and a capture "
                    + "each; write --capture FILE")
            return nil
        }
        let paths = CaptureFiles.paths(path, names)
        for (name, path) in zip(names.all, paths) {
            console.log(LogLine(.info, "\(name): capture in \(path)"))
        }
        return paths
    }

    private static func runVirtual(
        _ world: World, _ accessories: Accessories, _ paths: [String], _ options: RunOptions,
        _ console: Console
    ) throws(SystemError) -> ExitCode {
        var world = world
        if options.capture != nil { world.capture(epoch: BtsnoopWriter.virtualEpoch) }
        let reporter = Reporter(
            console: console, captures: try CaptureFiles.open(options, paths), start: .zero,
            isLive: false, json: options.json, names: accessories.names.all)
        var run = VirtualTimeRun(
            world: world, reporter: reporter, keepers: accessories.keepers,
            duration: options.duration ?? .zero)
        return run.run()
    }

    private static func runLive(
        _ world: World, _ accessories: Accessories, _ paths: [String], _ options: RunOptions,
        _ console: Console
    ) throws(SystemError) -> ExitCode {
        var world = world
        let captures = try CaptureFiles.open(options, paths)
        var loop = try EventLoop()
        let start = loop.now()
        world.setClock(epoch: loop.unixMicroseconds(at: .zero))
        if options.capture != nil { world.capture(epoch: loop.unixMicroseconds(at: .zero)) }
        var reporter = Reporter(
            console: console, captures: captures, start: start, isLive: true, json: options.json,
            names: accessories.names.all)
        let guests = try AirGuests(options, loop: &loop, &reporter)
        let doors = try Doors(
            options, accessories.profiles, accessories.files, &loop, &reporter)
        warnOfStuckFiles([options.control], &reporter, at: loop.now())
        // All doors are open.
        try Capabilities.drop(keepingNetAdmin: false)
        var run = LiveWorldRun(
            loop: loop, world: world, reporter: reporter, guests: guests, doors: doors,
            keepers: accessories.keepers, end: options.duration.map { start + $0 })
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

    private static func runOn(
        _ spec: TransportSpec, _ accessories: Accessories, _ options: RunOptions,
        _ console: Console
    ) throws(SystemError) -> ExitCode {
        let seed = options.seed ?? machineID() ?? virtualSeed
        let captures = try CaptureFiles.open(options, options.capture.map { [$0] } ?? [])
        var loop = try EventLoop()
        let start = loop.now()
        let epoch = loop.unixMicroseconds(at: .zero)
        var devices = makeDevices(accessories, seed: seed, options)
        for number in devices.indices { devices[number].setClock(epoch: epoch) }
        let group = DeviceGroup(
            devices, capture: options.capture.map { _ in BtsnoopWriter(epoch: epoch) })
        var reporter = Reporter(
            console: console, captures: captures, start: start, isLive: true, json: options.json,
            names: accessories.names.all)
        let doors = try Doors(
            options, accessories.profiles, accessories.files, &loop, &reporter)
        let transport = spec.closed()
        warnOfStuckFiles([options.control, transport.ownFile], &reporter, at: loop.now())
        var run = LiveTransportRun(
            loop: loop, group: group, reporter: reporter, transport: transport,
            keepsNetAdmin: spec.isAdapter, doors: doors, keepers: accessories.keepers,
            end: options.duration.map { start + $0 }, reconnects: options.reconnects)
        return try run.run()
    }
}
