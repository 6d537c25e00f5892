// Sweeps: what they say, which policies they come to, and policies as a profile writes them.
import Advertising
import HCI
import Profiles
import SansIO
import Testing

@testable import Bench

struct SweepTests {
    private func steps(_ text: String) throws -> [UInt16] {
        guard case .intervals(_, let values) = try SweepOption(text) else { return [] }
        return values.map(\.steps)
    }

    @Test("Lists, ranges and Apple's intervals are values of a sweep")
    func values() throws {
        #expect(try steps("active=20ms,1s") == [32, 1_600])
        #expect(try steps("idle=100ms..1.6s/5") == [160, 320, 640, 1_280, 2_560])
        #expect(try steps("slow=100ms..1s").count == 8)
        #expect(try steps("interval=apple").count == 9)
        #expect(
            try SweepOption("policy=fixed,two-phase") == .policies([.fixed, .twoPhase]))
    }

    @Test(
        "What is no sweep is refused with what to write",
        arguments: [
            "", "active", "active=", "active=10ms", "active=11s", "active=1", "active=x",
            "active=1s..100ms", "active=1s..1s", "active=100ms..1s/1", "active=100ms..1s/x",
            "active=100ms,,1s", "night=1s", "policy=", "policy=fast", "=1s", "active=nans",
            "active=1e9s", "active=..",
        ])
    func mistakes(_ text: String) {
        do {
            _ = try SweepOption(text)
            Issue.record("\(text) is read")
        } catch { #expect(error.description.contains("--sweep: ")) }
    }

    private let own = IntervalPolicy(
        .activity(
            .states(
                active: AdvertisingInterval(steps: 244), idle: AdvertisingInterval(steps: 2_056),
                asleep: nil)),
        boost: IntervalPhase(interval: AdvertisingInterval(steps: 32), for: .seconds(30)),
        limits: IntervalLimits(dwell: .seconds(5)))

    private func policies(_ sweeps: [String], hasActivity: Bool = true) throws -> [NamedPolicy] {
        try Sweep.policies(
            try sweeps.map { try SweepOption($0) }, of: own, hasActivity: hasActivity)
    }

    @Test("Without a sweep it is the profile's own policy")
    func unswept() throws {
        #expect(try policies([]) == [NamedPolicy(name: "activity", policy: own)])
    }

    @Test("All combinations, each once, and none that is faster at rest than in use")
    func combinations() throws {
        let found = try policies(["active=100ms,1s", "idle=200ms,2s"])
        #expect(found.count == 3)
        #expect(Set(found.map { $0.policy.description }).count == 3)
        #expect(found.allSatisfy { $0.policy.limits == own.limits && $0.policy.boost == own.boost })
        let all = try Sweep.combinations(
            [SweepOption("active=100ms,1s"), SweepOption("idle=200ms,2s")], of: own,
            hasActivity: true)
        #expect(all.count == 4 && Sweep.sensible(all) == found)
        #expect(throws: BenchError.self) { try policies(["active=1s..5s/3", "idle=100ms"]) }
        #expect(try policies(["policy=profile,activity"]).count == 1)
        let usual = try Sweep.policies(Sweep.usual, of: own, hasActivity: true)
        #expect((50...200).contains(usual.count))
        #expect(Set(usual.map(\.name)) == ["activity", "fixed", "two-phase"])
    }

    @Test("A sweep of what no policy has, of too much, or of activity without a signal is refused")
    func refusals() throws {
        #expect(throws: BenchError.self) { try policies(["slow=1s"]) }
        #expect(throws: BenchError.self) {
            try policies(["active=20ms..10s/100", "idle=20ms..10s/100"])
        }
        #expect(throws: BenchError.self) { try policies(["policy=activity"], hasActivity: false) }
        #expect(throws: BenchError.self) {
            try policies(["policy=activity,fixed"], hasActivity: false)
        }
    }

    @Test("What a target is looked for among fits each kind of policy, and a named one is the own")
    func kinds() throws {
        let phase = IntervalPhase(interval: AdvertisingInterval(steps: 244), for: .seconds(5))
        let interval = AdvertisingInterval(steps: 800)
        for (name, rule) in [
            ("fixed", IntervalRule.fixed(interval)),
            ("two-phase", .twoPhase(boost: phase, slow: interval)),
            ("steps", .steps([phase, phase])), ("loop", .loop([phase, phase])),
        ] {
            let policy = IntervalPolicy(rule)
            let usual = try Sweep.policies(Sweep.usual, of: policy, hasActivity: false)
            #expect(usual.contains { $0.name == "fixed" }, "\(name)")
            #expect(usual.contains { $0.name == "two-phase" }, "\(name)")
            #expect(!usual.contains { $0.name == "activity" }, "\(name)")
            let named = try Sweep.policies(
                [try SweepOption("policy=\(name)")], of: policy, hasActivity: false)
            #expect(named.map(\.policy) == [policy], "\(name)")
        }
    }

    @Test("A policy as YAML is read as the same policy")
    func yaml() throws {
        let phase = IntervalPhase(interval: AdvertisingInterval(steps: 244), for: .seconds(5))
        let last = IntervalPhase(interval: AdvertisingInterval(steps: 2_056), for: .zero)
        let interval = AdvertisingInterval(steps: 1_636)
        for policy in [
            .fixed(interval), own, IntervalPolicy(.loop([phase, phase])),
            IntervalPolicy(.steps([phase, last])),
            IntervalPolicy(.twoPhase(boost: phase, slow: interval)),
            IntervalPolicy(
                .activity(
                    .levels(
                        base: interval, [.init(from: 0.4, interval: phase.interval)],
                        hysteresis: 0.1)), fallback: interval,
                limits: IntervalLimits(
                    rate: RateLimit(count: 6, per: .seconds(60)), snap: .apple)),
            IntervalPolicy(.activity(.curve(slow: interval, fast: phase.interval))),
            IntervalPolicy(
                .schedule([
                    .init(from: .seconds(25_200), interval: phase.interval),
                    .init(from: .seconds(79_200), interval: interval),
                ])),
            IntervalPolicy(.fixed(interval), limits: IntervalLimits(dwell: .seconds(1))),
        ] {
            #expect(try read(policy.yaml) == policy, "\(policy)")
        }
    }

    private func read(_ yaml: [String]) throws -> IntervalPolicy? {
        let lines = yaml.map { "      \($0)" }.joined(separator: "\n")
        let value = yaml.count == 1 ? " \(yaml[0])" : "\n" + lines
        let text = """
            peripheral-emu: 1
            device: {name: A}
            activity:
              source: {generator: {random: {every: 1 s, magnitude: 0.1 g}}}
              active-above: 0.12 g
              idle-below: 0.05 g
              hold: 10 s
            advertising:
              - type: connectable
                interval:\(value)
                data: [{flags: [general-discoverable, no-br-edr]}]
            """
        let profile = try ProfileLoader.load(path: "p.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        return profile.advertising.first?.policy
    }
}
