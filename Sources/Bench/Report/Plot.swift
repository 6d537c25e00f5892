// The plots of the page, each as a script for gnuplot.

/// One plot: what gnuplot is told, and the words around it.
public struct Plot: Equatable, Sendable {
    /// For the page's anchors and the SVG's names.
    public let name: String
    public let title: String
    public let caption: String
    /// What gnuplot reads; it writes an SVG to standard output.
    public let script: String
    /// The names of the curves, in the order of their colours.
    public let legend: [String]

    /// Colours that `PlotSVG` turns into those of the page; each is no other's.
    enum Colour {
        static let ink = "#010101"
        static let grid = "#020202"
        static let shade = "#030303"
        static func series(_ number: Int) -> String { "#04050\(number % 8)" }
    }

    /// The width of a plot; a phone shows it a little smaller, a desk a little larger.
    private static let width = 480

    private init(
        _ name: String, title: String, caption: String, legend: [String] = [], height: Int = 320,
        _ lines: [String]
    ) {
        self.name = name
        self.title = title
        self.caption = caption
        self.legend = legend
        let head = [
            "set terminal svg size \(Self.width),\(height) dynamic noenhanced font 'sans-serif,13'"
                + " name '\(name)'",
            "set encoding utf8", "set key off", "set border 3 lc rgb '\(Colour.ink)'",
            "set tics nomirror textcolor rgb '\(Colour.ink)'",
            "set grid lt 1 lw 0.5 lc rgb '\(Colour.grid)'",
        ]
        script = (head + lines).joined(separator: "\n") + "\n"
    }

