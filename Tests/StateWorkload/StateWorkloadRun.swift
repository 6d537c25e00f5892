// Stores a workload step by step in a process of its own, which is killed at any moment.
//
//   state-workload FILE SEED TOLD
//
// TOLD: how many steps were acknowledged before. Says 'at N', then N + 1 and so on, each once it is
// stored; ends with 1 where the file is not as it was after TOLD steps, or one more.
import Emulator
import Harness
import LinuxIO
import SQLiteStore
import SansIO

#if canImport(Glibc)
    import Glibc
#endif

@main
enum StateWorkloadRun {
    static func main() throws {
        let numbers = CommandLine.arguments.dropFirst(2).compactMap { UInt64($0) }
        guard let path = CommandLine.arguments.dropFirst().first, numbers.count == 2 else {
            exit(2)
        }
        try makePrivateFile(path)
        let database = try StateDatabase(path: path)
        let found = StateWorkload.sorted(try database.load())
        var workload = StateWorkload(seed: numbers[0])
        while workload.steps < numbers[1] { _ = workload.next() }
        if StateWorkload.sorted(workload.state) != found {
            _ = workload.next()
            guard StateWorkload.sorted(workload.state) == found else {
                say("after \(numbers[1]) steps the file holds something else")
                exit(1)
            }
        }
        say("at \(workload.steps)")
        while true {
            try database.store(workload.next())
            say("\(workload.steps)")
        }
    }

    private static func say(_ text: String) {
        let octets = Array((text + "\n").utf8)
        _ = octets.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}
