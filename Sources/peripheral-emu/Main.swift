// The program: reads the command line and gives each command its run.
import Emulator
import Glibc
import LinuxIO
import Profiles

@main
enum PeripheralEmu {
    static let version = "0.1.0"

    static func main() {
        keepStandardStreams()
        if CommandLine.arguments.dropFirst().first == AdapterKeeper.argument {
            if let number = CommandLine.arguments.last.flatMap({ UInt16($0) }) {
                AdapterKeeper.run(number)
            }
            return
        }
        let code = run(Array(CommandLine.arguments.dropFirst()))
        exit(code.rawValue)
    }

    /// Opens what the caller has closed: the number would go to the next file, and the log into it.
    private static func keepStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number, which is this one.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }

    private static func run(_ arguments: [String]) -> ExitCode {
        var console = Console(level: .info)
        switch Options.parse(arguments) {
        case .failure(let error):
            console.error("\(error)")
            return console.finish(.usage)
        case .success(let command):
            let code = run(command, &console)
            return console.finish(code)
        }
    }

    private static func run(_ command: Command, _ console: inout Console) -> ExitCode {
        switch command {
        case .help(let command):
            console.print(command.map(HelpText.of) ?? HelpText.whole)
        case .version: console.print("peripheral-emu \(version)")
        case .schema: console.print(ProfileSchema.text)
        case .reference: console.print(String(ProfileReference.text.dropLast()))
        case .check(let paths): return CheckCommand.run(paths, &console)
        case .replay(let transcript, let profile):
            return CheckCommand.replay(transcript, on: profile, &console)
        case .profiles: return ProfilesCommand.run(&console)
        case .control(let options): return ControlCommand.run(options, &console)
        case .bonds(let options): return BondsCommand.run(options, &console)
        case .bench(let options): return BenchCommand.run(options, &console)
        case .adapters: return AdaptersCommand.run(&console)
        case .air(let options): return AirCommand.run(options)
        case .run(let options): return RunCommand.run(options)
        }
        return .done
    }
}
