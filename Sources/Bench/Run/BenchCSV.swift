// All figures of a benchmark as a table for other programs.
import PowerModel
import Wire

extension BenchResult {
    private static let head = [
        "policy", "interval", "current_uA", "life_low_years", "life_high_years", "events",
        "scanner", "start", "samples", "mean_s", "mean_low_s", "mean_high_s", "p50_s", "p90_s",
        "p95_s", "p95_low_s", "p95_high_s", "p99_s", "never_found",
    ]

    /// A row for each policy, scanner and start; an empty field is a figure that is not known.
    public var csv: String {
        var text = Self.row(Self.head)
        for point in points {
            let common =
                [point.name, point.yaml.joined(separator: "; ")]
                + [
                    point.energy.current, point.energy.life.lowerBound,
                    point.energy.life.upperBound,
                ].map(Self.number) + ["\(point.events)"]
            for scanner in scanners.indices {
                for start in StartRule.allCases {
                    guard let latency = point.latency(scanner, start) else { continue }
                    text += Self.row(
                        common + [scanners[scanner].title, start.rawValue, "\(latency.samples)"]
                            + Self.figures(latency).map { $0.map(Self.number) ?? "" })
                }
            }
        }
        return text
    }

    private static func figures(_ latency: LatencyResult) -> [Double?] {
        [
            latency.mean?.value, latency.mean?.low, latency.mean?.high, latency.median?.value,
            latency.p90?.value, latency.p95?.value, latency.p95?.low, latency.p95?.high,
            latency.p99?.value, latency.neverFound.value,
        ]
    }

    private static func number(_ value: Double) -> String { FigureText.significant(value, 6) }

    /// RFC 4180, but for line ends.
    private static func row(_ fields: [String]) -> String {
        fields.map { field in
            guard field.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else {
                return field
            }
            return "\"" + field.replacingEach("\"", with: "\"\"") + "\""
        }.joined(separator: ",") + "\n"
    }
}
