// The program: reads the command line and gives each command its run.
import Emulator
import Glibc
import Profiles

@main
enum PeripheralEmu {
    static let version = "0.1.0"

    static func main() {
        keepStandardStreams()
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
        defer { console.flush() }
        switch Options.parse(arguments) {
        case .failure(let error):
            console.error("\(error)")
            return .usage
        case .success(.help):
            console.print(Options.helpText)
            return .done
        case .success(.version):
            console.print("peripheral-emu \(version)")
            return .done
        case .success(.check(let paths)): return CheckCommand.run(paths, &console)
        case .success(.replay(let transcript, let profile)):
            return CheckCommand.replay(transcript, on: profile, &console)
        case .success(.schema):
            console.print(ProfileSchema.text)
            return .done
        case .success(.reference):
            console.print(ProfileReference.text)
            return .done
        case .success(.profiles): return ProfilesCommand.run(&console)
        case .success(.run(let options)): return RunCommand.run(options)
        }
    }
}
