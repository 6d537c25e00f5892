// The command line: one table of options makes the parser and the help text.
import CLinux
import Emulator
import LinuxIO
import SansIO
import VirtualController
import Wire

/// What the user wants done.
enum Command {
    case run(RunOptions)
    /// List the Bluetooth adapters of this machine.
    case adapters
    /// Be the virtual air alone.
    case air(RunOptions)
    /// Validate these profiles.
    case check([String])
    /// Replay a transcript on a profile's server.
    case replay(transcript: String, profile: String)
    /// Print the format's JSON Schema.
    case schema
    /// Print the reference of the format's keys.
    case reference
    /// List the bundled profiles.
    case profiles
    /// Ask a running accessory for something.
    case control(ControlOptions)
    /// Look at the bonds of an accessory, or remove some.
    case bonds(BondsOptions)
    /// Weigh battery life against discovery latency, or the model against published values.
    case bench(BenchOptions)
    /// The help text of this command; nil: of all.
    case help(String?)
    case version
}

/// The options of `run`.
struct RunOptions {
    /// The profiles' paths, each an accessory; one at least.
    var profiles: [String] = []
    /// nil leaves the choice to the program.
    var controller: ControllerSpec?
    /// Whether an adapter that is up is taken down for the time.
    var takesOver = false
    /// Where other hosts join the virtual air; nil is the default place.
    var air: Endpoint?
    var airTiming = Air.Timing.radio
    /// How many adapters the kernel gets on the virtual air.
    var adapters: Int?
    /// The probability, 0 to 1, that a packet on the air is lost; nil loses none.
    var airLoss: Double?
    var withCentral = false
    var virtualTime = false
    /// The capture file's path.
    var capture: String?
    /// nil runs until a signal.
    var duration: TimeSpan?
    /// nil takes the controller's own default.
    var seed: UInt64?
    var logLevel = LogLevel.info
    /// One JSON object a line on standard output instead of the log's lines.
    var json = false
    /// What takes the place of the profiles' parts, by the accessories' numbers.
    var substitutes: [Substitutes] = []
    /// What `substitutes` is made of, as it was written.
    var written: [Substitutes.Written] = []
    /// The path of the control socket; nil has none.
    var control: String?
    /// Whether new versions of the profile are flashed while it runs.
    var watches = false
    /// Whether a controller that was lost is waited for.
    var reconnects = true
    /// Where a person's answers to pairings come from, beside the control socket.
    var answers = AnswerChoice.automatic
    /// Where bonds and the like are kept.
    var state = StateChoice.automatic
    /// Whether what was kept is forgotten first.
    var erases = false

    var names: AccessoryNames { AccessoryNames(files: profiles.map { ProfileFile.name(of: $0) }) }

    /// Accessories of one run: with the hosts that join, as many as the virtual air holds.
    static let accessoriesMax = 1000
}

/// A command line that cannot be used, as a sentence that says what to write.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The reading of the command line. Nothing here touches the world.
enum Options {
    /// One option: a row of the table.
    struct Row: Sendable {
        let name: String
        /// What stands for the argument in the help text; nil where there is none.
        let argument: String?
        let help: String
        let apply: @Sendable (inout RunOptions, String) throws(UsageError) -> Void

        init(
            _ name: String, _ argument: String? = nil, _ help: String,
            apply: @escaping @Sendable (inout RunOptions, String) throws(UsageError) -> Void
        ) {
            self.name = name
            self.argument = argument
            self.help = help
            self.apply = apply
        }
    }

    /// Every option.
    static let table = general + BenchOptions.rows

