// Which policies are worth it: the Pareto front, and the cheapest one that meets targets.
public import Wire

/// What a policy must come to.
public enum BenchTarget: Equatable, Sendable {
    /// The lower end of the battery's life, in years, at least.
    case life(years: Double)
    /// Found within so many seconds in 95 of 100 cases, by each scanner.
    case p95(seconds: Double, StartRule)

    /// As a command line has it: `2y`, `18mon`, `400d`.
    public static func life(_ text: String) throws(BenchError) -> BenchTarget {
        let units = [("y", 1.0), ("mon", 1.0 / 12), ("d", 1 / 365.0)]
        guard let years = number(text[...], units), years > 0 else {
            throw BenchError("--target-life: \"\(text)\" is no time; write 2y, 18mon or 400d")
        }
        return .life(years: years)
    }

    /// As a command line has it: `1s@active`, `500ms`.
    ///
    /// - Parameter usual: the start where none is named.
    public static func p95(
        _ text: String, usual: StartRule
    ) throws(BenchError) -> BenchTarget {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let start = parts.count > 1 ? StartRule(rawValue: String(parts[1])) : usual
        let units = [("ms", 0.001), ("s", 1.0), ("min", 60.0)]
        guard let start, let seconds = number(parts[0], units), seconds > 0 else {
            throw BenchError(
                "--target-p95: \"\(text)\" is no time, or is of no start; write 1s@active, "
                    + "500ms@pickup or 10s@any")
        }
        return .p95(seconds: seconds, start)
    }

    private static func number(_ text: Substring, _ units: [(String, Double)]) -> Double? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(digits.count)
        guard let value = Double(digits), value < 1e9,
            let factor = units.first(where: { $0.0 == unit })?.1
        else { return nil }
        return value * factor
    }

    /// How far a policy is from it: 1 or less meets it, 2 misses it by a factor of 2.
    func miss(_ point: PolicyResult) -> Double {
        switch self {
        case .life(let years):
            let life = point.energy.life.lowerBound
            return life > 0 ? years / life : .infinity
        case .p95(let seconds, let start):
            return (point.slowest(start)?.p95 ?? .infinity) / seconds
        }
    }

    /// For people: `a life of 2 years`.
    public var text: String {
        switch self {
        case .life(let years):
            "a life of \(FigureText.significant(years, 3)) year" + (years == 1 ? "" : "s")
        case .p95(let seconds, let start):
            "95 of 100 found within \(BenchText.seconds(seconds)) \(start.title)"
        }
    }

    /// What a policy comes to, for people.
    func figure(_ point: PolicyResult) -> String {
        switch self {
        case .life:
            return "\(FigureText.significant(point.energy.life.lowerBound, 3)) years"
        case .p95(_, let start):
            guard let p95 = point.slowest(start)?.p95, p95.isFinite else {
                return "never 95 of 100"
            }
            return "\(BenchText.seconds(p95))"
        }
    }
}

extension BenchResult {
    /// What targets come to: the cheapest policy that meets all, or the one that is nearest.
    public struct Advice: Equatable, Sendable {
        /// Of `points`.
        public var place: Int
        public var isMet: Bool
    }

    /// nil where there is no policy.
    public func advice(for targets: [BenchTarget]) -> Advice? {
        func miss(_ point: PolicyResult) -> Double {
            targets.map { $0.miss(point) }.max() ?? 0
        }
        let fitting = points.indices.filter { miss(points[$0]) <= 1 }
        if let place = fitting.min(by: {
            points[$0].energy.current < points[$1].energy.current
        }) {
            return Advice(place: place, isMet: true)
        }
        return points.indices.min { miss(points[$0]) < miss(points[$1]) }.map {
            Advice(place: $0, isMet: false)
        }
    }

    /// The advice as JSON.
    public func adviceJSON(_ targets: [BenchTarget]) -> JSONValue {
        guard let advice = advice(for: targets) else { return .null }
        let point = points[advice.place]
        return .members(
            ("met", .boolean(advice.isMet)), ("index", .integer(Int64(point.index))),
            ("policy", .string(point.text)), ("yaml", .array(point.yaml.map { .string($0) })),
            (
                "targets",
                .array(
                    targets.map {
                        .members(
                            ("target", .string($0.text)), ("has", .string($0.figure(point))),
                            ("miss", .real($0.miss(point))))
                    })
            ))
    }

    /// The places of those policies that no other beats in both current and 95th percentile, the
    /// cheapest first.
    public func front(_ start: StartRule) -> [Int] {
        let p95s = points.map { $0.slowest(start)?.p95 ?? .infinity }
        let order = points.indices.sorted {
            let (one, other) = (points[$0].energy.current, points[$1].energy.current)
            return one == other ? p95s[$0] < p95s[$1] : one < other
        }
        var front: [Int] = []
        var best = Double.infinity
        for place in order where p95s[place] < best {
            best = p95s[place]
            front.append(place)
        }
        return front
    }
}
