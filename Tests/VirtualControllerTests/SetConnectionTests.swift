// Connections by advertising sets.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct SetConnectionTests {
    private func bench(_ timing: Air.Timing = .radio, controllers: Int = 2) -> Bench {
        var bench = Bench(timing: timing, controllers: controllers)
        for port in 0..<controllers { bench.prepareAll(port) }
        return bench
    }

    @Test(
        "a central connects to a set on any secondary PHY; the set ends, the others go on",
        arguments: [Air.Timing.radio, .ideal])
    func connection(timing: Air.Timing) throws {
        for phy in 1...3 as ClosedRange<UInt8> {
            var bench = bench(timing)
            bench.advertiseSet(0, 4, .connectable) {
                $0.secondaryPHY = phy
                $0.primaryPHY = phy == 3 ? 3 : 1
            }
            bench.advertiseSet(0, 5, [.connectable, .scannable, .legacy])
            // LE 1M, 2M and Coded have 24, 25 and 26 steps.
            #expect(bench.connectExtended(1, to: Bench.setAddress(4), phys: 7) == .success)
            bench.run(for: .seconds(1))
            let sides = (0...1).map { bench.events($0, LEEnhancedConnectionComplete.self) }
            try #require(sides.allSatisfy { $0.count == 1 })
            let ends = sides.map { $0[0].event }
            #expect(ends.map(\.status) == [.success, .success])
            #expect(ends.map(\.role) == [1, 0])
            #expect(ends[1].peerAddress == Bench.setAddress(4))
            #expect(ends.allSatisfy { $0.connectionInterval == 23 + UInt16(phy) })
            let handle = ends[0].connectionHandle
            let terminated = bench.events(0, LEAdvertisingSetTerminated.self).map(\.event)
            try #require(terminated.count == 1)
            #expect(terminated[0].status == .success && terminated[0].advertisingHandle == 4)
            #expect(terminated[0].connectionHandle == handle)
            // The connection is told first.
            let order = bench.mailboxes[0].compactMap(\.subevent)
            #expect(order.first == 0x0A && order.contains(0x12))
            for port in 0...1 {
                let selection = bench.events(port, LEChannelSelectionAlgorithm.self).map(\.event)
                #expect(selection.map(\.algorithm) == [1])
            }
            let read = bench.answer(1, LEReadPHY()) {
                $0.connectionHandle = ends[1].connectionHandle
            }
            #expect(read?.txPHY == phy && read?.rxPHY == phy)
            bench.sendACL(0, handle, [1, 2, 3])
            bench.run(for: .seconds(1))
            #expect(bench.acl(1).map(\.data) == [[1, 2, 3]])
            #expect(
                bench.status(0, LERemoveAdvertisingSet()) { $0.advertisingHandle = 4 }
                    == .success)
            #expect(
                bench.status(0, LERemoveAdvertisingSet()) { $0.advertisingHandle = 5 }
                    == .commandDisallowed)
        }
    }

    @Test("each set leads to a link of its own, from the same central and from several")
    func severalSets() {
        var bench = bench(controllers: 3)
        for handle in 1...2 as ClosedRange<UInt8> {
            bench.advertiseSet(0, handle, [.connectable, .scannable, .legacy])
        }
        for handle in 1...2 as ClosedRange<UInt8> {
            for central in 1...2 {
                #expect(
                    bench.connectExtended(central, to: Bench.setAddress(handle)) == .success)
                bench.run(for: .seconds(1))
                let ended = bench.events(0, LEAdvertisingSetTerminated.self).map(\.event)
                #expect(ended.last?.advertisingHandle == handle)
                #expect(bench.enableSets(0, [handle]) == .success)
            }
        }
        let links = bench.events(0, LEEnhancedConnectionComplete.self).map(\.event)
        #expect(links.map(\.status) == [.success, .success, .success, .success])
        #expect(Set(links.map(\.connectionHandle)).count == 4)
        let ended = bench.events(0, LEAdvertisingSetTerminated.self).map(\.event)
        #expect(ended.map(\.connectionHandle) == links.map(\.connectionHandle))
    }

    @Test("legacy initiators connect to legacy PDUs alone")
    func legacyInitiator() {
        var bench = bench()
        bench.advertiseSet(0, 0, .connectable)
        bench.connect(1) { $0.peerAddress = Bench.setAddress(0) }
        bench.run(for: .seconds(2))
        #expect(bench.events(1, LEEnhancedConnectionComplete.self).isEmpty)
        bench.enableSets(0, enable: false)
        bench.setParameters(0, 0, [.connectable, .scannable, .legacy])
        bench.enableSets(0)
        bench.run(for: .seconds(2))
        let events = bench.events(1, LEEnhancedConnectionComplete.self).map(\.event)
        #expect(events.map(\.status) == [.success])
        #expect(bench.events(0, LEAdvertisingSetTerminated.self).count == 1)
    }

    @Test("directed sets, of low duty and of high, connect to their target")
    func directed() {
        for properties in [
            [.connectable, .directed], [.connectable, .directed, .legacy],
            [.connectable, .directed, .highDutyCycle, .legacy],
        ] as [AdvertisingEventProperties] {
            var bench = bench(controllers: 3)
            let target = bench.answer(2, ReadBDADDR())?.bdAddr ?? DeviceAddress()
            let created = bench.setParameters(0, 0, properties) { $0.peerAddress = target }
            #expect(created == .success)
            bench.setRandomAddress(0)
            #expect(bench.enableSets(0, duration: 128) == .success)
            #expect(bench.connectExtended(1, to: Bench.setAddress(0)) == .success)
            bench.run(for: .milliseconds(500))
            #expect(bench.events(1, LEEnhancedConnectionComplete.self).isEmpty)
            #expect(bench.connectExtended(2, to: Bench.setAddress(0)) == .success)
            bench.run(for: .milliseconds(500))
            let events = bench.events(2, LEEnhancedConnectionComplete.self).map(\.event.status)
            #expect(events == [.success])
        }
    }

    @Test("high duty cycle ends after its duration, without a connection event")
    func highDuty() {
        var bench = bench()
        bench.setParameters(0, 0, [.connectable, .directed, .highDutyCycle, .legacy]) {
            $0.peerAddress = DeviceAddress(littleEndian: 5)
            ($0.intervalMin, $0.intervalMax) = (0, 0)
        }
        bench.setRandomAddress(0)
        for duration in [0, 129] as [UInt16] {
            #expect(bench.enableSets(0, duration: duration) == .invalidParameters)
        }
        #expect(bench.enableSets(0, duration: 100) == .success)
        bench.run(for: .seconds(2))
        let ended = bench.events(0, LEAdvertisingSetTerminated.self)
        #expect(ended.map(\.event.status) == [.advertisingTimeout])
        #expect(ended.map { $0.at - .zero } == [.seconds(1)])
        #expect(bench.events(0, LEEnhancedConnectionComplete.self).isEmpty)
        // 3.75 ms each.
        #expect((264...268).contains(bench.air.advertisingEvents(of: 0, at: bench.now)))
    }

    @Test("without AUX_CONNECT_RSP the central goes on, and connects in the end")
    func loss() {
        var bench = bench()
        bench.air.loss = 0.5
        bench.advertiseSet(0, 0, .connectable, milliseconds: 20)
        bench.connectExtended(1, to: Bench.setAddress(0))
        bench.run(atMost: .seconds(10)) {
            !$0.events(1, LEEnhancedConnectionComplete.self).isEmpty
        }
        let events = (0...1).map { bench.events($0, LEEnhancedConnectionComplete.self) }
        #expect(events.allSatisfy { $0.map(\.event.status) == [.success] })
    }

    @Test("a stop of initiating is answered as with legacy commands")
    func cancel() {
        var bench = bench()
        bench.connectExtended(1, to: Bench.setAddress(0))
        #expect(bench.connectExtended(1, to: Bench.setAddress(0)) == .commandDisallowed)
        #expect(bench.status(1, LECreateConnectionCancel()) == .success)
        #expect(
            bench.events(1, LEEnhancedConnectionComplete.self).map(\.event.status)
                == [.unknownConnectionIdentifier])
        #expect(bench.status(1, LECreateConnectionCancel()) == .commandDisallowed)
    }
}
