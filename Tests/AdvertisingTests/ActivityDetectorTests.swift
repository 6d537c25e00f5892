// The activity detector against its rule, written out millisecond by millisecond.
import Advertising
import SansIO
import Testing

/// A state change as the reference sees it, in milliseconds from power-on.
private struct Change: Equatable {
    var milliseconds: Int64
    var state: ActivityState
}

private func sample(_ milliseconds: Int64, _ value: Double) -> ActivityRule.Sample {
    ActivityRule.Sample(time: .milliseconds(milliseconds), value: value)
}

private func rule(
    _ samples: [ActivityRule.Sample], above: Double = 0.12, below: Double = 0.05,
    hold: TimeSpan = .seconds(10)
) -> ActivityRule {
    ActivityRule(samples: samples, activeAbove: above, idleBelow: below, hold: hold)
}

/// Serves every deadline at its instant and returns what was told.
private func changes(_ rule: ActivityRule, start: Instant = .zero) -> [ActivityChange] {
    var detector = ActivityDetector(rule, start: start)
    var outputs = Outputs<ActivityChange>()
    var result: [ActivityChange] = []
    var state = ActivityState.idle
    while let deadline = detector.deadline, result.count < 100_000 {
        detector.expire(at: deadline, emit: &outputs)
        for change in outputs.elements where change.state == state || change.at != deadline {
            Issue.record("\(change) at \(deadline) from \(state)")
        }
        state = outputs.elements.last?.state ?? state
        result += outputs.elements
        outputs.removeAll()
    }
    return result
}

/// The rule by brute force: looks at every millisecond, and back over the whole hold.
private func reference(_ rule: ActivityRule, until end: Int64) -> [Change] {
    let samples = rule.samples.filter { !$0.value.isNaN }.map {
        (at: $0.time.microseconds / 1000, value: $0.value)
    }
    let hold = rule.hold.microseconds / 1000
    var state = ActivityState.idle
    var result: [Change] = []
    for now in 0...end {
        let arriving = samples.filter { $0.at == now }
        if state == .idle, arriving.contains(where: { $0.value > rule.activeAbove }) {
            state = .active
            result.append(Change(milliseconds: now, state: state))
        }
        guard state == .active, now >= hold else { continue }
        // The values of the window: the one in force at its start, and all that came in it.
        let inForce = samples.last { $0.at <= now - hold }
        let later = samples.filter { $0.at > now - hold && $0.at <= now }
        let window = (inForce.map { [$0] } ?? []) + later
        if inForce != nil, window.allSatisfy({ $0.value < rule.idleBelow }) {
            state = .idle
            result.append(Change(milliseconds: now, state: state))
        }
    }
    return result
}

