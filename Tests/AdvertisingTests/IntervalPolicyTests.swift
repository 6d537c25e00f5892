// The interval policies against references that ask at every millisecond what the rule says.
import Advertising
import HCI
import SansIO
import Testing

private func ms(_ milliseconds: Double) -> AdvertisingInterval {
    AdvertisingInterval(steps: UInt16(milliseconds / 0.625))
}

private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

private func change(_ state: ActivityState, _ milliseconds: Int64) -> ActivityChange {
    ActivityChange(
        at: at(milliseconds), state: state,
        reason: state == .active
            ? .above(value: 0.31, threshold: 0.12) : .below(threshold: 0.05, hold: .seconds(10)))
}

private typealias Event = IntervalReference.Event

/// Drives a controller to each deadline at its instant, and through the events in between.
private func decisions(
    _ policy: IntervalPolicy, _ events: [Event], until end: Int64
) -> [IntervalDecision] {
    var controller = IntervalController(policy)
    var outputs = Outputs<IntervalDecision>()
    func run(to now: Instant) {
        var steps = 0
        while let deadline = controller.deadline, deadline <= now, steps < 100_000 {
            controller.expire(at: deadline, emit: &outputs)
            steps += 1
        }
        #expect(steps < 100_000, "the deadline does not move")
    }
    for event in events {
        run(to: at(event.at) - .microseconds(1))
        controller.handle(event.input, at: at(event.at), emit: &outputs)
    }
    run(to: at(end))
    #expect(outputs.elements.last.map { $0.to == controller.interval } ?? true)
    return outputs.elements
}

/// `1500 152.5 ms -> 1285 ms: reason`.
private func log(_ decisions: [IntervalDecision]) -> [String] {
    decisions.map {
        "\($0.at.microseconds / 1000) \($0.from) -> \($0.to): \($0.reason)"
    }
}

@Suite struct IntervalPolicyTests {
    // MARK: each policy by hand

