// Extended sets and trains in the benchmark: their charge follows what the specification says is on
// the air.
import Emulator
import PowerModel
import Profiles
import SansIO
import TestFiles
import Testing

@testable import Bench

struct ExtendedRunTests {
    /// 2 mA sending and nothing else, so that the charge is the time on the air.
    private static let chip = SystemOnChip(
        name: "plain", referenceVoltage: 3, supply: 1.8...3.6, voltageExponent: 0, sleep: 0,
        phases: [], transmit: [TransmitCurrent(power: 0, current: 2)])
    private static let duration = TimeSpan.seconds(3_600)

    private static func profile(_ sets: String) throws -> DeviceProfile {
        let text = "peripheral-emu: 1\ndevice: {name: Beacon}\nadvertising:\n\(sets)"
        return try ProfileLoader.load(path: "test.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "it is not there"))
        }
    }

    private static func run(_ sets: String) throws -> DeviceRecord {
        var run = DeviceRun(try profile(sets), seed: 1, duration: duration)
        return run.run()
    }

    /// A set with so many octets of data.
    private static func set(
        _ name: String, pdu: String, octets: Int, more: String = ""
    ) -> String {
        """
          - set: \(name)
            type: non-connectable
            interval: 500 ms
            pdu: \(pdu)
            data: \(data(octets))
        \(more)
        """
    }

    /// AD structures, each with a length and a type.
    private static func data(_ octets: Int) -> String {
        var rest = octets
        var entries: [String] = []
        while rest > 0 {
            let part = rest > 252 && rest < 255 ? 200 : min(rest, 252)
            let hex = String(repeating: "A5", count: part - 2)
            entries.append("{raw: {type: 0xFF, data: {hex: \"\(hex)\"}}}")
            rest -= part
        }
        return "[" + entries.joined(separator: ", ") + "]"
    }

    private static func extended(_ primary: String, _ secondary: String) -> String {
        "{extended: {primary: \(primary), secondary: \(secondary)}}"
    }

    /// Microseconds of a PDU with this payload (Core 6.0, Vol 6, Part B, 2.1 and 2.2): preamble,
    /// access address, header, payload and CRC; of LE Coded with S=8 also CI, TERM1 and TERM2.
    private static func airTime(_ phy: String, _ payload: Int) -> Int {
        switch phy {
        case "1M": 8 * (1 + 4 + 2 + payload + 3)
        case "2M": 4 * (2 + 4 + 2 + payload + 3)
        default: 80 + 256 + 16 + 24 + 8 * (16 + 8 * payload + 24) + 24
        }
    }

    // ADV_EXT_IND: length and AdvMode, flags, ADI, AuxPtr (2.3.4).
    private static let pointer = 1 + 1 + 2 + 3
    // AUX_ADV_IND: length and AdvMode, flags, AdvA, ADI.
    private static let auxiliary = 1 + 1 + 6 + 2
    private static let syncInfo = 18

    private static func transmitted(_ record: DeviceRecord) throws -> Double {
        let radio = try #require(Radio(chip, voltage: 3, power: 0))
        let path = "Profiles/power/batteries/cr2032.yaml"
        let battery = try ModelLoader.battery(path: path, bytes: SourceTree.bytes(path) ?? [])
        let report = record.meter.report(radio: radio, battery: battery)
        let share = report.shares.first { $0.cause == .advertising(.transmit) }
        // Mean microamperes at 2 mA: the share of the time on the air, in microseconds.
        return try #require(share).current / 2_000 * Double(duration.microseconds)
    }

    @Test(
        "The charge of sending 200 octets is the time of three ADV_EXT_IND and one AUX_ADV_IND",
        arguments: [("1M", "2M"), ("1M", "1M"), ("coded", "coded")])
    func airTime(_ primary: String, _ secondary: String) throws {
        let record = try Self.run(
            Self.set("main", pdu: Self.extended(primary, secondary), octets: 200))
        #expect(abs(Double(record.events) - 3_600 / 0.505) < 10)
        let each =
            3 * Self.airTime(primary, Self.pointer)
            + Self.airTime(secondary, Self.auxiliary + 200)
        let expected = Double(each) * Double(record.events)
        let found = try Self.transmitted(record)
        #expect(abs(found - expected) < 1e-6 * expected, "\(found) \(expected)")
        #expect(record.airTime == Int64(Self.airTime(primary, Self.pointer)))
        #expect(record.uses.map(\.name) == [nil])
    }

    @Test("1000 octets are an AUX_ADV_IND and four AUX_CHAIN_IND, each with a pointer but the last")
    func chained() throws {
        let record = try Self.run(
            Self.set("main", pdu: Self.extended("1M", "2M"), octets: 1_000))
        let first = 255 - Self.auxiliary - 3
        let chained = 255 - (1 + 1 + 2) - 3
        let last = 1_000 - first - 3 * chained
        let each =
            3 * Self.airTime("1M", Self.pointer) + 4 * Self.airTime("2M", 255)
            + Self.airTime("2M", 1 + 1 + 2 + last)
        let expected = Double(each) * Double(record.events)
        #expect(abs(try Self.transmitted(record) - expected) < 1e-6 * expected)
    }

