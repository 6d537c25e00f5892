// The `interval:` of an advertising set: one interval, or a policy that chooses it.
import Advertising
import HCI
import SansIO
import YAML

extension Form where Value == AdvertisingInterval {
    /// 20 ms to 10.24 s for legacy advertising (Core 6.0, Vol 4, Part E, 7.8.5).
    static var interval: Form {
        let time = Form<TimeSpan>.time(
            .milliseconds(20)...(.milliseconds(10_240)), limits: "20 ms to 10.24 s",
            example: "152.5 ms")
        return Form(says: time.says, schema: time.schema) { place, context in
            time.read(place, context).flatMap { AdvertisingInterval(microseconds: $0.microseconds) }
        }
    }
}

extension Form where Value == IntervalPhase {
    /// An interval for a while.
    fileprivate static var phase: Form {
        map(says: "'{interval: 20 ms, for: 30 s}'") { keys in
            let interval = keys.required("interval", Form<AdvertisingInterval>.interval)
            let span = keys.required("for", Form<TimeSpan>.period)
            guard let interval, let span else { return nil }
            return IntervalPhase(interval: interval, for: span)
        }
    }
}

extension Form where Value == IntervalPolicy {
    static var intervalPolicy: Form {
        let fixed = Form<AdvertisingInterval>.interval.map { IntervalPolicy.fixed($0) }
        return either(scalar: fixed, map: policy) { text in
            PolicyRule.all.first { $0.name == text }.map { "{policy: \($0.name), …}" }
        }
    }

    private static var policy: Form {
        map(says: "'{policy: activity, active: 152.5 ms, idle: 1285 ms}'") { keys in
            let rules = PolicyRule.all
            let chosen = keys.required("policy", .word(rules.map { ($0.name, $0) }))
            guard let chosen else {
                // Which keys belong here is not known: none of them is called unknown.
                for key in rules.flatMap(\.keys) + limitKeys {
                    _ = keys.optional(key, Form<Place>.any(says: ""))
                }
                return nil
            }
            return complete(chosen, &keys)
        }.described(.anyOf(PolicyRule.all.flatMap(schemas)))
    }

    /// What one policy takes; there may be several ways to write it.
    private static func schemas(of rule: PolicyRule) -> [Schema] {
        rule.shapes.map { shape in
            schema(assuming: [shape]) { keys in
                _ = keys.required("policy", Form<PolicyRule>.word([(rule.name, rule)]))
                return complete(rule, &keys)
            }
        }
    }

    private static func complete(_ chosen: PolicyRule, _ keys: inout Keys) -> IntervalPolicy? {
        let rule = chosen.read(&keys)
        // The boost of two-phase is its rule.
        let boost =
            chosen.keys.contains("boost")
            ? nil : keys.optional("boost", Form<IntervalPhase>.phase)
        let fallback =
            keys.isDeclaring && !chosen.canFallBack
            ? nil
            : keys.optional("fallback", Form<AdvertisingInterval>.interval)
        if fallback != nil, !chosen.canFallBack {
            keys.report(
                at: "fallback", "the policy '\(chosen.name)' needs nothing that can be lost",
                "remove it")
        }
        var limits = IntervalLimits()
        limits.dwell = keys.optional("dwell", .period) ?? .zero
        limits.rate = keys.optional("rate-limit", Form<RateLimit>.rateLimit)
        limits.snap = keys.optional("snap", Form<IntervalSnap>.word([("apple", .apple)]))
        return rule.map {
            IntervalPolicy($0, boost: boost, fallback: fallback, limits: limits)
        }
    }

    private static var limitKeys: [String] { ["boost", "fallback", "dwell", "rate-limit", "snap"] }
}

extension Form where Value == RateLimit {
    fileprivate static var rateLimit: Form {
        map(says: "'{changes: 6, per: 1 min}'") { keys in
            let count = keys.required("changes", .integer(1...1000, says: "1 to 1000 changes"))
            let span = keys.required("per", Form<TimeSpan>.period)
            guard let count, let span else { return nil }
            return RateLimit(count: count, per: span)
        }
    }
}

