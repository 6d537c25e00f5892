// The `activity:` part: where the signal comes from, and the detector's rule.
import Advertising
import SansIO
import YAML

extension Form where Value == ActivityRule {
    /// The keys of `ActivityRule`, its data sheet.
    static var activity: Form {
        map(says: "a map of source, active-above, idle-below and hold") { keys in
            let sources = keys.required("source", Form<[ActivitySource]>.activitySources)
            // What centrals do has no magnitude, so that thresholds would mean nothing.
            let isUseAlone = sources?.allSatisfy(\.isUse) ?? true
            let level = Form<Double>.quantity("g", 0...1000, example: "0.12 g")
            let above =
                isUseAlone
                ? keys.optional("active-above", level) : keys.required("active-above", level)
            let below =
                isUseAlone
                ? keys.optional("idle-below", level) : keys.required("idle-below", level)
            let hold = keys.required("hold", .period)
            var rule = ActivityRule(
                sources: sources ?? [], activeAbove: above ?? 0, idleBelow: below ?? 0,
                hold: hold ?? .zero)
            readOptional(&keys, into: &rule)
            if let above, let below, below > above {
                keys.report(
                    at: "idle-below", "'idle-below' is above 'active-above'", "write a lower level")
                return nil
            }
            let hasThresholds = isUseAlone || above != nil && below != nil
            return sources == nil || hold == nil || !hasThresholds ? nil : rule
        }
    }

    private static func readOptional(_ keys: inout Keys, into rule: inout ActivityRule) {
        let window = Form<TimeSpan>.time(
            .milliseconds(1)...(.seconds(3600)), limits: "1 ms to 1 h", example: "1 s")
        rule.window = keys.optional("window", window) ?? .zero
        rule.asleepAfter = keys.optional("asleep-after", .period)
        if let samples = keys.optional("wake-samples", .integer(1...1000, says: "1 to 1000")) {
            rule.wakeSamples = samples
            if !keys.has("asleep-after") {
                keys.report(
                    at: "wake-samples", "nothing is woken without 'asleep-after'",
                    "add 'asleep-after: 10 min', or remove it")
            }
        }
        rule.stallAfter = keys.optional("stall-after", .period)
        let isLive = rule.sources.contains { if case .live = $0 { true } else { false } }
        if rule.stallAfter != nil, !rule.sources.isEmpty, !isLive {
            keys.report(
                at: "stall-after", "only a live source can stall, and there is none", "remove it")
        }
        rule.gravity =
            keys.optional("gravity", .quantity("g", 0...1000, example: "1 g")) ?? rule.gravity
        rule.fullScale =
            keys.optional("full-scale", .quantity("g", 0.0001...1000, example: "0.5 g"))
            ?? rule.fullScale
    }
}

extension Form where Value == [ActivitySource] {
    /// One source, or a list of several.
    fileprivate static var activitySources: Form {
        let one = Form<ActivitySource>.activitySource
        let schema = { Schema.anyOf([one.schema(), .list(one.schema(), minimum: 1)]) }
        return Form(says: one.says, schema: schema) { place, context in
            guard case .sequence(let nodes) = place.node.content else {
                return one.read(place, context).map { [$0] }
            }
            guard nodes.count <= ActivityRule.sourcesMax else {
                context.report(
                    place, "there are \(nodes.count) sources", "write at most 16")
                return nil
            }
            let sources = list(of: one, says: "a list of sources").read(place, context)
            return sources?.count == nodes.count ? sources : nil
        }
    }
}

extension ActivityRule {
    /// More sources than any device has sensors.
    fileprivate static let sourcesMax = 16
}

/// How one kind of source is written: the key that chooses it, and how it is read.
private struct SourceKind: Sendable {
    let key: String
    let read: @Sendable (inout Keys) -> ActivitySource?

    /// The registry, sorted by key.
    static let all: [SourceKind] = [
        SourceKind(key: "csv") { Form<ActivitySource>.trace(&$0) },
        SourceKind(key: "fifo") { keys in
            keys.optional("fifo", Form<ActivitySource>.path).map { .live(.fifo(path: $0)) }
        },
        SourceKind(key: "generator") { keys in
            keys.optional("generator", Form<ActivitySource>.generator)
        },
        SourceKind(key: "iio") { Form<ActivitySource>.sensor(&$0) },
        SourceKind(key: "socket") { keys in
            keys.optional("socket", Form<ActivitySource>.path).map { .live(.socket(path: $0)) }
        },
    ]
}

