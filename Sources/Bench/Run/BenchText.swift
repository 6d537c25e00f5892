// A benchmark's figures for people.
public import Advertising
import PowerModel
public import SansIO

public enum BenchText {
    /// The whole report.
    ///
    /// - Parameter start: which latency policies are compared by.
    public static func text(
        _ result: BenchResult, targets: [BenchTarget], start: StartRule
    ) -> String {
        var lines: [String] = []
        lines += table(settings(result))
        if result.points.count == 1, let point = result.points.first {
            lines += one(point, result)
        } else {
            lines += many(result, start)
        }
        if !targets.isEmpty { lines += advice(result, targets) }
        return lines.joined(separator: "\n")
    }

    private static func settings(_ result: BenchResult) -> [[String]] {
        result.settings.map { [$0.name, $0.value + ($0.isDefault ? " (default)" : "")] }
    }

    // MARK: one policy

    private static func one(_ point: PolicyResult, _ result: BenchResult) -> [String] {
        var lines = ["policy: \(point.text)", "", "Mean current"]
        lines += table(
            point.energy.shares.map { [$0.cause, current($0.current)] }
                + [["drawn by the device", current(point.energy.current)]], right: [1], indent: 2)
        lines += ["", "Life: " + life(point.energy), "", "On the air"]
        let isNamed = point.uses.contains { $0.name != nil }
        lines += table(
            [usesHead(point)] + uses(point), right: isNamed ? [1, 2, 3] : [0, 1, 2], indent: 2)
        if point.activations > 0 {
            lines.append(
                "  active \(percent(point.activeTime.seconds / point.duration.seconds)) of the "
                    + "time, picked up \(point.activations) times")
        }
        lines +=
            ["", "Time to discovery"]
            + table(
                latencies(point, result), right: [2, 3, 4, 5, 6, 7], indent: 2)
        lines += notes([point])
        return lines
    }

    /// Several sets, and a set and its train, are told apart.
    static func usesHead(_ point: PolicyResult) -> [String] {
        (point.uses.contains { $0.name != nil } ? ["set"] : []) + ["interval", "time", "events"]
    }

    static func uses(_ point: PolicyResult) -> [[String]] {
        point.uses.map { use in
            (use.name.map { [$0] } ?? []) + [
                milliseconds(use.interval),
                percent(use.time.seconds / point.duration.seconds), "\(use.events)",
            ]
        }
    }

    static func latencies(_ point: PolicyResult, _ result: BenchResult) -> [[String]] {
        var rows = [["scanner", "start", "mean", "p50", "p90", "p95", "p99", "never"]]
        for scanner in result.scanners.indices {
            for start in StartRule.allCases {
                guard let latency = point.latency(scanner, start) else { continue }
                rows.append(
                    [
                        result.scanners[scanner].title, start.title,
                        latency.mean.map { seconds($0.value) + spread($0) } ?? "-",
                    ]
                        + [latency.median, latency.p90, latency.p95, latency.p99].map {
                            $0.map { seconds($0.value) } ?? "-"
                        } + [percent(latency.neverFound.value)])
            }
        }
        return rows
    }

    /// ` ±1%`: half of the confidence interval of 95 %.
    private static func spread(_ estimate: Estimate) -> String {
        " ±" + FigureText.significant(estimate.relativeError * 100, 1) + "%"
    }

    // MARK: many policies

    private static func many(_ result: BenchResult, _ start: StartRule) -> [String] {
        let count = result.points.count
        var lines = [
            "",
            count <= pointsShown
                ? "\(count) policies, the cheapest first; * no other is better in current and p95 "
                    + start.title
                : "Of \(count) policies those that no other beats in current and p95 "
                    + start.title,
        ]
        lines += table(policies(result, start), right: [2, 3, 4, 5, 6])
        lines.append("p95 is how long the slowest scanner takes to find 95 of 100.")
        lines += notes(result.points)
        return lines
    }

    /// Policies by current; of many those on the front.
    static func policies(_ result: BenchResult, _ start: StartRule) -> [[String]] {
        let front = result.front(start)
        let points = result.points
        let order =
            points.count <= pointsShown
            ? points.indices.sorted { points[$0].energy.current < points[$1].energy.current }
            : front
        let starts = StartRule.allCases.filter { rule in
            points.contains { $0.slowest(rule) != nil }
        }
        let head = ["", "policy", "current", "life, years"] + starts.map { "p95 \($0.title)" }
        return [head]
            + order.map { place in
                let point = points[place]
                return [
                    front.contains(place) ? "*" : "", "\(point.name): \(point.text)",
                    current(point.energy.current), band(point.energy.life),
                ] + starts.map { rule in point.slowest(rule).map { seconds($0.p95) } ?? "-" }
            }
    }