/// How one policy is written: its name, its keys and how they are read.
private struct PolicyRule: Sendable {
    let name: String
    let keys: [String]
    let read: @Sendable (inout Keys) -> IntervalRule?
    /// Whether it follows something that can be lost: the signal, or the time of day.
    var canFallBack = false
    /// The keys of which one says how the rest is written.
    var shapes = [""]

    /// The registry, sorted by name.
    static let all: [PolicyRule] = [
        PolicyRule(
            name: "activity",
            keys: ["active", "idle", "asleep", "levels", "hysteresis", "curve"],
            read: { activity(&$0) }, canFallBack: true, shapes: ["active", "levels", "curve"]),
        PolicyRule(name: "fixed", keys: ["interval"], read: { fixed(&$0) }),
        PolicyRule(name: "loop", keys: ["phases"], read: { loop(&$0) }),
        PolicyRule(name: "schedule", keys: ["times"], read: { schedule(&$0) }, canFallBack: true),
        PolicyRule(name: "steps", keys: ["steps"], read: { steps(&$0) }),
        PolicyRule(name: "two-phase", keys: ["boost", "slow"], read: { twoPhase(&$0) }),
    ]

    private static func fixed(_ keys: inout Keys) -> IntervalRule? {
        keys.required("interval", Form<AdvertisingInterval>.interval).map { .fixed($0) }
    }

    private static func loop(_ keys: inout Keys) -> IntervalRule? {
        let phases = Form<[IntervalPhase]>.list(
            of: .phase, says: "a list such as '[{interval: 152.5 ms, for: 5 s}]'")
        return keys.required("phases", phases).map { .loop($0) }
    }

    private static func twoPhase(_ keys: inout Keys) -> IntervalRule? {
        let boost = keys.required("boost", Form<IntervalPhase>.phase)
        let slow = keys.required("slow", Form<AdvertisingInterval>.interval)
        guard let boost, let slow else { return nil }
        return .twoPhase(boost: boost, slow: slow)
    }

    // MARK: steps

    private static func steps(_ keys: inout Keys) -> IntervalRule? {
        keys.required("steps", backOff).map { .steps($0) }
    }

    /// Phases, of which the last one has no end.
    private static var backOff: Form<[IntervalPhase]> {
        let says = "a list such as '[{interval: 20 ms, for: 30 s}, {interval: 1285 ms}]'"
        let phase = Form<IntervalPhase>.map(says: "'{interval: 20 ms, for: 30 s}'") { keys in
            _ = keys.required("interval", Form<AdvertisingInterval>.interval)
            _ = keys.optional("for", Form<TimeSpan>.period)
            return nil
        }
        let schema = { Schema.list(phase.schema(), minimum: 1) }
        return Form<[IntervalPhase]>(says: says, schema: schema) { place, context in
            guard case .sequence(let nodes) = place.node.content, !nodes.isEmpty else {
                return Form<[IntervalPhase]>.mismatch(place, context, says: says)
            }
            let last = Form<IntervalPhase>.map(says: "'{interval: 1285 ms}'") { keys in
                keys.refuse(
                    "for", "the last step has no end",
                    "remove it, or add a step such as '{interval: 1285 ms}'")
                return keys.required("interval", Form<AdvertisingInterval>.interval).map {
                    IntervalPhase(interval: $0, for: .zero)
                }
            }
            let phases = nodes.enumerated().compactMap { index, node in
                (index + 1 < nodes.count ? .phase : last)
                    .read(place.element(index, node), context)
            }
            return phases.count == nodes.count ? phases : nil
        }
    }

    // MARK: schedule

    private static func schedule(_ keys: inout Keys) -> IntervalRule? {
        let entry = Form<ScheduleEntry>.map(says: "'{from: \"07:00\", interval: 152.5 ms}'") {
            keys in
            let from = keys.required("from", Form<TimeSpan>.timeOfDay)
            let interval = keys.required("interval", Form<AdvertisingInterval>.interval)
            guard let from, let interval else { return nil }
            return ScheduleEntry(from: from, interval: interval)
        }
        let list = Form<[ScheduleEntry]>.list(
            of: entry, says: "a list such as '[{from: \"07:00\", interval: 152.5 ms}]'")
        guard let entries = keys.required("times", list) else { return nil }
        guard Set(entries.map(\.from)).count == entries.count else {
            keys.report(at: "times", "a time of day stands twice", "keep one of the two")
            return nil
        }
        return .schedule(entries)
    }