    /// The options of the other commands, in the order of the help text.
    static let general: [Row] = [
        Row(
            profile, "FILE",
            "the accessory to be: a profile's path, or a bundled one's name; "
                + "$PERIPHERAL_EMU_PROFILES names folders of more; given again, one more accessory "
                + "in the same run, called NAME as its file is"
        ) {
            run, text throws(UsageError) in
            guard run.profiles.count < RunOptions.accessoriesMax else {
                throw UsageError(
                    "more than \(RunOptions.accessoriesMax) --profile are not supported; "
                        + "start the program twice")
            }
            run.profiles.append(text)
        },
        Row("controller", "SPEC", "the Bluetooth controller to use, see below") {
            run, text throws(UsageError) in run.controller = try controller(text)
        },
        Row(
            "take-over", nil,
            "take an adapter that is up, and leave it as it was at the end"
        ) { run, _ throws(UsageError) in run.takesOver = true },
        Row(
            "air", "HOST:PORT",
            "where other hosts join the virtual air, 127.0.0.1:6402 without it; "
                + "port 0 takes a free one"
        ) { run, text throws(UsageError) in run.air = try endpoint(text) },
        Row(
            "air-timing", "T",
            "radio keeps to connection events, ideal waits for none; radio without it"
        ) {
            run, text throws(UsageError) in run.airTiming = try airTiming(text)
        },
        Row("air-loss", "P", "lose this share of the packets on the air, such as 10%") {
            run, text throws(UsageError) in run.airLoss = try airLoss(text)
        },
        Row(
            "vhci", "N",
            "give this machine's kernel N Bluetooth adapters on the virtual air, by /dev/vhci"
        ) { run, text throws(UsageError) in run.adapters = try adapters(text) },
        Row(
            "with-central", nil,
            "let a built-in central show what a phone would see; ends after three "
                + "notifications, or when all was shown; several accessories one by one"
        ) {
            run, _ throws(UsageError) in run.withCentral = true
        },
        Row(
            "virtual-time", nil,
            "do not wait for the clock; equal seeds give equal runs; needs --duration"
        ) { run, _ throws(UsageError) in run.virtualTime = true },
        Row(
            "activity", "SOURCE",
            "what the device feels, instead of what the profile says; see below; with several "
                + "accessories NAME/SOURCE"
        ) { run, text throws(UsageError) in
            run.write("activity", text) { text, substitutes throws(UsageError) in
                substitutes.activity = try activity(text)
            }
        },
        Row(
            "watch", nil,
            "flash each new version of a profile, or of a file that it names, while it runs: "
                + "connections stay"
        ) { run, _ throws(UsageError) in run.watches = true },
        Row(
            passkey, "DIGITS",
            "the passkey that is shown to who pairs, or entered; instead of the profile's; with "
                + "several accessories NAME/DIGITS"
        ) { run, text throws(UsageError) in
            run.write(passkey, text) { text, substitutes throws(UsageError) in
                substitutes.passkey = try passkey(text)
            }
        },
        Row(
            answers, "FROM",
            "where a person answers who pairs: stdin, a line an answer, also one that was there "
                + "before its question, or none; a terminal answers without it, and so does ctl; "
                + "with several accessories NAME/ANSWER where more than one asks"
        ) { run, text throws(UsageError) in run.answers = try AnswerChoice(text) },
        Row(
            "capture", "FILE",
            "write all HCI packets to a btsnoop file; - is standard output; each of several "
                + "accessories on the virtual air has a file, with its name before FILE's ending"
        ) {
            run, text throws(UsageError) in run.capture = text
        },
        Row("duration", "T", "end after this time: 90s, 5min, 1h, 500ms, 1d") {
            run, text throws(UsageError) in run.duration = try duration(text)
        },
        Row("seed", "N", "where random choices begin: equal seeds, equal choices") {
            run, text throws(UsageError) in run.seed = try seed(text)
        },
        Row("log-level", "LEVEL", "error, warning, info or debug; info without it") {
            run, text throws(UsageError) in run.logLevel = try logLevel(text)
        },
        Row(
            json, nil,
            "print each event as a JSON object on a line of standard output; with ctl: results"
        ) {
            run, _ throws(UsageError) in run.json = true
        },
        Row(
            "set", "REF=VALUE",
            "a value instead of the profile's, as it would stand there or hex:01FF; REF is a "
                + "label or name, with .FIELD or as SERVICE/CHARACTERISTIC; with several "
                + "accessories NAME/REF=VALUE"
        ) { run, text throws(UsageError) in
            guard text.firstPlace(of: "=") != nil else {
                throw UsageError("--set \(text) has no value; write --set \(text)=VALUE")
            }
            run.write("set", text) { text, substitutes throws(UsageError) in
                substitutes.settings.append(text)
            }
        },
        Row(
            control, "PATH",
            "serve a control socket at this path, for ctl and other programs; with ctl: the "
                + "socket to speak to, $\(ControlOptions.variable) without it"
        ) { run, text throws(UsageError) in run.control = text },
        Row(
            accessory, "NAME",
            "with ctl, and as the parameter accessory of JSON-RPC: which of several is meant, by "
                + "its profile's file; get, set, notify and answer also take NAME/ before their "
                + "argument, the others mean all"
        ) { _, _ throws(UsageError) in
            throw UsageError("--accessory belongs to ctl; write ctl --accessory NAME METHOD")
        },
        Row(
            state, "DIR",
            "keep bonds and values with persist in this folder; none keeps nothing; without it "
                + "~/.local/state/peripheral-emu/NAME of a bundled profile, NAME-NUMBER of a "
                + "file, where there is something to keep and time is real"
        ) { run, text throws(UsageError) in run.state = try StateChoice(text) },
        Row("erase", nil, "forget what was kept before") { run, _ throws(UsageError) in
            run.erases = true
        },
        Row(keys, nil, "with bonds export: the keys too, which let anyone be this accessory") {
            _, _ throws(UsageError) in
            throw UsageError("--keys belongs to bonds export; write bonds export --keys")
        },
        Row("no-reconnect", nil, "end with exit code 3 when the controller is lost") {
            run, _ throws(UsageError) in run.reconnects = false
        },
        Row(
            transcript, "FILE",
            "with check: replay these PDUs on the profile's server, show the first difference"
        ) { _, text throws(UsageError) in
            throw UsageError(
                "--transcript belongs to check; write check --transcript \(text) PROFILE")
        },
        Row(help, nil, "show this text") { _, _ throws(UsageError) in },
        Row(version, nil, "show the version") { _, _ throws(UsageError) in },
    ]

