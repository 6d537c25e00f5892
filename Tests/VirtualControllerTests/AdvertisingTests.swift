// Advertising and scanning on the virtual air.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct AdvertisingTests {
    @Test("a continuous scanner reports address, data and event type of what it hears")
    func report() throws {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        bench.scan(1)
        bench.run(for: .seconds(1))
        let report = try #require(bench.reports(1).first?.report)
        #expect(report.eventType == 0)
        #expect(report.addressType == .randomDevice)
        #expect(report.address == Bench.address)
        #expect(report.data == Bench.data)
        #expect((-63...(-57)).contains(report.rssi))
        #expect(!bench.reports(1).contains { $0.report.eventType == 4 })
        #expect(bench.reports(0).isEmpty)
    }

    @Test("an active scanner gets the scan response after the advertisement")
    func scanResponse() throws {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        bench.scan(1, active: true)
        bench.run(for: .seconds(1))
        let reports = bench.reports(1)
        let response = try #require(reports.firstIndex { $0.report.eventType == 4 })
        #expect(response > 0)
        #expect(reports[response].report.data == [2, 10, 0])
        // T_IFS, SCAN_REQ, T_IFS and 9 octets of payload.
        let gap = reports[response].at - reports[response - 1].at
        #expect(gap == .microseconds(150 + 176 + 150 + 152))
    }

    @Test("the interval on the air is the interval plus an advDelay of 0 to 10 ms, 5 ms on average")
    func interval() {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0) { $0.channelMap = 0b001 }
        // A window that is always open on channel 37 would need a third of the time: listen long.
        bench.scan(1, interval: 0x4000, window: 0x4000)
        bench.run(for: .seconds(10))
        let times = bench.reports(1).map(\.at.microseconds)
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(gaps.count > 80)
        #expect(gaps.allSatisfy { (100_000...110_000).contains($0) })
        let mean = Double(gaps.reduce(0, +)) / Double(gaps.count)
        // Standard error of 90 uniform delays is 0.3 ms.
        #expect((103_800...106_200).contains(mean))
    }

    @Test("the three PDUs of an event start 676 us apart when each takes 376 us")
    func channels() {
        var bench = Bench(controllers: 4)
        for port in 0..<4 { bench.prepare(port) }
        bench.status(0, LESetAdvertisingData()) { $0.length = 31 }
        bench.advertise(0) { _ in }
        bench.status(0, LESetAdvertisingData()) {
            $0.length = 31
            $0.data = [UInt8](repeating: 1, count: 31)
        }
        // One scanner a channel: they begin one scan interval apart.
        for port in 1...3 {
            bench.scan(port, interval: 0x4000, window: 0x4000)
            if port < 3 { bench.run(for: .microseconds(0x4000 * 625)) }
        }
        bench.forget()
        bench.run(for: .seconds(5))
        let times = (1...3).map { bench.reports($0).map(\.at.microseconds) }
        #expect(times.allSatisfy { $0.count > 40 })
        let count = times.map(\.count).min() ?? 0
        // The last one to begin hears channel 37, the one before 38, the first 39.
        for index in 0..<count {
            #expect(times[1][index] - times[2][index] == 676)
            #expect(times[0][index] - times[1][index] == 676)
        }
    }

    @Test("discovery latency of a scanner that listens all the time is that of the formula")
    func continuousDiscovery() {
        // E[L] = E[X²] / 2 E[X] with X = 1 s + U(0, 10 ms): 502.5 ms.
        var total = 0.0
        let runs = 300
        var random = SeededRandom(seed: 9)
        for run in 0..<runs {
            var bench = Bench(seed: UInt64(run))
            bench.prepare(0)
            bench.prepare(1)
            bench.advertise(0, milliseconds: 1000)
            bench.run(for: .microseconds(5_000_000 + random.below(1_005_000)))
            let start = bench.now
            bench.scan(1, interval: 0x4000, window: 0x4000)
            bench.run(atMost: .seconds(5)) { !$0.reports(1).isEmpty }
            total += ((bench.reports(1).first?.at ?? bench.now) - start).seconds
        }
        // Standard error: 290 ms / √300 = 17 ms.
        #expect((0.45...0.555).contains(total / Double(runs)))
    }

    @Test("a scanner with a short window finds an advertiser as often as the window allows")
    func dutyCycle() {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0, milliseconds: 20)
        // 10 of 100 ms; the PDU of 152 us on one of three channels must fall wholly into it.
        bench.scan(1, interval: 160, window: 16)
        bench.run(for: .seconds(100))
        let events = bench.air.advertisingEvents(of: 0, at: bench.now)
        let share = Double(bench.reports(1).count) / Double(events)
        #expect((0.08...0.12).contains(share))
    }

    @Test("in ideal timing every event is reported once, whatever window and channels")
    func ideal() {
        for map in 1...7 as ClosedRange<UInt8> {
            var bench = Bench(timing: .ideal)
            bench.prepare(0)
            bench.prepare(1)
            bench.scan(1, interval: 0x4000, window: 4)
            bench.advertise(0) { $0.channelMap = map }
            bench.run(for: .seconds(10))
            let events = bench.air.advertisingEvents(of: 0, at: bench.now)
            #expect((0...1).contains(bench.reports(1).count - events))
        }
    }

    @Test("with duplicate filtering an advertisement and its scan response are reported once")
    func duplicates() {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.advertise(0)
        bench.scan(1, active: true, filterDuplicates: true)
        bench.run(for: .seconds(5))
        #expect(bench.reports(1).map(\.report.eventType) == [0, 4])
    }

    @Test("advertising that nobody hears needs no deadline, and draws what heard advertising draws")
    func unheard() {
        var heard = Bench(seed: 5)
        var unheard = Bench(seed: 5)
        for port in 0...1 {
            heard.prepare(port)
            unheard.prepare(port)
        }
        heard.advertise(0, milliseconds: 20)
        unheard.advertise(0, milliseconds: 20)
        #expect(unheard.air.deadline == nil)
        heard.scan(1)
        heard.run(for: .seconds(60))
        unheard.run(for: .seconds(60))
        #expect(
            heard.air.advertisingEvents(of: 0, at: heard.now)
                == unheard.air.advertisingEvents(of: 0, at: unheard.now))
        heard.send(1, LESetScanEnable())
        heard.run(for: .milliseconds(1))
        unheard.run(for: .milliseconds(1))
        heard.forget()
        unheard.forget()
        heard.scan(1)
        unheard.scan(1)
        heard.run(for: .seconds(5))
        unheard.run(for: .seconds(5))
        #expect(heard.reports(1).map(\.at) == unheard.reports(1).map(\.at))
        #expect(heard.reports(1).count > 100)
    }

    @Test("millions of unheard advertising events a second")
    func speed() {
        var bench = Bench()
        bench.prepare(0)
        bench.advertise(0, milliseconds: 20)
        let clock = ContinuousClock()
        let elapsed = clock.measure { bench.run(for: .seconds(86_400)) }
        let start = clock.now
        let events = bench.air.advertisingEvents(of: 0, at: bench.now)
        let span = clock.now - start
        #expect((3_440_000...3_470_000).contains(events))
        let seconds = Double(span.components.attoseconds) / 1e18 + Double(span.components.seconds)
        print(
            "unheard advertising events a second: \(Int(Double(events) / seconds)), idle \(elapsed)"
        )
    }
}
