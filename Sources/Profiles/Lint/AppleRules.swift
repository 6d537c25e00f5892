// Accessory Design Guidelines for Apple Devices, Bluetooth Low Energy: advertising and connections.
import Advertising
import HCI
import SansIO

extension LintRule {
    static let appleInterval = LintRule(
        id: "apple-interval",
        reason: "iPhones scan in a rhythm that finds the intervals of Apple's list soonest"
    ) { profile in
        profile.connectable.compactMap { path, set in
            let first = AppleIntervals.first
            let unwise = set.policy.intervals.filter {
                $0 != first && !AppleIntervals.recommended.contains($0)
            }
            guard let one = unwise.first else { return nil }
            return (
                path + ".interval",
                "\(unwise.map { "\($0)" }.joined(separator: ", ")) is not what Apple recommends",
                set.policy.isPlain
                    ? "write \(AppleIntervals.nearest(to: one))"
                    : "write \(AppleIntervals.nearest(to: one)), or 'snap: apple' in the policy"
            )
        }
    }

    static let appleFirst = LintRule(
        id: "apple-first",
        reason: "Apple asks for 20 ms during the first 30 s or more, so that pairing begins at once"
    ) { profile in
        profile.connectable.compactMap { path, set in
            guard let boost = set.policy.first else {
                return (
                    path + ".interval", "it does not begin with 20 ms for 30 s",
                    set.policy.boosted
                )
            }
            guard boost.interval != AppleIntervals.first || boost.span < .seconds(30) else {
                return nil
            }
            return (
                path + ".interval", "it begins with \(boost.interval) for \(boost.span)",
                "write 20 ms for 30 s or longer"
            )
        }
    }

    static let appleContents = LintRule(
        id: "apple-contents",
        reason: "Apple asks for flags and TX power level in the advertising data"
    ) { profile in
        profile.connectable.flatMap { path, set in
            let there = (set.data + set.scanResponse).flatMap { $0.parts.map(\.label) }
            return ["flags", "tx-power"].filter { !there.contains($0) }.map {
                (
                    path + ".data", "it has no \($0)",
                    $0 == "flags"
                        ? "add '{flags: [general-discoverable, no-br-edr]}'"
                        : "add '{tx-power: 0 dBm}' with the power there is"
                )
            }
        }
    }

    static let appleConnection = LintRule(
        id: "apple-connection",
        reason: "iPhones refuse connection parameters outside Apple's limits"
    ) { profile in
        guard let request = profile.device.connection else { return [] }
        let limits = AppleConnectionLimits(profile.lint.apple)
        return limits.objections(to: request).map {
            ("device.connection", $0.problem, $0.remedy)
        }
    }
}

/// What Apple accepts of a request for connection parameters.
private struct AppleConnectionLimits {
    let edition: AppleEdition
    let timeouts: ClosedRange<TimeSpan>
    /// Of the interval times (latency + 1).
    let spanMax: TimeSpan

    init(_ edition: AppleEdition) {
        self.edition = edition
        switch edition {
        case .r2018:
            timeouts = .seconds(2)...(.seconds(6))
            spanMax = .seconds(2)
        case .r2025:
            timeouts = .seconds(6)...(.seconds(18))
            spanMax = .seconds(6)
        }
    }

    func objections(to request: ConnectionRequest) -> [(problem: String, remedy: String)] {
        var found: [(problem: String, remedy: String)] = []
        func object(_ isWrong: Bool, _ problem: String, _ remedy: String) {
            guard isWrong else { return }
            found.append((problem + ", by Apple's rules of \(edition.rawValue)", remedy))
        }
        let low = TimeSpan(microseconds: request.minimum.microseconds)
        let high = TimeSpan(microseconds: request.maximum.microseconds)
        let span = high * (Int64(request.latency) + 1)
        let step: Int64 = 15_000
        object(
            low.microseconds < step || low.microseconds % step != 0,
            "the shortest interval \(low) is no multiple of 15 ms", "write 15 ms or a multiple")
        object(
            high < low + .milliseconds(15) && !(low == high && low == .milliseconds(15)),
            "the longest interval is not 15 ms above the shortest",
            "write 15 ms more, or 15 ms for both")
        object(request.latency > 30, "the latency is above 30", "write 30 or less")
        object(
            !timeouts.contains(request.timeout),
            "the timeout is not within \(timeouts.lowerBound) to \(timeouts.upperBound)",
            "write one within it")
        object(
            span > spanMax, "interval x (latency + 1) is \(span), above \(spanMax)",
            "write a lower latency")
        object(
            span * 3 >= request.timeout, "the timeout is not above 3 x interval x (latency + 1)",
            "write a longer timeout")
        return found
    }
}

extension DeviceProfile {
    /// The sets that centrals can connect to, with their paths.
    fileprivate var connectable: [(path: String, set: AdvertisingSet)] {
        advertising.enumerated().filter { $0.element.kind == .connectable }.map {
            ("advertising[\($0.offset)]", $0.element)
        }
    }
}

extension IntervalPolicy {
    /// All intervals that can be in force but those of a boost, each once; of a curve its ends.
    fileprivate var intervals: [AdvertisingInterval] {
        var all: [AdvertisingInterval] = []
        for interval in rule.intervals + (fallback.map { [$0] } ?? []) {
            let allowed = limits.allowed(interval)
            if !all.contains(allowed) { all.append(allowed) }
        }
        return all
    }

    /// Whether it is one interval without anything else, which needs no map.
    fileprivate var isPlain: Bool {
        guard case .fixed = rule else { return false }
        return boost == nil && limits == IntervalLimits()
    }

    /// How the boost that Apple asks for is written.
    fileprivate var boosted: String {
        let boost = "boost: {interval: 20 ms, for: 30 s}"
        guard isPlain, case .fixed(let interval) = rule else {
            return "add '\(boost)' to the policy"
        }
        let wise = AppleIntervals.nearest(to: interval)
        return "write 'interval: {policy: fixed, interval: \(wise), \(boost)}'"
    }

    /// What it begins with; nil where that is no phase of its own.
    fileprivate var first: IntervalPhase? {
        if let boost { return boost }
        return switch rule {
        case .twoPhase(let boost, _): boost
        case .steps(let phases), .loop(let phases): phases.first
        case .activity, .fixed, .schedule: nil
        }
    }
}