    static let state = "state"
    static let passkey = "passkey"
    static let answers = "answers"
    static let keys = "keys"
    static let profile = "profile"
    static let control = "control"
    static let accessory = ControlMethod.accessory
    static let json = "json"
    static let transcript = "transcript"
    static let help = "help"
    static let version = "version"

    /// The commands and what they do.
    static let commands: [(name: String, help: String)] = [
        ("run", "be the accessory; the default"),
        ("adapters", "list this machine's Bluetooth adapters and whether they can be had"),
        ("air", "be the virtual air alone, for accessories and hosts that join it"),
        ("check", "validate profiles and show what they come to"),
        ("ctl", "ask a running accessory for something, see below"),
        ("bonds", "list, remove ADDRESS or all, export: who has paired with an accessory"),
        ("bench", "battery life against discovery latency; validate compares published values"),
        ("profiles", "list the profiles that --profile knows by name"),
        ("schema", "print the profile format as JSON Schema, for editors"),
        ("reference", "print the profile format's keys with examples, in Markdown"),
    ]

    /// Reads the arguments, the program's name not among them.
    static func parse(_ arguments: [String]) -> Result<Command, UsageError> {
        do throws(UsageError) { return .success(try command(arguments)) } catch {
            return .failure(error)
        }
    }

    private static func command(_ arguments: [String]) throws(UsageError) -> Command {
        var rest = arguments[...]
        var name = "run"
        let isNamed = rest.first.map { !$0.hasPrefix("-") } ?? false
        if isNamed, let first = rest.popFirst() { name = first }
        guard commands.contains(where: { $0.name == name }) else { throw unknown(command: name) }
        if rest.first == "-h" { return .help(isNamed ? name : nil) }
        let scan = try Scan(name == "ctl" ? rest.map(operandIfNumber) : Array(rest))
        let given = Set(scan.options.map { table[$0.row].name })
        if given.contains(help) { return .help(isNamed ? name : nil) }
        if given.contains(version) { return .version }
        if name == "check" { return try check(scan) }
        if name == "air" { return .air(try air(scan)) }
        if name == "ctl" { return .control(try ControlOptions(scan)) }
        if name == "bonds" { return .bonds(try BondsOptions(scan)) }
        if name == "bench" { return .bench(try BenchOptions(scan)) }
        let plain: [(String, Command)] = [
            ("schema", .schema), ("reference", .reference), ("profiles", .profiles),
            ("adapters", .adapters),
        ]
        if let (_, command) = plain.first(where: { $0.0 == name }) {
            guard scan.options.isEmpty, scan.operands.isEmpty else {
                throw UsageError("\(name) takes nothing; write peripheral-emu \(name)")
            }
            return command
        }
        var run = RunOptions()
        for option in scan.options { try table[option.row].apply(&run, option.argument) }
        if let operand = scan.operands.first {
            throw UsageError("\"\(operand)\" is no option; write --profile \(operand)")
        }
        return .run(try checked(run))
    }

