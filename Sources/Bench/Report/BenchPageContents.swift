// The page of a benchmark's figures.
import PowerModel
import SansIO

extension BenchPage {
    /// The page of a run or a sweep.
    ///
    /// - Parameters:
    ///   - title: what was measured: the device's name.
    ///   - start: which latency policies are compared by.
    ///   - curves: `IntervalCurve` of each scanner.
    public init(
        title: String, _ result: BenchResult, start: StartRule, curves: [Curve] = []
    ) {
        self.init(title: title + ": battery life and discovery latency")
        intervalCurves = curves
        choiceLatency = "95 of 100 found \(start.title), by the slowest scanner"
        let front = result.front(start)
        for (place, point) in result.points.enumerated() {
            guard let p95 = point.slowest(start)?.p95, p95.isFinite else { continue }
            choices.append(
                Choice(
                    name: point.name, life: point.energy.life, latency: p95,
                    isOnFront: front.contains(place)))
        }
        // Of several policies the cheapest one on the front is shown closely.
        if let place = result.points.count > 1 ? front.first : result.points.indices.first {
            show(result.points[place], result, start)
        }
        tables.append(settings(result))
        if result.points.count > 1 { tables.insert(policies(result, front, start), at: 0) }
    }

    private mutating func show(_ point: PolicyResult, _ result: BenchResult, _ start: StartRule) {
        summary.append(
            (result.points.count > 1 ? "The cheapest policy that no other beats: " : "Policy: ")
                + point.text + ".")
        summary.append(
            "It draws \(BenchText.current(point.energy.current)) in the mean; life: "
                + BenchText.life(point.energy) + ".")
        func hours(_ span: TimeSpan) -> Double { span.seconds / 3_600 }
        dayIntervals = point.dayIntervals.map {
            Span(
                from: hours($0.from), to: hours($0.to), interval: Double($0.interval) / 1_000)
        }
        dayActivity = point.dayActivity.map { Span(from: hours($0.from), to: hours($0.to)) }
        charges = point.energy.shares.map { Charge(cause: $0.cause, current: $0.current) }
        for scanner in result.scanners.indices {
            guard let latency = point.latency(scanner, start) ?? point.latency(scanner, .anyTime)
            else { continue }
            distributions.append(
                Curve(
                    name: result.scanners[scanner].title,
                    points: latency.distribution.map { .init($0.latency, $0.share) }))
        }
        var latencies = BenchText.latencies(point, result)
        let head = latencies.isEmpty ? [] : latencies.removeFirst()
        tables.append(Table(title: "Time to discovery", head: head, rows: latencies))
        tables.append(
            Table(
                title: "Mean current", head: ["cause", "current"],
                rows: point.energy.shares.map { [$0.cause, BenchText.current($0.current)] }))
        tables.append(
            Table(
                title: "On the air", head: BenchText.usesHead(point),
                rows: BenchText.uses(point)))
    }

    private func policies(_ result: BenchResult, _ front: [Int], _ start: StartRule) -> Table {
        let rows = front.map { place in
            let point = result.points[place]
            let p95 = point.slowest(start)?.p95 ?? .infinity
            return [
                point.text, BenchText.current(point.energy.current),
                BenchText.band(point.energy.life), BenchText.seconds(p95),
            ]
        }
        return Table(
            title: "Policies that no other beats",
            head: ["policy", "current", "life, years", "p95 \(start.title)"], rows: rows)
    }

    private func settings(_ result: BenchResult) -> Table {
        Table(
            title: "What holds", head: ["", "", ""],
            rows: result.settings.map { [$0.name, $0.value, $0.isDefault ? "default" : ""] })
    }
}
