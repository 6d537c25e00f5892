// Long advertising data that a controller reports in parts.
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

@Suite struct HeardAdvertisementTests {
    private static func report(
        _ data: [UInt8], sid: UInt8 = 0, from address: UInt64 = 0xC0FF_EE00_0001,
        _ type: ExtendedEventType = []
    ) -> LEExtendedAdvertisingReport.Report {
        var report = LEExtendedAdvertisingReport.Report()
        report.eventType = type
        report.addressType = .randomDevice
        report.address = DeviceAddress(littleEndian: address)
        report.advertisingSid = sid
        report.secondaryPHY = 2
        report.data = data
        return report
    }

    @Test("parts of several advertisements are joined, each with its own")
    func joined() {
        var parts = AdvertisementParts()
        #expect(parts.take(Self.report([1], sid: 1, .moreToCome)) == nil)
        #expect(parts.take(Self.report([2], sid: 2, .moreToCome)) == nil)
        #expect(parts.take(Self.report([9], sid: 1, from: 0xC0FF_EE00_0002))?.data == [9])
        #expect(parts.take(Self.report([3], sid: 1, .moreToCome)) == nil)
        #expect(parts.take(Self.report([4], sid: 2))?.data == [2, 4])
        let whole = parts.take(Self.report([5], sid: 1, [.connectable, .truncated]))
        #expect(whole?.data == [1, 3, 5] && whole?.isConnectable == true)
        #expect(whole?.extended?.isTruncated == true && whole?.extended?.secondaryPHY == 2)
        #expect(parts.take(Self.report([6], sid: 1))?.data == [6])
    }

    @Test("an advertisement and its scan response are two")
    func responses() {
        var parts = AdvertisementParts()
        #expect(parts.take(Self.report([1], [.scannable, .moreToCome])) == nil)
        let response = parts.take(Self.report([2], [.scannable, .scanResponse]))
        #expect(response?.data == [2] && response?.isScanResponse == true)
        #expect(parts.take(Self.report([3], .scannable))?.data == [1, 3])
    }

    @Test("parts without an end take no more than so much memory")
    func bounded() {
        var parts = AdvertisementParts()
        let long = [UInt8](repeating: 7, count: 229)
        for _ in 0..<7 { #expect(parts.take(Self.report(long, .moreToCome)) == nil) }
        // The eighth goes beyond 1,650 octets: all of it is dropped.
        #expect(parts.take(Self.report(long, .moreToCome)) == nil)
        #expect(parts.take(Self.report([1]))?.data == [1])
        for number in 0..<UInt64(AdvertisementParts.openMax + 1) {
            _ = parts.take(Self.report([1], from: number, .moreToCome))
        }
        #expect(parts.take(Self.report([2], from: 0))?.data == [2])
        #expect(parts.take(Self.report([2], from: 1))?.data == [1, 2])
    }

    @Test("a legacy PDU is the same, whichever event tells of it")
    func legacy() {
        for (type, octet) in [
            (ExtendedEventType([.legacy, .connectable, .scannable]), UInt8(0)),
            ([.legacy, .connectable, .directed], 1), ([.legacy, .scannable], 2), ([.legacy], 3),
        ] {
            var old = LEAdvertisingReport.Report()
            let new = Self.report([2, 1, 6], sid: 0xFF, type)
            (old.eventType, old.addressType, old.address) = (octet, new.addressType, new.address)
            (old.rssi, old.data) = (new.rssi, new.data)
            #expect(HeardAdvertisement(old) == HeardAdvertisement(new))
            #expect(HeardAdvertisement(new).extended == nil)
        }
    }
}
