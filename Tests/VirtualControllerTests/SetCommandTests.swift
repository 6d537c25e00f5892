// Commands of advertising sets: what is refused, and with which status.
import HCI
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct SetCommandTests {
    private func bench() -> Bench {
        var bench = Bench()
        for port in 0...1 { bench.prepareAll(port) }
        return bench
    }

    @Test("after a reset the host has one family of commands, the other one is disallowed")
    func families() {
        var bench = bench()
        #expect(bench.setParameters(0) == .success)
        #expect(bench.status(0, LESetAdvertisingData()) == .commandDisallowed)
        #expect(bench.status(0, LESetScanEnable()) == .commandDisallowed)
        #expect(bench.connect(0) == .commandDisallowed)
        #expect(
            bench.status(0, LEReadAdvertisingPhysicalChannelTxPower()) == .commandDisallowed)
        #expect(bench.status(0, Reset()) == .success)
        #expect(bench.status(0, LESetAdvertisingData()) == .success)
        #expect(bench.setParameters(0) == .commandDisallowed)
        #expect(bench.status(0, LEReadNumberOfSupportedAdvertisingSets()) == .commandDisallowed)
        #expect(bench.connectExtended(0, to: Bench.address) == .commandDisallowed)
        // Commands of neither family go on.
        #expect(bench.status(0, LESetRandomAddress()) == .success)
        #expect(bench.status(0, LEReadTransmitPower()) == .success)
        #expect(bench.status(0, LECreateConnectionCancel()) == .commandDisallowed)
    }

    @Test("a controller without extended advertising does not know the commands or the features")
    func legacyOnly() throws {
        var bench = Bench(features: [])
        #expect(bench.setParameters(0) == .unknownCommand)
        #expect(bench.status(0, LESetExtendedScanEnable()) == .unknownCommand)
        #expect(bench.status(0, LESetAdvertisingData()) == .success)
        let features = try bench.required(0, LEReadLocalSupportedFeatures()).leFeatures
        #expect(features & (1 << 11 | 1 << 12 | 1 << 13 | 1 << 14) == 0)
        var full = Bench()
        let all = try full.required(0, LEReadLocalSupportedFeatures()).leFeatures
        #expect(all & (1 << 11 | 1 << 12 | 1 << 14) == 1 << 11 | 1 << 12 | 1 << 14)
    }

    @Test("event properties that the specification does not know are invalid")
    func properties() {
        let legacy: Set<UInt16> = [0x10, 0x12, 0x13, 0x15, 0x1D]
        let extended: Set<UInt16> = [
            0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x20, 0x24, 0x40, 0x41, 0x42, 0x44, 0x45, 0x46,
            0x60, 0x64,
        ]
        for value in 0...0x3FF as ClosedRange<UInt16> {
            var bench = bench()
            let status = bench.setParameters(0, 0, AdvertisingEventProperties(rawValue: value))
            let isKnown = legacy.contains(value) || extended.contains(value)
            #expect(status == (isKnown ? .success : .invalidParameters), "\(value)")
        }
    }

    @Test("parameters out of range are refused")
    func parameters() {
        typealias Change = (inout LESetExtendedAdvertisingParameters) -> Void
        let cases: [(HCIStatus, Change)] = [
            (.invalidParameters, { $0.advertisingHandle = 0xF0 }),
            (.success, { $0.advertisingHandle = 0xEF }),
            (.unsupportedFeatureOrParameter, { $0.intervalMin = 0x1F }),
            (.invalidParameters, { ($0.intervalMin, $0.intervalMax) = (0x40, 0x20) }),
            (.success, { $0.intervalMax = 0xFF_FFFF }),
            (.invalidParameters, { $0.channelMap = 0 }),
            (.invalidParameters, { $0.channelMap = 8 }),
            (.invalidParameters, { $0.ownAddressType = AddressType(rawValue: 4) }),
            (.unsupportedFeatureOrParameter, { $0.ownAddressType = .publicIdentity }),
            (.invalidParameters, { $0.peerAddressType = AddressType(rawValue: 2) }),
            (.invalidParameters, { $0.filterPolicy = 4 }),
            (.invalidParameters, { $0.txPower = 21 }), (.success, { $0.txPower = 20 }),
            (.invalidParameters, { $0.txPower = -128 }), (.success, { $0.txPower = -127 }),
            (.unsupportedFeatureOrParameter, { $0.primaryPHY = 2 }),
            (.unsupportedFeatureOrParameter, { $0.primaryPHY = 0 }),
            (.success, { $0.primaryPHY = 3 }),
            (.unsupportedFeatureOrParameter, { $0.secondaryPHY = 4 }),
            (.invalidParameters, { $0.advertisingSid = 16 }),
            (.invalidParameters, { $0.scanRequestNotification = 2 }),
            (.invalidParameters, { ($0.eventProperties, $0.primaryPHY) = (0x13, 3) }),
            (.success, { ($0.eventProperties, $0.secondaryPHY) = (0x13, 0) }),
        ]
        for (index, one) in cases.enumerated() {
            var bench = bench()
            #expect(bench.setParameters(0, 0, [], milliseconds: 100, one.1) == one.0, "\(index)")
        }
        var bench = Bench(features: .extendedAdvertising)
        #expect(
            bench.setParameters(0) { $0.primaryPHY = 3 } == .unsupportedFeatureOrParameter)
        #expect(
            bench.setParameters(0) { $0.secondaryPHY = 3 } == .unsupportedFeatureOrParameter)
        #expect(bench.setParameters(0) { $0.secondaryPHY = 2 } == .success)
    }

    @Test("sets that are not there are unknown, sets that are enabled stay as they are")
    func states() {
        var bench = bench()
        #expect(bench.setRandomAddress(0) == .unknownAdvertisingIdentifier)
        #expect(bench.setData(0, 0, [1]) == .unknownAdvertisingIdentifier)
        #expect(bench.setResponse(0, 0, [1]) == .unknownAdvertisingIdentifier)
        #expect(bench.enableSets(0) == .unknownAdvertisingIdentifier)
        #expect(bench.status(0, LERemoveAdvertisingSet()) == .unknownAdvertisingIdentifier)
        #expect(
            bench.status(0, LERemoveAdvertisingSet()) { $0.advertisingHandle = 0xF0 }
                == .invalidParameters)
        #expect(bench.setParameters(0) == .success)
        #expect(bench.enableSets(0) == .invalidParameters, "it has no random address")
        #expect(bench.setRandomAddress(0) == .success)
        #expect(bench.enableSets(0, [0, 0]) == .invalidParameters)
        #expect(bench.enableSets(0, [0, 1]) == .unknownAdvertisingIdentifier)
        #expect(bench.enableSets(0, []) == .invalidParameters)
        #expect(bench.enableSets(0) == .success && bench.enableSets(0) == .success)
        #expect(bench.setParameters(0) == .commandDisallowed)
        #expect(bench.setRandomAddress(0) == .success, "it is not connectable")
        #expect(bench.status(0, LERemoveAdvertisingSet()) == .commandDisallowed)
        #expect(bench.status(0, LEClearAdvertisingSets()) == .commandDisallowed)
        #expect(bench.status(0, LESetRandomAddress()) == .success, "sets have their own")
        #expect(bench.enableSets(0, enable: false) == .success)
        #expect(bench.setParameters(0, 0, .connectable) == .success)
        #expect(bench.enableSets(0) == .success)
        #expect(bench.setRandomAddress(0) == .commandDisallowed)
    }

    private func fragment(
        _ bench: inout Bench, _ operation: UInt8, _ count: Int, isResponse: Bool = false
    ) -> HCIStatus? {
        let data = [UInt8](repeating: operation, count: count)
        if isResponse {
            return bench.status(0, LESetExtendedScanResponseData()) {
                ($0.operation, $0.data) = (operation, data)
            }
        }
        return bench.status(0, LESetExtendedAdvertisingData()) {
            ($0.operation, $0.data) = (operation, data)
        }
    }

    @Test("fragments come in order, and only complete data into an enabled set")
    func fragments() {
        var bench = bench()
        bench.setParameters(0)
        bench.setRandomAddress(0)
        #expect(fragment(&bench, 2, 5) == .commandDisallowed, "nothing was begun")
        #expect(fragment(&bench, 1, 0) == .invalidParameters)
        #expect(fragment(&bench, 5, 1) == .invalidParameters)
        #expect(fragment(&bench, 4, 0) == .invalidParameters, "it is disabled")
        #expect(fragment(&bench, 1, 251) == .success)
        #expect(bench.enableSets(0) == .commandDisallowed, "the data are not whole")
        for _ in 0..<5 { #expect(fragment(&bench, 0, 251) == .success) }
        #expect(fragment(&bench, 2, 144) == .success)
        #expect(bench.enableSets(0) == .success)
        for operation in 0...2 as ClosedRange<UInt8> {
            #expect(fragment(&bench, operation, 5) == .commandDisallowed)
        }
        #expect(fragment(&bench, 4, 0) == .success)
        #expect(fragment(&bench, 4, 1) == .invalidParameters)
        #expect(fragment(&bench, 3, 200) == .success)
        bench.enableSets(0, enable: false)
        // 1,651 octets: all are discarded.
        #expect(fragment(&bench, 1, 251) == .success)
        for _ in 0..<5 { #expect(fragment(&bench, 0, 251) == .success) }
        #expect(fragment(&bench, 2, 145) == .memoryCapacityExceeded)
        #expect(bench.enableSets(0) == .success)
    }

    @Test("data go with the events' kind")
    func dataKinds() {
        var bench = bench()
        #expect(bench.setParameters(0, 0, .scannable) == .success)
        bench.setRandomAddress(0)
        #expect(fragment(&bench, 3, 1) == .invalidParameters, "scannable ones have none")
        #expect(bench.enableSets(0) == .commandDisallowed, "there is no scan response")
        #expect(fragment(&bench, 4, 0, isResponse: true) == .invalidParameters)
        #expect(fragment(&bench, 3, 100, isResponse: true) == .success)
        #expect(bench.enableSets(0) == .success)
        #expect(fragment(&bench, 3, 0, isResponse: true) == .commandDisallowed)
        bench.enableSets(0, enable: false)
        #expect(
            bench.setParameters(0, 0, [.scannable, .legacy]) == .invalidParameters,
            "legacy PDUs have 31 octets")
        #expect(fragment(&bench, 3, 31, isResponse: true) == .success)
        #expect(bench.setParameters(0, 0, [.scannable, .legacy]) == .success)
        #expect(fragment(&bench, 3, 32, isResponse: true) == .invalidParameters)
        #expect(fragment(&bench, 1, 5) == .invalidParameters)
        #expect(fragment(&bench, 3, 32) == .invalidParameters)
        #expect(fragment(&bench, 3, 31) == .success)
        #expect(bench.setParameters(0, 0, .scannable) == .invalidParameters)
        // Connectable ones have no chain.
        #expect(bench.setParameters(0, 0, .connectable) == .success)
        #expect(fragment(&bench, 3, 31, isResponse: true) == .invalidParameters)
        #expect(fragment(&bench, 3, 245) == .success && bench.enableSets(0) == .success)
        #expect(fragment(&bench, 3, 246) == .packetTooLong)
        bench.enableSets(0, enable: false)
        #expect(fragment(&bench, 3, 246) == .success)
        #expect(bench.enableSets(0) == .invalidParameters)
    }

    @Test("what does not fit between two events is too long")
    func tooLong() {
        var bench = bench()
        bench.setParameters(0, milliseconds: 100) { $0.secondaryPHY = 3 }
        bench.setRandomAddress(0)
        #expect(bench.setData(0, 0, [UInt8](repeating: 1, count: 1650)) == .success)
        #expect(bench.enableSets(0) == .packetTooLong)
        #expect(
            bench.setParameters(0, milliseconds: 20) { $0.secondaryPHY = 3 } == .packetTooLong)
        #expect(bench.setParameters(0, milliseconds: 200) { $0.secondaryPHY = 3 } == .success)
        #expect(bench.enableSets(0) == .success)
        bench.enableSets(0, enable: false)
        #expect(bench.setParameters(0, milliseconds: 20) == .success, "LE 1M is fast enough")
        #expect(bench.enableSets(0) == .success)
    }

    @Test("extended scanning and connecting out of range are refused")
    func scanning() {
        func scan(
            _ bench: inout Bench, _ phys: UInt8, type: UInt8 = 0, window: UInt16 = 16,
            policy: UInt8 = 0, own: AddressType = .publicDevice
        ) -> HCIStatus? {
            bench.status(0, LESetExtendedScanParameters()) {
                ($0.scanningPHYs, $0.filterPolicy, $0.ownAddressType) = (phys, policy, own)
                var entry = LESetExtendedScanParameters.Entry()
                (entry.scanType, entry.scanInterval, entry.scanWindow) = (type, 16, window)
                $0.entries = Array(repeating: entry, count: phys.nonzeroBitCount)
            }
        }
        func enable(_ bench: inout Bench, _ values: [UInt16]) -> HCIStatus? {
            bench.status(0, LESetExtendedScanEnable()) {
                ($0.enable, $0.filterDuplicates) = (UInt8(values[0]), UInt8(values[1]))
                ($0.duration, $0.period) = (values[2], values[3])
            }
        }
        var bench = bench()
        #expect(scan(&bench, 0) == .invalidParameters)
        #expect(scan(&bench, 2) == .unsupportedFeatureOrParameter)
        #expect(scan(&bench, 1, type: 2) == .invalidParameters)
        #expect(scan(&bench, 5, window: 17) == .invalidParameters)
        #expect(scan(&bench, 1, window: 3) == .invalidParameters)
        #expect(scan(&bench, 1, policy: 4) == .invalidParameters)
        #expect(scan(&bench, 1, own: .randomDevice) == .success)
        #expect(enable(&bench, [1, 0, 0, 0]) == .invalidParameters, "it has no random address")
        #expect(scan(&bench, 5) == .success)
        #expect(enable(&bench, [2, 0, 0, 0]) == .invalidParameters)
        #expect(enable(&bench, [1, 3, 0, 0]) == .invalidParameters)
        #expect(enable(&bench, [1, 2, 0, 1]) == .invalidParameters)
        #expect(enable(&bench, [1, 0, 128, 1]) == .invalidParameters, "longer than the period")
        #expect(enable(&bench, [1, 2, 127, 1]) == .success)
        #expect(scan(&bench, 1) == .commandDisallowed)
        #expect(enable(&bench, [0, 0, 0, 0]) == .success)
        #expect(bench.connectExtended(0, to: Bench.address, phys: 2) == .invalidParameters)
        #expect(
            bench.connectExtended(0, to: Bench.address, phys: 8) == .unsupportedFeatureOrParameter)
        #expect(
            bench.connectExtended(0, to: Bench.address) { $0.initiatorFilterPolicy = 2 }
                == .invalidParameters)
        #expect(
            bench.connectExtended(0, to: Bench.address) { $0.entries[0].scanWindow = 17 }
                == .invalidParameters)
        #expect(
            bench.connectExtended(0, to: Bench.address, phys: 3) { $0.entries[1].intervalMin = 5 }
                == .invalidParameters)
        #expect(bench.connectExtended(0, to: Bench.address, phys: 7) == .success)
    }
}