    /// The options that `air` shares with `run`.
    static let airOptions = [
        "air", "air-timing", "air-loss", "vhci", "duration", "seed", "log-level",
    ]

    private static func air(_ scan: Scan) throws(UsageError) -> RunOptions {
        var run = RunOptions()
        for option in scan.options {
            guard airOptions.contains(table[option.row].name) else {
                let options = airOptions.map { "--" + $0 }.joined(separator: ", ")
                throw UsageError("air does not take --\(table[option.row].name), only \(options)")
            }
            try table[option.row].apply(&run, option.argument)
        }
        guard let operand = scan.operands.first else { return run }
        throw UsageError("air takes no profile; write --profile \(operand) without air")
    }

    private static func check(_ scan: Scan) throws(UsageError) -> Command {
        for option in scan.options where table[option.row].name != transcript {
            throw UsageError("check does not take --\(table[option.row].name); write check FILE…")
        }
        guard let profile = scan.operands.first else {
            throw UsageError("check needs a profile; write check FILE…")
        }
        guard let option = scan.options.first else { return .check(scan.operands) }
        guard scan.options.count == 1, scan.operands.count == 1 else {
            throw UsageError(
                "one transcript goes with one profile; write check --transcript FILE PROFILE")
        }
        return .replay(transcript: option.argument, profile: profile)
    }

    /// The names of standard output.
    static let standardOutput = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]

    /// What cannot be had where time is not real.
    private static func checkVirtualTime(_ run: RunOptions) throws(UsageError) {
        guard run.duration != nil else {
            throw UsageError("--virtual-time needs an end; add --duration T")
        }
        guard run.air == nil, run.adapters == nil else {
            let option = run.air == nil ? "--vhci" : "--air"
            throw UsageError("hosts on \(option) live in real time; leave out one of the two")
        }
        let live = [
            (run.control != nil, "who asks at --control lives"),
            (run.answers == .standardInput, "who answers by --answers lives"),
            (run.watches, "who edits a profile for --watch lives"),
        ]
        if let (_, who) = live.first(where: \.0) {
            throw UsageError("\(who) in real time; leave out that or --virtual-time")
        }
    }

    /// The rules between options.
    private static func checked(_ options: RunOptions) throws(UsageError) -> RunOptions {
        var run = options
        guard !run.profiles.isEmpty else {
            throw UsageError("there is no profile to run; write --profile FILE, or see --help")
        }
        if let capture = run.capture, run.profiles.contains(capture) {
            throw UsageError("--capture \(capture) would overwrite the profile; name another file")
        }
        try run.assignSubstitutes()
        if run.erases, run.state == .none {
            throw UsageError("with --state none there is nothing to --erase; leave out one of them")
        }
        if let capture = run.capture, standardOutput.contains(capture), run.json || run.withCentral
        {
            throw UsageError(
                "--capture \(capture) and \(run.json ? "--json" : "--with-central") both write to "
                    + "standard output; write --capture FILE")
        }
        if run.virtualTime { try checkVirtualTime(run) }
        if run.takesOver {
            guard case .transport(let spec) = run.controller, let taking = spec.takingOver else {
                throw UsageError("--take-over needs an adapter; add --controller hci:N")
            }
            run.controller = .transport(taking)
        }
        let needsVirtual =
            run.virtualTime
            ? "--virtual-time"
            : run.withCentral
                ? "--with-central"
                : run.air != nil ? "--air" : run.adapters != nil ? "--vhci" : "--air-loss"
        guard
            run.virtualTime || run.withCentral || run.air != nil || run.adapters != nil
                || run.airLoss != nil
        else { return run }
        switch run.controller {
        case nil, .virtual: run.controller = .virtual
        case .transport(let spec):
            throw UsageError(
                "\(needsVirtual) needs the virtual controller; "
                    + "leave out that or --controller \(spec)"
            )
        }
        return run
    }

    private static func unknown(command name: String) -> UsageError {
        let names = commands.map(\.name)
        if let near = NearestName.of(name, among: names) {
            return UsageError("there is no command \"\(name)\"; did you mean \(near)?")
        }
        if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
            return UsageError("there is no command \"\(name)\"; to run it write --profile \(name)")
        }
        return UsageError("there is no command \"\(name)\"; see --help")
    }
}
