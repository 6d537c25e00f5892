// The policies that a sweep compares: those with a name, and what is swept of them.
public import Advertising
public import HCI
import SansIO
import Wire

/// A policy and what tables call it.
public struct NamedPolicy: Equatable, Sendable {
    public var name: String
    public var policy: IntervalPolicy

    public init(name: String, policy: IntervalPolicy) {
        self.name = name
        self.policy = policy
    }
}

/// Policies that products have, by name, with the intervals that a sweep may change.
public enum KnownPolicy: String, CaseIterable, Sendable {
    /// As the profile has it.
    case profile
    case fixed
    case twoPhase = "two-phase"
    case activity
    case steps
    case loop

    /// What a profile's own policy is called; nil for one with no name here.
    private init?(of profile: IntervalPolicy) {
        switch profile.rule {
        case .fixed: self = .fixed
        case .twoPhase: self = .twoPhase
        case .activity(.states): self = .activity
        case .steps: self = .steps
        case .loop: self = .loop
        case .activity(.curve), .activity(.levels), .schedule: return nil
        }
    }

    /// What it is before anything is swept: the profile's own one where it is of this name; nil
    /// where the profile has no activity signal for it.
    func policy(of profile: IntervalPolicy, hasActivity: Bool) -> IntervalPolicy? {
        func interval(_ steps: UInt16) -> AdvertisingInterval { AdvertisingInterval(steps: steps) }
        let boost = IntervalPhase(interval: interval(32), for: .seconds(30))
        switch self {
        case .profile: return profile
        case .activity where !hasActivity: return nil
        case _ where self == KnownPolicy(of: profile): return profile
        case .fixed: return .fixed(interval(1_636))
        case .twoPhase: return IntervalPolicy(.twoPhase(boost: boost, slow: interval(1_636)))
        case .activity:
            return IntervalPolicy(
                .activity(.states(active: interval(244), idle: interval(2_056), asleep: nil)))
        case .steps:
            return IntervalPolicy(
                .steps([
                    boost, IntervalPhase(interval: interval(244), for: .seconds(300)),
                    IntervalPhase(interval: interval(2_056), for: .zero),
                ]))
        case .loop:
            return IntervalPolicy(
                .loop([
                    IntervalPhase(interval: interval(244), for: .seconds(5)),
                    IntervalPhase(interval: interval(1_636), for: .seconds(20)),
                ]))
        }
    }
}

/// An interval of a policy that a sweep changes. Raw values are keys of the profile.
public enum SweepKey: String, CaseIterable, Sendable {
    case interval, active, idle, asleep, slow, boost

    /// A policy that has it.
    fileprivate var policy: KnownPolicy {
        switch self {
        case .interval: .fixed
        case .active, .idle, .asleep: .activity
        case .slow, .boost: .twoPhase
        }
    }

    /// The policy with another interval; nil where it has none of this key.
    func change(_ policy: IntervalPolicy, to interval: AdvertisingInterval) -> IntervalPolicy? {
        var policy = policy
        switch (self, policy.rule) {
        case (.interval, .fixed): policy.rule = .fixed(interval)
        case (.active, .activity(.states(_, let idle, let asleep))):
            policy.rule = .activity(.states(active: interval, idle: idle, asleep: asleep))
        case (.idle, .activity(.states(let active, _, let asleep))):
            policy.rule = .activity(.states(active: active, idle: interval, asleep: asleep))
        case (.idle, .activity(.levels(_, let steps, let hysteresis))):
            policy.rule = .activity(.levels(base: interval, steps, hysteresis: hysteresis))
        case (.asleep, .activity(.states(let active, let idle, .some))):
            policy.rule = .activity(.states(active: active, idle: idle, asleep: interval))
        case (.active, .activity(.curve(let slow, _))):
            policy.rule = .activity(.curve(slow: slow, fast: interval))
        case (.idle, .activity(.curve(_, let fast))):
            policy.rule = .activity(.curve(slow: interval, fast: fast))
        case (.slow, .twoPhase(let boost, _)):
            policy.rule = .twoPhase(boost: boost, slow: interval)
        case (.boost, .twoPhase(let boost, let slow)):
            policy.rule = .twoPhase(
                boost: IntervalPhase(interval: interval, for: boost.span), slow: slow)
        case (.slow, .steps(let phases)), (.slow, .loop(let phases)):
            guard let last = phases.last else { return nil }
            let changed = phases.dropLast() + [IntervalPhase(interval: interval, for: last.span)]
            if case .loop = policy.rule {
                policy.rule = .loop(Array(changed))
            } else {
                policy.rule = .steps(Array(changed))
            }
        case (.boost, _):
            guard let boost = policy.boost else { return nil }
            policy.boost = IntervalPhase(interval: interval, for: boost.span)
        case (.interval, _), (.active, _), (.idle, _), (.asleep, _), (.slow, _): return nil
        }
        return policy
    }
}

