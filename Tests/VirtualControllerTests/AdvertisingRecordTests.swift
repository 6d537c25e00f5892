// What the air keeps of one controller's advertising.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct AdvertisingRecordTests {
    private func bench() -> Bench {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        bench.air.recordAdvertising(of: 0)
        return bench
    }

    @Test("a stretch has its interval, octets, events and times, until it is stopped")
    func stretch() throws {
        var bench = bench()
        bench.advertise(0)
        #expect(!bench.air.hasAdvertised)
        bench.run(for: .seconds(100))
        #expect(bench.air.takeAdvertised().isEmpty)
        bench.status(0, LESetAdvertisingEnable()) { $0.enable = 0 }
        #expect(bench.air.hasAdvertised)
        let stretches = bench.air.takeAdvertised()
        try #require(stretches.count == 1)
        #expect(stretches[0].interval == 100_000)
        #expect(stretches[0].end == bench.now)
        #expect(stretches[0].dataOctets == Bench.data.count)
        #expect(stretches[0].isConnectable && stretches[0].isScannable)
        #expect(abs(stretches[0].events - 100_000 / 105) < 4)
        #expect(stretches[0].firstEvent == .zero + .microseconds(500))
        #expect(!bench.air.hasAdvertised && bench.air.takeAdvertised().isEmpty)
    }

    @Test("data of another length begins another stretch, data of the same length does not")
    func data() {
        var bench = bench()
        bench.advertise(0)
        for length in [31, 31, 5] as [UInt8] {
            bench.run(for: .seconds(10))
            bench.status(0, LESetAdvertisingData()) {
                $0.length = length
                $0.data = [UInt8](repeating: 1, count: Int(length))
            }
        }
        bench.run(for: .seconds(10))
        bench.air.closeAdvertised(at: bench.now)
        let stretches = bench.air.takeAdvertised()
        #expect(stretches.map(\.dataOctets) == [Bench.data.count, 31, 5])
        #expect(stretches.map { $0.end - .zero } == [10, 30, 40].map { TimeSpan.seconds($0) })
        // The air's own count has all events of all stretches.
        let events = stretches.reduce(0) { $0 + $1.events }
        #expect(events == bench.air.advertisingEvents(of: 0, at: bench.now))
        for (one, next) in zip(stretches, stretches.dropFirst()) {
            #expect(next.firstEvent >= one.end)
            #expect(next.firstEvent - one.end <= .milliseconds(110))
        }
    }

    @Test("a record is the same whether somebody listens or not")
    func listeners() {
        var records: [[AdvertisedStretch]] = []
        for isHeard in [false, true] {
            var bench = bench()
            bench.advertise(0)
            if isHeard { bench.scan(1) }
            bench.run(for: .seconds(60))
            bench.air.closeAdvertised(at: bench.now)
            records.append(bench.air.takeAdvertised())
        }
        #expect(records[0] == records[1])
        #expect(records[0].count == 1)
    }

    @Test("other controllers and those that are gone are not recorded")
    func others() {
        var bench = bench()
        bench.advertise(1)
        bench.run(for: .seconds(1))
        bench.air.closeAdvertised(at: bench.now)
        #expect(bench.air.takeAdvertised().isEmpty)
        bench.air.recordAdvertising(of: 99)
        bench.air.closeAdvertised(at: bench.now)
        #expect(bench.air.takeAdvertised().isEmpty)
    }
}
