// A lossy air, and equal octets for equal seeds.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct LossTests {
    @Test(
        "what a link delivers on a lossy air is whole, in order and not doubled",
        arguments: [
            Air.Timing.radio, .ideal,
        ])
    func lossyData(timing: Air.Timing) {
        var (bench, peripheral, central) = Bench.linked(timing: timing, timeout: 600)
        bench.air.loss = 0.3
        var sent = [0, 0]
        for _ in 0..<60 {
            for (port, handle) in [(0, peripheral), (1, central)] {
                while sent[port] - bench.completedPackets(port) < 6 {
                    let octets = [UInt8](
                        repeating: UInt8(truncatingIfNeeded: sent[port]), count: 60)
                    bench.sendACL(port, handle, octets)
                    sent[port] += 1
                }
            }
            bench.run(for: .milliseconds(100))
        }
        bench.run(for: .seconds(20))
        #expect(bench.events(0, DisconnectionComplete.self).isEmpty)
        for port in 0...1 {
            #expect(sent[port] > 60)
            #expect(bench.completedPackets(port) == sent[port])
            let octets = bench.acl(1 - port).flatMap(\.data)
            let expected = (0..<sent[port]).flatMap {
                [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 60)
            }
            #expect(octets == expected)
        }
    }

    @Test("procedures complete once on a lossy air")
    func lossyProcedures() {
        var (bench, _, central) = Bench.linked(timeout: 600)
        bench.air.loss = 0.5
        for _ in 0..<20 {
            bench.send(1, LEReadRemoteFeatures()) { $0.connectionHandle = central }
            bench.send(1, LEConnectionUpdate()) {
                $0.connectionHandle = central
                $0.intervalMin = 24
                $0.intervalMax = 24
                $0.supervisionTimeout = 600
            }
            bench.run(for: .seconds(3))
        }
        #expect(bench.events(1, LEReadRemoteFeaturesComplete.self).count == 20)
        #expect(bench.events(1, LEConnectionUpdateComplete.self).count == 20)
    }

    @Test("when nothing gets through, both sides are told after the supervision timeout")
    func total() {
        var (bench, _, _) = Bench.linked(timeout: 100)
        bench.run(for: .seconds(5))
        let start = bench.now
        bench.air.loss = 1
        bench.run(for: .seconds(5))
        for port in 0...1 {
            let ends = bench.events(port, DisconnectionComplete.self)
            #expect(ends.map(\.event.reason) == [.connectionTimeout])
            let delay = ends.first.map { ($0.at - start).microseconds } ?? 0
            #expect((970_000...1_030_000).contains(delay))
        }
        #expect(bench.air.deadline == nil)
    }

    @Test(
        "a lost CONNECT_IND leaves a central with a link that fails and an advertiser that goes on")
    func lostConnectIndication() throws {
        var failures = 0
        var successes = 0
        for seed in 0..<60 as Range<UInt64> {
            var bench = Bench(seed: seed)
            bench.prepare(0)
            bench.prepare(1)
            bench.air.loss = 0.4
            bench.advertise(0)
            bench.connect(1, timeout: 300)
            bench.run(atMost: .seconds(20)) { !$0.events(1, LEConnectionComplete.self).isEmpty }
            bench.run(for: .milliseconds(300))
            if bench.events(0, LEConnectionComplete.self).isEmpty {
                failures += 1
                #expect(
                    bench.events(1, DisconnectionComplete.self).map(\.event.reason)
                        == [.connectionFailedToBeEstablished])
                #expect(
                    bench.status(0, LESetAdvertisingParameters()) {
                        $0.intervalMin = 160
                        $0.intervalMax = 160
                        $0.channelMap = 7
                    } == .commandDisallowed)
            } else {
                successes += 1
            }
        }
        // 40 % of 60, within four standard deviations.
        #expect((9...39).contains(failures) && failures + successes == 60)
    }

    @Test("on a lossy air a scanner hears the advertisements that are not lost")
    func lossyScan() {
        func count(_ loss: Double) -> Int {
            var bench = Bench()
            bench.prepare(0)
            bench.prepare(1)
            bench.air.loss = loss
            bench.advertise(0, milliseconds: 20)
            bench.scan(1, interval: 0x4000, window: 0x4000)
            bench.run(for: .seconds(30))
            return bench.reports(1).count
        }
        let all = count(0)
        let some = count(0.3)
        #expect(all > 1000)
        #expect((0.65...0.75).contains(Double(some) / Double(all)))
        #expect(count(1) == 0)
    }

    /// Two peripherals and a central: scan, connect, talk, disconnect.
    private func session(seed: UInt64, loss: Double, timing: Air.Timing) -> [[UInt8]] {
        var bench = Bench(seed: seed, timing: timing, controllers: 3)
        for port in 0...2 { bench.prepare(port) }
        bench.air.loss = loss
        bench.advertise(0)
        bench.advertise(2, milliseconds: 30) { $0.ownAddressType = .publicDevice }
        bench.scan(1, active: true, interval: 160, window: 80)
        bench.run(for: .seconds(3))
        bench.connect(1)
        bench.run(for: .seconds(3))
        bench.send(1, LERand())
        for port in 0...1 {
            for number in 0..<5 as Range<UInt8> {
                bench.sendACL(
                    port, ConnectionHandle(rawValue: 1), [UInt8](repeating: number, count: 90))
            }
        }
        bench.run(for: .seconds(3))
        bench.send(1, Disconnect()) {
            $0.connectionHandle = ConnectionHandle(rawValue: 1)
            $0.reason = .remoteUserTerminated
        }
        bench.run(for: .seconds(3))
        return bench.mailboxes.map { mailbox in
            mailbox.flatMap { received -> [UInt8] in
                var block = ByteBlock()
                block.append(UInt32(truncatingIfNeeded: received.at.microseconds))
                return block.bytes + received.packet
            }
        }
    }

    @Test("equal seeds give equal octets at equal instants, other seeds give others")
    func determinism() {
        for timing in [Air.Timing.radio, .ideal] {
            for loss in [0, 0.2] {
                let first = session(seed: 7, loss: loss, timing: timing)
                #expect(first == session(seed: 7, loss: loss, timing: timing))
                #expect(first != session(seed: 8, loss: loss, timing: timing))
                #expect(first[1].count > 1000)
            }
        }
    }
}