    /// Text in single quotes, in which gnuplot reads nothing but the text.
    static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }
        return "'"
            + String(String.UnicodeScalarView(plain)).split(
                separator: "'", omittingEmptySubsequences: false
            ).joined(separator: "''") + "'"
    }

    private static func label(_ axis: String, _ text: String) -> String {
        "set \(axis)label \(quoted(text)) textcolor rgb '\(Colour.ink)'"
    }

    private static func number(_ value: Double) -> String { FigureText.significant(value, 7) }

    /// A block of data under a name.
    private static func data(_ name: String, _ rows: [[Double]]) -> [String] {
        ["$\(name) << EOD"]
            + rows.filter { $0.allSatisfy(\.isFinite) }.map {
                $0.map { number($0) }.joined(separator: " ")
            } + ["EOD"]
    }

    private static func line(_ name: String, _ number: Int, _ style: String = "lines") -> String {
        "$\(name) using 1:2 with \(style) lw 2 dt \(number % 3 + 1) lc rgb "
            + "'\(Colour.series(number))'"
    }

    static func pareto(_ choices: [BenchPage.Choice], latency: String) -> Plot {
        func row(_ choice: BenchPage.Choice) -> [Double] {
            let (low, high) = (choice.life.lowerBound, choice.life.upperBound)
            return [(low + high) / 2, choice.latency, low, high]
        }
        let latencies = choices.map(\.latency).filter { $0 > 0 && $0.isFinite }
        let (low, high) = ((latencies.min() ?? 1) / 2, (latencies.max() ?? 1) * 2)
        let front = choices.filter(\.isOnFront).sorted { row($0)[0] < row($1)[0] }
        let others = choices.filter { !$0.isOnFront }
        let hasOthers = !others.isEmpty
        var plots: [String] = []
        let points = "using 1:2:3:4 with xerrorbars pt 7 ps 0.5 lw 1 lc rgb"
        if hasOthers { plots.append("$others \(points) '\(Colour.grid)'") }
        if !front.isEmpty {
            plots.append("$front using 1:2 with lines lw 2 lc rgb '\(Colour.series(0))'")
            plots.append("$front \(points) '\(Colour.series(0))'")
        }
        return Plot(
            "pareto", title: "Battery life against latency",
            caption: "Each point is a policy, its bar the band of its life. The line joins those "
                + "that no other beats in both.",
            data("others", others.map { row($0) }) + data("front", front.map { row($0) }) + [
                label("x", "battery life, years"), label("y", "latency, s"),
                "set logscale y", "set xrange [0:*]",
                "set yrange [\(number(low)):\(number(high))]",
                "set title \(quoted(latency)) textcolor rgb "
                    + "'\(Colour.ink)'",
                "plot " + plots.joined(separator: ", "),
            ])
    }

    static func day(_ intervals: [BenchPage.Span], _ activity: [BenchPage.Span]) -> Plot {
        let values = intervals.map(\.interval).filter { $0 > 0 && $0.isFinite }
        let low = (values.min() ?? 10) / 1.5
        let high = (values.max() ?? 1_000) * 1.5
        let end = max((intervals + activity).map(\.to).max() ?? 24, 0.01)
        // A stretch without advertising is a gap, as is the space between two stretches.
        var steps: [String] = ["$steps << EOD"]
        for span in intervals where span.interval > 0 {
            steps.append("\(number(span.from)) \(number(span.interval))")
            steps.append("\(number(span.to)) \(number(span.interval))")
        }
        steps.append("EOD")
        let active = data("active", activity.map { [$0.from, low, $0.from, $0.to, low, high] })
        var plots = ["$steps using 1:2 with lines lw 1.5 lc rgb '\(Colour.series(0))'"]
        if !activity.isEmpty {
            plots.insert(
                "$active using 1:2:3:4:5:6 with boxxyerror fs solid noborder lc rgb "
                    + "'\(Colour.shade)'", at: 0)
        }
        return Plot(
            "day", title: "Interval and activity over a day",
            caption: "The advertising interval in force; the shade says when the device is "
                + "active.",
            active + steps + [
                label("x", "hours"), label("y", "interval, ms"), "set logscale y",
                "set yrange [\(number(low)):\(number(high))]", "set xrange [0:\(number(end))]",
                "set xtics \(end > 12 ? 4 : 1)",
                "plot " + plots.joined(separator: ", "),
            ])
    }

    private static func curves(
        _ name: String, title: String, caption: String, _ curves: [BenchPage.Curve],
        _ settings: [String]
    ) -> Plot {
        let kept = curves.filter { $0.points.contains { $0.x.isFinite && $0.y.isFinite } }
        var lines: [String] = []
        for (index, curve) in kept.enumerated() {
            lines += data("curve\(index)", curve.points.map { [$0.x, $0.y] })
        }
        let plots = kept.indices.map { line("curve\($0)", $0) }
        return Plot(
            name, title: title, caption: caption, legend: kept.map(\.name),
            lines + settings + ["plot " + plots.joined(separator: ", ")])
    }

    static func distribution(_ distributions: [BenchPage.Curve]) -> Plot {
        curves(
            "distribution", title: "How soon it is found",
            caption: "The share of searches that have found the device within a time.",
            distributions.map { curve in
                BenchPage.Curve(
                    name: curve.name,
                    // A scale of logarithms has no zero.
                    points: curve.points.filter { $0.x > 0 }.map { .init($0.x, $0.y * 100) })
            },
            [
                label("x", "time, s"), label("y", "found, %"), "set logscale x",
                "set yrange [0:100]",
            ])
    }

    static func intervals(_ intervalCurves: [BenchPage.Curve]) -> Plot {
        curves(
            "intervals", title: "Latency against the interval",
            caption: "The mean latency at one fixed interval. Where interval and scan interval are "
                + "in step, a longer interval may be found sooner.",
            intervalCurves.map { curve in
                BenchPage.Curve(name: curve.name, points: curve.points.filter { $0.y > 0 })
            },
            [
                label("x", "advertising interval, ms"), label("y", "mean latency, s"),
                "set logscale y",
            ])
    }

    static func charge(_ charges: [BenchPage.Charge]) -> Plot {
        let sorted = charges.filter { $0.current > 0 && $0.current.isFinite }.sorted {
            $0.current > $1.current
        }
        var rows = ["$charge << EOD"]
        for (index, charge) in sorted.enumerated() {
            let figure = FigureText.significant(charge.current, 3)
            rows.append(
                "\(sorted.count - 1 - index) \(number(charge.current)) "
                    + "\"\(plainLabel(charge.cause))\" \"\(figure)\"")
        }
        rows.append("EOD")
        let largest = sorted.first?.current ?? 1
        return Plot(
            "charge", title: "Where the charge goes",
            caption: "Mean currents by cause, in µA.", height: 90 + 24 * max(sorted.count, 1),
            rows + [
                label("x", "mean current, µA"), "set xrange [0:\(number(largest * 1.15))]",
                "set yrange [-0.7:\(Double(sorted.count) - 0.3)]", "unset grid",
                "set xtics \(number(tick(largest / 4)))",
                "set grid x lt 1 lw 0.5 lc rgb '\(Colour.grid)'", "set ytics scale 0",
                "plot $charge using 2:1:(0):2:($1-0.35):($1+0.35):ytic(3) with boxxyerror fs solid "
                    + "noborder lc rgb '\(Colour.series(0))', "
                    + "$charge using 2:1:4 with labels left offset 0.5,0 textcolor rgb "
                    + "'\(Colour.ink)'",
            ])
    }

    /// The step of 1, 2 or 5 and zeros that is next above `step`.
    private static func tick(_ step: Double) -> Double {
        var tick = 1e-6
        while tick < step {
            for factor in [1.0, 2, 5] where tick * factor >= step { return tick * factor }
            tick *= 10
        }
        return tick
    }

    /// A label inside a data block, where double quotes end it.
    private static func plainLabel(_ text: String) -> String {
        String(
            text.map { character in
                character == "\"" || character == "\\" || character.isNewline ? " " : character
            })
    }
}
