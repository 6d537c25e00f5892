// Joins the parts of a benchmark: the figures come out as if one process had found them.

public enum BenchMerge {
    /// Joins all shards of one benchmark.
    /// - Parameter parts: with what each is called in messages.
    public static func merge(
        _ parts: [(name: String, result: BenchResult)]
    ) throws(BenchError) -> BenchResult {
        guard let first = parts.first else {
            throw BenchError("there is no part to merge; name the files that --shard wrote")
        }
        var whole = first.result
        whole.shard = .all
        whole.points = []
        var seen: [Int: String] = [:]
        for (name, part) in parts {
            guard part.settings == whole.settings, part.scanners == whole.scanners,
                part.policyCount == whole.policyCount, part.shard.count == first.result.shard.count
            else {
                throw BenchError(
                    "\(name) is of another benchmark than \(first.name): "
                        + difference(part, first.result)
                        + "; merge parts of the same command")
            }
            if let other = seen.updateValue(name, forKey: part.shard.number) {
                throw BenchError(
                    "\(name) and \(other) are the same part, \(part.shard.number) of "
                        + "\(part.shard.count); leave one out")
            }
            for point in part.points { try add(point, name, to: &whole) }
        }
        let missing = (1...first.result.shard.count).filter { seen[$0] == nil }
        guard missing.isEmpty else {
            let numbers = missing.prefix(10).map { "\($0)" }.joined(separator: ", ")
            throw BenchError(
                "\(missing.count) of \(first.result.shard.count) parts are missing: \(numbers)"
                    + (missing.count > 10 ? " and more" : "")
                    + "; run them with --shard, and merge all")
        }
        whole.points.sort { $0.index < $1.index }
        guard whole.points.count == whole.policyCount,
            whole.points.allSatisfy({ $0.latencies.allSatisfy { $0 != nil } })
        else { throw BenchError("a part lacks figures that it should have; run it again") }
        return whole
    }

    private static func difference(_ part: BenchResult, _ first: BenchResult) -> String {
        for (one, other) in zip(part.settings, first.settings) where one != other {
            return "\(one.name) is \(one.value), not \(other.value)"
        }
        if part.shard.count != first.shard.count {
            return "it is one of \(part.shard.count) parts, not of \(first.shard.count)"
        }
        return "it has other policies or scanners"
    }

    private static func add(
        _ point: PolicyResult, _ name: String, to whole: inout BenchResult
    ) throws(BenchError) {
        guard let place = whole.points.firstIndex(where: { $0.index == point.index }) else {
            return whole.points.append(point)
        }
        // The device ran in both shards, to the same end.
        var (one, other) = (whole.points[place], point)
        one.latencies = []
        other.latencies = []
        guard one == other else {
            throw BenchError(
                "\(name) has other figures of '\(point.text)' than another part; "
                    + "run both with the same program")
        }
        for (scanner, latencies) in point.latencies.enumerated() where latencies != nil {
            whole.points[place].latencies[scanner] = latencies
        }
    }
}
