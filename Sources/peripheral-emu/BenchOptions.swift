// The command line of `bench`: what is weighed, and what comes out.
import Bench
import PowerModel
import SansIO

/// What the user wants of `bench`.
struct BenchOptions {
    enum Action: Equatable {
        /// Compare the model with published values.
        case validate
        /// Run a profile.
        case run
        /// Join the files of shards.
        case merge([String])
    }

    var action = Action.run
    /// The options that `bench` shares with `run`.
    var run = RunOptions()
    /// Names or paths of model files; nil takes the default.
    var chip: String?
    var battery: String?
    /// nil: the default of the policy.
    var sensor: String?
    /// Names; empty takes the default.
    var scanners: [String] = []
    /// dBm.
    var power: Int8?
    /// Volts; nil takes the battery's.
    var voltage: Double?
    /// Other advertisers within reach.
    var crowd: Int?
    /// 0 to 1.
    var precision: Double?
    /// As written.
    var sweeps: [String] = []
    var targets: [(option: String, text: String)] = []
    var csv: String?
    var html: String?
    /// Which latency policies are compared by; nil takes the usual one.
    var start: StartRule?
    /// How many processes share the work.
    var jobs = 1
    /// nil runs everything.
    var shard: BenchShard?
    /// The options that a worker needs too, as they were written.
    var forwarded: [String] = []

    static let shared = ["profile", "activity", "duration", "seed", Options.json]

    /// Options of what is made of all parts.
    private static let ofOutput = [
        Options.json, "csv", "html", "jobs", "shard", "latency",
    ]

    /// Options that a part alone does not answer, and those that `merge` takes.
    private static let ofWhole = ["csv", "html", "latency"]
    private static let ofMerge = ofWhole + [Options.json, "target-life", "target-p95"]

    /// The options that only `bench` takes.
    static let rows: [Options.Row] = [
        row("soc", "CHIP", "the chip: a name, or a file like those in Profiles/power/socs"),
        row("battery", "CELL", "the battery: a name, or a file like those in Profiles/power"),
        row("sensor", "SENSOR", "what watches for motion, none for nothing"),
        row("scanner", "PHONE", "who searches, may stand several times"),
        row("tx-power", "DBM", "the transmit power; else the first set's 'tx-power', or 0 dBm"),
        row("voltage", "V", "the chip's supply, the battery's without it"),
        row("crowd", "N", "this many other advertisers are within reach"),
        row("precision", "P", "how exact latencies are to be, such as 1%"),
        row("sweep", "NAME=VALUES", "vary a part of the policy, such as active=100ms..1s"),
        row("target-life", "T", "find the policy that lasts this long, such as 2y"),
        row("target-p95", "T", "and is found within this time in 95 of 100 cases"),
        row("latency", "START", "compare policies by p95 at any time, while active, at a pickup"),
        row("jobs", "N", "share the work among N processes"),
        row("shard", "K/N", "print part K of N, for bench merge"),
        row("csv", "FILE", "write all figures as a table"),
        row("html", "FILE", "write a page with plots, by gnuplot"),
    ]

    private static func row(_ name: String, _ argument: String, _ help: String) -> Options.Row {
        Options.Row(name, argument, help) { _, _ throws(UsageError) in
            throw UsageError("--\(name) belongs to bench; write bench --\(name) \(argument)")
        }
    }

