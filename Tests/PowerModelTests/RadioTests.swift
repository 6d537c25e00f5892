// What events cost: the phases of the nRF52832 against its vendor's sums, and the laws.
import PowerModel
import SansIO
import Testing

/// A chip whose numbers are easy: 1 mA around the packets, 2 mA sending, 3 mA receiving.
private let plain = SystemOnChip(
    name: "plain", referenceVoltage: 3, supply: 1.8...3.6, voltageExponent: 1, sleep: 2,
    phases: [
        (.processing, PhaseCost(time: 1_000, current: 1)),
        (.transmitToReceive, PhaseCost(time: 150, current: 2)),
        (.receive, PhaseCost(time: 50, current: 3)),
    ],
    transmit: [TransmitCurrent(power: 0, current: 2), TransmitCurrent(power: 4, current: 4)])

struct RadioTests {
    private func radio(_ voltage: Double = 3, _ power: Int8 = 0) throws -> Radio {
        try #require(Radio(plain, voltage: voltage, power: power))
    }

    @Test("A legacy event is its phases on each channel")
    func legacy() throws {
        let quiet = try radio().cost(of: .legacy(data: 0, listens: false))
        #expect(abs(quiet.charge - (1.0 + 3 * 0.128 * 2)) < 1e-9)
        #expect(quiet.time == 1_000 + 3 * 128)
        let open = try radio().cost(of: .legacy(data: 31, listens: true))
        #expect(abs(open.charge - (1.0 + 3 * (0.376 * 2 + 0.15 * 2 + 0.05 * 3))) < 1e-9)
        let single = try radio().cost(of: .legacy(data: 0, listens: false, channels: 1))
        #expect(abs(single.charge - (1.0 + 0.128 * 2)) < 1e-9)
    }

    @Test("Each octet costs its air time on three channels")
    func payloadSlope() throws {
        let radio = try radio()
        let slope =
            radio.cost(of: .legacy(data: 20, listens: true)).charge
            - radio.cost(of: .legacy(data: 19, listens: true)).charge
        #expect(abs(slope - 3 * 0.008 * 2) < 1e-9)
    }

    @Test("An extended event is three ADV_EXT_IND and one AUX_ADV_IND on its own PHY")
    func extended() throws {
        let fast = AuxiliaryPDUs(
            count: 1, airTime: AdvertisingPDU.auxiliary(data: 100).airTime(.le2M))
        let cost = try radio().cost(
            of: .extended(listens: false, primary: .le1M, auxiliary: fast))
        #expect(abs(cost.charge - (1.0 + (3 * 0.136 + 0.484) * 2)) < 1e-9)
        let single = try radio().cost(
            of: .extended(listens: false, primary: .le1M, auxiliary: fast, channels: 1))
        #expect(abs(single.charge - (1.0 + (0.136 + 0.484) * 2)) < 1e-9)
        let slow = AuxiliaryPDUs(
            count: 1, airTime: AdvertisingPDU.auxiliary(data: 0).airTime(.codedS8))
        let coded = try radio().cost(
            of: .extended(listens: true, primary: .codedS8, auxiliary: slow))
        #expect(abs(coded.charge - (1.0 + (3 * 1.168 + 1.36) * 2 + 0.15 * 2 + 0.05 * 3)) < 1e-9)
    }

    @Test("An event of a periodic train is what is on the air, and what is around it once")
    func periodic() throws {
        let cost = try radio().cost(
            of: .periodic(AuxiliaryPDUs(count: 2, airTime: .microseconds(3_000))))
        #expect(abs(cost.charge - (1.0 + 3 * 2)) < 1e-9)
        #expect(cost.time == 1_000 + 3_000)
    }

    @Test("More power costs more, less voltage costs more behind a converter")
    func laws() throws {
        let event = AdvertisingEvent.legacy(data: 0, listens: false)
        let base = try radio().cost(of: event).charge
        #expect(try radio(3, 4).cost(of: event).charge > base)
        let low = try radio(2).cost(of: event).charge
        #expect(abs(low / base - 1.5) < 1e-9)
        #expect(Radio(plain, voltage: 1.5, power: 0) == nil)
        #expect(Radio(plain, voltage: 3, power: 20) == nil)
    }

