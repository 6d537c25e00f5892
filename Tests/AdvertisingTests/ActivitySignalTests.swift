// The activity signal with windows, sleep and levels, against a reference that looks at every
// microsecond; live sources, use, and what happens when a source is lost.
import Advertising
import SansIO
import Testing

private typealias Sample = ActivityRule.Sample

private func sample(_ microseconds: Int64, _ value: Double) -> Sample {
    Sample(time: .microseconds(microseconds), value: value)
}

private func rule(_ sources: [ActivitySource], hold: TimeSpan = .seconds(10)) -> ActivityRule {
    ActivityRule(sources: sources, activeAbove: 0.12, idleBelow: 0.05, hold: hold)
}

private let live = ActivitySource.live(.stdin)

private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

/// A detector that is driven to each deadline at its instant.
private struct Rig {
    var detector: ActivityDetector
    var events: [ActivityEvent] = []
    private var outputs = Outputs<ActivityEvent>()

    init(_ rule: ActivityRule, tellsLevel: Bool = false, seed: UInt64 = 0) {
        detector = ActivityDetector(rule, start: .zero, tellsLevel: tellsLevel, seed: seed)
    }

    mutating func run(to end: Instant) {
        var steps = 0
        while let deadline = detector.deadline, deadline <= end, steps < 200_000 {
            detector.expire(at: deadline, emit: &outputs)
            steps += 1
        }
        #expect(steps < 200_000, "the deadline does not move")
        take()
    }

    mutating func tell(_ input: ActivityInput, at now: Instant) {
        run(to: now - .microseconds(1))
        detector.handle(input, at: now, emit: &outputs)
        take()
    }

    private mutating func take() {
        events += outputs.elements
        outputs.removeAll()
    }

    /// `12 active`, `15.5 level 0.4`, `20 lost: reason`, in seconds.
    var log: [String] {
        events.map { event in
            func time(_ at: Instant) -> String {
                let text = "\(Double(at.microseconds) / 1e6)"
                return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
            }
            return switch event {
            case .changed(let change): "\(time(change.at)) \(change.state): \(change.reason)"
            case .level(let level, let at): "\(time(at)) level \(level)"
            case .sourceLost(let source, let reason, let at):
                "\(time(at)) source \(source) lost: \(reason)"
            case .sourceReturned(let source, let at): "\(time(at)) source \(source) returned"
            case .signalLost(let reason, let at): "\(time(at)) signal lost: \(reason)"
            case .signalReturned(let at): "\(time(at)) signal returned"
            }
        }
    }
}

/// The rule of the data sheet for one trace, by brute force: every microsecond, whole numbers.
private struct Reference {
    /// `(microsecond, state, level)` wherever state or level differ from the microsecond before.
    static func changes(
        _ samples: [Sample], _ rule: ActivityRule, until end: Int64
    ) -> [String] {
        let quantum = { (value: Double) in Int64((value * 10_000).rounded()) }
        let window = rule.window.microseconds
        let hold = rule.hold.microseconds
        var state = ActivityState.idle
        var told = (state: state, level: Int64(0))
        var value = 0.0
        // The squares in force during each microsecond, summed up.
        var sums: [Int64] = [0]
        var belowSince: Int64?
        var idleSince: Int64 = 0
        var waking = 0
        var result: [String] = []
        let arrivals = Dictionary(grouping: samples.filter { !$0.value.isNaN }) {
            $0.time.microseconds
        }
        for now in 0...end {
            let energy = sums[Int(now)] - sums[Int(max(now - window, 0))]
            func limit(_ value: Double) -> Int64 { quantum(value) * quantum(value) * window }
            func look(_ value: Double) {
                let isBelow =
                    window > 0 ? energy < limit(rule.idleBelow) : value < rule.idleBelow
                belowSince = isBelow ? belowSince ?? now : nil
            }
            func isAbove(_ value: Double) -> Bool {
                window > 0 ? energy > limit(rule.activeAbove) : value > rule.activeAbove
            }
            func activate() {
                state = .active
                if belowSince != nil { belowSince = now }
            }
            if window > 0 { look(0) }
            for arrival in arrivals[now] ?? [] {
                value = arrival.value
                look(value)
                if state == .asleep {
                    waking = value > rule.activeAbove ? waking + 1 : 0
                    if waking == rule.wakeSamples { activate() }
                } else if state == .idle, isAbove(value) {
                    activate()
                }
            }
            if window > 0, state == .idle, isAbove(0) { activate() }
            if state == .active, let since = belowSince, now - since >= hold {
                state = .idle
                idleSince = now
            }
            if state == .idle, let after = rule.asleepAfter,
                now - idleSince >= after.microseconds
            {
                state = .asleep
                waking = 0
            }
            let full = quantum(rule.fullScale)
            let level: Int64 =
                if state == .asleep {
                    0
                } else if window == 0 {
                    min(20, quantum(value) * 20 / full)
                } else {
                    (1...20).last { $0 * $0 * full * full * window <= 400 * energy } ?? 0
                }
            if (state, level) != told { result.append("\(now) \(state) \(level)") }
            told = (state, level)
            sums.append(sums[Int(now)] + quantum(value) * quantum(value))
        }
        return result
    }

