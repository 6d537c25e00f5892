// `bench --profile FILE` and `bench merge`: what is asked for, who works, what comes out.
import Advertising
import Bench
import Emulator
import Glibc
import LinuxIO
import PowerModel
import Profiles
import SansIO
import Wire

enum BenchRunCommand {
    private static let chip = "nrf52832"
    private static let battery = "cr2032"
    private static let sensor = "lis2dw12"
    private static let scanners = [
        "android-13-low-latency", "android-13-balanced", "android-13-low-power", "ios-foreground",
    ]

    static func run(_ options: BenchOptions, _ console: inout Console) -> ExitCode {
        guard let request = request(options, &console) else { return .usage }
        guard canWrite(options, &console) else { return .failure }
        do throws(BenchError) {
            let targets = try targets(options, usual: usualStart(request))
            if let shard = options.shard {
                WorkerProcesses.followParent()
                let progress = BenchProgress(isShown: !WorkerProcesses.isWorker)
                let part = try BenchRun.run(request, shard: shard) { done, all in
                    WorkerProcesses.tellStep()
                    progress.show(done, of: all)
                }
                progress.clear()
                console.print(part.json.text())
                return .done
            }
            let result: BenchResult
            if options.jobs > 1, request.cellCount > 1 {
                let work = BenchJobs.run(options, cells: request.cellCount, &console)
                guard let parts = work else { return .failure }
                result = try BenchMerge.merge(parts)
            } else {
                let progress = BenchProgress(isShown: true)
                result = try BenchRun.run(request) { progress.show($0, of: $1) }
                progress.clear()
            }
            return report(result, targets, options, &console)
        } catch {
            console.error("\(error)")
            return .usage
        }
    }

    // MARK: what is asked for

    private static func request(
        _ options: BenchOptions, _ console: inout Console
    ) -> BenchRequest? {
        guard let profile = ProfileFile.load(for: options.run, ProfileFile.Files(), &console),
            let chip = ModelFile.load(.soc, options.chip ?? chip, &console, ModelLoader.chip),
            let battery = ModelFile.load(
                .battery, options.battery ?? battery, &console, ModelLoader.battery),
            let sensor = ModelFile.load(
                .sensor, options.sensor ?? sensor, &console, ModelLoader.sensor)
        else { return nil }
        var found: [ScannerModel] = []
        for name in options.scanners.isEmpty ? scanners : options.scanners {
            guard let scanner = ModelFile.load(.scanner, name, &console, ModelLoader.scanner) else {
                return nil
            }
            found.append(scanner)
        }
        do throws(BenchError) {
            let policies = try policies(profile, options, &console)
            let radio = try radio(chip.chip, battery, of: profile, options)
            let isMany = policies.count > 1
            var request = BenchRequest(
                profile: profile, policies: policies, scanners: found, radio: radio,
                battery: battery, sensors: feelsMotion(profile) ? [sensor] : [],
                duration: options.run.duration
                    ?? (isMany ? BenchDefaults.sweepDuration : BenchDefaults.duration),
                precision: options.precision
                    ?? (isMany ? BenchDefaults.sweepPrecision : BenchDefaults.precision),
                seed: options.run.seed ?? BenchDefaults.seed)
            request.reception.crowd = options.crowd ?? 0
            request.settings = BenchSettings.of(request, options)
            return request
        } catch {
            console.error("\(error)")
            return nil
        }
    }

    private static func policies(
        _ profile: DeviceProfile, _ options: BenchOptions, _ console: inout Console
    ) throws(BenchError) -> [NamedPolicy] {
        guard let set = profile.advertising.first else {
            throw BenchError(
                "\(profile.file) does not advertise; add 'advertising:' to measure it")
        }
        var sweeps: [SweepOption] = []
        for text in options.sweeps { sweeps.append(try SweepOption(text)) }
        if sweeps.isEmpty, !options.targets.isEmpty { sweeps = Sweep.usual }
        let feels = feelsAnything(profile)
        let policies = try Sweep.policies(sweeps, of: set.policy, hasActivity: feels)
        // What nobody asked for is left out without a word.
        if !options.sweeps.isEmpty, !WorkerProcesses.isWorker {
            let all = try Sweep.combinations(sweeps, of: set.policy, hasActivity: feels)
            let count = all.count - policies.count
            if count > 0 {
                console.log(
                    LogLine(
                        .info,
                        "left out \(count) of \(all.count) policies, which are slower in use than "
                            + "at rest"))
            }
        }
        return policies
    }

    private static func feelsAnything(_ profile: DeviceProfile) -> Bool {
        profile.activity?.sources.isEmpty == false
    }

