// The advertising interval on the captured HCI traffic follows the activity trace.
import HCI
import Harness
import Profiles
import SansIO
import TestFiles
import Testing
import Wire

@Suite struct IntervalTests {
    /// When an interval came into force, in milliseconds from power-on, and how long it is in
    /// steps of 0.625 ms.
    struct Change: Equatable, CustomStringConvertible {
        var milliseconds: Int64
        var steps: UInt16
        var description: String { "\(milliseconds) ms: \(steps)" }
    }

    /// The changes of a set that a capture shows: the parameters in force at each enabling.
    static func changes(in capture: [UInt8], of set: UInt8 = 0) throws -> [Change] {
        var changes: [Change] = []
        var steps: UInt16 = 0
        for packet in try #require(BtsnoopFile.packets(capture)) where !packet.isReceived {
            let octets = packet.octets
            // LE Set Extended Advertising Parameters and Enable.
            if octets.starts(with: [0x01, 0x36, 0x20]), octets[4] == set {
                let minimum = octets.span.uint16(at: 7)
                let maximum = octets.span.uint16(at: 10)
                #expect(minimum == maximum && octets[9] == 0 && octets[12] == 0)
                steps = minimum
            } else if octets.starts(with: [0x01, 0x39, 0x20, 0x06, 0x01, 0x01, set]),
                steps != changes.last?.steps
            {
                let time = packet.time - Instant.zero
                changes.append(Change(milliseconds: time.microseconds / 1_000, steps: steps))
            }
        }
        return changes
    }

    /// The rule of the profile's documentation, word for word, on a grid of milliseconds: idle at
    /// power-on; active from the first value above `above`; idle again when all values of the last
    /// `hold` were below `below`. A value holds until the next one.
    static func expected(
        _ samples: [(milliseconds: Int64, value: Double)], above: Double, below: Double,
        hold: Int64, end: Int64, step: Int64, active: UInt16, idle: UInt16
    ) -> [Change] {
        var changes = [Change(milliseconds: 0, steps: idle)]
        var isActive = false
        var current = -1
        for now in stride(from: 0, through: end, by: Int(step)) {
            while current + 1 < samples.count, samples[current + 1].milliseconds <= now {
                current += 1
            }
            guard current >= 0 else { continue }
            if !isActive, samples[current].value > above {
                isActive = true
                changes.append(Change(milliseconds: now, steps: active))
            } else if isActive, now >= hold {
                // The values in force at some instant of the last `hold`.
                var index = current
                var isBelow = samples[index].value < below
                while isBelow, samples[index].milliseconds > now - hold, index > 0 {
                    index -= 1
                    isBelow = samples[index].value < below
                }
                guard isBelow else { continue }
                isActive = false
                changes.append(Change(milliseconds: now, steps: idle))
            }
        }
        return changes
    }

    @Test("random traces: the capture's intervals are those of the rule", arguments: 1...12)
    func random(seed: UInt64) throws {
        var random = SeededRandom(seed: seed, stream: "trace")
        var samples: [(milliseconds: Int64, value: Double)] = []
        var time = random.below(3) * 10
        var trace = "time,magnitude\n"
        while time < 120_000 {
            // Values on both thresholds, between, above and below them.
            let value = [0, 0.01, 0.05, 0.08, 0.12, 0.13, 0.3][Int(random.below(7))]
            let calm = random.below(3) > 0 ? 0.02 : value
            samples.append((time, calm))
            trace += "\(Double(time) / 1_000),\(calm)\n"
            time += 10 + random.below(250) * 10
        }
        let run = try WorldRun(
            trace: trace, seed: seed, withCentral: false, for: .seconds(130))
        let expected = Self.expected(
            samples, above: 0.12, below: 0.05, hold: 5_000, end: 130_000, step: 10, active: 160,
            idle: 800)
        #expect(expected.count > 3, "the trace has something to tell")
        #expect(try Self.changes(in: run.capture) == expected)
    }

    @Test("the bundled trace: an hour's intervals are those of the rule")
    func bundled() throws {
        let text = SourceTree.text("Profiles/environment-sensor.yaml")
        let trace = SourceTree.text("Profiles/traces/desk.csv")
        let samples = trace.split(separator: "\n").dropFirst().compactMap {
            line -> (milliseconds: Int64, value: Double)? in
            let fields = line.split(separator: ",").compactMap { Double($0) }
            return fields.count == 2 ? (Int64((fields[0] * 1_000).rounded()), fields[1]) : nil
        }
        #expect(samples.count > 1_000)
        let run = try WorldRun(text, trace: trace, withCentral: false, for: .seconds(3_600))
        let expected = Self.expected(
            samples, above: 0.12, below: 0.05, hold: 10_000, end: 3_600_000, step: 10,
            active: 244, idle: 2_056)
        #expect(expected.count > 4)
        #expect(try Self.changes(in: run.capture) == expected)
    }
}
