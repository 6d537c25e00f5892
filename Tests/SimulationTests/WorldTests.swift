// A whole run as committed, and its dependence on the seed alone.
import Harness
import SansIO
import TestFiles
import Testing
import VirtualController

@Suite struct WorldTests {
    @Test("a run with the built-in central is as committed", arguments: [Air.Timing.radio, .ideal])
    func snapshot(timing: Air.Timing) throws {
        let run = try WorldRun(timing: timing)
        #expect(run.outcome == .finished)
        let difference = SourceTree.difference(
            of: run.text, from: "Tests/SimulationTests/Snapshots/\(timing).txt")
        #expect(difference == nil)
    }

    @Test("equal seeds give equal runs, octet for octet", arguments: [1, 2, 99])
    func equal(seed: UInt64) throws {
        let (one, other) = (try WorldRun(seed: seed), try WorldRun(seed: seed))
        #expect(one.lines == other.lines)
        #expect(one.capture == other.capture)
        #expect(one.end == other.end)
    }

    @Test("different seeds give different runs")
    func different() throws {
        let runs = try (1...6).map { try WorldRun(seed: $0) }
        #expect(Set(runs.map(\.capture)).count == runs.count)
        #expect(runs.allSatisfy { $0.outcome == .finished })
        // Also without a central: addresses and generators differ, and nothing else is random.
        let alone = try (1...3).map {
            try WorldRun(seed: $0, withCentral: false, for: .seconds(5))
        }
        #expect(Set(alone.map(\.capture)).count == alone.count)
    }

    @Test("nothing happens between two deadlines, and deadlines always rise")
    func deadlines() throws {
        let device = try SampleProfile.device()
        var world = GuestWorld(device)
        world.powerOn()
        world.connect()
        let before = world.now
        world.run(for: .seconds(2))
        #expect(world.now == before + .seconds(2))
    }
}