@Suite struct ActivityDetectorTests {
    @Test("active at the first value above, idle when the hold has passed, each with its reason")
    func burst() {
        let told = changes(
            rule([
                sample(0, 0.01), sample(60_000, 0.12), sample(61_500, 0.31), sample(63_000, 0.5),
                sample(65_250, 0.02), sample(90_000, 0.03),
            ]))
        #expect(
            told == [
                ActivityChange(
                    at: Instant(microseconds: 61_500_000), state: .active,
                    reason: .above(value: 0.31, threshold: 0.12)),
                ActivityChange(
                    at: Instant(microseconds: 75_250_000), state: .idle,
                    reason: .below(threshold: 0.05, hold: .seconds(10))),
            ])
        #expect(
            told.map(\.reason.description)
                == ["activity 0.31 g above 0.12 g", "idle: below 0.05 g for 10 s"])
    }

    @Test("whole numbers are written without a point")
    func wholeNumbers() {
        #expect(
            ActivityReason.above(value: 2, threshold: 1).description
                == "activity 2 g above 1 g")
    }

    @Test("a value between the thresholds, or equal to one, changes nothing and restarts the hold")
    func hysteresis() {
        #expect(changes(rule([sample(0, 0.12)])).isEmpty)
        let told = changes(
            rule([
                sample(0, 0.13), sample(1_000, 0.04), sample(10_999, 0.05), sample(11_000, 0.04),
            ]))
        #expect(told.map(\.at) == [.zero, Instant(microseconds: 21_000_000)])
    }

    @Test("a value at the instant at which the hold ends still counts")
    func tie() {
        let told = changes(
            rule([
                sample(0, 1), sample(1_000, 0), sample(11_000, 0.2), sample(12_000, 0),
            ]))
        #expect(told.map(\.at) == [.zero, Instant(microseconds: 22_000_000)])
    }

    @Test("the last value holds to the end: high stays active, low becomes idle")
    func end() {
        #expect(changes(rule([sample(5, 1)])).map(\.state) == [.active])
        #expect(changes(rule([sample(5, 1), sample(6, 0)])).map(\.state) == [.active, .idle])
        #expect(changes(rule([])).isEmpty)
    }

    @Test("times count from power-on")
    func offset() {
        let start = Instant(microseconds: 123_456_789)
        let trace = rule([sample(100, 1), sample(200, 0)])
        #expect(
            changes(trace, start: start).map(\.at)
                == changes(trace).map {
                    start + ($0.at - .zero)
                })
    }

    @Test("the detector sleeps over samples that change nothing")
    func sleeps() {
        let quiet = (0..<10_000).map { sample(Int64($0), 0.06) }
        #expect(ActivityDetector(rule(quiet), start: .zero).deadline == nil)
        let late = ActivityDetector(rule(quiet + [sample(20_000, 1)]), start: .zero)
        #expect(late.deadline == Instant(microseconds: 20_000_000))
    }

    @Test("before the deadline nothing happens; far after it only the last change is told")
    func lateness() {
        let trace = rule([sample(1_000, 1), sample(2_000, 0), sample(20_000, 0.5)])
        var outputs = Outputs<ActivityChange>()
        var early = ActivityDetector(trace, start: .zero)
        early.expire(at: Instant(microseconds: 999_999), emit: &outputs)
        #expect(outputs.isEmpty)
        #expect(early.deadline == Instant(microseconds: 1_000_000))
        early.expire(at: Instant(microseconds: 60_000_000), emit: &outputs)
        #expect(outputs.elements.map(\.at) == [Instant(microseconds: 20_000_000)])
        #expect(early.state == .active)
        #expect(early.deadline == nil)

        // Active and idle again while the driver slept: nothing to tell.
        var asleep = ActivityDetector(trace, start: .zero)
        outputs.removeAll()
        asleep.expire(at: Instant(microseconds: 15_000_000), emit: &outputs)
        #expect(outputs.isEmpty)
        #expect(asleep.state == .idle)
    }

    @Test("random traces: every change equals the brute-force reference", arguments: 0..<150)
    func agreesWithReference(seed: UInt64) {
        var random = SeededRandom(seed: seed, stream: "trace")
        let levels = [0.0, 0.02, 0.049, 0.05, 0.06, 0.11, 0.12, 0.121, 0.3, .nan, .infinity]
        var time: Int64 = 0
        let samples = (0..<random.below(120)).map { _ in
            // Steps of 0: several values at one instant.
            time += random.below([2, 5, 30][Int(random.below(3))])
            let quiet = random.below(3) > 0
            return sample(time, levels[Int(random.below(quiet ? 4 : 11))])
        }
        let hold = random.below(40)
        let trace = rule(samples, hold: .milliseconds(hold))
        let told = changes(trace).map {
            Change(milliseconds: $0.at.microseconds / 1000, state: $0.state)
        }
        // Where nothing is held, up and down at one instant are no change.
        var expected = reference(trace, until: time + hold + 5)
        for index in expected.indices.dropFirst().reversed()
        where index < expected.count
            && expected[index].milliseconds == expected[index - 1].milliseconds
        {
            expected.removeSubrange(index - 1...index)
        }
        #expect(told == expected)
    }

    @Test("any trace and any thresholds: no trap, alternating states, instants in order")
    func rubbish() {
        let values = [Double.nan, .infinity, -.infinity, 0, -1, 1e308, 0.1, 0.2]
        let times = [Int64.min, .max, 0, -5, 1_000, 2_000_000, .max - 1]
        let holds = [Int64.min, -1, 0, 1, 1_000_000, .max]
        for seed in 0..<2_000 as Range<UInt64> {
            var random = SeededRandom(seed: seed, stream: "rubbish")
            func value() -> Double { values[Int(random.below(Int64(values.count)))] }
            let samples = (0..<random.below(12)).map { _ in
                ActivityRule.Sample(
                    time: TimeSpan(microseconds: times[Int(random.below(Int64(times.count)))]),
                    value: value())
            }
            let trace = rule(
                samples, above: value(), below: value(),
                hold: TimeSpan(microseconds: holds[Int(random.below(Int64(holds.count)))]))
            let told = changes(trace)
            #expect(told == changes(trace))
            for (before, after) in zip(told, told.dropFirst())
            where before.at > after.at || before.state == after.state {
                Issue.record("\(before) before \(after)")
            }
        }
    }
}
