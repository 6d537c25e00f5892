// A whole day: the bundled trace through detector, policy and account, against the rule by rows.
import Advertising
import Foundation
import HCI
import SansIO
import Testing

@Suite struct DeskDayTests {
    private static let active = AdvertisingInterval(steps: 244)
    private static let idle = AdvertisingInterval(steps: 2056)

    /// Milliseconds and values of a bundled trace.
    private static func rows(_ name: String) throws -> [(at: Int64, value: Double)] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = root.appendingPathComponent("Profiles/traces/\(name).csv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines[0] == "time,magnitude")
        return try lines.dropFirst().map { line in
            let fields = line.split(separator: ",")
            let time = try #require(Double(fields[0]))
            return (Int64((time * 1000).rounded()), try #require(Double(fields[1])))
        }
    }

    /// Active from the first value above 0.12 g; idle 10 s after the last value that was not below
    /// 0.05 g ceased to hold.
    private static func reference(_ rows: [(at: Int64, value: Double)]) -> [String] {
        var result: [String] = []
        var isActive = false
        var quietSince: Int64?
        for (at, value) in rows {
            if isActive, let since = quietSince, since + 10_000 < at {
                result.append("\(since + 10_000) idle")
                isActive = false
            }
            if value >= 0.05 { quietSince = nil } else if quietSince == nil { quietSince = at }
            if !isActive, value > 0.12 {
                result.append("\(at) active")
                isActive = true
            }
        }
        if isActive, let quietSince { result.append("\(quietSince + 10_000) idle") }
        return result
    }

    @Test(
        "each change of the day is at its instant, and its intervals make up the day",
        arguments: ["desk-day", "walk"])
    func day(name: String) throws {
        let rows = try Self.rows(name)
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.at < $1.at })
        let rule = ActivityRule(
            samples: rows.map { .init(time: .milliseconds($0.at), value: $0.value) },
            activeAbove: 0.12, idleBelow: 0.05, hold: .seconds(10))
        var detector = ActivityDetector(rule, start: .zero)
        var controller = IntervalController(.activity(active: Self.active, idle: Self.idle))
        var history = IntervalHistory(start: .zero)
        history.isAdvertising(controller.interval, reason: controller.reason, at: .zero)
        var events = Outputs<ActivityEvent>()
        var decisions = Outputs<IntervalDecision>()
        var told: [String] = []
        while let deadline = detector.deadline {
            detector.expire(at: deadline, emit: &events)
            for event in events.elements {
                guard case .changed(let change) = event, let input = IntervalInput(event) else {
                    Issue.record("\(event)")
                    return
                }
                told.append("\(change.at.microseconds / 1000) \(change.state)")
                controller.handle(input, at: deadline, emit: &decisions)
                history.isChanging(at: deadline)
                history.isAdvertising(
                    controller.interval, reason: controller.reason, at: deadline)
            }
            events.removeAll()
        }
        #expect(told == Self.reference(rows))
        #expect(told.count >= 10)
        #expect(
            decisions.elements.map { "\($0.at.microseconds / 1000) \($0.to)" }
                == Self.reference(rows).map {
                    $0.replacing("active", with: "152.5 ms").replacing("idle", with: "1285 ms")
                })
        let end = Instant(microseconds: rows[rows.count - 1].at * 1000)
        let shares = history.shares(until: end)
        #expect(shares.map(\.interval) == [Self.active, Self.idle])
        #expect(shares[0].time + shares[1].time == end - .zero)
        #expect(shares.allSatisfy { $0.time > .seconds(300) })
        #expect(history.report(until: end).allSatisfy { $0.count <= 80 })
    }
}