    @Test("two-phase: fast after power-on and after each disconnection, then slow")
    func twoPhase() {
        let policy = IntervalPolicy(
            .twoPhase(boost: IntervalPhase(interval: ms(20), for: .seconds(30)), slow: ms(1285)))
        #expect(IntervalController(policy).interval == ms(20))
        let told = decisions(
            policy,
            [
                (0, .powerOn), (10_000, .connected), (60_000, .disconnected),
                (80_000, .disconnected),
            ], until: 200_000)
        #expect(
            log(told) == [
                "30000 20 ms -> 1285 ms: boost of 30 s over, fixed",
                "60000 1285 ms -> 20 ms: boost for 30 s after disconnection",
                "110000 20 ms -> 1285 ms: boost of 30 s over, fixed",
            ])
    }

    @Test("a boost that begins anew before its end is one after the disconnection")
    func boostAnew() {
        var controller = IntervalController(
            IntervalPolicy(
                .fixed(ms(1285)), boost: IntervalPhase(interval: ms(20), for: .seconds(30))))
        var outputs = Outputs<IntervalDecision>()
        controller.handle(.powerOn, at: at(0), emit: &outputs)
        #expect(controller.reason == "boost for 30 s after power-on")
        controller.handle(.disconnected, at: at(10_000), emit: &outputs)
        #expect(controller.reason == "boost for 30 s after disconnection")
        #expect(outputs.elements.isEmpty)
        #expect(controller.deadline == at(40_000))
    }

    @Test("a boost before the activity policy; activity during it shows afterwards")
    func boost() {
        var policy = IntervalPolicy.activity(active: ms(152.5), idle: ms(1285))
        policy.boost = IntervalPhase(interval: ms(20), for: .seconds(30))
        let told = decisions(
            policy,
            [
                (0, .powerOn), (20_000, .activity(change(.active, 20_000))),
                (40_000, .activity(change(.idle, 40_000))),
            ], until: 100_000)
        #expect(
            log(told) == [
                "30000 20 ms -> 152.5 ms: boost of 30 s over, activity 0.31 g above 0.12 g",
                "40000 152.5 ms -> 1285 ms: idle: below 0.05 g for 10 s",
            ])
        let quiet = decisions(policy, [(0, .powerOn)], until: 100_000)
        #expect(
            log(quiet) == [
                "30000 20 ms -> 1285 ms: boost of 30 s over, idle at power-on"
            ])
    }

    @Test("steps: slower and slower, and from the first again when something happens")
    func steps() {
        let policy = IntervalPolicy(
            .steps([
                IntervalPhase(interval: ms(20), for: .seconds(2)),
                IntervalPhase(interval: ms(152.5), for: .seconds(3)),
                IntervalPhase(interval: ms(1285), for: .seconds(1)),
            ]))
        let told = decisions(
            policy,
            [
                (1000, .powerOn), (10_000, .activity(change(.active, 10_000))),
                (10_500, .activity(change(.idle, 10_500))),
            ], until: 100_000)
        #expect(
            log(told) == [
                "3000 20 ms -> 152.5 ms: step 2 of 3 after power-on",
                "6000 152.5 ms -> 1285 ms: step 3 of 3 after power-on",
                "10000 1285 ms -> 20 ms: step 1 of 3 after activity 0.31 g above 0.12 g",
                "12000 20 ms -> 152.5 ms: step 2 of 3 after activity 0.31 g above 0.12 g",
                "15000 152.5 ms -> 1285 ms: step 3 of 3 after activity 0.31 g above 0.12 g",
            ])
    }

    @Test("loop: in turn for ever, without drift")
    func loop() {
        let policy = IntervalPolicy(
            .loop([
                IntervalPhase(interval: ms(152.5), for: .seconds(5)),
                IntervalPhase(interval: ms(1022.5), for: .seconds(20)),
            ]))
        let told = decisions(policy, [(500, .powerOn)], until: 31_000)
        #expect(
            log(told) == [
                "5500 152.5 ms -> 1022.5 ms: loop, 2 of 2",
                "25500 1022.5 ms -> 152.5 ms: loop, 1 of 2",
                "30500 152.5 ms -> 1022.5 ms: loop, 2 of 2",
            ])
        // A driver that is late finds the phase of the instant.
        var late = IntervalController(policy)
        var outputs = Outputs<IntervalDecision>()
        late.handle(.powerOn, at: .zero, emit: &outputs)
        late.expire(at: at(1_000_000_024_000), emit: &outputs)
        #expect(late.interval == ms(1022.5))
        #expect(late.deadline == at(1_000_000_025_000))
    }

    @Test("schedule: by the time of day, over midnight, and after the clock was set")
    func schedule() {
        let policy = IntervalPolicy(
            .schedule([
                ScheduleEntry(from: .seconds(22 * 3600 + 30 * 60), interval: ms(1285)),
                ScheduleEntry(from: .seconds(7 * 3600), interval: ms(152.5)),
            ]))
        #expect(IntervalController(policy).interval == ms(1285))
        #expect(IntervalController(policy).reason == "time of day not known")
        let hour: Int64 = 3_600_000
        let told = decisions(
            policy,
            [
                (0, .powerOn), (0, .timeOfDay(.seconds(6 * 3600))),
                (20 * hour, .timeOfDay(.seconds(12 * 3600))),
            ], until: 60 * hour)
        #expect(
            log(told) == [
                "3600000 1285 ms -> 152.5 ms: schedule, from 07:00",
                "59400000 152.5 ms -> 1285 ms: schedule, from 22:30",
                "72000000 1285 ms -> 152.5 ms: schedule, from 07:00",
                "109800000 152.5 ms -> 1285 ms: schedule, from 22:30",
                "140400000 1285 ms -> 152.5 ms: schedule, from 07:00",
                "196200000 152.5 ms -> 1285 ms: schedule, from 22:30",
            ])
    }

    @Test("levels: the highest step reached, left with hysteresis")
    func levels() {
        let policy = IntervalPolicy(
            .activity(
                .levels(
                    base: ms(1285),
                    [
                        ActivityStep(from: 0.5, interval: ms(20)),
                        ActivityStep(from: 0.2, interval: ms(318.75)),
                    ],
                    hysteresis: 0.1)))
        #expect(policy.usesLevel)
        let levels = [0.15, 0.2, 0.15, 0.1, 0.05, 0.9, 0.45, 0.35, 0.05]
        let told = decisions(
            policy, levels.enumerated().map { (Int64($0.offset) * 1000, .level($0.element)) },
            until: 20_000)
        #expect(
            log(told) == [
                "1000 1285 ms -> 318.75 ms: activity level 0.20",
                "4000 318.75 ms -> 1285 ms: activity level 0.05",
                "5000 1285 ms -> 20 ms: activity level 0.90",
                "7000 20 ms -> 318.75 ms: activity level 0.35",
                "8000 318.75 ms -> 1285 ms: activity level 0.05",
            ])
    }

    @Test("a level exactly at a threshold's slack keeps the step, whatever the fractions")
    func levelFractions() {
        for tenths in 1...9 {
            let from = Double(tenths) / 10
            for twentieths in 0...(2 * tenths) {
                let policy = IntervalPolicy(
                    .activity(
                        .levels(
                            base: ms(1285), [ActivityStep(from: from, interval: ms(20))],
                            hysteresis: Double(twentieths) / 20)))
                let kept = Double(2 * tenths - twentieths) / 20
                let told = decisions(
                    policy, [(0, .level(from)), (1, .level(kept)), (2, .level(kept - 0.05))],
                    until: 10)
                #expect(told.map(\.at) == (kept > 0 ? [at(0), at(2)] : [at(0)]))
            }
        }
    }

    @Test("a curve between two intervals")
    func curve() {
        let policy = IntervalPolicy(.activity(.curve(slow: ms(1280), fast: ms(20))))
        let levels = [0.5, 1, 0, .nan, 7]
        let told = decisions(
            policy, levels.enumerated().map { (Int64($0.offset) * 1000, .level($0.element)) },
            until: 20_000)
        #expect(
            log(told) == [
                "0 1280 ms -> 160 ms: activity level 0.50",
                "1000 160 ms -> 20 ms: activity level 1.00",
                "2000 20 ms -> 1280 ms: activity level 0.00",
                "4000 1280 ms -> 20 ms: activity level 1.00",
            ])
    }

    @Test("a lost signal: the fallback, unless another source says active")
    func fallback() {
        var policy = IntervalPolicy.activity(active: ms(152.5), idle: ms(1285))
        policy.fallback = ms(760)
        let told = decisions(
            policy,
            [
                (0, .powerOn), (1000, .activity(change(.active, 1000))),
                (2000, .signalLost(reason: "no value for 5 s")),
                (
                    2000,
                    .activity(
                        ActivityChange(
                            at: at(2000), state: .idle, reason: .lost("no value for 5 s")))
                ),
                (3000, .activity(change(.active, 3000))), (4000, .activity(change(.idle, 4000))),
                (5000, .signalReturned),
            ], until: 10_000)
        #expect(
            log(told) == [
                "1000 1285 ms -> 152.5 ms: activity 0.31 g above 0.12 g",
                "2000 152.5 ms -> 760 ms: idle: source lost: no value for 5 s",
                "3000 760 ms -> 152.5 ms: activity 0.31 g above 0.12 g",
                "4000 152.5 ms -> 760 ms: idle: below 0.05 g for 10 s",
                "5000 760 ms -> 1285 ms: signal returned",
            ])
        let idle = decisions(
            policy, [(0, .powerOn), (10, .signalLost(reason: "end of file"))], until: 20)
        #expect(log(idle) == ["10 1285 ms -> 760 ms: signal lost: end of file"])
    }

    @Test("a change that comes too early waits for the dwell; one that is taken back is none")
    func dwell() {
        var policy = IntervalPolicy.activity(active: ms(152.5), idle: ms(1285))
        policy.limits.dwell = .seconds(10)
        let states: [(Int64, ActivityState)] = [
            (4_000, .active), (12_000, .idle), (15_000, .active), (21_000, .idle),
            (60_000, .active),
        ]
        let told = decisions(
            policy, [(0, .powerOn)] + states.map { ($0.0, .activity(change($0.1, $0.0))) },
            until: 100_000)
        #expect(
            log(told) == [
                "10000 1285 ms -> 152.5 ms: activity 0.31 g above 0.12 g, held back by the dwell",
                "21000 152.5 ms -> 1285 ms: idle: below 0.05 g for 10 s",
                "60000 1285 ms -> 152.5 ms: activity 0.31 g above 0.12 g",
            ])
    }

    @Test("a rate limit: so many changes in any such span")
    func rate() {
        var policy = IntervalPolicy.activity(active: ms(152.5), idle: ms(1285))
        policy.limits.rate = RateLimit(count: 2, per: .seconds(10))
        let states: [(Int64, ActivityState)] = [(1_000, .active), (2_000, .idle), (3_000, .active)]
        let told = decisions(
            policy, states.map { ($0.0, .activity(change($0.1, $0.0))) }, until: 100_000)
        #expect(
            log(told) == [
                "1000 1285 ms -> 152.5 ms: activity 0.31 g above 0.12 g",
                "2000 152.5 ms -> 1285 ms: idle: below 0.05 g for 10 s",
                "11000 1285 ms -> 152.5 ms: activity 0.31 g above 0.12 g, "
                    + "held back by the rate limit",
            ])
    }

    @Test("snapped to Apple's list: the nearest, and 20 ms stays")
    func snap() {
        let list = [152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5, 1285]
        #expect(AppleIntervals.recommended.map { Double($0.microseconds) / 1000 } == list)
        let limits = IntervalLimits(snap: .apple)
        for steps in 33...0x4000 as ClosedRange<UInt16> {
            let interval = AdvertisingInterval(steps: steps)
            let milliseconds = Double(interval.microseconds) / 1000
            var nearest = list[0]
            for each in list where abs(each - milliseconds) < abs(nearest - milliseconds) {
                nearest = each
            }
            guard limits.allowed(interval) == ms(nearest) else {
                Issue.record("\(interval) is not \(nearest) ms")
                return
            }
        }
        #expect(limits.allowed(ms(20)) == ms(20))
        #expect(IntervalLimits().allowed(AdvertisingInterval(steps: 0)) == .minimum)
        #expect(IntervalLimits().allowed(AdvertisingInterval(steps: .max)) == .maximum)
        var policy = IntervalPolicy.activity(active: ms(100), idle: ms(2000))
        policy.limits.snap = .apple
        #expect(IntervalController(policy).interval == ms(1285))
        #expect(policy.range == ms(152.5)...ms(1285))
    }

    @Test("policies in words")
    func words() {
        var policy = IntervalPolicy.activity(active: ms(152.5), idle: ms(1285))
        #expect("\(policy)" == "152.5 ms while active, 1285 ms while idle")
        #expect("\(IntervalPolicy.fixed(ms(20)))" == "20 ms")
        policy.boost = IntervalPhase(interval: ms(20), for: .seconds(30))
        policy.fallback = ms(760)
        policy.limits = IntervalLimits(
            dwell: .seconds(10), rate: RateLimit(count: 6, per: .seconds(60)), snap: .apple)
        #expect(
            "\(policy)" == "152.5 ms while active, 1285 ms while idle; boost 20 ms for 30 s; "
                + "fallback 760 ms; each for 10 s or longer; at most 6 changes in 60 s; "
                + "snapped to Apple's list")
        let phases = [
            IntervalPhase(interval: ms(20), for: .seconds(5)),
            IntervalPhase(interval: ms(760), for: .seconds(20)),
        ]
        #expect("\(IntervalPolicy(.loop(phases)))" == "20 ms for 5 s, 760 ms for 20 s, and again")
        #expect("\(IntervalPolicy(.steps(phases)))" == "20 ms for 5 s, then 760 ms")
        #expect(
            "\(IntervalPolicy(.schedule([ScheduleEntry(from: .zero, interval: ms(20))])))"
                == "20 ms from 00:00")
    }

    // MARK: all policies at random

    private static let intervals = [20, 100, 152.5, 400, 760, 1285, 5000].map(ms)

    private static func randomPolicy(
        _ kind: Int64, _ random: inout SeededRandom
    ) -> IntervalPolicy {
        func interval() -> AdvertisingInterval { intervals[Int(random.below(7))] }
        func phase() -> IntervalPhase {
            IntervalPhase(interval: interval(), for: .milliseconds(1 + random.below(200)))
        }
        let rule: IntervalRule =
            switch kind {
            case 0: .fixed(interval())
            case 1: .twoPhase(boost: phase(), slow: interval())
            case 2: .steps((0...random.below(4)).map { _ in phase() })
            case 3: .loop((0...random.below(4)).map { _ in phase() })
            case 4:
                .schedule(
                    (0...random.below(4)).map { index in
                        let from = 86_400_000 - 500 + 300 * index + random.below(300)
                        return ScheduleEntry(
                            from: .milliseconds(from % 86_400_000), interval: interval())
                    })
            case 5: .activity(.states(active: interval(), idle: interval(), asleep: interval()))
            case 6:
                .activity(
                    .levels(
                        base: interval(),
                        [0.1, 0.3, 0.7].map { ActivityStep(from: $0, interval: interval()) },
                        hysteresis: [0, 0.1, 0.15][Int(random.below(3))]))
            default: .activity(.curve(slow: ms(1285), fast: ms(152.5)))
            }
        return IntervalPolicy(
            rule, boost: random.below(3) == 0 ? phase() : nil,
            fallback: random.below(2) == 0 ? interval() : nil,
            limits: IntervalLimits(
                dwell: .milliseconds(random.below(2) == 0 ? 0 : random.below(150)),
                rate: random.below(3) > 0
                    ? nil
                    : RateLimit(
                        count: Int(random.below(3)) + 1, per: .milliseconds(random.below(400))),
                snap: random.below(4) == 0 ? .apple : nil))
    }

    private static func randomEvents(_ random: inout SeededRandom) -> [Event] {
        var events: [Event] = [(random.below(20), .powerOn)]
        for _ in 0..<random.below(30) {
            let now = events[events.count - 1].at + 1 + random.below(80)
            let states: [ActivityState] = [.active, .idle, .asleep]
            let input: IntervalInput =
                switch random.below(9) {
                case 0: .disconnected
                case 1: .connected
                case 2: .signalLost(reason: "gone")
                case 3: .signalReturned
                case 4: .timeOfDay(.milliseconds(86_400_000 - 700 + random.below(1000)))
                case 5, 6: .level(Double(random.below(21)) / 20)
                default: .activity(change(states[Int(random.below(3))], now))
                }
            events.append((now, input))
        }
        return events
    }

    @Test(
        "every decision of every policy equals the reference at every millisecond",
        arguments: 0..<8 as Range<Int64>)
    func agreesWithReference(kind: Int64) {
        for seed in 0..<30 as Range<UInt64> {
            var random = SeededRandom(seed: seed, stream: "policy \(kind)")
            let policy = Self.randomPolicy(kind, &random)
            let events = Self.randomEvents(&random)
            let end = events[events.count - 1].at + 400
            let told = decisions(policy, events, until: end)
            let expected = IntervalReference(policy: policy, events: events).decisions(until: end)
            let lines = told.map { "\($0.at.microseconds / 1000) \($0.from) -> \($0.to)" }
            guard lines == expected else {
                Issue.record("seed \(seed): \(policy)\n\(events)\n\(lines)\n\(expected)")
                return
            }
            #expect(told == decisions(policy, events, until: end))
            #expect(told.allSatisfy { policy.range.contains($0.to) && !$0.reason.isEmpty })
        }
    }

    @Test(
        "a late driver, jumping clocks and odd values: limits and bounds are kept",
        arguments: 0..<8 as Range<Int64>)
    func limitsAreKept(kind: Int64) {
        for seed in 0..<60 as Range<UInt64> {
            var random = SeededRandom(seed: seed, stream: "late \(kind)")
            let policy = Self.randomPolicy(kind, &random)
            var controller = IntervalController(policy)
            var outputs = Outputs<IntervalDecision>()
            var now: Int64 = 0
            controller.handle(.powerOn, at: at(0), emit: &outputs)
            for (_, input) in Self.randomEvents(&random) where input != .powerOn {
                now += random.below(200) - 40
                let inputs = [
                    input, .level(.nan), .level(.infinity), .level(-3),
                    .timeOfDay(TimeSpan(microseconds: .min)), .timeOfDay(.seconds(1_000_000)),
                ]
                controller.handle(inputs[Int(random.below(6))], at: at(now), emit: &outputs)
                guard random.below(2) == 0 else { continue }
                now += random.below(200) - 40
                controller.expire(at: at(now), emit: &outputs)
            }
            for end in [.max, .min, 0, .max - 1] as [Int64] {
                controller.expire(at: Instant(microseconds: end), emit: &outputs)
                controller.handle(.disconnected, at: Instant(microseconds: end), emit: &outputs)
            }
            check(policy, outputs.elements)
        }
    }

    private func check(_ policy: IntervalPolicy, _ decisions: [IntervalDecision]) {
        var since = at(0)
        for (index, decision) in decisions.enumerated() {
            #expect(decision.from != decision.to)
            #expect(index == 0 || decision.from == decisions[index - 1].to)
            #expect(policy.range.contains(decision.to))
            #expect(decision.at - since >= policy.limits.dwell)
            if let rate = policy.limits.rate, index >= rate.count {
                #expect(decision.at - decisions[index - rate.count].at >= rate.per)
            }
            since = decision.at
        }
    }

    @Test("policies with nothing in them, and spans of any length, never trap")
    func empty() {
        let spans = [Int64.min, -1, 0, 1, .max].map { TimeSpan(microseconds: $0) }
        let phases = spans.map { IntervalPhase(interval: ms(100), for: $0) }
        let rules: [IntervalRule] = [
            .loop([]), .steps([]), .schedule([]), .loop(phases), .steps(phases),
            .schedule(spans.map { ScheduleEntry(from: $0, interval: ms(100)) }),
            .activity(.levels(base: ms(100), [], hysteresis: .nan)),
            .activity(
                .levels(
                    base: ms(100), [ActivityStep(from: .nan, interval: ms(20))], hysteresis: -1)),
            .activity(
                .curve(
                    slow: AdvertisingInterval(steps: 0), fast: AdvertisingInterval(steps: .max))),
            .twoPhase(boost: phases[4], slow: ms(100)),
        ]
        for rule in rules {
            for span in spans {
                let policy = IntervalPolicy(
                    rule, boost: IntervalPhase(interval: ms(20), for: span),
                    limits: IntervalLimits(
                        dwell: span,
                        rate: RateLimit(count: span == .zero ? .min : 5, per: span)))
                var controller = IntervalController(policy)
                var outputs = Outputs<IntervalDecision>()
                for instant in [0, 1, .max, .min, 5] as [Int64] {
                    let now = Instant(microseconds: instant)
                    let inputs: [IntervalInput] = [
                        .powerOn, .timeOfDay(.seconds(5)), .level(0.5), .disconnected,
                    ]
                    for input in inputs { controller.handle(input, at: now, emit: &outputs) }
                    controller.expire(at: now, emit: &outputs)
                    #expect(policy.range.contains(controller.interval))
                }
            }
        }
    }

    @Test("events of the activity signal as inputs")
    func inputs() {
        let active = change(.active, 1)
        #expect(IntervalInput(.changed(active)) == .activity(active))
        #expect(IntervalInput(.level(0.5, at: .zero)) == .level(0.5))
        #expect(IntervalInput(.signalLost(reason: "x", at: .zero)) == .signalLost(reason: "x"))
        #expect(IntervalInput(.signalReturned(at: .zero)) == .signalReturned)
        #expect(IntervalInput(.sourceLost(source: 0, reason: "x", at: .zero)) == nil)
        #expect(IntervalInput(.sourceReturned(source: 0, at: .zero)) == nil)
    }
}