    /// Of more policies only the front is shown; all are in --csv and --json.
    private static let pointsShown = 40

    private static func notes(_ points: [PolicyResult]) -> [String] {
        var lines: [String] = []
        let latencies = points.flatMap { $0.latencies.compactMap { $0 }.flatMap { $0 } }
        if latencies.contains(where: \.isRough) {
            lines.append("Some latencies are less exact than asked for: too few were found.")
        }
        if points.contains(where: { $0.keptShare < 1 }) {
            lines.append(
                "Latencies are of a sample of the run: its advertising changes too often to keep "
                    + "all of it.")
        }
        return lines
    }

    // MARK: advice

    private static func advice(_ result: BenchResult, _ targets: [BenchTarget]) -> [String] {
        guard let advice = result.advice(for: targets) else { return [] }
        let point = result.points[advice.place]
        let asked = targets.map(\.text).joined(separator: ", and ")
        if advice.isMet {
            return [
                "", "The cheapest policy with \(asked): \(current(point.energy.current))",
                "  " + targets.map { $0.figure(point) }.joined(separator: ", "), "",
            ] + yaml(point)
        }
        var lines = [
            "", "No policy has \(asked). The nearest is \(point.name): \(point.text)",
        ]
        for target in targets {
            let miss = target.miss(point)
            lines.append(
                "  \(target.text): it has \(target.figure(point)), "
                    + (miss <= 1 ? "which is enough" : "off by \(percent(miss - 1))"))
        }
        return lines
    }

    /// To paste into a profile.
    static func yaml(_ point: PolicyResult) -> [String] {
        if point.yaml.count == 1 { return ["interval: \(point.yaml[0])"] }
        return ["interval:"] + point.yaml.map { "  " + $0 }
    }

    // MARK: figures

    static func current(_ microamperes: Double) -> String {
        FigureText.fixed(microamperes, 2) + " uA"
    }

    static func life(_ energy: EnergyFigures) -> String {
        if energy.isTooWeak { return "none: the battery cannot feed the chip's pulses" }
        return band(energy.life) + " years, "
            + "\(percent(energy.usable.lowerBound)) to \(percent(energy.usable.upperBound)) of the "
            + "battery used" + (energy.isLimitedByShelfLife ? "; its shelf life ends it" : "")
    }

    static func band(_ life: ClosedRange<Double>) -> String {
        FigureText.fixed(life.lowerBound, 2) + " to " + FigureText.fixed(life.upperBound, 2)
    }

    static func percent(_ share: Double) -> String {
        guard share.isFinite else { return "-" }
        let text = FigureText.significant(share * 100, share < 0.1 ? 2 : 3)
        return text + " %"
    }

    /// `53.6 ms`, `4.31 s`, `152 s`.
    public static func seconds(_ seconds: Double) -> String {
        guard seconds.isFinite else { return "-" }
        if seconds < 0.9995 { return FigureText.significant(seconds * 1_000, 3) + " ms" }
        return FigureText.significant(seconds, 3) + " s"
    }

    static func milliseconds(_ microseconds: Int64) -> String {
        TimeSpan.microseconds(microseconds).description
    }

    /// `365 d`, `1 h`: whole days and hours where they are.
    public static func span(_ span: TimeSpan) -> String {
        for (unit, length) in [("d", 86_400_000_000), ("h", 3_600_000_000)] as [(String, Int64)]
        where span.microseconds >= length && span.microseconds % length == 0 {
            return "\(span.microseconds / length) \(unit)"
        }
        return span.description
    }

    /// Rows with columns of equal width.
    static func table(
        _ rows: [[String]], right: Set<Int> = [], indent: Int = 0
    ) -> [String] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.count)
                line += right.contains(column) ? space + cell + "  " : cell + space + "  "
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

extension ActivityRule {
    /// What is felt in a run of this duration, for people.
    public func text(for duration: TimeSpan) -> String {
        sources.map { source in
            switch source {
            case .trace(let trace):
                let length = trace.length
                let rounds =
                    length < duration
                    ? ", again and again, each round up to "
                        + "\(BenchText.span(BenchRun.jitter(length))) earlier or later" : ""
                return "a trace of \(trace.samples.count) values in \(BenchText.span(length))"
                    + rounds
            case .bursts: return "bursts"
            case .dayRhythm: return "a day's rhythm"
            case .random: return "random values"
            case .gatt, .scanRequests: return "what centrals do, which is nothing here"
            case .live(let live): return "\(live)"
            }
        }.joined(separator: "; ")
    }
}
