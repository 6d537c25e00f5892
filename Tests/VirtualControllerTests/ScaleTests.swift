// Many beacons on one air: what one more costs, and that equal seeds give equal octets.
import HCI
import SansIO
import Testing
import Wire

@testable import VirtualController

@Suite struct ScaleTests {
    /// Beacons with one set each, 1 s, and a scanner that listens all the time.
    private func beacons(_ count: Int, seed: UInt64 = 1, perController: Int = 1) -> Bench {
        var bench = Bench(seed: seed, controllers: 1)
        bench.prepareAll(0)
        var left = count
        while left > 0 {
            bench.add()
            let port = bench.mailboxes.count - 1
            bench.prepareAll(port)
            for handle in 0..<min(left, perController) {
                bench.advertiseSet(port, UInt8(handle), milliseconds: 1000) {
                    $0.ownAddressType = .publicDevice
                }
            }
            left -= perController
            // Their starts are spread over a second.
            bench.run(for: .microseconds(1_000_000 / Int64(count) * Int64(perController)))
        }
        return bench
    }

    /// What the air spends on `span`, and the packets for the host on port 0.
    private func run(_ bench: Bench, for span: TimeSpan) -> (seconds: Double, ByteBlock) {
        var air = bench.air
        let end = bench.now + span
        var block = ByteBlock(capacity: 1 << 20)
        let elapsed = ContinuousClock().measure {
            while let due = air.deadline, due <= end {
                air.expire(at: due)
                air.drain(0, into: &block)
            }
            air.expire(at: end)
        }
        let seconds = Double(elapsed.components.attoseconds) / 1e18
        return (seconds + Double(elapsed.components.seconds), block)
    }

    /// Addresses in reports of extended advertising.
    private func senders(in block: ByteBlock) -> Set<[UInt8]> {
        var senders: Set<[UInt8]> = []
        var offset = 0
        while case .packet(_, let end) = H4.frame(block.bytes.span, from: offset) {
            if block.bytes[offset + 1] == EventCode.leMeta.rawValue {
                senders.insert(Array(block.bytes[offset + 8..<offset + 14]))
            }
            offset = end
        }
        return senders
    }

    @Test("a thousand beacons are all heard, and one costs what it costs among a hundred")
    func linear() {
        var costs: [Double] = []
        for count in [100, 1000] {
            var bench = beacons(count)
            bench.scanExtended(0)
            let spent = run(bench, for: .seconds(10))
            #expect(senders(in: spent.1).count == count)
            let cost = spent.seconds / Double(count) / 10
            costs.append(cost)
            print("\(count) beacons heard: \(Int(cost * 1e9)) ns a beacon and second")
        }
        // Debug builds on a busy machine: what is quadratic would cost ten times as much.
        #expect(costs[1] < 5 * costs[0])
        let silent = run(beacons(1000), for: .seconds(3600))
        print("1000 unheard beacons: \(Int(silent.seconds * 1e9)) ns an hour")
    }

    @Test("equal seeds give equal octets, whatever the sets")
    func determinism() {
        func run(_ seed: UInt64) -> [[UInt8]] {
            var bench = beacons(60, seed: seed, perController: 20)
            bench.air.loss = 0.1
            bench.scanExtended(0, active: true, filterDuplicates: 0)
            bench.run(for: .seconds(5))
            return bench.mailboxes[0].map(\.packet)
        }
        #expect(run(1) == run(1))
        #expect(run(1) != run(2))
    }

    @Test("a controller's sets and its events are recorded, each set by itself")
    func record() {
        var bench = Bench()
        bench.prepareAll(0)
        bench.air.recordAdvertising(of: 0)
        bench.advertiseSet(0, 1, milliseconds: 100) { $0.secondaryPHY = 2 }
        bench.advertiseSet(0, 2, [.scannable, .legacy], response: [1], milliseconds: 50)
        bench.run(for: .seconds(10))
        bench.enableSets(0, [1], enable: false)
        bench.run(for: .seconds(10))
        bench.air.closeAdvertised(at: bench.now)
        let stretches = bench.air.takeAdvertised()
        #expect(stretches.map(\.handle) == [1, 2])
        #expect(stretches.map(\.isLegacy) == [false, true])
        #expect(stretches.map(\.secondaryPHY) == [2, 1])
        #expect(stretches.map(\.interval) == [100_000, 50_000])
        #expect((93...98).contains(stretches[0].events))
        #expect((355...370).contains(stretches[1].events))
        let total = stretches.reduce(0) { $0 + $1.events }
        #expect(bench.air.advertisingEvents(of: 0, at: bench.now) == total)
        // A set that is gone has had its events.
        bench.status(0, LERemoveAdvertisingSet()) { $0.advertisingHandle = 1 }
        #expect(bench.air.advertisingEvents(of: 0, at: bench.now) == total)
    }
}
