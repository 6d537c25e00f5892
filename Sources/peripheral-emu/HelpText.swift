// The text of --help: of everything, or of one command.
import Emulator
import LinuxIO

enum HelpText {
    /// A heading and its rows, with the commands that have use for them.
    private struct Section {
        let heading: String
        let commands: Set<String>
        let rows: [String]
    }

    /// How each command is written.
    private static let usages: [(command: String, arguments: String)] = [
        ("run", "--profile FILE [OPTION…]"),
        ("adapters", ""),
        ("air", "[--vhci N] [OPTION…]"),
        ("check", "FILE…"),
        ("check", "--transcript FILE PROFILE"),
        ("ctl", "--control PATH METHOD [ARGUMENT…]"),
        ("bonds", "list|export --profile FILE"),
        ("bonds", "remove ADDRESS|all --profile FILE"),
        ("bench", "--profile FILE [OPTION…]"),
        ("bench", "merge FILE…"),
        ("bench", "validate"),
    ]

    /// The options that a command takes, by name, beside --help and --version.
    static func options(of command: String) -> [String] {
        switch command {
        case "run":
            let others = [Options.accessory, Options.keys, Options.transcript]
            return Options.general.map(\.name).filter { !others.contains($0) }
        case "air": return Options.airOptions
        case "check": return [Options.transcript]
        case "ctl": return [Options.control, Options.accessory, Options.json]
        case "bonds": return [Options.profile, Options.state, Options.keys]
        case "bench": return BenchOptions.shared + BenchOptions.rows.map(\.name)
        default: return []
        }
    }

    /// All that the program takes.
    static var whole: String {
        var lines = usages.enumerated().map { place, usage in
            (place == 0 ? "Usage: " : "       ")
                + written(usage.command == "run" ? "" : usage.command, usage.arguments)
        }
        lines += ["", "Commands:"]
        lines += Options.commands.map { row($0.name, $0.help) }
        lines += block("Options:", Options.general.map(row))
        lines += block("Options of bench:", BenchOptions.rows.map(row))
        for section in sections { lines += block(section.heading, section.rows) }
        return (lines + exitCodes).joined(separator: "\n")
    }

    /// What one of the commands takes.
    static func of(_ command: String) -> String {
        let own = usages.filter { $0.command == command }.map { written(command, $0.arguments) }
        var lines = (own.isEmpty ? [written(command, "")] : own).enumerated().map { place, usage in
            (place == 0 ? "Usage: " : "       ") + usage
        }
        if let help = Options.commands.first(where: { $0.name == command })?.help {
            lines += ["", row("", help)]
        }
        let names = options(of: command)
        let rows = Options.table.filter { names.contains($0.name) }.map(row)
        if !rows.isEmpty { lines += block("Options:", rows) }
        for section in sections where section.commands.contains(command) {
            lines += block(section.heading, section.rows)
        }
        return (lines + exitCodes + ["", "peripheral-emu --help shows all commands."])
            .joined(separator: "\n")
    }

    private static var sections: [Section] {
        [
            Section(
                heading: "Controllers:", commands: ["run"],
                rows: ControllerSpec.forms.map { row($0.0, $0.1) }),
            Section(
                heading: "Activity sources:", commands: ["run", "bench"],
                rows: ActivitySpec.forms.map { row($0.0, $0.1) }),
            Section(
                heading: "Methods of ctl:", commands: ["ctl"],
                rows: ControlMethod.all.map { row($0.usage, $0.help) }),
        ]
    }

    private static let exitCodes = [
        "",
        "Exit codes: 0 done, 1 an expectation, a target or a tolerance was not met or",
        "ctl was refused, 2 wrong usage or profile, 3 controller or system failure.",
    ]

    private static func written(_ command: String, _ arguments: String) -> String {
        ["peripheral-emu", command, arguments].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private static func block(_ heading: String, _ rows: [String]) -> [String] {
        ["", heading] + rows
    }

    private static func row(_ option: Options.Row) -> String {
        row("--" + option.name + (option.argument.map { " " + $0 } ?? ""), option.help)
    }

    /// Two columns; the left one is as wide as the longest form of a controller, the right one is
    /// broken into lines at 80. Without a left one the text begins where that would.
    private static func row(_ left: String, _ right: String) -> String {
        let (width, limit) = (left.isEmpty ? 2 : 31, 80)
        var text = left.isEmpty ? "" : "  " + left
        var column = text.count
        var gap = max(1, width - column)
        for word in right.split(separator: " ") {
            if column + gap + word.count > limit {
                text += "\n"
                (column, gap) = (0, width)
            }
            text += String(repeating: " ", count: gap) + word
            column += gap + word.count
            gap = 1
        }
        return text
    }
}
