// Periodic advertising: trains, those who follow them, and commands about both.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct PeriodicTests {
    private func bench(_ timing: Air.Timing = .radio, controllers: Int = 2) -> Bench {
        var bench = Bench(timing: timing, controllers: controllers)
        for port in 0..<controllers { bench.prepareAll(port) }
        return bench
    }

    /// A train of 100 ms beside a set of 50 ms.
    private func sendTrain(
        _ bench: inout Bench, _ data: [UInt8], handle: UInt8 = 0, properties: UInt16 = 0,
        enable: UInt8 = 1, phy: UInt8 = 1
    ) {
        bench.advertiseSet(0, handle, milliseconds: 50) {
            $0.advertisingSid = 3
            $0.secondaryPHY = phy
        }
        let parameters = bench.status(0, LESetPeriodicAdvertisingParameters()) {
            ($0.advertisingHandle, $0.properties) = (handle, properties)
            ($0.intervalMin, $0.intervalMax) = (80, 80)
        }
        #expect(parameters == .success)
        setData(&bench, data, handle: handle)
        #expect(self.enable(&bench, enable, handle: handle) == .success)
    }

    private func setData(_ bench: inout Bench, _ data: [UInt8], handle: UInt8 = 0) {
        for (operation, part) in Bench.fragments(data, 252) {
            let status = bench.status(0, LESetPeriodicAdvertisingData()) {
                ($0.advertisingHandle, $0.operation, $0.data) = (handle, operation, part)
            }
            #expect(status == .success)
        }
    }

    private func enable(
        _ bench: inout Bench, _ enable: UInt8, handle: UInt8 = 0
    ) -> HCIStatus? {
        bench.status(0, LESetPeriodicAdvertisingEnable()) {
            ($0.enable, $0.advertisingHandle) = (enable, handle)
        }
    }

    @discardableResult
    private func createSync(
        _ bench: inout Bench, _ port: Int = 1, handle: UInt8 = 0,
        _ change: (inout LEPeriodicAdvertisingCreateSync) -> Void = { _ in }
    ) -> HCIStatus? {
        bench.status(port, LEPeriodicAdvertisingCreateSync()) {
            $0.advertisingSid = 3
            $0.advertiserAddressType = .randomDevice
            $0.advertiserAddress = Bench.setAddress(handle)
            $0.syncTimeout = 100
            change(&$0)
        }
    }

    private func established(
        _ bench: Bench, _ port: Int = 1
    ) -> [LEPeriodicAdvertisingSyncEstablished] {
        bench.events(port, LEPeriodicAdvertisingSyncEstablished.self).map(\.event)
    }

    private func reports(
        _ bench: Bench, _ port: Int = 1
    ) -> [(at: Instant, event: LEPeriodicAdvertisingReport)] {
        bench.events(port, LEPeriodicAdvertisingReport.self)
    }

    @Test(
        "a scanner finds a train, follows it without scanning, and gets its data of any length",
        arguments: [Air.Timing.radio, .ideal])
    func train(timing: Air.Timing) throws {
        for count in [0, 100, 247, 248, 1000, 1650] {
            var bench = bench(timing)
            let data = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            sendTrain(&bench, data, phy: 2)
            #expect(createSync(&bench) == .success)
            bench.run(for: .milliseconds(300))
            #expect(established(bench).isEmpty, "nobody scans")
            bench.scanExtended(1)
            bench.run(for: .milliseconds(500))
            let sync = try #require(established(bench).first)
            #expect(sync.status == .success && sync.advertisingSid == 3)
            #expect(sync.advertiserAddress == Bench.setAddress(0))
            #expect(sync.advertiserPHY == 2 && sync.periodicAdvertisingInterval == 80)
            #expect(
                bench.extendedReports(1).first?.report.periodicAdvertisingInterval == 80)
            bench.status(1, LESetExtendedScanEnable())
            bench.enableSets(0, enable: false)
            bench.forget()
            bench.run(for: .seconds(1))
            let parts = max((count + 246) / 247, 1)
            let found = reports(bench)
            #expect(found.count == 10 * parts)
            #expect(found[..<parts].flatMap(\.event.data) == data)
            #expect(found[..<parts].map(\.event.dataStatus).dropLast().allSatisfy { $0 == 1 })
            #expect(found[parts - 1].event.dataStatus == 0)
            #expect(found.allSatisfy { $0.event.syncHandle == sync.syncHandle })
            let times = stride(from: 0, to: found.count, by: parts).map { found[$0].at }
            #expect(zip(times.dropFirst(), times).allSatisfy { $0 - $1 == .milliseconds(100) })
        }
    }

    @Test("a train that ends is lost after the time-out, and can be found again")
    func loss() {
        var bench = bench()
        sendTrain(&bench, [1])
        bench.scanExtended(1)
        createSync(&bench)
        bench.run(for: .milliseconds(500))
        #expect(createSync(&bench) == .connectionAlreadyExists)
        let last = reports(bench).last?.at ?? .zero
        #expect(enable(&bench, 0) == .success)
        bench.run(for: .seconds(3))
        let lost = bench.events(1, LEPeriodicAdvertisingSyncLost.self)
        #expect(lost.map(\.at) == [last + .seconds(1)])
        #expect(lost.first?.event.syncHandle == established(bench).first?.syncHandle)
        #expect(reports(bench).last?.at == last)
        #expect(createSync(&bench) == .success)
        #expect(enable(&bench, 1) == .success)
        bench.run(for: .seconds(1))
        #expect(established(bench).map(\.status) == [.success, .success])
        // A controller that goes is missed too.
        bench.air.removeController(0, at: bench.now)
        bench.run(for: .seconds(3))
        #expect(bench.events(1, LEPeriodicAdvertisingSyncLost.self).count == 2)
    }

    @Test("a sync is ended, stopped and let through by its host")
    func host() throws {
        var bench = bench()
        sendTrain(&bench, [1])
        bench.scanExtended(1)
        createSync(&bench) { $0.options = 0b010 }
        bench.run(for: .milliseconds(500))
        let handle = try #require(established(bench).first).syncHandle
        #expect(reports(bench).isEmpty)
        for (value, count) in [(1, 10), (0, 0)] as [(UInt8, Int)] {
            let status = bench.status(1, LESetPeriodicAdvertisingReceiveEnable()) {
                ($0.syncHandle, $0.enable) = (handle, value)
            }
            #expect(status == .success)
            bench.forget()
            bench.run(for: .seconds(1))
            #expect(reports(bench).count == count)
        }
        let other = SyncHandle(rawValue: handle.rawValue + 1)
        #expect(
            bench.status(1, LEPeriodicAdvertisingTerminateSync()) { $0.syncHandle = other }
                == .unknownAdvertisingIdentifier)
        #expect(
            bench.status(1, LESetPeriodicAdvertisingReceiveEnable()) { $0.syncHandle = other }
                == .unknownAdvertisingIdentifier)
        #expect(
            bench.status(1, LEPeriodicAdvertisingTerminateSync()) { $0.syncHandle = handle }
                == .success)
        bench.run(for: .seconds(3))
        #expect(bench.events(1, LEPeriodicAdvertisingSyncLost.self).isEmpty)
    }

    @Test("with the ADI field the same data are reported once, where the host wants it so")
    func duplicates() {
        var bench = bench()
        sendTrain(&bench, [1], properties: 1 << 6, enable: 3)
        bench.scanExtended(1)
        createSync(&bench) { $0.options = 0b100 }
        bench.run(for: .seconds(1))
        #expect(reports(bench).map(\.event.data) == [[1]])
        #expect(reports(bench).first?.event.txPower == 0)
        setData(&bench, [2])
        bench.run(for: .seconds(1))
        #expect(reports(bench).map(\.event.data) == [[1], [2]])
    }

    @Test("skipped events cost nothing and are not reported")
    func skip() {
        var bench = bench()
        sendTrain(&bench, [1])
        bench.scanExtended(1)
        createSync(&bench) { $0.skip = 4 }
        bench.run(for: .milliseconds(500))
        bench.forget()
        bench.run(for: .seconds(5))
        #expect(reports(bench).count == 10)
    }

    @Test("any advertiser of the list will do, and the list stays while it is searched")
    func list() {
        var bench = bench()
        #expect(
            bench.answer(1, LEReadPeriodicAdvertiserListSize())?.periodicAdvertiserListSize == 16)
        func add(_ bench: inout Bench, _ sid: UInt8) -> HCIStatus? {
            bench.status(1, LEAddDeviceToPeriodicAdvertiserList()) {
                ($0.entry.addressType, $0.entry.address) = (.randomDevice, Bench.setAddress(0))
                $0.entry.sid = sid
            }
        }
        #expect(add(&bench, 16) == .invalidParameters)
        for sid in 0..<16 as Range<UInt8> { #expect(add(&bench, sid) == .success) }
        #expect(add(&bench, 3) == .invalidParameters)
        #expect(
            bench.status(1, LEAddDeviceToPeriodicAdvertiserList()) == .memoryCapacityExceeded)
        #expect(
            bench.status(1, LERemoveDeviceFromPeriodicAdvertiserList())
                == .unknownAdvertisingIdentifier)
        sendTrain(&bench, [1])
        bench.scanExtended(1)
        createSync(&bench) {
            $0.options = 1
            $0.advertiserAddress = DeviceAddress()
        }
        #expect(bench.status(1, LEClearPeriodicAdvertiserList()) == .commandDisallowed)
        bench.run(for: .seconds(1))
        #expect(established(bench).map(\.status) == [.success])
        #expect(bench.status(1, LEClearPeriodicAdvertiserList()) == .success)
    }

    @Test("what is sought is given up on the host's word")
    func cancel() {
        var bench = bench()
        #expect(bench.status(1, LEPeriodicAdvertisingCreateSyncCancel()) == .commandDisallowed)
        #expect(createSync(&bench) == .success)
        #expect(createSync(&bench) == .commandDisallowed)
        bench.forget()
        #expect(bench.status(1, LEPeriodicAdvertisingCreateSyncCancel()) == .success)
        #expect(bench.mailboxes[1].first?.eventCode == 0x0E)
        #expect(established(bench).map(\.status) == [.operationCancelledByHost])
        for change: (inout LEPeriodicAdvertisingCreateSync) -> Void in [
            { $0.options = 8 }, { $0.advertisingSid = 16 }, { $0.skip = 0x1F4 },
            { $0.syncTimeout = 9 }, { $0.syncTimeout = 0x4001 }, { $0.syncCTEType = 0x20 },
            { $0.advertiserAddressType = .publicIdentity },
        ] {
            #expect(createSync(&bench, 1, handle: 0, change) == .invalidParameters)
        }
    }

    @Test("on a lossy air events are missed, chains cut, and the sync is kept")
    func lossyAir() {
        var bench = bench()
        bench.air.loss = 0.3
        sendTrain(&bench, (0..<700).map { UInt8(truncatingIfNeeded: $0) })
        bench.scanExtended(1)
        createSync(&bench) { $0.syncTimeout = 500 }
        bench.run(for: .seconds(30))
        #expect(established(bench).map(\.status) == [.success])
        #expect(bench.events(1, LEPeriodicAdvertisingSyncLost.self).isEmpty)
        let statuses = Set(reports(bench).map(\.event.dataStatus))
        #expect(statuses == [0, 1, 2])
    }

    @Test("commands about a train that cannot be are refused")
    func refused() {
        func parameters(
            _ bench: inout Bench, _ handle: UInt8, _ min: UInt16 = 80, _ max: UInt16 = 80
        ) -> HCIStatus? {
            bench.status(0, LESetPeriodicAdvertisingParameters()) {
                ($0.advertisingHandle, $0.intervalMin, $0.intervalMax) = (handle, min, max)
            }
        }
        func data(_ bench: inout Bench, _ operation: UInt8, _ count: Int) -> HCIStatus? {
            bench.status(0, LESetPeriodicAdvertisingData()) {
                ($0.operation, $0.data) = (operation, [UInt8](repeating: 1, count: count))
            }
        }
        var bench = bench()
        #expect(parameters(&bench, 0) == .unknownAdvertisingIdentifier)
        #expect(data(&bench, 3, 1) == .unknownAdvertisingIdentifier)
        #expect(enable(&bench, 1) == .unknownAdvertisingIdentifier)
        for properties in [.connectable, .scannable, .legacy, .anonymous]
            as [AdvertisingEventProperties]
        {
            bench.setParameters(0, 1, properties)
            #expect(parameters(&bench, 1) == .invalidParameters)
        }
        bench.setParameters(0)
        bench.setRandomAddress(0)
        #expect(data(&bench, 3, 1) == .commandDisallowed, "it has no interval")
        #expect(enable(&bench, 1) == .commandDisallowed)
        #expect(parameters(&bench, 0, 5) == .invalidParameters)
        #expect(parameters(&bench, 0, 81, 80) == .invalidParameters)
        #expect(parameters(&bench, 0, 6, 6) == .success)
        #expect(data(&bench, 1, 252) == .success)
        #expect(enable(&bench, 1) == .commandDisallowed, "the data are not whole")
        #expect(data(&bench, 2, 252) == .success)
        #expect(data(&bench, 1, 252) == .success && data(&bench, 0, 252) == .success)
        #expect(data(&bench, 0, 252) == .success)
        #expect(data(&bench, 0, 252) == .packetTooLong, "7.5 ms have no more")
        #expect(data(&bench, 4, 0) == .invalidParameters)
        #expect(enable(&bench, 4) == .invalidParameters)
        #expect(enable(&bench, 1) == .success)
        #expect(parameters(&bench, 0) == .commandDisallowed)
        #expect(data(&bench, 1, 5) == .commandDisallowed)
        #expect(data(&bench, 3, 5) == .success && data(&bench, 4, 0) == .success)
        #expect(bench.setParameters(0, 0, .scannable) == .invalidParameters)
        #expect(bench.setParameters(0) { $0.secondaryPHY = 2 } == .commandDisallowed)
        #expect(bench.status(0, LERemoveAdvertisingSet()) == .commandDisallowed)
        #expect(bench.status(0, LEClearAdvertisingSets()) == .commandDisallowed)
        #expect(enable(&bench, 0) == .success && enable(&bench, 0) == .success)
        #expect(bench.status(0, LEClearAdvertisingSets()) == .success)
        // Controllers without it do not know the commands.
        var without = Bench(features: .extendedAdvertising)
        #expect(parameters(&without, 0) == .unknownCommand)
        #expect(enable(&without, 1) == .unknownCommand)
    }
}