    @Test("A scan request is heard longer than nothing, and answered after T_IFS")
    func scanResponse() throws {
        let cost = try radio().costOfScanResponse(data: 31)
        #expect(abs(cost.charge - ((0.176 - 0.05) * 3 + 0.15 * 2 + 0.376 * 2)) < 1e-9)
    }

    @Test("The mean current is charge over interval and advDelay, and sleep in between")
    func mean() {
        let current = Radio.averageCurrent(charge: 10.641, length: 4.377, interval: 20, sleep: 2)
        #expect(abs(current - 427.286) < 0.01)
    }
}

struct EnergyMeterTests {
    private let battery = Battery(
        name: "cell", voltage: 3, endVoltage: 2, capacity: 200, usable: 0.65...1,
        selfDischarge: 0.01...0.01, resistance: 10...20, shelfLife: 10)

    private func segment(_ events: Int64, _ seconds: Int64) -> EnergySegment {
        EnergySegment(
            time: .seconds(seconds), event: .legacy(data: 0, listens: true), events: events)
    }

    @Test("Segments in any order, or in parts that are merged, are the same sum")
    func merging() {
        var whole = EnergyMeter()
        var (left, right) = (EnergyMeter(), EnergyMeter())
        for index in 0..<100 {
            let part = EnergySegment(
                time: .seconds(10), event: .legacy(data: index % 3, listens: true), events: 9,
                scanResponses: 1, scanResponseData: 5, connectionEvents: 2, sent: 20)
            whole.add(part)
            if index % 2 == 0 { left.add(part) } else { right.add(part) }
        }
        right.add(left)
        #expect(right == whole)
        #expect(whole.events.count == 3)
    }

    @Test("A year in one segment is a year of its events")
    func year() throws {
        var meter = EnergyMeter()
        meter.add(segment(31_536_000, 31_536_000))
        let radio = try #require(Radio(plain, voltage: 3, power: 0))
        let report = meter.report(
            radio: radio, sensors: [SensorCurrent(name: "motion", current: 2)], battery: battery)
        let cost = radio.cost(of: .legacy(data: 0, listens: true))
        let expected = cost.charge + 2 * (1 - cost.time / 1e6) + 2
        #expect(abs(report.current - expected) < 1e-6)
        let shares = report.shares.filter { $0.cause != .selfDischarge }
        #expect(abs(shares.reduce(0) { $0 + $1.current } - report.current) < 1e-9)
        // k C / (I + s C / 8760 h) at both ends of the band.
        let drain = expected / 1_000 + 0.01 * 200 / 8_760
        #expect(abs(report.life.lowerBound - 0.65 * 200 / drain / 8_760) < 1e-6)
        #expect(abs(report.life.upperBound - 200 / drain / 8_760) < 1e-6)
        #expect(!report.isLimitedByShelfLife)
    }

    @Test("Responses and connection events are causes of their own")
    func otherCauses() throws {
        var meter = EnergyMeter()
        meter.add(
            EnergySegment(
                time: .seconds(1_000), scanResponses: 10, scanResponseData: 31,
                connectionEvents: 100, sent: 1_000))
        let radio = try #require(Radio(plain, voltage: 3, power: 0))
        let report = meter.report(radio: radio, battery: battery)
        let causes = report.shares.map(\.cause)
        #expect(causes == [.sleep, .scanResponses, .connections, .selfDischarge])
        let connections = report.shares.first { $0.cause == .connections }?.current ?? 0
        let empty = radio.costOfConnectionEvent().charge
        let expected = (100 * empty + 1_000 * 0.008 * 2) / 1_000
        #expect(abs(connections - expected) < 1e-6)
    }

    @Test("Nothing lives longer than its shelf life, and too weak a battery not at all")
    func limits() {
        #expect(battery.life(current: 0, usable: 0.65...1).upperBound == 10)
        #expect(battery.usable(peak: 5, minimum: 1.8) == 0.65...1)
        let half = battery.usable(peak: 50, minimum: 1.8)
        #expect(abs(half.lowerBound - 0.65 * 0.2) < 1e-9 && abs(half.upperBound - 0.7) < 1e-9)
        #expect(battery.usable(peak: 500, minimum: 1.8).upperBound == 0)
    }

    @Test("Counts beyond all bounds stay at the largest number")
    func overflow() {
        var meter = EnergyMeter()
        for _ in 0..<3 { meter.add(segment(.max, .max)) }
        #expect(meter.events.map(\.count) == [.max])
    }
}
