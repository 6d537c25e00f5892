// A benchmark's figures as JSON, which is also how shards hand over their parts.
import PowerModel
import SansIO
public import Wire

extension BenchResult {
    /// The version of the form.
    static let jsonVersion: Int64 = 1

    public var json: JSONValue {
        .members(
            ("bench", .integer(Self.jsonVersion)),
            ("shard", .string("\(shard.number)/\(shard.count)")),
            ("settings", .array(settings.map(\.json))),
            ("scanners", .array(scanners.map(\.json))),
            ("policies", .integer(Int64(policyCount))),
            ("points", .array(points.map(\.json))))
    }

    /// Reads what `json` writes; nil where it is something else.
    public init?(_ json: JSONValue) {
        guard json["bench"]?.integer == Self.jsonVersion, let shard = json["shard"]?.string,
            let shard = BenchShard(shard), let count = json["policies"]?.integer,
            (1...Int64(Sweep.policiesMax)).contains(count),
            let settings = all(json["settings"], { BenchRequest.Setting($0) }),
            let scanners = all(json["scanners"], { ScannerModel($0) }),
            let points = all(json["points"], { PolicyResult($0) }),
            points.allSatisfy({
                (0..<Int(count)).contains($0.index) && $0.latencies.count == scanners.count
            })
        else { return nil }
        self.init(
            shard: shard, settings: settings, scanners: scanners, policyCount: Int(count),
            points: points)
    }
}

/// Every element of an array, or nil where one is something else.
private func all<Element>(
    _ json: JSONValue?, _ read: (JSONValue) -> Element?
) -> [Element]? {
    guard let json, case .array(let values) = json else { return nil }
    let elements = values.compactMap(read)
    return elements.count == values.count ? elements : nil
}

extension BenchShard {
    /// Reads `2/8`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1],
            (1...Self.countMax).contains(count), (1...count).contains(number)
        else { return nil }
        self.init(number: number, count: count)
    }
}

extension BenchRequest.Setting {
    var json: JSONValue {
        .members(
            ("name", .string(name)), ("value", .string(value)), ("default", .boolean(isDefault)))
    }

    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let value = json["value"]?.string,
            case .boolean(let isDefault) = json["default"]
        else { return nil }
        self.init(name, value, isDefault: isDefault)
    }
}

extension ScannerModel {
    var json: JSONValue {
        .members(
            ("name", .string(name)), ("title", .string(title)), ("window_us", .integer(window)),
            ("interval_us", .integer(interval)))
    }

    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let title = json["title"]?.string,
            let window = json["window_us"]?.integer, let interval = json["interval_us"]?.integer
        else { return nil }
        self.init(name: name, title: title, window: window, interval: interval)
    }
}

extension PolicyResult {
    var json: JSONValue {
        .members(
            ("index", .integer(Int64(index))), ("name", .string(name)), ("text", .string(text)),
            ("yaml", .array(yaml.map { .string($0) })), ("energy", energy.json),
            ("uses", .array(uses.map(\.json))),
            ("duration_us", .integer(duration.microseconds)),
            ("active_us", .integer(activeTime.microseconds)),
            ("activations", .integer(Int64(activations))), ("pdu_us", .integer(airTime)),
            ("kept", .real(keptShare)),
            ("day_intervals", .array(dayIntervals.map(\.json))),
            ("day_activity", .array(dayActivity.map(\.json))),
            (
                "latencies",
                .array(latencies.map { $0.map { .array($0.map(\.json)) } ?? .null })
            ))
    }

    init?(_ json: JSONValue) {
        guard let index = json["index"]?.integer, let name = json["name"]?.string,
            let text = json["text"]?.string, let yaml = all(json["yaml"], { $0.string }),
            let energy = json["energy"].flatMap({ EnergyFigures($0) }),
            let uses = all(json["uses"], { DeviceRecord.Use($0) }),
            let duration = json["duration_us"]?.integer, let active = json["active_us"]?.integer,
            let activations = json["activations"]?.integer,
            let airTime = json["pdu_us"]?.integer, let kept = json["kept"]?.number,
            let intervals = all(json["day_intervals"], { DeviceRecord.Span($0) }),
            let activity = all(json["day_activity"], { DeviceRecord.Span($0) }),
            let latencies = all(json["latencies"], { Self.latencies($0) }),
            let index = Int(exactly: index), let activations = Int(exactly: activations)
        else { return nil }
        self.init(
            index: index, name: name, text: text, yaml: yaml, energy: energy, uses: uses,
            duration: .microseconds(duration), activeTime: .microseconds(active),
            activations: activations, airTime: airTime, keptShare: kept, dayIntervals: intervals,
            dayActivity: activity, latencies: latencies)
    }

