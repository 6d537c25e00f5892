// `bench --profile FILE`: the run of the benchmark.
import Bench

enum BenchRunCommand {
    static func run(_ options: BenchOptions, _ console: inout Console) -> ExitCode {
        console.error("bench runs no profiles yet; write bench validate")
        return .usage
    }
}
