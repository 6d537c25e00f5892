// An hour of virtual time on a lossy air in a process of its own, whose memory is measured.
//
//   lossy-hour MINUTES …    says after each number of minutes what was done, and the most memory
//                           that the process has had; ends with 1 where an answer was wrong
import Harness
import LinuxIO
import SansIO
import VirtualController

#if canImport(Glibc)
    import Glibc
#endif

@main
enum LossyHour {
    static func main() throws {
        var run = LossyRun(try SampleProfile.device(), timing: .radio)
        for minutes in CommandLine.arguments.dropFirst().compactMap({ Int64($0) }) {
            run.advance(to: .seconds(60 * minutes))
            print(
                "\(minutes) min: \(run.sessions) sessions, \(run.procedures) procedures, "
                    + "\(run.notifications) notifications, at most \(try residentMax())")
        }
        for problem in run.problems { print(problem) }
        exit(run.problems.isEmpty ? 0 : 1)
    }

    /// `VmHWM` of proc_pid_status(5), such as `9876 kB`.
    private static func residentMax() throws -> String {
        let status = String(
            decoding: try readFile("/proc/self/status", octetsMax: 16_384), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.map { "\($0.split(separator: " ").suffix(2).joined(separator: " "))" } ?? "?"
    }
}
