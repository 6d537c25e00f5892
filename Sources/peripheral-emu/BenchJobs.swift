// The processes that share a benchmark, and the bar that says how far it is.
import Bench
import Glibc
import LinuxIO
import SansIO
import Wire

enum BenchJobs {
    /// Runs a shard in each of several processes of this program.
    /// - Returns: nil where one failed, which has been said.
    static func run(
        _ options: BenchOptions, cells: Int, _ console: inout Console
    ) -> [(name: String, result: BenchResult)]? {
        do throws(SystemError) {
            var workers = try WorkerProcesses()
            let count = min(options.jobs, cells)
            for number in 1...count {
                let arguments = ["bench"] + options.forwarded + ["--shard=\(number)/\(count)"]
                do throws(SystemError) { try workers.start(arguments) } catch {
                    workers.stop()
                    throw error
                }
            }
            let progress = BenchProgress(isShown: true)
            while !workers.poll() {
                progress.show(min(workers.stepCount, cells), of: cells)
                usleep(20_000)
            }
            progress.clear()
            if let code = workers.failure {
                workers.stop()
                console.error(
                    code > 128
                        ? "a process of the benchmark was ended by signal \(code - 128); "
                            + "run it again"
                        : "a process of the benchmark ended with \(code); see its message above")
                return nil
            }
            var parts: [(name: String, result: BenchResult)] = []
            for (index, output) in try workers.takeOutputs().enumerated() {
                guard let part = part(output) else {
                    console.error("part \(index + 1) of the benchmark is not whole; run it again")
                    return nil
                }
                parts.append(("part \(index + 1)", part))
            }
            return parts
        } catch {
            console.error("\(error)")
            return nil
        }
    }

    /// What `--shard` printed; nil of anything else.
    static func part(_ bytes: [UInt8]) -> BenchResult? {
        guard let json = try? JSONValue(bytes.span) else { return nil }
        return BenchResult(json)
    }
}

/// A bar on the terminal, with the time that is left.
final class BenchProgress {
    private let isShown: Bool
    private let start = BenchProgress.now()
    private var last: Int64 = 0
    private var hasShown = false

    private static let width = 30
    private static let period: Int64 = 100_000

    /// - Parameter isShown: whether there is to be one where standard error is a terminal.
    init(isShown: Bool) { self.isShown = isShown && isatty(STDERR_FILENO) == 1 }

    private static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    func show(_ done: Int, of all: Int) {
        guard isShown, all > 0 else { return }
        let now = Self.now()
        guard now - last >= Self.period else { return }
        last = now
        hasShown = true
        let filled = Self.width * done / all
        var line = "\r[" + String(repeating: "=", count: filled)
        line += String(repeating: " ", count: Self.width - filled) + "] \(done)/\(all)"
        if done > 0 {
            let left = (now - start) / Int64(done) * Int64(all - done) / 1_000_000
            line += left >= 60 ? ", \(left / 60) min \(left % 60) s left" : ", \(left) s left"
        }
        put(line + "\u{1B}[K")
    }

    /// Takes the bar off the terminal.
    func clear() {
        if hasShown { put("\r\u{1B}[K") }
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)
    }
}
