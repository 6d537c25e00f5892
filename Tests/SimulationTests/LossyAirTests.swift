// An hour on an air that loses three packets in ten, with a central that reads, writes and follows.
import BLEHost
import Emulator
import GATT
import Harness
import SansIO
import Simulation
import Testing
import VirtualController
import Wire

@Suite struct LossyAirTests {
    @Test(
        "for an hour of 30 % loss no answer is lost or doubled, and the state does not grow",
        arguments: [Air.Timing.radio, .ideal])
    func hour(timing: Air.Timing) throws {
        var run = LossyRun(try SampleProfile.device(), timing: timing)
        run.advance(to: .seconds(600))
        let early = stateSize(run)
        run.advance(to: .seconds(3600))
        #expect(run.problems == [])
        #expect(run.sessions >= 10 && run.procedures > 500 && run.notifications > 2000)
        #expect(run.failedAttempts > 0, "with this loss some connections are not established")
        let late = stateSize(run)
        #expect(late <= early + early / 10, "\(early) elements grew to \(late)")
    }

    /// Elements of all collections in the device, the air and the central.
    private func stateSize(_ run: LossyRun) -> Int {
        elements(run.world.world) + elements(run.world.central)
    }

    @Test("equal seeds lose equal packets, other seeds others")
    func seeds() throws {
        func packets(_ seed: UInt64) throws -> [[UInt8]] {
            var world = GuestWorld(
                try SampleProfile.device(seed: seed), seed: seed, timing: .radio, loss: 0.3)
            world.powerOn()
            world.connect()
            world.perform(.discover)
            return world.takePackets().map(\.octets)
        }
        #expect(try packets(1) == packets(1))
        #expect(try packets(1) != packets(2))
    }
}

/// How many elements the collections in `value` hold, all levels together.
private func elements(_ value: Any) -> Int {
    if let octets = value as? [UInt8] { return octets.count }
    let mirror = Mirror(reflecting: value)
    let own = mirror.displayStyle == .collection ? mirror.children.count : 0
    return mirror.children.reduce(own) { $0 + elements($1.value) }
}
