// The command line: what it means, and what is said of a wrong one.
import Emulator
import LinuxIO
import SansIO
import Testing
import Wire

@testable import peripheral_emu

/// getopt_long keeps its place in variables of the process, so one test runs after another.
@Suite(.serialized) struct OptionsTests {
    private func run(_ line: String) throws -> RunOptions {
        let parsed = try Options.parse(line.split(separator: " ").map(String.init)).get()
        guard case .run(let options) = parsed else { throw UsageError("not run: \(parsed)") }
        return options
    }

    private func error(_ arguments: [String]) -> String {
        switch Options.parse(arguments) {
        case .failure(let error): error.description
        case .success(let command): "parsed: \(command)"
        }
    }

    private func error(_ line: String) -> String {
        error(line.split(separator: " ").map(String.init))
    }

    @Test("only a profile leaves everything else as usual")
    func defaults() throws {
        for line in ["--profile a.yaml", "run --profile a.yaml", "--profile=a.yaml"] {
            let options = try run(line)
            #expect(options.profiles == ["a.yaml"])
            #expect(options.controller == nil && options.air == nil && options.capture == nil)
            #expect(options.duration == nil && options.seed == nil)
            #expect(!options.withCentral && !options.virtualTime && options.reconnects)
            #expect(options.logLevel == .info)
        }
    }

