// The benchmark itself: each policy's device in virtual time, then each scanner against it.
import Advertising
import PowerModel
import Profiles
public import SansIO
import Wire

/// Which cells of a benchmark are run: those of one shard of several.
public struct BenchShard: Equatable, Sendable {
    /// 1 to `count`.
    public var number: Int
    public var count: Int

    public static let countMax = 10_000
    public static let all = BenchShard(number: 1, count: 1)

    public init(number: Int, count: Int) {
        self.number = number
        self.count = count
    }

    /// Whole policies are given out where there are enough, so that few devices run twice.
    func holds(policy: Int, scanner: Int, _ request: BenchRequest) -> Bool {
        guard request.policies.count < count else { return policy % count == number - 1 }
        return (policy * request.scanners.count + scanner) % count == number - 1
    }
}

public enum BenchRun {
    /// Runs a shard.
    /// - Parameter progress: told after each cell how many of the shard's are done, and how many
    ///   there are.
    public static func run(
        _ request: BenchRequest, shard: BenchShard = .all,
        progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(BenchError) -> BenchResult {
        let profile = try prepared(request)
        var found = BenchResult(
            shard: shard, settings: request.settings,
            scanners: request.scanners.map {
                ScannerModel(
                    name: $0.name, title: $0.title, window: $0.window, interval: $0.interval)
            },
            policyCount: request.policies.count, points: [])
        let cells = request.policies.indices.map { policy in
            request.scanners.indices.filter {
                shard.holds(policy: policy, scanner: $0, request)
            }
        }
        let total = cells.reduce(0) { $0 + $1.count }
        var done = 0
        for (index, scanners) in cells.enumerated() where !scanners.isEmpty {
            let policy = request.policies[index]
            var device = profile
            device.advertising[0].policy = policy.policy
            var run = DeviceRun(device, seed: request.seed, duration: request.duration)
            let record = run.run()
            var point = result(of: policy, index, record, request)
            for scanner in scanners {
                point.latencies[scanner] = latencies(
                    of: record, request.scanners[scanner], policy, request)
                done += 1
                progress(done, total)
            }
            found.points.append(point)
        }
        return found
    }

    private static func result(
        of policy: NamedPolicy, _ index: Int, _ record: DeviceRecord, _ request: BenchRequest
    ) -> PolicyResult {
        // Of many policies nobody looks at the day of each.
        let showsDay = request.policies.count <= daysMax
        return PolicyResult(
            index: index, name: policy.name, text: policy.policy.description,
            yaml: policy.policy.yaml,
            energy: EnergyFigures(
                record.meter.report(
                    radio: request.radio, sensors: request.sensors(for: policy.policy),
                    battery: request.battery)),
            uses: record.uses, duration: record.duration, activeTime: record.activeTime,
            activations: record.activations, airTime: record.airTime, keptShare: record.keptShare,
            dayIntervals: showsDay ? record.dayIntervals : [],
            dayActivity: showsDay ? record.dayActivity : [],
            latencies: [[LatencyResult]?](repeating: nil, count: request.scanners.count))
    }

    private static func latencies(
        of record: DeviceRecord, _ scanner: ScannerModel, _ policy: NamedPolicy,
        _ request: BenchRequest
    ) -> [LatencyResult] {
        var results: [LatencyResult] = []
        for start in StartRule.allCases {
            let starts = start.starts(record.advertising)
            guard !starts.isEmpty else { continue }
            let sampler = DiscoverySampler(
                scanner, on: record.advertising.timeline, from: starts, request.reception)
            results.append(
                DiscoveryEstimate.run(
                    sampler, start: start,
                    point: "\(policy.policy) \(scanner.name) \(start.rawValue)",
                    seed: request.seed, precision: request.precision))
        }
        return results
    }

    /// Benchmarks of so many policies show the first day of each.
    private static let daysMax = 8

    // MARK: before

    /// A trace with a longer gap says nothing about it.
    static let gapMax = TimeSpan.seconds(3_600)
    /// How many usual distances of rows are a gap.
    static let gapFactor: Int64 = 20

    /// The profile as it runs, with its traces repeated where they are too short.
    static func prepared(_ request: BenchRequest) throws(BenchError) -> DeviceProfile {
        var profile = request.profile
        guard !profile.advertising.isEmpty else {
            throw BenchError(
                "\(profile.file) does not advertise; add 'advertising:' to measure it")
        }
        guard request.duration > .zero, !request.policies.isEmpty, !request.scanners.isEmpty else {
            throw BenchError(
                "the benchmark has no duration, no policy or no scanner; give one of each")
        }
        guard var activity = profile.activity else { return profile }
        for index in activity.sources.indices {
            switch activity.sources[index] {
            case .trace(let trace):
                activity.sources[index] = .trace(try prepared(trace, request))
            case .live(let live):
                throw BenchError(
                    "bench cannot follow \(live), which lives in real time; "
                        + "give a trace with --activity csv:FILE")
            case .bursts, .dayRhythm, .random, .gatt, .scanRequests: break
            }
        }
        profile.activity = activity
        return profile
    }

    private static func prepared(
        _ trace: TraceSource, _ request: BenchRequest
    ) throws(BenchError) -> TraceSource {
        let times = trace.samples.map(\.time)
        let steps = zip(times.dropFirst(), times).map { $0 - $1 }
        let usual = steps.sorted()[safe: steps.count / 2] ?? .zero
        if let index = steps.firstIndex(where: { $0 > gapMax && $0 > usual * gapFactor }) {
            throw BenchError(
                "the activity trace says nothing from \(times[index]) to \(times[index + 1]), "
                    + "where its rows are \(usual) apart; write rows of what was felt then, "
                    + "0 where nothing was, or cut the trace there")
        }
        var trace = trace
        let length = trace.length
        if length < request.duration {
            trace.repeats = true
            trace.jitter = jitter(length)
        }
        return trace
    }

    /// Rounds of a trace begin up to half an hour earlier or later, or a 48th of its length: a
    /// day's morning stays in the morning, and no round is exactly as the one before.
    public static func jitter(_ length: TimeSpan) -> TimeSpan {
        min(.seconds(1_800), .microseconds(length.microseconds / 48))
    }
}

extension BenchRequest {
    /// A motion sensor draws current only where the policy asks for motion.
    func sensors(for policy: IntervalPolicy) -> [SensorCurrent] {
        policy.rule.followsActivity ? sensors : []
    }
}

extension IntervalRule {
    /// Whether it needs the activity signal, and with it what senses motion.
    var followsActivity: Bool {
        switch self {
        case .activity, .steps: true
        case .fixed, .loop, .schedule, .twoPhase: false
        }
    }
}

extension Array {
    subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

/// A real power.
func powerOf(_ base: Double, _ exponent: Double) -> Double { Mathematics.pow(base, exponent) }

/// A real power of ten.
func tenToThe(_ exponent: Double) -> Double { Mathematics.pow(10, exponent) }