    // MARK: activity

    private static func activity(_ keys: inout Keys) -> IntervalRule? {
        let shapes = ["active", "levels", "curve"].filter { keys.has($0) }
        if shapes.count > 1 {
            keys.report(
                at: shapes[1], "'\(shapes[0])' and '\(shapes[1])' are two ways to say it",
                "keep one of them")
            for shape in shapes.dropFirst() { _ = keys.optional(shape, Form<Place>.any(says: "")) }
        }
        if shapes.isEmpty { keys.mention(["levels", "hysteresis", "curve"]) }
        let response =
            switch shapes.first {
            case "curve": curve(&keys)
            case "levels": levels(&keys)
            default: states(&keys)
            }
        let isUseAlone: Bool
        switch keys.context.activity {
        case .absent:
            keys.report(
                at: "policy", "the policy 'activity' needs to know what the device feels",
                "add 'activity:' to the profile")
            return nil
        case .broken: isUseAlone = false
        case .present(let rule):
            isUseAlone = rule.sources.allSatisfy(\.isUse)
            if keys.has("asleep"), rule.asleepAfter == nil {
                keys.report(
                    at: "asleep", "it is never asleep: 'activity' has no 'asleep-after'",
                    "add 'asleep-after: 10 min' there, or remove it")
            }
        }
        if isUseAlone, let shape = shapes.first, shape != "active" {
            keys.report(
                at: shape,
                "use, by 'gatt' or 'scan-requests', has no levels between idle and active",
                "write 'active' and 'idle'")
        }
        return response.map { .activity($0) }
    }

    private static func states(_ keys: inout Keys) -> ActivityResponse? {
        let active = keys.required("active", Form<AdvertisingInterval>.interval)
        let idle = keys.required("idle", Form<AdvertisingInterval>.interval)
        let asleep = keys.optional("asleep", Form<AdvertisingInterval>.interval)
        guard let active, let idle else { return nil }
        return .states(active: active, idle: idle, asleep: asleep)
    }

    private static func levels(_ keys: inout Keys) -> ActivityResponse? {
        let step = Form<ActivityStep>.map(says: "'{from: 0.4, interval: 152.5 ms}'") { keys in
            let from = keys.required("from", fraction)
            let interval = keys.required("interval", Form<AdvertisingInterval>.interval)
            guard let from, let interval else { return nil }
            return ActivityStep(from: from, interval: interval)
        }
        let base = keys.required("idle", Form<AdvertisingInterval>.interval)
        let list = Form<[ActivityStep]>.list(
            of: step, says: "a list such as '[{from: 0.4, interval: 152.5 ms}]'")
        let steps = keys.required("levels", list)
        let hysteresis = keys.optional("hysteresis", fraction)
        guard let base, let steps else { return nil }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.from < $1.from }) else {
            keys.report(
                at: "levels", "the levels do not rise", "write them by rising 'from'")
            return nil
        }
        return .levels(base: base, steps, hysteresis: hysteresis ?? 0.05)
    }

    private static func curve(_ keys: inout Keys) -> ActivityResponse? {
        let ends = Form<ActivityResponse>.map(says: "'{slow: 1285 ms, fast: 152.5 ms}'") { keys in
            let slow = keys.required("slow", Form<AdvertisingInterval>.interval)
            let fast = keys.required("fast", Form<AdvertisingInterval>.interval)
            guard let slow, let fast else { return nil }
            guard fast <= slow else {
                keys.report(at: "fast", "'fast' is slower than 'slow'", "exchange them")
                return nil
            }
            return .curve(slow: slow, fast: fast)
        }
        return keys.required("curve", ends)
    }

    /// A level of activity, or a difference of levels.
    private static var fraction: Form<Double> {
        let real = Form<Double>.real(says: "a level from 0.05 to 1")
        return Form<Double>(says: real.says, schema: real.schema) { place, context in
            guard let number = real.read(place, context) else { return nil }
            guard (0.05...1).contains(number) else {
                context.report(
                    place, "\(place.found) is not within 0.05 to 1", "write \(real.says)")
                return nil
            }
            return number
        }
    }
}