    /// The same of the detector's events.
    static func changes(_ events: [ActivityEvent]) -> [String] {
        var instants: [Int64] = []
        var states: [(ActivityState, Int64)] = []
        var (state, level) = (ActivityState.idle, Int64(0))
        for event in events {
            var now: Int64 = 0
            switch event {
            case .changed(let change): (now, state) = (change.at.microseconds, change.state)
            case .level(let value, let at):
                (now, level) = (at.microseconds, Int64((value * 20).rounded()))
            default: Issue.record("\(event)")
            }
            if instants.last == now { states.removeLast() } else { instants.append(now) }
            states.append((state, level))
        }
        return zip(instants, states).map { "\($0) \($1.0) \($1.1)" }
    }
}

@Suite struct ActivitySignalTests {
    private static func randomRule(_ random: inout SeededRandom) -> (ActivityRule, [Sample]) {
        let levels = [0, 0.02, 0.05, 0.06, 0.11, 0.12, 0.1201, 0.2, 0.31, 0.5, 0.9, .nan]
        var time: Int64 = 0
        let samples = (0..<random.below(60)).map { _ in
            time += random.below([2, 30, 200][Int(random.below(3))])
            let quiet = random.below(3) > 0
            return sample(time, levels[Int(random.below(quiet ? 5 : 12))])
        }
        var rule = rule(
            [.trace(TraceSource(samples: samples))], hold: .microseconds(random.below(150)))
        rule.window = .microseconds([0, 1, 40, 150][Int(random.below(4))])
        rule.asleepAfter = random.below(2) == 0 ? nil : .microseconds(random.below(300))
        rule.wakeSamples = Int(random.below(4)) + 1
        return (rule, samples)
    }

    @Test(
        "windows, sleep, wake and levels: equal to the reference at every microsecond",
        arguments: 0..<120)
    func agreesWithReference(seed: UInt64) {
        var random = SeededRandom(seed: seed, stream: "signal")
        let (rule, samples) = Self.randomRule(&random)
        let end = (samples.last?.time.microseconds ?? 0) + 1000
        var rig = Rig(rule, tellsLevel: true)
        rig.run(to: .zero + .seconds(1_000_000))
        #expect(Reference.changes(rig.events) == Reference.changes(samples, rule, until: end))
    }

