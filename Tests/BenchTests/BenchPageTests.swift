// The page: with plots, without gnuplot, and with words that mean something to HTML or gnuplot.
import Bench
import Glibc
import LinuxIO
import Testing

enum SamplePage {
    /// A page with everything on it, as large as a real one.
    static func page(title: String = "Adaptive Tag") -> BenchPage {
        var page = BenchPage(title: title)
        page.summary = ["One year on an nRF52832 with a CR2032."]
        page.choices = (1...30).map { index in
            let interval = Double(index) * 50
            let life = interval / 400
            return BenchPage.Choice(
                name: "active \(interval) ms", life: life...(life * 1.4),
                latency: 0.2 + interval / 300 + (index % 7 == 0 ? 12 : 0),
                isOnFront: index % 7 != 0)
        }
        page.choiceLatency = "95 of 100 found when picked up"
        for hour in 0..<24 {
            let from = Double(hour)
            page.dayIntervals.append(.init(from: from, to: from + 0.3, interval: 152.5))
            page.dayIntervals.append(.init(from: from + 0.3, to: from + 1, interval: 1_285))
            page.dayActivity.append(.init(from: from, to: from + 0.3))
        }
        let scanners = [
            "Android 13 and later, low latency", "Android 13 and later, balanced",
            "Android 7 to 12, low power", "iOS in the foreground (observed, unofficial)",
        ]
        for (index, name) in scanners.enumerated() {
            var (found, mean): ([BenchPage.Curve.Point], [BenchPage.Curve.Point]) = ([], [])
            for step in 1...100 {
                let x = Double(step)
                found.append(.init(0.01 * x * x * Double(index + 1), x / 100))
                let peak = step % 13 == 0 ? 8.0 : 1.0
                mean.append(.init(x * 20, 0.1 * x * Double(index + 1) * peak))
            }
            page.distributions.append(.init(name: name, points: found))
            page.intervalCurves.append(.init(name: name, points: mean))
        }
        page.charges = [
            .init(cause: "sleep", current: 2), .init(cause: "advertising: transmit", current: 4.5),
            .init(cause: "advertising: receive", current: 1.25),
            .init(cause: "sensor LIS3DH", current: 2), .init(cause: "self-discharge", current: 0.3),
        ]
        page.tables = [
            .init(
                title: "Latency by scanner",
                head: ["scanner", "start", "mean", "p50", "p90", "p95", "p99", "never found"],
                rows: scanners.map {
                    [$0, "when picked up", "1.25 s", "0.9 s", "2.5 s", "3.1 s", "5.5 s", "0 %"]
                })
        ]
        return page
    }
}

struct BenchPageTests {
    /// What gnuplot's answer looks like, in short.
    private let drawing = """
        <?xml version="1.0"?>
        <svg viewBox="0 0 480 320" xmlns="x"><title>a</title><g id="gnuplot_canvas" color="black">
        <path stroke='rgb(  1,   1,   1)'/><path stroke='rgb( 4, 5, 3)'/><use href='#gpPt6'/>
        </g></svg>
        """

    @Test("Plots stand in the page with names of their own and in the page's colours")
    func drawn() {
        let html = SamplePage.page().html { _ in drawing }
        #expect(html.hasPrefix("<!DOCTYPE html>"))
        for plot in ["pareto", "day", "distribution", "charge", "intervals"] {
            #expect(html.contains("<figure id=\"\(plot)\">"), "\(plot)")
            #expect(html.contains("id=\"\(plot)-gnuplot_canvas\""), "\(plot)")
            #expect(html.contains("#\(plot)-gpPt6"))
        }
        #expect(html.contains("stroke='var(--ink)'") && html.contains("stroke='var(--s3)'"))
        #expect(!html.contains("black") && !html.contains("rgb(") && !html.contains("<?xml"))
        #expect(!html.contains("<script") && !html.contains("class=\"missing\""))
    }

    @Test("gnuplot draws every plot, where it is installed")
    func gnuplot() throws {
        guard try ProgramRun.output(of: "gnuplot", input: "") != nil else { return }
        var drawn = 0
        let html = SamplePage.page().html { plot in
            let svg = try? ProgramRun.output(of: "gnuplot", input: plot.script)
            drawn += svg == nil ? 0 : 1
            return svg
        }
        #expect(drawn == 5)
        #expect(!html.contains("class=\"missing\""))
        // Every colour is one of the page's.
        #expect(!html.contains("rgb(") && !html.contains("\"black\""))
        if let path = getenv("PERIPHERAL_EMU_WRITE_PAGE") {
            let file = try FileOutput(path: String(cString: path))
            try file.write(Array(html.utf8))
            try file.close()
        }
    }

    @Test("Without gnuplot the page says which plots are missing and how to get them")
    func missing() {
        let html = SamplePage.page().html { _ in nil }
        #expect(html.contains("class=\"missing\"") && html.contains("apt install gnuplot-nox"))
        #expect(html.contains("Battery life against latency; Interval and activity"))
        #expect(html.contains("Latency by scanner") && !html.contains("<figure"))
        #expect(SamplePage.page().html { _ in "no svg" } == html)
    }

    @Test("Names are text: in HTML, in gnuplot's strings and in its data")
    func hostile() throws {
        var page = SamplePage.page(title: "<script>alert(1)</script> & 'x'")
        page.choiceLatency = "it's `date` $(date)\nplot 1"
        page.charges[0].cause = "a\"\nEOD\n!date\\"
        let html = page.html { _ in nil }
        #expect(!html.contains("<script>") && html.contains("&lt;script&gt;"))
        let pareto = try #require(page.plots.first { $0.name == "pareto" }).script
        #expect(pareto.contains("'it''s `date` $(date) plot 1'"))
        let charge = try #require(page.plots.first { $0.name == "charge" }).script
        #expect(!charge.contains("\n!date") && !charge.contains("\nEOD\n!"))
    }

    @Test("What has no values has no plot, and numbers that are none are left out")
    func empty() throws {
        let empty = BenchPage(title: "empty")
        #expect(empty.plots.isEmpty && !empty.html { _ in nil }.contains("class=\"missing\""))
        var page = empty
        page.distributions = [
            .init(name: "a", points: [.init(.nan, 1), .init(.infinity, 0), .init(1, 0.5)])
        ]
        let script = try #require(page.plots.first).script
        #expect(script.contains("$curve0 << EOD\n1 50\nEOD"), "\(script)")
        #expect(!script.contains("nan") && !script.contains("inf"))
    }

    @Test("Figures have as many digits as asked for")
    func figures() {
        #expect(FigureText.significant(427.286, 5) == "427.29")
        #expect(FigureText.significant(0.00123456, 3) == "0.00123")
        #expect(FigureText.significant(12_345.6, 3) == "12346")
        #expect(FigureText.significant(-0.5, 3) == "-0.5")
        #expect(FigureText.fixed(-0.001, 2) == "0.00")
        #expect(FigureText.fixed(.nan, 2) == "-" && FigureText.fixed(1e30, 2) == "1e+30")
    }
}