    /// Whether something on the board watches for motion.
    private static func feelsMotion(_ profile: DeviceProfile) -> Bool {
        profile.activity?.sources.contains { !$0.isUse } == true
    }

    private static func usualStart(_ request: BenchRequest) -> StartRule {
        feelsMotion(request.profile) ? .becomingActive : .anyTime
    }

    private static func radio(
        _ chip: SystemOnChip, _ battery: Battery, of profile: DeviceProfile,
        _ options: BenchOptions
    ) throws(BenchError) -> Radio {
        // A battery beyond the chip's supply needs a regulator.
        let voltage = options.voltage ?? min(battery.voltage, chip.supply.upperBound)
        let power = options.power ?? profile.advertising.first?.txPower ?? 0
        guard chip.supply.contains(voltage) else {
            throw BenchError(
                "\(chip.name) works at \(FigureText.significant(chip.supply.lowerBound, 3)) V to "
                    + "\(FigureText.significant(chip.supply.upperBound, 3)) V, not at "
                    + "\(FigureText.significant(voltage, 3)) V; write another --voltage")
        }
        guard let radio = Radio(chip, voltage: voltage, power: power) else {
            let powers = chip.transmit.map { "\($0.power)" }.joined(separator: ", ")
            throw BenchError(
                "\(chip.name) is not known at \(power) dBm; write --tx-power with one of \(powers)")
        }
        return radio
    }

    private static func targets(
        _ options: BenchOptions, usual: StartRule
    ) throws(BenchError) -> [BenchTarget] {
        var targets: [BenchTarget] = []
        for (name, text) in options.targets {
            targets.append(
                name == "target-life" ? try .life(text) : try .p95(text, usual: usual))
        }
        return targets
    }

    // MARK: parts

    static func merge(
        _ paths: [String], _ options: BenchOptions, _ console: inout Console
    ) -> ExitCode {
        var parts: [(name: String, result: BenchResult)] = []
        for path in paths {
            do throws(SystemError) {
                let bytes = try readFile(path, octetsMax: 1 << 30)
                guard let part = BenchJobs.part(bytes) else {
                    console.error("\(path) is no part of a benchmark; name what --shard printed")
                    return .usage
                }
                parts.append((path, part))
            } catch {
                console.error("\(error)")
                return .usage
            }
        }
        guard canWrite(options, &console) else { return .failure }
        do throws(BenchError) {
            let result = try BenchMerge.merge(parts)
            let targets = try targets(options, usual: result.usualStart)
            return report(result, targets, options, &console)
        } catch {
            console.error("\(error)")
            return .usage
        }
    }

    // MARK: what comes out

    private static func report(
        _ result: BenchResult, _ targets: [BenchTarget], _ options: BenchOptions,
        _ console: inout Console
    ) -> ExitCode {
        var start = result.usualStart
        for case .p95(_, let rule) in targets { start = rule }
        start = options.start ?? start
        for case .p95(_, let rule) in targets
        where result.points.allSatisfy({ $0.slowest(rule) == nil }) {
            console.error(
                "--target-p95: nobody searches \(rule.title): the accessory never becomes active "
                    + "in this time; write @any, a longer --duration, or another 'activity'")
            return .usage
        }
        // What took its time to find is printed, whatever becomes of the files.
        var isWritten = true
        if let path = options.csv {
            do throws(SystemError) { try write(result.csv, to: path) } catch {
                console.error("\(error)")
                isWritten = false
            }
        }
        if let path = options.html {
            do throws(SystemError) {
                let page = try BenchPageFile.text(result, start, &console)
                try write(page, to: path)
            } catch {
                console.error("\(error)")
                isWritten = false
            }
        }
        if options.run.json {
            console.print(result.json.text())
            if !targets.isEmpty { console.print(result.adviceJSON(targets).text()) }
        } else {
            console.print(BenchText.text(result, targets: targets, start: start))
        }
        guard isWritten else { return .failure }
        let isMet = targets.isEmpty || result.advice(for: targets)?.isMet == true
        return isMet ? .done : .unmet
    }

    /// Whether the files can be written, which is only done once there is something to write.
    private static func canWrite(_ options: BenchOptions, _ console: inout Console) -> Bool {
        do throws(SystemError) {
            for path in [options.csv, options.html].compactMap({ $0 }) {
                try requireWritable(path)
            }
            return true
        } catch {
            console.error("\(error)")
            return false
        }
    }

    private static func write(_ text: String, to path: String) throws(SystemError) {
        let output = try FileOutput(path: path)
        try output.write(Array(text.utf8))
        try output.close()
    }
}