    init(_ scan: Options.Scan) throws(UsageError) {
        for option in scan.options {
            let row = Options.table[option.row]
            if !Self.ofOutput.contains(row.name) {
                forwarded += ["--\(row.name)=\(option.argument)"]
            }
            if Self.shared.contains(row.name) {
                try row.apply(&run, option.argument)
            } else {
                try read(row.name, option.argument)
            }
        }
        if run.profiles.count == 1 { try run.assignSubstitutes() }
        if shard != nil {
            if scan.options.contains(where: { Options.table[$0.row].name == "jobs" }) {
                throw UsageError(
                    "--shard prints one part, and --jobs shares all of them; leave out one of the "
                        + "two")
            }
            let others = Options.table.map(\.name).filter { !Self.ofWhole.contains($0) }
            try refuse(scan, but: others) { name in
                "--shard prints one part, and --\(name) belongs to all of them; "
                    + "write it with bench merge"
            }
        }
        switch (scan.operands.first, scan.operands.count) {
        case (nil, _):
            guard !run.profiles.isEmpty else {
                throw UsageError(
                    "there is no profile to weigh; write bench --profile FILE, or bench validate")
            }
            guard run.profiles.count == 1 else {
                throw UsageError(
                    "bench weighs one profile, and there are \(run.profiles.count); "
                        + "leave out all --profile but one")
            }
        case ("validate", 1):
            guard scan.options.isEmpty else {
                throw UsageError("bench validate takes no options; leave them out")
            }
            action = .validate
        case ("merge", 1):
            throw UsageError(
                "bench merge needs the files that --shard wrote; write bench merge FILE…")
        case ("merge", 2...):
            try refuse(scan, but: Self.ofMerge) { name in
                "bench merge does not take --\(name), which the parts hold; leave it out"
            }
            action = .merge(Array(scan.operands.dropFirst()))
        case (let word?, _):
            throw UsageError(
                "bench knows no \"\(word)\"; write bench --profile FILE, bench validate, or "
                    + "bench merge FILE…")
        }
    }

    private func refuse(
        _ scan: Options.Scan, but names: [String], _ words: (String) -> String
    ) throws(UsageError) {
        let given = scan.options.map { Options.table[$0.row].name }
        if let name = given.first(where: { !names.contains($0) }) {
            throw UsageError(words(name))
        }
    }

    private mutating func read(_ name: String, _ text: String) throws(UsageError) {
        switch name {
        case "soc": chip = text
        case "battery": battery = text
        case "sensor": sensor = text
        case "scanner": scanners.append(text)
        case "tx-power": power = try Self.whole(name, text, -127...20, example: "0")
        case "crowd": crowd = try Self.whole(name, text, 0...1_000, example: "20")
        case "voltage":
            guard let value = Double(text), (0.5...6).contains(value) else {
                throw UsageError("--voltage: \"\(text)\" is no voltage in volts; write 3.0")
            }
            voltage = value
        case "precision": precision = try Self.share(name, text)
        case "sweep": sweeps.append(text)
        case "target-life", "target-p95": targets.append((name, text))
        case "latency":
            guard let rule = StartRule(rawValue: text) else {
                throw UsageError(
                    "--latency: \"\(text)\" is no start; write any, active or pickup")
            }
            start = rule
        case "jobs": jobs = try Self.whole(name, text, 1...256, example: "4")
        case "shard":
            guard let part = BenchShard(text) else {
                throw UsageError(
                    "--shard: \"\(text)\" is no part; write 1/8 for the first of eight")
            }
            shard = part
        case "csv": csv = text
        case "html": html = text
        default: throw UsageError("bench does not take --\(name); see --help")
        }
    }

    private static func whole<Number: FixedWidthInteger>(
        _ name: String, _ text: String, _ range: ClosedRange<Number>, example: String
    ) throws(UsageError) -> Number {
        guard let value = Number(text), range.contains(value) else {
            throw UsageError(
                "--\(name): \"\(text)\" is no whole number of \(range.lowerBound) to "
                    + "\(range.upperBound); write \(example)")
        }
        return value
    }

    /// A share such as `1%` as 0 to 1.
    private static func share(_ name: String, _ text: String) throws(UsageError) -> Double {
        guard text.last == "%", let percent = Double(text.dropLast()), percent > 0, percent <= 100
        else { throw UsageError("--\(name): \"\(text)\" is no share; write 1%") }
        return percent / 100
    }
}
