// Advertising sets and extended scanning of the test bench.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

extension Bench {
    /// Everything unmasked, the set events too.
    mutating func prepareAll(_ port: Int) {
        status(port, Reset())
        status(port, SetEventMask()) { $0.eventMask = .max }
        status(port, LESetEventMask()) { $0.leEventMask = .max }
    }

    static func setAddress(_ handle: UInt8) -> DeviceAddress {
        DeviceAddress(littleEndian: 0xC000_0000_0000 | UInt64(handle) + 1)
    }

    /// Creates or changes a set: non-connectable extended events each 100 ms, unless changed.
    @discardableResult
    mutating func setParameters(
        _ port: Int, _ handle: UInt8 = 0, _ properties: AdvertisingEventProperties = [],
        milliseconds: Int64 = 100,
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) -> HCIStatus? {
        status(port, LESetExtendedAdvertisingParameters()) {
            $0.advertisingHandle = handle
            $0.eventProperties = properties.rawValue
            $0.intervalMin = UInt32(milliseconds * 1000 / 625)
            $0.intervalMax = $0.intervalMin
            $0.channelMap = 7
            $0.ownAddressType = .randomDevice
            $0.txPower = 127
            $0.primaryPHY = 1
            $0.secondaryPHY = 1
            change(&$0)
        }
    }

    @discardableResult
    mutating func setRandomAddress(_ port: Int, _ handle: UInt8 = 0) -> HCIStatus? {
        status(port, LESetAdvertisingSetRandomAddress()) {
            $0.advertisingHandle = handle
            $0.randomAddress = Self.setAddress(handle)
        }
    }

    /// Sets data in as many fragments as it takes.
    @discardableResult
    mutating func setData(_ port: Int, _ handle: UInt8 = 0, _ data: [UInt8]) -> HCIStatus? {
        Self.fragments(data, 251).map { operation, part in
            status(port, LESetExtendedAdvertisingData()) {
                ($0.advertisingHandle, $0.operation, $0.data) = (handle, operation, part)
            }
        }.last ?? nil
    }

    @discardableResult
    mutating func setResponse(_ port: Int, _ handle: UInt8 = 0, _ data: [UInt8]) -> HCIStatus? {
        Self.fragments(data, 251).map { operation, part in
            status(port, LESetExtendedScanResponseData()) {
                ($0.advertisingHandle, $0.operation, $0.data) = (handle, operation, part)
            }
        }.last ?? nil
    }

    static func fragments(_ data: [UInt8], _ max: Int) -> [(UInt8, [UInt8])] {
        guard data.count > max else { return [(AdvertisingDataOperation.complete, data)] }
        return stride(from: 0, to: data.count, by: max).map { start in
            let end = min(start + max, data.count)
            let operation =
                start == 0
                ? AdvertisingDataOperation.first
                : end == data.count
                    ? AdvertisingDataOperation.last : AdvertisingDataOperation.intermediate
            return (operation, Array(data[start..<end]))
        }
    }

    @discardableResult
    mutating func enableSets(
        _ port: Int, _ handles: [UInt8] = [0], enable: Bool = true, duration: UInt16 = 0,
        maxEvents: UInt8 = 0
    ) -> HCIStatus? {
        status(port, LESetExtendedAdvertisingEnable()) {
            $0.enable = enable ? 1 : 0
            $0.sets = handles.map { handle in
                var entry = LESetExtendedAdvertisingEnable.Entry()
                entry.advertisingHandle = handle
                entry.duration = duration
                entry.maxEvents = maxEvents
                return entry
            }
        }
    }

    /// A whole set, on the air.
    mutating func advertiseSet(
        _ port: Int, _ handle: UInt8 = 0, _ properties: AdvertisingEventProperties = [],
        data: [UInt8] = Bench.data, response: [UInt8] = [], milliseconds: Int64 = 100,
        _ change: (inout LESetExtendedAdvertisingParameters) -> Void = { _ in }
    ) {
        let created = setParameters(port, handle, properties, milliseconds: milliseconds, change)
        #expect(created == .success)
        #expect(setRandomAddress(port, handle) == .success)
        if !data.isEmpty { #expect(setData(port, handle, data) == .success) }
        if !response.isEmpty { #expect(setResponse(port, handle, response) == .success) }
        #expect(enableSets(port, [handle]) == .success)
    }

    mutating func scanExtended(
        _ port: Int, active: Bool = false, phys: UInt8 = 1, interval: UInt16 = 16,
        window: UInt16 = 16, filterDuplicates: UInt8 = 0, duration: UInt16 = 0, period: UInt16 = 0,
        filterPolicy: UInt8 = 0
    ) {
        let parameters = status(port, LESetExtendedScanParameters()) {
            $0.scanningPHYs = phys
            $0.filterPolicy = filterPolicy
            $0.entries = (0..<phys.nonzeroBitCount).map { _ in
                var entry = LESetExtendedScanParameters.Entry()
                entry.scanType = active ? 1 : 0
                entry.scanInterval = interval
                entry.scanWindow = window
                return entry
            }
        }
        #expect(parameters == .success)
        let enable = status(port, LESetExtendedScanEnable()) {
            $0.enable = 1
            $0.filterDuplicates = filterDuplicates
            $0.duration = duration
            $0.period = period
        }
        #expect(enable == .success)
    }

    @discardableResult
    mutating func connectExtended(
        _ port: Int, to address: DeviceAddress, phys: UInt8 = 1, interval: UInt16 = 24,
        _ change: (inout LEExtendedCreateConnection) -> Void = { _ in }
    ) -> HCIStatus? {
        status(port, LEExtendedCreateConnection()) {
            $0.peerAddressType = .randomDevice
            $0.peerAddress = address
            $0.initiatingPHYs = phys
            $0.entries = (0..<phys.nonzeroBitCount).map { index in
                var entry = LEExtendedCreateConnection.Entry()
                entry.scanInterval = 16
                entry.scanWindow = 16
                entry.intervalMin = interval + UInt16(index)
                entry.intervalMax = interval + UInt16(index)
                entry.supervisionTimeout = 100
                return entry
            }
            change(&$0)
        }
    }

    func extendedReports(
        _ port: Int
    ) -> [(at: Instant, report: LEExtendedAdvertisingReport.Report)] {
        events(port, LEExtendedAdvertisingReport.self).flatMap { event in
            event.event.reports.map { (event.at, $0) }
        }
    }
}