    /// nil where it is something else; nil inside where another shard has it.
    private static func latencies(_ json: JSONValue) -> [LatencyResult]?? {
        if json == .null { return .some(nil) }
        return all(json, { LatencyResult($0) }).map { .some($0) }
    }
}

extension EnergyFigures {
    var json: JSONValue {
        .members(
            ("current_uA", .real(current)),
            ("life_years", .array([.real(life.lowerBound), .real(life.upperBound)])),
            ("usable", .array([.real(usable.lowerBound), .real(usable.upperBound)])),
            ("shelf_life", .boolean(isLimitedByShelfLife)),
            (
                "shares",
                .array(
                    shares.map {
                        .members(("cause", .string($0.cause)), ("current_uA", .real($0.current)))
                    })
            ))
    }

    init?(_ json: JSONValue) {
        guard let current = json["current_uA"]?.number,
            let life = Self.band(json["life_years"]), let usable = Self.band(json["usable"]),
            case .boolean(let isLimited) = json["shelf_life"],
            let shares = all(
                json["shares"],
                { share -> Share? in
                    guard let cause = share["cause"]?.string,
                        let current = share["current_uA"]?.number
                    else { return nil }
                    return Share(cause: cause, current: current)
                })
        else { return nil }
        self.init(
            shares: shares, current: current, life: life, usable: usable,
            isLimitedByShelfLife: isLimited)
    }

    private static func band(_ json: JSONValue?) -> ClosedRange<Double>? {
        guard let ends = all(json, { $0.number }), ends.count == 2, ends[0] <= ends[1] else {
            return nil
        }
        return ends[0]...ends[1]
    }
}

extension DeviceRecord.Use {
    var json: JSONValue {
        let figures: JSONValue = .members(
            ("interval_us", .integer(interval)), ("time_us", .integer(time.microseconds)),
            ("events", .integer(events)))
        return name.map { figures.with("set", .string($0)) } ?? figures
    }

    init?(_ json: JSONValue) {
        guard let interval = json["interval_us"]?.integer, let time = json["time_us"]?.integer,
            let events = json["events"]?.integer
        else { return nil }
        self.init(
            name: json["set"]?.string, interval: interval, time: .microseconds(time),
            events: events)
    }
}

extension DeviceRecord.Span {
    /// From, to, interval; in microseconds.
    var json: JSONValue {
        .array([.integer(from.microseconds), .integer(to.microseconds), .integer(interval)])
    }

    init?(_ json: JSONValue) {
        guard let numbers = all(json, { $0.integer }), numbers.count == 3 else { return nil }
        self.init(
            from: .microseconds(numbers[0]), to: .microseconds(numbers[1]), interval: numbers[2])
    }
}

extension LatencyResult {
    var json: JSONValue {
        .members(
            ("start", .string(start.rawValue)), ("samples", .integer(Int64(samples))),
            ("rough", .boolean(isRough)), ("mean_s", Self.json(mean)), ("p50_s", Self.json(median)),
            ("p90_s", Self.json(p90)), ("p95_s", Self.json(p95)), ("p99_s", Self.json(p99)),
            ("never_found", Self.json(neverFound)),
            (
                "distribution",
                .array(distribution.map { .array([.real($0.latency), .real($0.share)]) })
            ))
    }

    /// Value, and the ends of its confidence interval.
    private static func json(_ estimate: Estimate?) -> JSONValue {
        guard let estimate else { return .null }
        return .array([.real(estimate.value), .real(estimate.low), .real(estimate.high)])
    }

    private static func estimate(_ json: JSONValue?) -> Estimate? {
        guard let numbers = all(json, { $0.number }), numbers.count == 3 else { return nil }
        return Estimate(numbers[0], numbers[1], numbers[2])
    }

    init?(_ json: JSONValue) {
        guard let start = json["start"]?.string, let start = StartRule(rawValue: start),
            let samples = json["samples"]?.integer, let samples = Int(exactly: samples),
            case .boolean(let isRough) = json["rough"],
            let never = Self.estimate(json["never_found"]),
            let points = all(
                json["distribution"],
                { point -> Point? in
                    guard let numbers = all(point, { $0.number }), numbers.count == 2 else {
                        return nil
                    }
                    return Point(latency: numbers[0], share: numbers[1])
                })
        else { return nil }
        self.init(
            start: start, samples: samples, mean: Self.estimate(json["mean_s"]),
            median: Self.estimate(json["p50_s"]), p90: Self.estimate(json["p90_s"]),
            p95: Self.estimate(json["p95_s"]), p99: Self.estimate(json["p99_s"]),
            neverFound: never, isRough: isRough, distribution: points)
    }
}