/// One `--sweep`.
public enum SweepOption: Equatable, Sendable {
    case policies([KnownPolicy])
    case intervals(SweepKey, [AdvertisingInterval])

    /// How many values a range has where it does not say: `100ms..1s`.
    static let rangeCount = 8
    public static let form = "KEY=VALUES"

    /// Reads `active=100ms..1s`, `idle=760ms,1285ms`, `slow=100ms..2s/20`, `interval=apple` or
    /// `policy=fixed,activity`.
    public init(_ text: String) throws(BenchError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw BenchError(
                "--sweep: \"\(text)\" has no values; write active=100ms..1s, idle=760ms,1285ms "
                    + "or policy=fixed,activity")
        }
        if parts[0] == "policy" {
            var policies: [KnownPolicy] = []
            for name in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
                guard let policy = KnownPolicy(rawValue: String(name)) else {
                    let names = KnownPolicy.allCases.map(\.rawValue).joined(separator: ", ")
                    throw BenchError(
                        "--sweep: there is no policy \"\(name)\"; write one of \(names)")
                }
                policies.append(policy)
            }
            self = .policies(policies)
        } else {
            guard let key = SweepKey(rawValue: String(parts[0])) else {
                let keys = SweepKey.allCases.map(\.rawValue).joined(separator: ", ")
                throw BenchError(
                    "--sweep: nothing is called \"\(parts[0])\"; write policy, \(keys)")
            }
            self = .intervals(key, try Self.values(parts[1]))
        }
    }

    private static func values(
        _ text: Substring
    ) throws(BenchError) -> [AdvertisingInterval] {
        if text == "apple" { return AppleIntervals.recommended }
        var values: [AdvertisingInterval] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            values += try range(part)
        }
        return values
    }

    private static func range(_ text: Substring) throws(BenchError) -> [AdvertisingInterval] {
        guard let dots = text.firstPlace(of: "..") else { return [try interval(text)] }
        var end = text[dots.upperBound...]
        var count = rangeCount
        if let slash = end.firstIndex(of: "/") {
            guard let number = Int(end[end.index(after: slash)...]), (2...1_000).contains(number)
            else {
                throw BenchError(
                    "--sweep: \"\(end[slash...])\" is no number of values; write /2 to /1000")
            }
            count = number
            end = end[..<slash]
        }
        let (low, high) = (try interval(text[..<dots.lowerBound]), try interval(end))
        guard low < high else {
            throw BenchError("--sweep: the range \(text) does not rise; exchange its ends")
        }
        // Evenly in logarithms: what counts of an interval is its ratio to others.
        return (0..<count).map { index in
            let part = Double(index) / Double(count - 1)
            let steps =
                Double(low.steps) * powerOf(Double(high.steps) / Double(low.steps), part)
            return AdvertisingInterval(steps: UInt16(steps.rounded()))
        }
    }

    private static func interval(_ text: Substring) throws(BenchError) -> AdvertisingInterval {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count)
        guard let value = Double(number), unit == "ms" || unit == "s", value < 1e6,
            let interval = AdvertisingInterval(
                microseconds: Int64(value * (unit == "s" ? 1e6 : 1e3)))
        else {
            throw BenchError(
                "--sweep: \"\(text)\" is no interval of 20ms to 10.24s; write 152.5ms or 1s")
        }
        return interval
    }
}