extension Form where Value == ActivitySource {
    fileprivate static var activitySource: Form {
        let says = "'{csv: FILE, column: NAME}'"
        let word = word([
            ("gatt", .gatt), ("scan-requests", .scanRequests), ("stdin", .live(.stdin)),
        ])
        let map = map(says: says) { keys in
            let given = SourceKind.all.filter { keys.has($0.key) }
            guard !given.isEmpty else {
                let any = Form<Place>.any(says: "a trace's file, or choose another source")
                keys.mention(SourceKind.all.map(\.key).filter { $0 != "csv" })
                _ = keys.required("csv", any)
                return nil
            }
            if given.count > 1 {
                keys.report(
                    at: given[1].key, "only one source can stand here", "write a list of sources")
            }
            let sources = given.map { $0.read(&keys) }
            return given.count == 1 ? sources.first ?? nil : nil
        }
        return either(scalar: word, map: map)
    }

    /// A path in a profile is relative to the profile's folder.
    fileprivate static var path: Form<String> {
        let text = Form<String>.text(4096, says: "a path")
        return Form<String>(says: text.says, schema: text.schema) { place, context in
            text.read(place, context).map { resolve($0, besides: context.file) }
        }
    }

    static func resolve(_ path: String, besides profile: String) -> String {
        guard !path.hasPrefix("/"), let slash = profile.lastIndex(of: "/") else { return path }
        return profile[...slash] + path
    }

    // MARK: csv

    fileprivate static func trace(_ keys: inout Keys) -> ActivitySource? {
        let path = keys.optional("csv", path)
        let column = keys.optional("column", .text(100, says: "the name of a column"))
        let speed = keys.optional("speed", traceSpeed)
        let repeats = keys.optional("repeat", .boolean)
        guard let path else { return nil }
        let context = keys.context
        switch context.files(path) {
        case .failure(let failure):
            keys.report(
                at: "csv", "cannot read '\(path)': \(failure.reason)",
                "write the trace's path, relative to the profile's folder")
            return nil
        case .success(let bytes):
            do throws(ProfileError) {
                let samples = try ActivityTrace(file: path, column: column).read(bytes)
                return .trace(
                    TraceSource(samples: samples, speed: speed ?? 1, repeats: repeats ?? false))
            } catch {
                context.report(error)
                return nil
            }
        }
    }

    private static var traceSpeed: Form<Double> {
        let says = "how many seconds of the trace pass in one, 0.001 to 100000"
        let real = Form<Double>.real(says: says)
        return Form<Double>(says: says, schema: real.schema) { place, context in
            guard let speed = real.read(place, context) else { return nil }
            guard TraceSource.speeds.contains(speed) else {
                context.report(
                    place, "\(place.found) is not within 0.001 to 100000", "write \(says)")
                return nil
            }
            return speed
        }
    }

    // MARK: iio

    fileprivate static func sensor(_ keys: inout Keys) -> ActivitySource? {
        let name = keys.optional("iio", .text(4096, says: "a sensor's name such as 'lis3dh'"))
        let rate = keys.optional("rate", .quantity("Hz", 0.1...1000, example: "25 Hz"))
        let period = rate.map { TimeSpan(microseconds: Int64((1e6 / $0).rounded())) }
        return name.map { .live(.iio(name: $0, every: period ?? LiveSource.iioPeriod)) }
    }

    // MARK: generator

    fileprivate static var generator: Form {
        choice(
            says: "a generator such as '{random: {every: 1 s, magnitude: 0.3 g}}'",
            [
                Choice("bursts", bursts), Choice("day-rhythm", dayRhythm), Choice("random", random),
            ])
    }

    private static var magnitude: Form<Double> {
        .quantity("g", 0...1000, example: "0.3 g")
    }

    private static var bursts: Form {
        map(says: "a map of every, length and magnitude") { keys in
            let every = keys.required("every", Form<TimeSpan>.period)
            let length = keys.required("length", Form<TimeSpan>.period)
            let magnitude = keys.required("magnitude", magnitude)
            guard let every, let length, let magnitude else { return nil }
            guard length <= every else {
                keys.report(
                    at: "length", "the burst is longer than its period", "write a shorter one")
                return nil
            }
            return .bursts(BurstSource(every: every, length: length, magnitude: magnitude))
        }
    }

    private static var dayRhythm: Form {
        map(says: "a map of from, to and magnitude") { keys in
            let from = keys.required("from", Form<TimeSpan>.timeOfDay)
            let to = keys.required("to", Form<TimeSpan>.timeOfDay)
            let magnitude = keys.required("magnitude", magnitude)
            guard let from, let to, let magnitude else { return nil }
            guard from != to else {
                keys.report(at: "to", "the day has no length", "write another time")
                return nil
            }
            return .dayRhythm(DayRhythmSource(from: from, to: to, magnitude: magnitude))
        }
    }

    private static var random: Form {
        map(says: "a map of every and magnitude") { keys in
            let every = keys.required("every", Form<TimeSpan>.period)
            let magnitude = keys.required("magnitude", magnitude)
            guard let every, let magnitude else { return nil }
            return .random(RandomSource(every: every, magnitude: magnitude))
        }
    }
}
