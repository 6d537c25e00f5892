// The account of a run's advertising intervals: times, changes, gaps, and a report that fits.
import Advertising
import HCI
import SansIO
import Testing

private func ms(_ milliseconds: Double) -> AdvertisingInterval {
    AdvertisingInterval(steps: UInt16(milliseconds / 0.625))
}

private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

@Suite struct IntervalHistoryTests {
    @Test("the report of a run")
    func report() {
        var history = IntervalHistory(start: .zero)
        #expect(history.report(until: at(5000)) == ["advertising intervals: none was in force"])
        history.isAdvertising(ms(20), reason: "boost for 30 s after power-on", at: at(2))
        history.isChanging(at: at(30_000))
        history.isAdvertising(
            ms(1285), reason: "boost of 30 s over, idle at power-on",
            at: at(30_000) + .microseconds(312))
        history.isChanging(at: at(3_661_500))
        history.isAdvertising(
            ms(152.5), reason: "activity above 0.12 g RMS over 2 s, held back by the rate limit",
            at: at(3_661_500) + .microseconds(1250))
        history.isSilent(at: at(3_700_000))
        #expect(
            history.report(until: at(4_000_000)) == [
                "advertising intervals, 1:06:40.000 in all",
                "  20 ms                 0:00:29.998    0.7 %",
                "  152.5 ms              0:00:38.498    1.0 %",
                "  1285 ms               1:00:31.499   90.8 %",
                "  off for changes       0:00:00.001    0.0 %",
                "  not advertising       0:05:00.002    7.5 %",
                "2 changes, 312 to 1250 us off the air each, 1562 us in all",
                "  begins with 20 ms: boost for 30 s after power-on",
                "  0:00:30.000  20 ms -> 1285 ms: boost of 30 s over, idle at power-on",
                "  1:01:01.501  1285 ms -> 152.5 ms: activity above 0.12 g RMS over 2 s, held",
                "               back by the rate limit",
            ])
        #expect(history.changes.map(\.gap) == [.microseconds(312), .microseconds(1250)])
        #expect(history.gaps.count == 2)
    }

    @Test("one interval for a whole run")
    func fixed() {
        var history = IntervalHistory(start: at(1000))
        history.isAdvertising(ms(100), reason: "fixed", at: at(1000))
        #expect(
            history.report(until: at(11_000)) == [
                "advertising intervals, 0:00:10.000 in all",
                "  100 ms                0:00:10.000  100.0 %",
                "no change: 100 ms, fixed",
            ])
    }

    @Test("a change while connected has no gap, nor one that a connection broke into")
    func connections() {
        var history = IntervalHistory(start: .zero)
        history.isAdvertising(ms(20), reason: "a", at: at(0))
        history.isSilent(at: at(100))
        history.isAdvertising(ms(760), reason: "b", at: at(500))
        history.isChanging(at: at(600))
        history.isSilent(at: at(601))
        history.isAdvertising(ms(1285), reason: "c", at: at(900))
        #expect(
            history.changes.map { "\($0.at.microseconds) \($0.from) \($0.to) \($0.reason)" }
                == ["500000 20 ms 760 ms b", "900000 760 ms 1285 ms c"])
        #expect(history.changes.allSatisfy { $0.gap == nil })
        #expect(history.gaps.count == 0 && history.gaps.sum == .zero)
        #expect(
            history.shares(until: at(1000)).map { "\($0.interval): \($0.time)" }
                == ["20 ms: 100 ms", "760 ms: 100 ms", "1285 ms: 100 ms"])
    }

    @Test(
        "random runs: every microsecond is in one account, and every line fits",
        arguments: 0..<60)
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed, stream: "history")
        var history = IntervalHistory(start: .zero)
        var now: Int64 = 0
        // The reference: what was on the air during each microsecond.
        var air: [UInt16] = []
        var (interval, state): (UInt16, Int64) = (0, 0)
        var changes: [String] = []
        let words = ["why", "because", "so", String(repeating: "x", count: 90), "  ", "é€"]
        for _ in 0..<random.below(60) {
            let passed = random.below(40)
            air += [UInt16](repeating: state == 1 ? interval : 0, count: Int(passed))
            now += passed
            let instant = Instant(microseconds: now)
            switch random.below(4) {
            case 0:
                history.isChanging(at: instant)
                if state == 1 { state = 2 }
            case 1:
                history.isSilent(at: instant)
                state = 0
            default:
                let next = UInt16(32 + 100 * random.below(5))
                let reason = (0..<random.below(20)).map { _ in words[Int(random.below(6))] }
                    .joined(separator: " ")
                history.isAdvertising(
                    AdvertisingInterval(steps: next), reason: reason, at: instant)
                if interval != 0, next != interval { changes.append("\(now) \(interval) \(next)") }
                (interval, state) = (next, 1)
            }
        }
        let end = Instant(microseconds: now)
        for share in history.shares(until: end) {
            #expect(
                share.time.microseconds
                    == Int64(air.filter { $0 == share.interval.steps }.count))
        }
        let sum = history.shares(until: end).reduce(Int64(0)) { $0 + $1.time.microseconds }
        #expect(sum == Int64(air.filter { $0 != 0 }.count))
        #expect(
            history.changes.map {
                "\($0.at.microseconds) \($0.from.steps) \($0.to.steps)"
            } == changes)
        let gaps = history.gaps
        #expect(gaps.sum.microseconds + sum <= now)
        #expect(history.report(until: end).allSatisfy { $0.count <= 80 && !$0.contains("\n") })
    }

    @Test("instants in any order and at both ends of time never trap")
    func jumps() {
        var history = IntervalHistory(start: at(5))
        for instant in [0, .max, .min, 7, .max - 1] as [Int64] {
            let now = Instant(microseconds: instant)
            history.isAdvertising(ms(20), reason: "", at: now)
            history.isChanging(at: now)
            history.isAdvertising(ms(760), reason: "x", at: now)
            history.isSilent(at: now)
            _ = history.report(until: now)
        }
        #expect(history.report(until: Instant(microseconds: .max)).allSatisfy { $0.count <= 80 })
    }

    @Test("of very many changes the latest are kept, and the count of all")
    func bounded() {
        var history = IntervalHistory(start: .zero)
        for index in 0...5000 as ClosedRange<Int64> {
            history.isAdvertising(ms(index % 2 == 0 ? 20 : 760), reason: "r", at: at(index))
        }
        #expect(history.changes.count == IntervalHistory.changesMax)
        #expect(history.changeCount == 5000)
        let report = history.report(until: at(6000))
        #expect(report.contains("5000 changes"))
        #expect(report.contains("  the latest 2000 of them:"))
    }
}