/// The policies of a benchmark.
public enum Sweep {
    /// The most policies that one sweep compares.
    public static let policiesMax = 2_000

    /// What is compared where a target is given and no sweep.
    public static let usual: [SweepOption] = [
        .policies([.profile, .fixed, .twoPhase, .activity]),
        .intervals(.interval, AppleIntervals.recommended),
        .intervals(.slow, AppleIntervals.recommended),
        .intervals(.active, [AppleIntervals.first] + AppleIntervals.recommended),
        .intervals(.idle, AppleIntervals.recommended),
    ]

    /// All combinations that make sense; the profile's own policy where nothing is swept.
    public static func policies(
        _ options: [SweepOption], of profile: IntervalPolicy, hasActivity: Bool
    ) throws(BenchError) -> [NamedPolicy] {
        let all = try combinations(options, of: profile, hasActivity: hasActivity)
        let found = sensible(all)
        guard found.isEmpty else { return found }
        throw BenchError(
            "--sweep: all \(all.count) policies are slower in use than at rest; write a shorter "
                + "'active' or 'boost', or a longer 'idle' or 'slow'")
    }

    /// Without those that are faster at rest than in use. One alone is what was asked for.
    public static func sensible(_ policies: [NamedPolicy]) -> [NamedPolicy] {
        policies.count == 1 ? policies : policies.filter { !$0.policy.isUpsideDown }
    }

    /// All combinations, whether they make sense or not.
    public static func combinations(
        _ options: [SweepOption], of profile: IntervalPolicy, hasActivity: Bool
    ) throws(BenchError) -> [NamedPolicy] {
        var known: [KnownPolicy] = []
        var keys: [(key: SweepKey, values: [AdvertisingInterval])] = []
        for option in options {
            switch option {
            case .policies(let policies): known += policies
            case .intervals(let key, let values): keys.append((key, values))
            }
        }
        if known.isEmpty { known = [.profile] }
        // What nobody asked for may be missing.
        let isUsual = options == usual
        var found: [NamedPolicy] = []
        var used = Set<SweepKey>()
        for policy in known {
            guard let base = policy.policy(of: profile, hasActivity: hasActivity) else {
                if isUsual { continue }
                throw BenchError(
                    "--sweep: the policy 'activity' needs to know what the device feels; "
                        + "add 'activity:' to the profile")
            }
            var variants = [base]
            for (key, values) in keys where key.change(base, to: values[0]) != nil {
                used.insert(key)
                guard variants.count * values.count <= policiesMax else { throw tooMany }
                variants = variants.flatMap { variant in
                    values.compactMap { key.change(variant, to: $0) }
                }
            }
            for variant in variants where !found.contains(where: { $0.policy == variant }) {
                found.append(NamedPolicy(name: policy.name(of: profile), policy: variant))
            }
        }
        if !isUsual, let key = keys.first(where: { !used.contains($0.key) })?.key {
            throw BenchError(
                "--sweep: no policy here has '\(key.rawValue)'; "
                    + "add --sweep policy=\(key.policy.rawValue)")
        }
        guard found.count <= policiesMax else { throw tooMany }
        return found
    }

    private static var tooMany: BenchError {
        BenchError("--sweep: more than \(policiesMax) policies; write fewer values")
    }
}

extension KnownPolicy {
    /// The profile's own policy is called by its kind.
    fileprivate func name(of profile: IntervalPolicy) -> String {
        guard self == .profile else { return rawValue }
        return switch profile.rule {
        case .activity: "activity"
        case .fixed: "fixed"
        case .loop: "loop"
        case .schedule: "schedule"
        case .steps: "steps"
        case .twoPhase: "two-phase"
        }
    }
}

extension IntervalPolicy {
    /// Faster at rest than in use: nobody wants that, and a sweep leaves it out.
    fileprivate var isUpsideDown: Bool {
        switch rule {
        case .activity(.states(let active, let idle, let asleep)):
            active > idle || asleep.map { $0 < idle } == true
        case .activity(.curve(let slow, let fast)): fast > slow
        case .twoPhase(let boost, let slow): boost.interval > slow
        case .activity(.levels), .fixed, .loop, .schedule, .steps: false
        }
    }
}
