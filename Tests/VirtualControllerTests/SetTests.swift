// Advertising sets on the air, and scanners that follow them.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct SetTests {
    private func bench(
        _ timing: Air.Timing = .radio, controllers: Int = 2, seed: UInt64 = 1
    ) -> Bench {
        var bench = Bench(seed: seed, timing: timing, controllers: controllers)
        for port in 0..<controllers { bench.prepareAll(port) }
        return bench
    }

    @Test(
        "an extended advertisement of any length is reported whole, in events of up to 229 octets",
        arguments: [0, 1, 31, 191, 229, 230, 245, 246, 458, 459, 1000, 1650])
    func lengths(count: Int) throws {
        for timing in [Air.Timing.radio, .ideal] {
            var bench = bench(timing)
            let data = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            bench.advertiseSet(0, data: data) { $0.advertisingSid = 5 }
            bench.scanExtended(1)
            bench.run(for: .seconds(1))
            let reports = bench.extendedReports(1)
            let parts = max((count + 228) / 229, 1)
            try #require(reports.count >= 3 * parts)
            let first = reports[..<parts]
            #expect(first.flatMap(\.report.data) == data)
            #expect(Set(first.map(\.at)).count == 1)
            for (index, part) in first.enumerated() {
                let status: ExtendedEventType = index < parts - 1 ? .moreToCome : []
                #expect(part.report.eventType == status)
                #expect(part.report.address == Bench.setAddress(0))
                #expect(part.report.addressType == .randomDevice)
                #expect(part.report.primaryPHY == 1 && part.report.secondaryPHY == 1)
                #expect(part.report.advertisingSid == 5 && part.report.txPower == 127)
            }
        }
    }

    @Test("a report comes when the last auxiliary PDU has ended on the air")
    func airTime() throws {
        // PDUs of data 0, 100, 245 octets on each PHY, and chains; ADV_EXT_IND on one channel.
        let cases: [(octets: Int, primary: UInt8, secondary: UInt8, microseconds: Int64)] = [
            (0, 1, 1, 136 + 300 + 160), (100, 1, 1, 136 + 300 + 960), (245, 1, 2, 136 + 300 + 1064),
            (245, 1, 3, 136 + 300 + 17_040), (31, 3, 3, 1168 + 300 + 3344),
            // 242 octets in the first PDU, 4 behind them.
            (246, 1, 1, 136 + 300 + 2120 + 300 + 80 + 8 * 8),
        ]
        for one in cases {
            var bench = bench()
            bench.scanExtended(1, phys: one.primary == 1 ? 1 : 4, interval: 0x4000, window: 0x4000)
            let before = bench.now
            bench.advertiseSet(
                0, data: [UInt8](repeating: 7, count: one.octets), milliseconds: 200
            ) {
                $0.channelMap = 1
                $0.primaryPHY = one.primary
                $0.secondaryPHY = one.secondary
            }
            bench.run(for: .milliseconds(150))
            let report = try #require(bench.extendedReports(1).first)
            // The radio's start-up comes first.
            #expect((report.at - before).microseconds == 500 + one.microseconds, "\(one)")
        }
    }

    @Test("legacy PDUs of a set reach legacy and extended scanners, each in its own reports")
    func legacyPDUs() throws {
        var bench = bench(controllers: 3)
        bench.advertiseSet(0, 7, [.connectable, .scannable, .legacy], response: [2, 10, 0])
        bench.scan(1, active: true)
        bench.scanExtended(2, active: true)
        bench.run(for: .seconds(1))
        let legacy = bench.reports(1).map(\.report)
        #expect(Set(legacy.map(\.eventType)) == [0, 4])
        let extended = bench.extendedReports(2).map(\.report)
        #expect(Set(extended.map(\.eventType.rawValue)) == [0x13, 0x1B])
        let advertisement = try #require(extended.first { $0.eventType.rawValue == 0x13 })
        #expect(advertisement.data == Bench.data && advertisement.secondaryPHY == 0)
        #expect(advertisement.advertisingSid == 0xFF && advertisement.txPower == 127)
        #expect(extended.first { $0.eventType.rawValue == 0x1B }?.data == [2, 10, 0])
        #expect(bench.extendedReports(1).isEmpty && bench.reports(2).isEmpty)
    }

    @Test("legacy scanners and scanners of another PHY hear nothing of extended PDUs")
    func unheard() {
        var bench = bench(controllers: 4)
        bench.advertiseSet(0)
        bench.scan(1)
        bench.scanExtended(2, phys: 4)
        bench.scanExtended(3, phys: 5)
        bench.run(for: .seconds(1))
        #expect(bench.reports(1).isEmpty && bench.extendedReports(2).isEmpty)
        #expect(!bench.extendedReports(3).isEmpty)
        // Who has no LE Coded cannot follow a pointer to it.
        var other = Bench(controllers: 1)
        other.add(features: .extendedAdvertising)
        for port in 0...1 { other.prepareAll(port) }
        other.advertiseSet(0) { $0.secondaryPHY = 3 }
        other.scanExtended(1)
        other.run(for: .seconds(1))
        #expect(other.extendedReports(1).isEmpty)
    }

    @Test("a scannable set answers with its scan response, and tells its host who asked")
    func scanResponse() throws {
        var bench = bench()
        let response = [UInt8](repeating: 9, count: 300)
        bench.advertiseSet(0, 3, .scannable, data: [], response: response) {
            $0.scanRequestNotification = 1
        }
        bench.scanExtended(1, active: true)
        bench.run(for: .milliseconds(300))
        let reports = bench.extendedReports(1).map(\.report)
        #expect(Set(reports.map(\.eventType.rawValue)) == [0x02, 0x2A, 0x0A])
        #expect(reports.first?.data == [] && reports.first?.eventType == .scannable)
        #expect(reports[1].data + reports[2].data == response)
        let requests = bench.events(0, LEScanRequestReceived.self).map(\.event)
        #expect(requests.count == reports.count / 3)
        #expect(requests.first?.advertisingHandle == 3)
        #expect(requests.first?.scannerAddress == bench.answer(1, ReadBDADDR())?.bdAddr)
        // A passive one asks for nothing.
        bench.status(1, LESetExtendedScanEnable())
        bench.forget()
        bench.scanExtended(1)
        bench.run(for: .milliseconds(300))
        #expect(bench.extendedReports(1).allSatisfy { $0.report.eventType == .scannable })
        #expect(bench.events(0, LEScanRequestReceived.self).isEmpty)
    }

    @Test("scan requests to a legacy set are told too, where the host wants them")
    func scanRequests() {
        for isWanted in [true, false] {
            var bench = bench()
            bench.advertiseSet(0, 1, [.scannable, .legacy], response: [1, 2]) {
                $0.scanRequestNotification = isWanted ? 1 : 0
            }
            bench.scan(1, active: true)
            bench.run(for: .seconds(1))
            let responses = bench.reports(1).count { $0.report.eventType == 4 }
            #expect(responses > 5)
            let told = bench.events(0, LEScanRequestReceived.self).count
            #expect(told == (isWanted ? responses : 0))
        }
    }

    @Test("anonymous advertisers have no address, and pass filters by their own entry")
    func anonymous() throws {
        var bench = bench()
        bench.advertiseSet(0, 0, .anonymous) { $0.advertisingSid = 2 }
        bench.scanExtended(1)
        bench.run(for: .seconds(1))
        let report = try #require(bench.extendedReports(1).first?.report)
        #expect(report.addressType == .anonymous && report.address == DeviceAddress())
        #expect(report.data == Bench.data && report.advertisingSid == 2)
        bench.status(1, LESetExtendedScanEnable())
        for isListed in [false, true] {
            if isListed {
                bench.status(1, LEAddDeviceToFilterAcceptList()) { $0.addressType = .anonymous }
            }
            bench.forget()
            bench.scanExtended(1, filterPolicy: 1)
            bench.run(for: .seconds(1))
            #expect(bench.extendedReports(1).isEmpty != isListed)
            bench.status(1, LESetExtendedScanEnable())
        }
    }

    @Test("directed sets are for their target alone")
    func directed() throws {
        var bench = bench(controllers: 3)
        let target = bench.answer(1, ReadBDADDR())?.bdAddr ?? DeviceAddress()
        bench.advertiseSet(0, 0, .directed) { $0.peerAddress = target }
        for port in 1...2 { bench.scanExtended(port) }
        bench.run(for: .seconds(1))
        let report = try #require(bench.extendedReports(1).first?.report)
        #expect(report.eventType == .directed && report.directAddress == target)
        #expect(report.data == Bench.data)
        #expect(bench.extendedReports(2).isEmpty)
    }

    @Test("transmit power is what was asked for, in the PDU and in the signal")
    func power() throws {
        var bench = bench(controllers: 3)
        for (port, wanted, selected) in [(0, 5, 5), (1, -100, -20)] as [(Int, Int8, Int8)] {
            var parameters = LESetExtendedAdvertisingParameters()
            parameters.eventProperties = AdvertisingEventProperties.includeTxPower.rawValue
            (parameters.intervalMin, parameters.intervalMax) = (160, 160)
            parameters.channelMap = 7
            parameters.txPower = wanted
            (parameters.primaryPHY, parameters.secondaryPHY) = (1, 1)
            #expect(bench.answer(port, parameters)?.selectedTxPower == selected)
            #expect(bench.enableSets(port) == .success)
        }
        bench.scanExtended(2)
        bench.run(for: .seconds(1))
        for selected in [5, -20] as [Int8] {
            let own = bench.extendedReports(2).map(\.report).filter { $0.txPower == selected }
            #expect(own.count > 5)
            #expect(own.allSatisfy { abs(Int($0.rssi) + 60 - Int(selected)) <= 3 })
        }
    }

    @Test("32 sets advertise at once, each by its own parameters; one more has no place")
    func manySets() {
        var bench = bench()
        #expect(
            bench.answer(0, LEReadNumberOfSupportedAdvertisingSets())?.numSupportedAdvertisingSets
                == 32)
        #expect(
            bench.answer(0, LEReadMaximumAdvertisingDataLength())?.maxAdvertisingDataLength == 1650)
        for handle in 0..<32 as Range<UInt8> {
            bench.advertiseSet(0, handle * 7, data: [2, 0xFF, handle]) {
                $0.advertisingSid = handle % 16
                $0.secondaryPHY = handle % 3 + 1
            }
        }
        #expect(bench.setParameters(0, 0xEE) == .memoryCapacityExceeded)
        bench.scanExtended(1)
        bench.run(for: .seconds(2))
        for handle in 0..<32 as Range<UInt8> {
            let own = bench.extendedReports(1).map(\.report).filter {
                $0.address == Bench.setAddress(handle * 7)
            }
            #expect(own.count > 10)
            #expect(own.allSatisfy { $0.data == [2, 0xFF, handle] })
            #expect(own.allSatisfy { $0.secondaryPHY == handle % 3 + 1 })
        }
        #expect(bench.enableSets(0, [7], enable: false) == .success)
        bench.run(for: .milliseconds(20))
        bench.forget()
        bench.run(for: .seconds(1))
        #expect(!bench.extendedReports(1).contains { $0.report.address == Bench.setAddress(7) })
        #expect(bench.enableSets(0, [], enable: false) == .success)
        bench.run(for: .milliseconds(20))
        bench.forget()
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(1).isEmpty)
        #expect(bench.status(0, LEClearAdvertisingSets()) == .success)
        #expect(bench.enableSets(0, [7]) == .unknownAdvertisingIdentifier)
    }

    @Test("a set ends after its duration or its events, heard or not, and says why")
    func ends() {
        for isHeard in [true, false] {
            var bench = bench()
            if isHeard { bench.scanExtended(1) }
            bench.advertiseSet(0, 1, milliseconds: 20)
            bench.advertiseSet(0, 2, milliseconds: 20)
            #expect(bench.enableSets(0, [1], duration: 50) == .success)
            #expect(bench.enableSets(0, [2], maxEvents: 10) == .success)
            bench.run(for: .seconds(2))
            let ended = bench.events(0, LEAdvertisingSetTerminated.self)
            #expect(ended.map(\.event.advertisingHandle) == [2, 1])
            #expect(ended.map(\.event.status) == [.limitReached, .advertisingTimeout])
            #expect(ended.map(\.event.numCompletedEvents) == [10, 0])
            #expect(ended.last.map { $0.at - .zero } == .milliseconds(500))
            #expect((180_000...302_000).contains(ended.first?.at.microseconds ?? 0))
            if isHeard { bench.status(1, LESetExtendedScanEnable()) }
            #expect(bench.air.deadline == nil)
        }
    }

    @Test("what a set does does not depend on who hears it")
    func unheardEqualsHeard() {
        var benches = [bench(seed: 5), bench(seed: 5)]
        for index in 0...1 {
            benches[index].advertiseSet(
                0, 1, data: [UInt8](repeating: 1, count: 500), milliseconds: 40)
            benches[index].advertiseSet(
                0, 2, .scannable, data: [], response: Bench.data, milliseconds: 30)
            benches[index].advertiseSet(
                0, 3, [.connectable, .legacy, .scannable], milliseconds: 50)
        }
        #expect(benches[1].air.deadline == nil)
        benches[0].scanExtended(1)
        for index in 0...1 { benches[index].run(for: .seconds(60)) }
        let events = benches.indices.map {
            benches[$0].air.advertisingEvents(of: 0, at: benches[$0].now)
        }
        #expect(events[0] == events[1] && events[0] > 3000)
    }

    @Test("with duplicate filtering new data are reported, in each period all again")
    func duplicates() {
        var bench = bench()
        bench.advertiseSet(0)
        bench.scanExtended(1, filterDuplicates: 1)
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(1).count == 1)
        #expect(bench.setData(0, 0, [9, 9]) == .success)
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(1).map(\.report.data) == [Bench.data, [9, 9]])
        // Unchanged data with a new DID are reported too.
        let again = bench.status(0, LESetExtendedAdvertisingData()) {
            $0.operation = AdvertisingDataOperation.unchanged
        }
        #expect(again == .success)
        bench.run(for: .seconds(1))
        #expect(bench.extendedReports(1).count == 3)
        bench.status(1, LESetExtendedScanEnable())
        bench.forget()
        bench.scanExtended(1, filterDuplicates: 2, duration: 64, period: 1)
        bench.run(for: .milliseconds(1280 * 5))
        let times = bench.extendedReports(1).map { $0.at.microseconds - 3_000_000 }
        #expect(times.count == 5)
        // The first half of each period.
        #expect(times.allSatisfy { $0 % 1_280_000 <= 640_000 })
    }

    @Test("a scan for a time ends with LE Scan Timeout")
    func scanTimeout() {
        var bench = bench()
        bench.advertiseSet(0, milliseconds: 20)
        bench.scanExtended(1, duration: 30)
        bench.run(for: .seconds(1))
        #expect(bench.events(1, LEScanTimeout.self).map { $0.at - .zero } == [.milliseconds(300)])
        #expect(!bench.extendedReports(1).isEmpty)
        #expect(bench.extendedReports(1).allSatisfy { $0.at - .zero <= .milliseconds(300) })
        #expect(bench.air.deadline == nil)
    }

    @Test("where part of a chain is lost, what came before it is reported as truncated")
    func truncated() {
        var bench = bench()
        bench.air.loss = 0.3
        let data = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        bench.advertiseSet(0, data: data, milliseconds: 50)
        bench.scanExtended(1)
        bench.run(for: .seconds(20))
        var whole: [UInt8] = []
        var kinds: Set<UInt16> = []
        for report in bench.extendedReports(1).map(\.report) {
            whole += report.data
            if report.eventType.contains(.moreToCome) { continue }
            kinds.insert(report.eventType.rawValue)
            #expect(whole == Array(data.prefix(whole.count)))
            #expect((whole.count == 1000) == !report.eventType.contains(.truncated))
            whole = []
        }
        #expect(kinds == [0, 0x40])
    }
}