    @Test("what bench takes, and that its options are its own")
    func bench() throws {
        let line =
            "bench --profile a.yaml --soc nRF52832 --battery CR2450 --scanner a --scanner b "
            + "--tx-power -8 --voltage 2.8 --crowd 20 --precision 2.5% --seed 3 --duration 1d"
        guard
            case .bench(let bench) = try Options.parse(
                line.split(separator: " ").map(String.init)
            ).get()
        else { return #expect(Bool(false)) }
        #expect(bench.action == .run && bench.run.profiles == ["a.yaml"] && bench.run.seed == 3)
        #expect(bench.chip == "nRF52832" && bench.battery == "CR2450" && bench.power == -8)
        #expect(bench.scanners == ["a", "b"] && bench.voltage == 2.8 && bench.crowd == 20)
        #expect(bench.precision == 0.025 && bench.run.duration == .seconds(86_400))
        guard case .bench(let other) = try Options.parse(["bench", "validate"]).get() else {
            return #expect(Bool(false))
        }
        #expect(other.action == .validate)
        #expect(error("bench").contains("bench --profile FILE, or bench validate"))
        #expect(error("bench validat").contains("bench knows no \"validat\""))
        #expect(error("bench validate --seed 1").contains("takes no options"))
        #expect(error("bench --profile a --capture x").contains("does not take --capture"))
        #expect(error("bench --profile a --precision 1").contains("write 1%"))
        #expect(error("bench --profile a --profile b").contains("leave out all --profile but one"))
        #expect(error("bench --profile a --shard 1/2 --jobs 2").contains("leave out one"))
        #expect(error("bench --profile a --tx-power 99").contains("-127 to 20"))
        #expect(error("bench --profile a --voltage nan").contains("write 3.0"))
        #expect(error("--profile a.yaml --soc x").contains("belongs to bench"))
    }

    @Test("where state is kept, and what bonds takes")
    func state() throws {
        #expect(try run("--profile a.yaml").state == .automatic)
        #expect(try run("--profile a.yaml --state none").state == .none)
        #expect(try run("--profile a.yaml --state /x --erase").state == .folder("/x"))
        #expect(error("--profile a.yaml --state none --erase").contains("nothing to --erase"))
        #expect(error(["--profile", "a.yaml", "--state", ""]).contains("write --state DIR"))
        #expect(error("--profile a.yaml --keys").contains("bonds export --keys"))
        for line in ["bonds", "bonds list", "bonds forget --state x", "bonds remove --state x"] {
            #expect(error(line).contains("write bonds list, bonds export or bonds remove"))
        }
        #expect(error("bonds remove nobody --state x").contains("is no address"))
        #expect(error("bonds list --keys --state x").contains("belongs to bonds export"))
        guard
            case .bonds(let bonds) = try Options.parse(
                ["bonds", "remove", "C0:11:22:33:44:55", "--state", "x"]
            ).get()
        else { return #expect(Bool(false)) }
        #expect(bonds.folder == "x" && bonds.action == .remove(DeviceAddress("C0:11:22:33:44:55")))
        let choice = StateChoice.folder("/y")
        #expect(choice.path(profile: "p.yaml") == "/y")
        #expect(StateChoice.none.path(profile: "p.yaml") == nil)
    }

    @Test("every option is read")
    func everyOption() throws {
        let options = try run(
            "--profile a.yaml --controller virtual --air [::1]:0 --air-loss 12.5% --with-central "
                + "--capture x.btsnoop --duration 90s "
                + "--seed 18446744073709551615 --log-level debug --no-reconnect"
        )
        guard case .virtual = options.controller else {
            Issue.record("controller")
            return
        }
        #expect(options.air?.description == "[::1]:0")
        #expect(options.airLoss == 0.125)
        #expect(options.withCentral && !options.reconnects)
        #expect(options.capture == "x.btsnoop")
        #expect(options.duration == .seconds(90))
        #expect(options.seed == .max)
        #expect(options.logLevel == .debug)
        let other = try run("--controller tcp-client:127.0.0.1:6402 --profile a.yaml")
        guard case .transport(let spec) = other.controller else {
            Issue.record("controller")
            return
        }
        #expect(spec.description == "tcp-client:127.0.0.1:6402")
    }

    @Test("virtual time, the central and the air mean the virtual controller")
    func impliedController() throws {
        for line in ["--virtual-time --duration 1h", "--with-central", "--air 127.0.0.1:0"] {
            guard case .virtual = try run("--profile a.yaml " + line).controller else {
                Issue.record("\(line)")
                return
            }
        }
    }

    @Test("a capture on standard output has it for itself", arguments: ["json", "with-central"])
    func standardOutput(option: String) {
        for file in ["-", "/dev/stdout"] {
            #expect(
                error("--profile a.yaml --capture \(file) --\(option)")
                    == "--capture \(file) and --\(option) both write to standard output; "
                    + "write --capture FILE")
        }
    }

    @Test("options that do not go together are refused with what to leave out")
    func rules() {
        let profile = "--profile a.yaml "
        let tcp = "--controller tcp-client:127.0.0.1:6402"
        #expect(
            error(profile + "--virtual-time")
                == "--virtual-time needs an end; add --duration T")
        #expect(
            error(profile + "--virtual-time --duration 1s --air 127.0.0.1:0")
                == "hosts on --air live in real time; leave out one of the two")
        #expect(
            error(profile + "--virtual-time --duration 1s --watch")
                == "who edits a profile for --watch lives in real time; "
                + "leave out that or --virtual-time")
        for option in [
            "--virtual-time --duration 1s", "--with-central", "--air 127.0.0.1:0", "--air-loss 1%",
        ] {
            let name = String(option.prefix { $0 != " " })
            #expect(
                error(profile + option + " " + tcp)
                    == "\(name) needs the virtual controller; leave out that or \(tcp)")
        }
        #expect(
            error("--seed 1") == "there is no profile to run; write --profile FILE, or see --help")
        #expect(error("") == "there is no profile to run; write --profile FILE, or see --help")
        #expect((try? run("--profile a --profile b --with-central"))?.profiles == ["a", "b"])
        #expect(error(profile + "b.yaml") == "\"b.yaml\" is no option; write --profile b.yaml")
    }

    @Test("--take-over is for adapters")
    func takeOver() throws {
        let options = try run("--profile a.yaml --controller hci:1 --take-over")
        guard case .transport(let spec) = options.controller else {
            Issue.record("controller")
            return
        }
        #expect(spec.description == "hci:1" && spec.isAdapter)
        for controller in ["", " --controller virtual", " --controller unix:/tmp/x"] {
            #expect(
                error("--profile a.yaml --take-over" + controller)
                    == "--take-over needs an adapter; add --controller hci:N")
        }
    }

    @Test("air takes the options of the air alone")
    func air() throws {
        let words = "air --vhci 2 --air 127.0.0.1:0 --air-timing ideal --air-loss 5% --duration 3s"
        let parsed = try Options.parse(words.split(separator: " ").map(String.init)).get()
        guard case .air(let options) = parsed else {
            Issue.record("air")
            return
        }
        #expect(options.adapters == 2 && options.duration == .seconds(3))
        #expect(options.airLoss == 0.05)
        #expect(error("air --vhci 0") == "--vhci: \"0\" is no number of 1 to 16 adapters")
        #expect(error("air --with-central").hasPrefix("air does not take --with-central, only "))
        #expect(error("air a.yaml") == "air takes no profile; write --profile a.yaml without air")
        #expect(
            error("--profile a.yaml --vhci 1 --controller hci:0")
                == "--vhci needs the virtual controller; leave out that or --controller hci:0")
        guard case .adapters = try Options.parse(["adapters"]).get() else {
            Issue.record("adapters")
            return
        }
    }

    @Test("check takes one transcript for one profile")
    func transcript() throws {
        let words = ["check", "--transcript", "t.txt", "a.yaml"]
        guard case .replay("t.txt", "a.yaml") = try Options.parse(words).get() else {
            Issue.record("replay")
            return
        }
        let usage = "one transcript goes with one profile; write check --transcript FILE PROFILE"
        #expect(error("check --transcript t.txt a.yaml b.yaml") == usage)
        #expect(error("check --transcript t.txt --transcript u.txt a.yaml") == usage)
        #expect(error("check --transcript t.txt") == "check needs a profile; write check FILE…")
        #expect(
            error("--profile a.yaml --transcript t.txt")
                == "--transcript belongs to check; write check --transcript t.txt PROFILE")
    }

    @Test("check takes files and nothing else")
    func check() throws {
        guard case .check(let files) = try Options.parse(["check", "a.yaml", "b.yaml"]).get() else {
            Issue.record("check")
            return
        }
        #expect(files == ["a.yaml", "b.yaml"])
        #expect(error("check") == "check needs a profile; write check FILE…")
        #expect(
            error("check a.yaml --seed 1") == "check does not take --seed; write check FILE…")
        guard case .check(let odd) = try Options.parse(["check", "--", "--odd.yaml"]).get() else {
            Issue.record("check")
            return
        }
        #expect(odd == ["--odd.yaml"])
    }

    @Test("help and version win over everything that is readable")
    func helpAndVersion() throws {
        for line in [
            "--help", "run --help", "check --help", "--seed 1 --help", "check x --help", "-h",
            "check -h",
        ] {
            let first = line.split(separator: " ").first.map(String.init)
            guard
                case .help(first == "run" || first == "check" ? first : nil) = try Options.parse(
                    line.split(separator: " ").map(String.init)
                ).get()
            else {
                Issue.record("\(line)")
                return
            }
        }
        guard case .version = try Options.parse(["--version"]).get() else {
            Issue.record("version")
            return
        }
    }

    @Test("a mistyped command or option is answered with the nearest")
    func hints() {
        #expect(error("chekc a.yaml") == "there is no command \"chekc\"; did you mean check?")
        #expect(
            error("a.yaml")
                == "there is no command \"a.yaml\"; to run it write --profile a.yaml")
        #expect(error("frobnicate") == "there is no command \"frobnicate\"; see --help")
        #expect(error("--profle a") == "there is no option --profle; did you mean --profile?")
        #expect(error("--profle=a") == "there is no option --profle; did you mean --profile?")
        #expect(error("--c x") == "there is no option --c; did you mean --controller?")
        #expect(error("--frobnicate") == "there is no option --frobnicate; see --help")
        #expect(error("-x") == "there is no option -x; see --help")
        #expect(error("--profile a -") == "\"-\" is no option; write --profile -")
    }

    @Test("arguments that are missing, needless or unreadable are said")
    func arguments() {
        #expect(error("--profile") == "--profile needs an argument; write --profile FILE")
        #expect(error("--seed 1 --air") == "--air needs an argument; write --air HOST:PORT")
        #expect(error("--help=x") == "--help takes no argument")
        let profile = "--profile a "
        #expect(
            error(profile + "--air 6402")
                == "--air: \"6402\" is no numeric address with a port; write 127.0.0.1:6402")
        for seed in ["-1", "x", "1.5", "+1", "18446744073709551616"] {
            #expect(
                error(profile + "--seed=" + seed)
                    == "--seed: \"\(seed)\" is no whole number of 0 to 18446744073709551615")
        }
        for share in ["10", "%", "101%", "-1%", "1e1%", "nan%", "1.2.3%"] {
            #expect(
                error(profile + "--air-loss=" + share)
                    == "--air-loss: \"\(share)\" is no share of 0% to 100%; write 10%")
        }
        #expect(
            error(profile + "--log-level trace")
                == "--log-level: there is no level \"trace\"; "
                + "write one of error, warning, info, debug"
        )
        #expect(
            error(profile + "--controller hci0").hasPrefix(
                "--controller: there is no controller \"hci0\"; write one of hci:N, "))
        #expect(
            error(profile + "--controller hci:x")
                == "--controller: \"hci:x\" is not a usable controller; write hci:N")
    }

    @Test("durations are a number and a unit")
    func durations() throws {
        let readable: [(String, TimeSpan)] = [
            ("1h", .seconds(3600)), ("30 s", .seconds(30)), ("90s", .seconds(90)),
            ("500ms", .milliseconds(500)), ("1d", .seconds(86_400)), ("5min", .seconds(300)),
            ("1.5h", .seconds(5400)), ("250us", .microseconds(250)),
            ("36500d", .seconds(36_500 * 86_400)),
        ]
        for (text, span) in readable { #expect(try Options.duration(text) == span) }
        for text in [
            "", "1", "s", "0s", "-1s", "1e3s", "1 m", "36501d", "1..5s", "inf s", "1s ", "٣s",
        ] {
            #expect(
                error(["--profile", "a", "--duration", text])
                    == "--duration: \"\(text)\" is no time of up to 36500 days; "
                    + "write 90s, 5min, 1h, 500ms or 1d")
        }
    }

    @Test("the help text names every option, command and controller within 80 columns")
    func helpText() {
        let lines = HelpText.whole.split(separator: "\n").map(String.init)
        for row in Options.table {
            #expect(lines.contains { $0.hasPrefix("  --" + row.name) })
        }
        for command in Options.commands {
            #expect(lines.contains { $0.hasPrefix("  " + command.name) })
        }
        for method in ControlMethod.all {
            #expect(lines.contains { $0.hasPrefix("  " + method.usage) })
        }
        for (form, _) in ControllerSpec.forms {
            #expect(lines.contains { $0.hasPrefix("  " + form) })
        }
        #expect(lines.allSatisfy { $0.count <= 80 && $0.last != " " })
    }

    @Test("a command's own help names the options that it takes, and no others")
    func helpOfACommand() {
        let usual = [
            "run": "--profile a", "air": "", "check": "a", "ctl": "list --control a",
            "bonds": "export --profile a", "bench": "--profile a",
        ]
        for (command, _) in Options.commands {
            let lines = HelpText.of(command).split(separator: "\n").map(String.init)
            #expect(lines.first?.hasPrefix("Usage: peripheral-emu \(command)") == true)
            #expect(lines.allSatisfy { $0.count <= 80 && $0.last != " " })
            for row in Options.table where ![Options.help, Options.version].contains(row.name) {
                let option = "--\(row.name)" + (row.argument == nil ? "" : "=1")
                let answer = error("\(command) \(usual[command] ?? "") \(option)")
                let isRefused =
                    answer.contains("does not take --\(row.name)")
                    || answer.contains("\(command) takes nothing")
                    || answer.hasPrefix("--\(row.name) belongs to ")
                #expect(
                    lines.contains {
                        $0.hasPrefix(row.argument == nil ? "  --\(row.name)  " : "  --\(row.name) ")
                    } != isRefused,
                    "\(command) \(option): \(answer)")
            }
        }
    }

    private func control(_ line: String) throws -> ControlOptions {
        let parsed = try Options.parse(line.split(separator: " ").map(String.init)).get()
        guard case .control(let options) = parsed else { throw UsageError("not ctl: \(parsed)") }
        return options
    }

    @Test("ctl takes its arguments by their places, a value also behind an equals sign")
    func controlArguments() throws {
        let lines = [
            ("ctl --control a set x=1=2", #"{"reference":"x","value":"1=2"}"#),
            ("ctl --control a set x=\u{301}y", "{\"reference\":\"x\",\"value\":\"\u{301}y\"}"),
            ("ctl set x 1 --control a", #"{"reference":"x","value":"1"}"#),
            ("ctl --control=a set x -5", #"{"reference":"x","value":" -5"}"#),
            ("ctl --control a get x", #"{"reference":"x"}"#),
            ("ctl --control a disconnect", "{}"), ("ctl --control a watch", "{}"),
            ("ctl --control a disconnect 3", #"{"link":"3"}"#),
            ("ctl --control a --accessory b list", #"{"accessory":"b"}"#),
            (
                "ctl --control a set b/x=1 --accessory c",
                #"{"reference":"b/x","value":"1","accessory":"c"}"#
            ),
        ]
        for (line, parameters) in lines {
            let options = try control(line)
            #expect(options.path == "a" && !options.json)
            #expect(options.parameters.text() == parameters)
        }
        #expect(try control("ctl --json --control a list").json)
        #expect(try run("--profile a.yaml --control b").control == "b")
    }

    @Test("a wrong ctl is told what to write")
    func wrongControl() {
        let lines = [
            ("ctl", "ctl needs a method, one of answer, authorize, disconnect, get, list, notify"),
            ("ctl --control a", "ctl needs a method"),
            ("ctl --control a lits", "did you mean list?"),
            ("ctl --control a fly", "there are answer, authorize"),
            ("ctl list", "write ctl --control PATH list, or set PERIPHERAL_EMU_CONTROL"),
            ("ctl --control a get", "write ctl get REFERENCE"),
            ("ctl --control a get x y", "write ctl get REFERENCE"),
            ("ctl --control a list x", "list takes nothing; write ctl list"),
            ("ctl --control a set x", "write ctl set REFERENCE VALUE"),
            ("ctl --control a --seed 3 list", "ctl does not take --seed"),
            ("--profile a.yaml --accessory b", "--accessory belongs to ctl"),
            ("check --control a b.yaml", "check does not take --control"),
            (
                "--profile a.yaml --virtual-time --duration 1s --control b",
                "who asks at --control lives in real time"
            ),
        ]
        for (line, said) in lines { #expect(error(line).contains(said), "\(error(line))") }
    }

    @Test("many parses in a row do not disturb each other")
    func again() throws {
        for _ in 0..<100 {
            #expect(error("--profle a").hasSuffix("--profile?"))
            #expect(try run("--seed 3 --profile a").seed == 3)
        }
    }
}
