// Accept lists, directed advertising, several controllers on one air, and the limits.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct FilterTests {
    private func accept(
        _ bench: inout Bench, _ port: Int, _ type: AddressType, _ address: DeviceAddress
    )
        -> HCIStatus?
    {
        bench.status(port, LEAddDeviceToFilterAcceptList()) {
            $0.addressType = type
            $0.address = address
        }
    }

    private func publicAddress(_ bench: inout Bench, _ port: Int) -> DeviceAddress {
        bench.answer(port, ReadBDADDR())?.bdAddr ?? DeviceAddress()
    }

    @Test("the accept list holds 16 devices and does not change while it is used")
    func acceptList() {
        var bench = Bench()
        bench.prepare(0)
        for index in 0..<16 {
            let address = DeviceAddress(littleEndian: UInt64(index))
            #expect(accept(&bench, 0, .publicDevice, address) == .success)
        }
        let next = DeviceAddress(littleEndian: 99)
        #expect(accept(&bench, 0, .publicDevice, next) == .memoryCapacityExceeded)
        // One that is there already takes no place.
        #expect(accept(&bench, 0, .publicDevice, DeviceAddress(littleEndian: 3)) == .success)
        #expect(accept(&bench, 0, AddressType(rawValue: 2), next) == .invalidParameters)
        let removed = bench.status(0, LERemoveDeviceFromFilterAcceptList()) {
            $0.address = DeviceAddress(littleEndian: 3)
        }
        #expect(removed == .success)
        #expect(accept(&bench, 0, .randomDevice, next) == .success)
        bench.scan(0, filterPolicy: 1)
        #expect(accept(&bench, 0, .publicDevice, next) == .commandDisallowed)
        #expect(bench.status(0, LEClearFilterAcceptList()) == .commandDisallowed)
        #expect(bench.status(0, LERemoveDeviceFromFilterAcceptList()) == .commandDisallowed)
        bench.status(0, LESetScanEnable())
        #expect(bench.status(0, LEClearFilterAcceptList()) == .success)
    }

    @Test("a filtering scanner reports listed advertisers alone, by address and type")
    func scanFilter() {
        for type in [AddressType.publicDevice, .randomDevice] {
            var bench = Bench()
            bench.prepare(0)
            bench.prepare(1)
            bench.advertise(0)
            #expect(accept(&bench, 1, type, Bench.address) == .success)
            bench.scan(1, filterPolicy: 1)
            bench.run(for: .seconds(2))
            #expect(bench.reports(1).isEmpty == (type == .publicDevice))
        }
    }

    @Test(
        "an advertiser answers scan requests and connects as its filter policy says",
        arguments: 0...3)
    func advertisingFilter(policy: Int) {
        for isListed in [true, false] {
            var bench = Bench()
            bench.prepare(0)
            bench.prepare(1)
            if isListed {
                let central = publicAddress(&bench, 1)
                #expect(accept(&bench, 0, .publicDevice, central) == .success)
            }
            bench.advertise(0) { $0.filterPolicy = UInt8(policy) }
            bench.scan(1, active: true)
            bench.run(for: .seconds(1))
            let isAnswered = bench.reports(1).contains { $0.report.eventType == 4 }
            #expect(isAnswered == (isListed || policy & 1 == 0))
            bench.connect(1)
            bench.run(for: .seconds(1))
            let isConnected = !bench.events(1, LEConnectionComplete.self).isEmpty
            #expect(isConnected == (isListed || policy & 2 == 0))
        }
    }

    @Test("an initiator with the accept list connects to whichever listed advertiser it hears")
    func initiatorFilter() {
        var bench = Bench(controllers: 3)
        for port in 0...2 { bench.prepare(port) }
        bench.advertise(0)
        // The second advertiser has its public address and is not listed.
        bench.advertise(2, milliseconds: 20) { $0.ownAddressType = .publicDevice }
        #expect(accept(&bench, 1, .randomDevice, Bench.address) == .success)
        bench.connect(1) { $0.initiatorFilterPolicy = 1 }
        bench.run(for: .seconds(2))
        #expect(
            bench.events(1, LEConnectionComplete.self).map(\.event.peerAddress) == [Bench.address])
        #expect(bench.events(2, LEConnectionComplete.self).isEmpty)
    }

    @Test("types other than connectable ones are not connected to, and only scannable ones respond")
    func types() {
        for (type, isScannable, event) in [(2, true, 2), (3, false, 3)] as [(UInt8, Bool, UInt8)] {
            var bench = Bench()
            bench.prepare(0)
            bench.prepare(1)
            bench.advertise(0, type: type)
            bench.scan(1, active: true)
            bench.connect(1)
            bench.run(for: .seconds(2))
            let types = bench.reports(1).map(\.report.eventType)
            #expect(types.contains(event))
            #expect(types.contains(4) == isScannable)
            #expect(bench.events(1, LEConnectionComplete.self).isEmpty)
        }
    }

    @Test("directed advertising reaches its target alone and ends after 1.28 s where nobody comes")
    func directed() throws {
        for isTarget in [true, false] {
            var bench = Bench()
            bench.prepare(0)
            bench.prepare(1)
            let central = publicAddress(&bench, 1)
            let start = bench.now
            bench.advertise(0, type: 1) {
                $0.peerAddress = isTarget ? central : DeviceAddress(littleEndian: 7)
            }
            bench.scan(1)
            bench.run(for: .milliseconds(100))
            #expect(bench.reports(1).isEmpty == !isTarget)
            #expect(
                bench.reports(1).allSatisfy { $0.report.eventType == 1 && $0.report.data.isEmpty })
            if isTarget {
                bench.connect(1)
                bench.run(for: .milliseconds(100))
                #expect(
                    bench.events(0, LEConnectionComplete.self).map(\.event.status) == [.success])
            } else {
                bench.run(for: .seconds(3))
                let end = try #require(bench.events(0, LEConnectionComplete.self).first)
                #expect(end.event.status == .advertisingTimeout)
                #expect(end.at - start == .milliseconds(1280))
                #expect(bench.air.deadline == nil)
            }
        }
    }

    @Test("high duty cycle directed advertising ends in time though nobody listens")
    func directedUnheard() {
        var bench = Bench()
        bench.prepare(0)
        bench.advertise(0, type: 1)
        #expect(bench.air.deadline == .zero + .milliseconds(1280))
        bench.run(for: .seconds(2))
        #expect(
            bench.events(0, LEConnectionComplete.self).map(\.event.status) == [.advertisingTimeout])
        #expect(bench.air.advertisingEvents(of: 0, at: bench.now) == 341)
    }

    @Test("sixteen links on one controller, not one more, and no second one to the same peer")
    func manyLinks() {
        var bench = Bench(controllers: 18)
        for port in 0..<18 { bench.prepare(port) }
        for port in 1...16 {
            let address = publicAddress(&bench, port)
            bench.advertise(port) { $0.ownAddressType = .publicDevice }
            let status = bench.connect(0) {
                $0.peerAddressType = .publicDevice
                $0.peerAddress = address
            }
            #expect(status == .success)
            bench.run(for: .seconds(1))
            let again = bench.connect(0) {
                $0.peerAddressType = .publicDevice
                $0.peerAddress = address
            }
            #expect(again == (port == 16 ? .connectionLimitExceeded : .connectionAlreadyExists))
        }
        let handles = bench.events(0, LEConnectionComplete.self).map(\.event.connectionHandle)
        #expect(Set(handles).count == 16)
        // Each peer gets what is meant for it.
        for (index, handle) in handles.prefix(12).enumerated() {
            bench.sendACL(0, handle, [UInt8(index)])
        }
        bench.run(for: .seconds(1))
        for port in 1...12 { #expect(bench.acl(port).map(\.data) == [[UInt8(port - 1)]]) }
        #expect(bench.completedPackets(0) == 12)
        bench.status(0, LESetRandomAddress()) { $0.randomAddress = Bench.address }
        bench.status(0, LESetAdvertisingParameters()) {
            $0.intervalMin = 160
            $0.intervalMax = 160
            $0.channelMap = 7
        }
        #expect(
            bench.status(0, LESetAdvertisingEnable()) { $0.enable = 1 } == .connectionLimitExceeded)
    }

    @Test("a peripheral with a link advertises to others and keeps the links apart")
    func severalCentrals() {
        var bench = Bench(controllers: 3)
        for port in 0...2 { bench.prepare(port) }
        for port in 1...2 {
            bench.advertise(0)
            bench.connect(port)
            bench.run(for: .seconds(1))
            #expect(bench.status(0, LESetAdvertisingEnable()) == .success)
        }
        let handles = bench.events(0, LEConnectionComplete.self).map(\.event.connectionHandle)
        #expect(handles.count == 2)
        for (index, handle) in handles.enumerated() { bench.sendACL(0, handle, [UInt8(index + 1)]) }
        bench.run(for: .seconds(1))
        #expect(bench.acl(1).map(\.data) == [[1]])
        #expect(bench.acl(2).map(\.data) == [[2]])
    }

    @Test("a controller does not hear itself, and ports are used again")
    func ports() {
        var bench = Bench(controllers: 1)
        bench.prepare(0)
        bench.advertise(0)
        bench.scan(0)
        bench.run(for: .seconds(2))
        #expect(bench.reports(0).isEmpty)
        #expect(bench.air.addController() == 1)
        bench.air.removeController(0, at: bench.now)
        #expect(bench.air.deadline == nil)
        #expect(bench.air.addController(address: Bench.address) == 0)
        bench.mailboxes.append([])
        #expect(bench.answer(0, ReadBDADDR())?.bdAddr == Bench.address)
        // Ports that do not exist are ignored.
        bench.air.removeController(7, at: bench.now)
        bench.air.receive([1, 3, 12, 0].span, from: -1, at: bench.now)
        #expect(!bench.air.hasOutput(9))
        #expect(!bench.air.isFull)
    }
}
