// Connections on the virtual air: beginning, data, credits, events, latency and end.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct LinkTests {
    @Test("both hosts learn of a connection, and advertising ends with it")
    func connects() throws {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        #expect(bench.connect(1, interval: 24, latency: 2, timeout: 100) == .success)
        bench.run(for: .seconds(2))
        let peripheral = try #require(bench.events(0, LEConnectionComplete.self).first)
        let central = try #require(bench.events(1, LEConnectionComplete.self).first)
        #expect(peripheral.at == central.at)
        #expect(peripheral.event.role == 1 && central.event.role == 0)
        #expect(central.event.peerAddress == Bench.address)
        #expect(central.event.peerAddressType == .randomDevice)
        #expect(peripheral.event.peerAddressType == .publicDevice)
        let own = bench.answer(1, ReadBDADDR())
        #expect(peripheral.event.peerAddress == own?.bdAddr)
        for event in [peripheral.event, central.event] {
            #expect(event.connectionInterval == 24)
            #expect(event.peripheralLatency == 2)
            #expect(event.supervisionTimeout == 100)
        }
        #expect(bench.events(0, LEEnhancedConnectionComplete.self).isEmpty)
        bench.forget()
        bench.scan(1)
        bench.run(for: .seconds(2))
        #expect(bench.reports(1).isEmpty)
        // The host advertises again when it likes.
        #expect(bench.status(0, LESetAdvertisingEnable()) { $0.enable = 1 } == .success)
        bench.run(for: .seconds(2))
        #expect(!bench.reports(1).isEmpty)
    }

    @Test("a host that unmasks the enhanced event gets that one alone")
    func enhanced() {
        var bench = Bench()
        bench.prepare(0, enhanced: true)
        bench.prepare(1)
        bench.advertise(0)
        bench.connect(1)
        bench.run(for: .seconds(2))
        #expect(bench.events(0, LEEnhancedConnectionComplete.self).count == 1)
        #expect(bench.events(0, LEConnectionComplete.self).isEmpty)
        #expect(bench.events(1, LEConnectionComplete.self).count == 1)
    }

    @Test("data goes both ways in fragments of the data length, and every credit comes back")
    func data() {
        var (bench, peripheral, central) = Bench.linked()
        let long = (0..<100).map { UInt8($0) }
        bench.sendACL(1, central, long)
        bench.sendACL(0, peripheral, [1, 2, 3])
        bench.sendACL(0, peripheral, [4, 5], isStart: false)
        bench.run(for: .seconds(1))
        let received = bench.acl(0)
        #expect(received.map(\.data.count) == [27, 27, 27, 19])
        #expect(received.flatMap(\.data) == long)
        #expect(
            received.map(\.header.boundary) == [
                .firstFromController, .continuing, .continuing, .continuing,
            ])
        #expect(received.allSatisfy { $0.header.handle == peripheral })
        let answers = bench.acl(1)
        #expect(answers.map(\.data) == [[1, 2, 3], [4, 5]])
        #expect(answers.map(\.header.boundary) == [.firstFromController, .continuing])
        #expect(bench.completedPackets(0) == 2)
        #expect(bench.completedPackets(1) == 1)
        #expect(bench.air.deadline == nil)
    }

    @Test("in radio timing data waits for the next connection event, in ideal timing it does not")
    func timing() {
        for timing in [Air.Timing.radio, .ideal] {
            var (bench, _, central) = Bench.linked(timing: timing, interval: 80)
            bench.run(for: .milliseconds(33))
            bench.sendACL(1, central, [1])
            let isThere = !bench.acl(0).isEmpty
            #expect(isThere == (timing == .ideal))
            let sent = bench.now
            bench.run(atMost: .milliseconds(100)) { !$0.acl(0).isEmpty }
            #expect(!bench.acl(0).isEmpty)
            #expect(timing == .ideal || bench.now > sent)
            // Events are 100 ms apart: an answer to it comes one later.
            let first = bench.now
            bench.sendACL(0, ConnectionHandle(rawValue: 1), [2])
            bench.run(atMost: .milliseconds(200)) { !$0.acl(1).isEmpty }
            #expect(bench.now - first == (timing == .ideal ? .zero : .milliseconds(100)))
        }
    }

    @Test("one connection event carries what fits between two anchor points")
    func throughput() {
        // 27 octets and an empty answer take 296 + 80 + 300 us: 44 exchanges in 30 ms.
        var (bench, peripheral, _) = Bench.linked(interval: 24)
        bench.run(for: .milliseconds(1))
        let packet = [UInt8](repeating: 7, count: 251)
        for _ in 0..<12 { bench.sendACL(0, peripheral, packet) }
        bench.run(atMost: .seconds(1)) { !$0.acl(1).isEmpty }
        let start = bench.now
        bench.run(for: .milliseconds(29))
        let fragments = bench.acl(1).count
        #expect((40...44).contains(fragments))
        bench.run(for: .seconds(1))
        #expect(bench.acl(1).map(\.data.count).reduce(0, +) == 12 * 251)
        #expect(bench.completedPackets(0) == 12)
        #expect(start < bench.now)
    }

    @Test("longer PDUs and LE 2M carry more in the same time")
    func faster() {
        func time(_ change: (inout Bench, ConnectionHandle) -> Void) -> TimeSpan {
            var (bench, peripheral, _) = Bench.linked(interval: 80)
            change(&bench, peripheral)
            bench.run(for: .seconds(1))
            bench.forget()
            let start = bench.now
            for _ in 0..<12 { bench.sendACL(0, peripheral, [UInt8](repeating: 7, count: 251)) }
            bench.run(atMost: .seconds(2)) { $0.completedPackets(0) == 12 }
            #expect(bench.completedPackets(0) == 12)
            return bench.now - start
        }
        let plain = time { _, _ in }
        let long = time { bench, handle in
            bench.send(0, LESetDataLength()) {
                $0.connectionHandle = handle
                $0.txOctets = 251
                $0.txTime = 2120
            }
        }
        let fast = time { bench, handle in
            bench.send(0, LESetDataLength()) {
                $0.connectionHandle = handle
                $0.txOctets = 251
                $0.txTime = 2120
            }
            bench.send(0, LESetPHY()) {
                $0.connectionHandle = handle
                $0.txPHYs = 2
                $0.rxPHYs = 2
            }
        }
        #expect(long < plain)
        #expect(fast < long)
    }

    @Test("a peripheral with latency is reached only at the events it listens to")
    func latency() {
        var (bench, peripheral, central) = Bench.linked(interval: 24, latency: 4, timeout: 300)
        bench.run(for: .seconds(3))
        var delays: [Int64] = []
        for _ in 0..<20 {
            bench.run(for: .milliseconds(317))
            bench.forget()
            let start = bench.now
            bench.sendACL(1, central, [1])
            bench.run(atMost: .seconds(1)) { !$0.acl(0).isEmpty }
            delays.append((bench.now - start).microseconds)
        }
        #expect(delays.allSatisfy { $0 <= 150_000 })
        #expect(delays.contains { $0 > 60_000 })
        // The peripheral itself may use every event.
        bench.run(for: .milliseconds(317))
        bench.forget()
        let start = bench.now
        bench.sendACL(0, peripheral, [1])
        bench.run(atMost: .seconds(1)) { !$0.acl(1).isEmpty }
        #expect((bench.now - start).microseconds <= 30_000)
    }

    @Test("a disconnect tells the peer the reason and the asking host that it asked")
    func disconnect() throws {
        for timing in [Air.Timing.radio, .ideal] {
            var (bench, peripheral, central) = Bench.linked(timing: timing)
            bench.sendACL(0, peripheral, [9])
            let status = bench.status(0, Disconnect()) {
                $0.connectionHandle = peripheral
                $0.reason = .remoteUserTerminated
            }
            #expect(status == .success)
            bench.run(for: .seconds(1))
            let local = try #require(bench.events(0, DisconnectionComplete.self).first?.event)
            let remote = try #require(bench.events(1, DisconnectionComplete.self).first?.event)
            #expect(local.status == .success && local.reason == .terminatedByLocalHost)
            #expect(local.connectionHandle == peripheral)
            #expect(remote.reason == .remoteUserTerminated && remote.connectionHandle == central)
            // What was queued before goes out first.
            #expect(bench.acl(1).map(\.data) == [[9]])
            let again = bench.status(0, Disconnect()) {
                $0.connectionHandle = peripheral
                $0.reason = .remoteUserTerminated
            }
            #expect(again == .unknownConnectionIdentifier)
        }
    }

    @Test("a peer that disappears or is reset is missed after the supervision timeout")
    func supervision() throws {
        for isRemoved in [true, false] {
            var (bench, _, central) = Bench.linked(timeout: 200)
            bench.run(for: .seconds(10))
            bench.forget()
            let start = bench.now
            if isRemoved {
                bench.air.removeController(0, at: bench.now)
            } else {
                bench.status(0, Reset())
            }
            bench.sendACL(1, central, [1])
            bench.run(for: .seconds(10))
            let end = try #require(bench.events(1, DisconnectionComplete.self).first)
            #expect(end.event.reason == .connectionTimeout)
            #expect(end.at - start == .seconds(2))
            #expect(bench.events(1, DisconnectionComplete.self).count == 1)
            #expect(bench.events(0, DisconnectionComplete.self).isEmpty)
            #expect(bench.air.deadline == nil)
        }
    }

    @Test("a central that falls silent before the first packet is a failed establishment")
    func failedEstablishment() throws {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        bench.connect(1, interval: 80, timeout: 300)
        bench.run(atMost: .seconds(2)) { !$0.events(0, LEConnectionComplete.self).isEmpty }
        let start = bench.now
        bench.air.removeController(1, at: bench.now)
        bench.run(for: .seconds(10))
        let end = try #require(bench.events(0, DisconnectionComplete.self).first)
        #expect(end.event.reason == .connectionFailedToBeEstablished)
        #expect(end.at - start == .milliseconds(600))
    }

    @Test("a new controller on a freed port gets no packet of the old one's links")
    func freedPort() {
        var (bench, _, central) = Bench.linked(timeout: 3200)
        bench.air.removeController(0, at: bench.now)
        bench.add()
        bench.prepare(0)
        bench.forget()
        bench.sendACL(1, central, [1])
        bench.run(for: .seconds(40))
        #expect(bench.mailboxes[0].isEmpty)
        #expect(
            bench.events(1, DisconnectionComplete.self).map(\.event.reason) == [.connectionTimeout])
    }

    @Test("more packets than buffers overflow, and the rest is delivered")
    func overflow() {
        var (bench, peripheral, _) = Bench.linked()
        for index in 0..<14 { bench.sendACL(0, peripheral, [UInt8(index)]) }
        #expect(bench.events(0, DataBufferOverflow.self).count == 2)
        bench.run(for: .seconds(1))
        #expect(bench.acl(1).map(\.data) == (0..<12).map { [UInt8($0)] })
        #expect(bench.completedPackets(0) == 12)
        bench.sendACL(0, peripheral, [UInt8](repeating: 0, count: 252))
        #expect(bench.events(0, DataBufferOverflow.self).count == 3)
    }

    @Test("data for a link that does not exist, and empty data, change nothing")
    func strayData() {
        var (bench, peripheral, _) = Bench.linked()
        bench.sendACL(0, ConnectionHandle(rawValue: 0x123), [1])
        bench.run(for: .seconds(1))
        #expect(bench.mailboxes.allSatisfy { $0.isEmpty })
        bench.sendACL(0, peripheral, [])
        bench.run(for: .seconds(1))
        #expect(bench.acl(1).isEmpty)
        #expect(bench.completedPackets(0) == 1)
    }

    @Test("a host that does not read holds its peer off, and loses nothing once it reads")
    func backlog() {
        for timing in [Air.Timing.radio, .ideal] {
            var (bench, peripheral, _) = Bench.linked(timing: timing)
            var block = ByteBlock()
            var completed = 12
            var sent = 0
            // Port 1 is never drained here: more than the controller's memory is sent.
            for _ in 0..<4000 {
                while completed > 0 {
                    block.removeAll()
                    block.append(
                        acl: ACLHeader(handle: peripheral, boundary: .firstFromHost, length: 27))
                    block.append([UInt8](repeating: UInt8(truncatingIfNeeded: sent), count: 27))
                    bench.air.receive(block.bytes.span, from: 0, at: bench.now)
                    sent += 1
                    completed -= 1
                }
                bench.now = bench.now + .milliseconds(30)
                bench.air.expire(at: bench.now)
                block.removeAll()
                bench.air.drain(0, into: &block)
                completed += block.bytes.filter { $0 == 0x13 }.count
            }
            block.removeAll()
            bench.air.drain(1, into: &block)
            #expect((65_536...66_000).contains(block.count))
            var octets = block.count
            for _ in 0..<100 {
                bench.now = bench.now + .milliseconds(30)
                bench.air.expire(at: bench.now)
                block.removeAll()
                bench.air.drain(1, into: &block)
                octets += block.count
            }
            #expect(octets == sent * 32)
        }
    }
}