    @Test("the same values live, at their instants, tell the same as a trace", arguments: 0..<60)
    func liveEqualsTrace(seed: UInt64) {
        var random = SeededRandom(seed: seed, stream: "live")
        let (trace, samples) = Self.randomRule(&random)
        var played = Rig(trace, tellsLevel: true)
        played.run(to: at(1))
        var rule = trace
        rule.sources = [live]
        var fed = Rig(rule, tellsLevel: true)
        for sample in samples { fed.tell(.sample(sample.value), at: .zero + sample.time) }
        fed.run(to: at(1))
        // Fed one by one, up and down at one instant is told; in a trace it is not.
        #expect(Self.net(fed.events) == Self.net(played.events))
    }

    /// The state and level at the end of each instant with an event, where they have changed.
    private static func net(_ events: [ActivityEvent]) -> [String] {
        var before = "idle 0"
        return Reference.changes(events).filter { line in
            let state = line.drop { $0 != " " }.dropFirst()
            defer { before = String(state) }
            return state != before
        }
    }

    @Test("a step is felt within one window, at the instant that the RMS crosses")
    func window() {
        // 0.2 g fills the window; its RMS passes 0.12 g when 0.36 of it is filled.
        var rule = rule([
            .trace(
                TraceSource(samples: [
                    sample(0, 0), sample(5_000_000, 0.2), sample(20_000_000, 0),
                ]))
        ])
        rule.window = .seconds(2)
        var rig = Rig(rule)
        rig.run(to: at(100))
        // Below 0.05 g when 1/16 of the window is left.
        #expect(
            rig.log == [
                "5.720001 active: activity above 0.12 g RMS over 2 s",
                "31.875001 idle: idle: below 0.05 g for 10 s",
            ])
    }

    @Test("a live value just above the threshold is felt within one window")
    func withinOneWindow() {
        var rule = rule([live])
        rule.window = .milliseconds(1500)
        var rig = Rig(rule)
        rig.tell(.sample(0.01), at: at(1))
        rig.tell(.sample(0.121), at: at(7))
        rig.run(to: at(7) + rule.window)
        #expect(rig.detector.state == .active)
    }

    @Test("asleep after a while of idleness; so many values above in a row wake")
    func sleep() {
        var rule = rule([live])
        rule.asleepAfter = .seconds(60)
        rule.wakeSamples = 3
        var rig = Rig(rule)
        rig.tell(.sample(0.3), at: at(10))
        rig.tell(.sample(0), at: at(11))
        let values: [(Int64, Double)] = [
            (90, 0.3), (91, 0.3), (92, 0.12), (93, 0.3), (94, .nan), (95, 0.2), (96, 0.13),
        ]
        for (second, value) in values { rig.tell(.sample(value), at: at(second)) }
        #expect(
            rig.log == [
                "10 active: activity 0.3 g above 0.12 g",
                "21 idle: idle: below 0.05 g for 10 s",
                "81 asleep: asleep: idle for 60 s",
                "96 active: woken: 3 values above 0.12 g",
            ])
        // Nothing was ever felt: asleep counts from power-on.
        var quiet = Rig(rule)
        quiet.run(to: at(1000))
        #expect(quiet.log == ["60 asleep: asleep: idle for 60 s"])
        #expect(quiet.detector.deadline == nil)
    }

    @Test("x, y, z: the magnitude without gravity")
    func axes() {
        var rig = Rig(rule([live]))
        rig.tell(.acceleration(x: 0, y: 0.6, z: -0.8), at: at(1))
        rig.tell(.acceleration(x: 1, y: 0, z: 0.1), at: at(2))
        rig.tell(.acceleration(x: .nan, y: 0, z: 3), at: at(3))
        #expect(rig.log.isEmpty)
        rig.tell(.acceleration(x: 0, y: 0, z: 0.5), at: at(4))
        #expect(rig.log == ["4 active: activity 0.5 g above 0.12 g"])
        var inSpace = rule([live])
        inSpace.gravity = 0
        var free = Rig(inSpace)
        free.tell(.acceleration(x: 2, y: 1, z: 2), at: at(1))
        #expect(free.log == ["1 active: activity 3 g above 0.12 g"])
    }

    @Test("a source that stops is reported, is idle at once, and its next value brings it back")
    func lost() {
        var rule = rule([live])
        rule.stallAfter = .seconds(5)
        var rig = Rig(rule)
        rig.tell(.sample(0.4), at: at(1))
        rig.tell(.sample(.nan), at: at(4))
        rig.run(to: at(20))
        rig.tell(.sample(0.3), at: at(21))
        rig.tell(.sourceLost(reason: "end of file"), at: at(22))
        rig.tell(.sourceLost(reason: "again"), at: at(23))
        rig.run(to: at(60))
        #expect(
            rig.log == [
                "1 active: activity 0.4 g above 0.12 g",
                "6 source 0 lost: no value for 5 s", "6 signal lost: no value for 5 s",
                "6 idle: idle: source lost: no value for 5 s",
                "21 source 0 returned", "21 signal returned",
                "21 active: activity 0.3 g above 0.12 g",
                "22 source 0 lost: end of file", "22 signal lost: end of file",
                "22 idle: idle: source lost: end of file",
            ])
    }

    @Test("a live source that never says anything is lost too")
    func silent() {
        var rule = rule([live, .gatt])
        rule.stallAfter = .seconds(5)
        var rig = Rig(rule)
        rig.run(to: at(60))
        #expect(
            rig.log == [
                "5 source 0 lost: no value for 5 s", "5 signal lost: no value for 5 s",
            ])
    }

    @Test("the signal is lost only when no source of motion is left")
    func lostAmongOthers() {
        var rig = Rig(rule([live, live, .gatt]))
        rig.tell(.sourceLost(reason: "a", source: 1), at: at(1))
        rig.tell(.sourceLost(reason: "b", source: 0), at: at(2))
        rig.tell(.sample(0, source: 0), at: at(3))
        rig.tell(.sample(0, source: 1), at: at(4))
        #expect(
            rig.log == [
                "1 source 1 lost: a", "2 source 0 lost: b", "2 signal lost: b",
                "3 source 0 returned", "3 signal returned", "4 source 1 returned",
            ])
        var recorded = Rig(rule([live, .trace(TraceSource(samples: [sample(0, 0)]))]))
        recorded.tell(.sourceLost(reason: "a"), at: at(1))
        #expect(recorded.log == ["1 source 0 lost: a"])
    }

    @Test("use by centrals is activity for the hold, and wakes")
    func use() {
        var rule = rule([.gatt])
        rule.asleepAfter = .seconds(5)
        var rig = Rig(rule, tellsLevel: true)
        rig.tell(.use(.connection), at: at(7))
        rig.tell(.use(.read), at: at(12))
        // At the very end of the hold a use still counts.
        rig.tell(.use(.write), at: at(22))
        rig.tell(.sample(5), at: at(23))
        rig.run(to: at(100))
        #expect(
            rig.log == [
                "5 asleep: asleep: idle for 5 s",
                "7 active: in use: connection", "7 level 1.0",
                "32 idle: idle: not used for 10 s", "32 level 0.0",
                "37 asleep: asleep: idle for 5 s",
            ])
        var without = Rig(Self.liveOnly)
        without.tell(.use(.write), at: at(1))
        #expect(without.log.isEmpty)
    }

    private static let liveOnly = rule([live])

    @Test("several sources: as active as the most active one, at the highest level")
    func combined() {
        let trace = TraceSource(samples: [sample(10_000_000, 0.2), sample(30_000_000, 0)])
        var rig = Rig(rule([.trace(trace), live, .gatt]), tellsLevel: true)
        rig.tell(.sample(0.4, source: 1), at: at(5))
        rig.tell(.sample(0, source: 1), at: at(8))
        rig.tell(.use(.read), at: at(35))
        rig.run(to: at(100))
        #expect(
            rig.log == [
                "5 active: activity 0.4 g above 0.12 g", "5 level 0.8", "8 level 0.0",
                "10 level 0.4", "30 level 0.0", "35 level 1.0",
                "45 idle: idle: not used for 10 s", "45 level 0.0",
            ])
    }

    @Test("thousands of values in a window are averaged, not forgotten")
    func flood() {
        var rule = rule([live])
        rule.window = .seconds(10)
        var rig = Rig(rule)
        var outputs = Outputs<ActivityEvent>()
        for index in 0..<50_000 as Range<Int64> {
            rig.detector.handle(
                .sample(index % 2 == 0 ? 0.13 : 0.1301), at: .zero + .microseconds(index * 1000),
                emit: &outputs)
        }
        // Active when 0.12² / 0.13² of the window is filled, and never idle again.
        #expect(outputs.elements.count == 1)
        guard case .changed(let change)? = outputs.elements.first else {
            Issue.record("no change")
            return
        }
        #expect(change.state == .active)
        #expect((8.51...8.53).contains(Double(change.at.microseconds) / 1e6))
    }

    @Test("any values, instants and parameters: no trap, and the same again", arguments: 0..<60)
    func rubbish(seed: UInt64) {
        func run() -> [ActivityEvent] {
            var random = SeededRandom(seed: seed, stream: "rubbish")
            let numbers = [Double.nan, .infinity, -.infinity, 0, -1, 1e308, 1e-300, 0.1, 0.2]
            let times = [Int64.min, .max, 0, -5, 90_000, 7_000, 2_000_000, .max - 1, .min + 1]
            func number() -> Double { numbers[Int(random.below(9))] }
            func span() -> TimeSpan { TimeSpan(microseconds: times[Int(random.below(9))]) }
            var rule = ActivityRule(
                sources: [
                    .trace(
                        TraceSource(
                            samples: (0..<random.below(5)).map { _ in
                                Sample(time: span(), value: number())
                            },
                            speed: number(), repeats: random.below(2) == 0)),
                    live, .gatt,
                    .bursts(BurstSource(every: span(), length: span(), magnitude: number())),
                    .dayRhythm(DayRhythmSource(from: span(), to: span(), magnitude: number())),
                    .random(RandomSource(every: span(), magnitude: number())),
                ],
                activeAbove: number(), idleBelow: number(), hold: span())
            // One at a time: those without an end keep a detector busy for ever.
            rule.sources = [rule.sources[Int(random.below(6))], live]
            rule.window = span()
            rule.asleepAfter = random.below(2) == 0 ? nil : span()
            rule.stallAfter = random.below(2) == 0 ? nil : span()
            rule.wakeSamples = [.min, 0, 1, 2, .max][Int(random.below(5))]
            rule.gravity = number()
            rule.fullScale = number()
            var detector = ActivityDetector(
                rule, start: Instant(microseconds: random.below(2) == 0 ? 0 : .max - 10),
                tellsLevel: random.below(2) == 0, timeOfDay: span(), seed: seed)
            var outputs = Outputs<ActivityEvent>()
            for _ in 0..<30 {
                let now = Instant(microseconds: random.below(5_000_000))
                switch random.below(6) {
                case 0: detector.handle(.sample(number(), source: 1), at: now, emit: &outputs)
                case 1:
                    detector.handle(
                        .acceleration(x: number(), y: number(), z: number(), source: 1), at: now,
                        emit: &outputs)
                case 2:
                    detector.handle(
                        .sourceLost(reason: "x", source: Int(random.below(4)) - 1), at: now,
                        emit: &outputs)
                case 3: detector.handle(.use(.read), at: now, emit: &outputs)
                default: detector.expire(at: now, emit: &outputs)
                }
            }
            return outputs.elements
        }
        let events = run()
        #expect(events == run())
        var state: ActivityState?
        var latest = Instant(microseconds: .min)
        for case .changed(let change) in events {
            #expect(change.state != state && change.at >= latest)
            (state, latest) = (change.state, change.at)
        }
        for case .level(let level, _) in events { #expect((0...1).contains(level)) }
    }
}
