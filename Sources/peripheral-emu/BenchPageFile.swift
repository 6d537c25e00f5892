// `bench --html`: the page of a benchmark, its plots drawn by gnuplot where that is installed.
import Bench
import LinuxIO
import PowerModel

enum BenchPageFile {
    private static let gnuplot = "gnuplot"

    /// The page's text. Where gnuplot is missing it says so, and so does the console.
    static func text(
        _ result: BenchResult, _ start: StartRule, _ console: inout Console
    ) throws(SystemError) -> String {
        let path = result.settings.first { $0.name == "profile" }?.value ?? "benchmark"
        let file = path.split(separator: "/").last.map { String($0) } ?? path
        let title = file.hasSuffix(".yaml") ? String(file.dropLast(5)) : file
        let hasGnuplot = try ProgramRun.output(of: gnuplot, input: "") != nil
        if !hasGnuplot {
            console.error(
                "gnuplot is not installed, so the page has no plots; "
                    + "install it with sudo apt install gnuplot-nox")
        }
        let airTime = result.points.first?.airTime ?? 376
        // Without gnuplot the curves would not be shown.
        let curves =
            hasGnuplot
            ? result.scanners.map {
                IntervalCurve.curve(of: $0, airTime: airTime, seed: BenchDefaults.seed)
            } : []
        let page = BenchPage(title: title, result, start: start, curves: curves)
        var failure: SystemError?
        let html = page.html { plot in
            guard hasGnuplot else { return nil }
            do throws(SystemError) {
                return try ProgramRun.output(of: gnuplot, input: plot.script)
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return html
    }
}