    @Test("A legacy set costs beside an extended one what it costs alone")
    func neighbour() throws {
        let legacy = Self.set("old", pdu: "legacy", octets: 20)
        let alone = try Self.run(legacy)
        let both = try Self.run(
            legacy + "\n" + Self.set("new", pdu: Self.extended("1M", "2M"), octets: 200))
        #expect(alone.uses.map(\.name) == [nil])
        #expect(both.uses.map(\.name) == ["old", "new"])
        #expect(both.uses[0].events == alone.uses[0].events)
        #expect(both.uses.map(\.time) == [alone.uses[0].time, alone.uses[0].time])
        #expect(both.meter.events.contains { $0 == (alone.meter.events[0]) })
        #expect(both.advertising == alone.advertising)
        let each =
            3 * Self.airTime("1M", Self.pointer) + Self.airTime("2M", Self.auxiliary + 200)
        let expected =
            try Self.transmitted(alone) + Double(each) * Double(both.uses[1].events)
        #expect(abs(try Self.transmitted(both) - expected) < 1e-6 * expected)
        #expect(both.meter.time == Self.duration)
    }

    @Test("A legacy directed set costs three ADV_DIRECT_IND of 12 octets an event")
    func directed() throws {
        let record = try Self.run(
            """
              - type: {directed: {peer: "C0:11:22:33:44:55", duty: low}}
                interval: 500 ms
            """)
        let expected = Double(3 * Self.airTime("1M", 12)) * Double(record.events)
        #expect(record.events > 7_000)
        #expect(abs(try Self.transmitted(record) - expected) < 1e-6 * expected)
    }

    @Test("A burst beacon costs and is found in its bursts alone")
    func burst() throws {
        let set = Self.set("main", pdu: "legacy", octets: 20)
        let always = try Self.run(set)
        let burst = try Self.run(set + "    duration: 10 s\n    period: 1 min\n")
        // 3600 s are 60 bursts; each begins with an event.
        let ratio = Double(burst.events) / Double(always.events)
        #expect(abs(ratio - 1 / 6) < 0.01, "\(ratio)")
        #expect(abs(try Self.transmitted(burst) / Self.transmitted(always) - ratio) < 1e-6)
        #expect(burst.uses[0].time == .seconds(600) && burst.meter.time == Self.duration)
        #expect(burst.dayIntervals.count == 60)
        let scanner = try ScannerFileTests.scanner("android-13-balanced")
        func latency(_ record: DeviceRecord) -> LatencyResult {
            DiscoveryEstimate.run(
                DiscoverySampler(
                    scanner, on: record.advertising.timeline, from: record.advertising.anyTime),
                start: .anyTime, point: "x", seed: 1, precision: 0.03)
        }
        // Five in six begin in a pause, and wait for half of its 50 s.
        let (without, with) = (latency(always), latency(burst))
        let wait = try #require(with.mean).value - #require(without.mean).value
        #expect((19...24).contains(wait), "\(wait)")
        #expect(with.neverFound.value == 0)
    }

    @Test("A set that is on the air once is found by those who search then")
    func once() throws {
        let record = try Self.run(
            Self.set("main", pdu: "legacy", octets: 20) + "    duration: 6 min\n")
        #expect(abs(Double(record.events) - 360 / 0.505) < 5)
        let scanner = try ScannerFileTests.scanner("android-13-low-latency")
        let found = DiscoveryEstimate.run(
            DiscoverySampler(
                scanner, on: record.advertising.timeline, from: record.advertising.anyTime),
            start: .anyTime, point: "x", seed: 1, precision: 0.03)
        #expect(abs(found.neverFound.value - 0.9) < 0.02, "\(found.neverFound)")
    }

    @Test("Each AUX_SYNC_IND of a train costs its own air time, and AUX_ADV_IND says where it is")
    func train() throws {
        let record = try Self.run(
            Self.set(
                "main", pdu: Self.extended("1M", "2M"), octets: 50,
                more: "    periodic: {interval: 100 ms, data: \(Self.data(100))}\n"))
        #expect(record.uses.map(\.name) == ["main", "main, train"])
        #expect(record.uses.map(\.interval) == [500_000, 100_000])
        #expect(abs(record.uses[1].events - 36_000) <= 2)
        let advertised =
            3 * Self.airTime("1M", Self.pointer)
            + Self.airTime("2M", Self.auxiliary + Self.syncInfo + 50)
        // AUX_SYNC_IND without ADI and TxPower: an extended header of no length.
        let expected =
            Double(advertised) * Double(record.uses[0].events)
            + Double(Self.airTime("2M", 1 + 100)) * Double(record.uses[1].events)
        #expect(abs(try Self.transmitted(record) - expected) < 1e-6 * expected)
    }
}
