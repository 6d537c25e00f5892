// Rude hosts with advertising sets, extended scanners and trains.
import HCI
import SansIO
import Testing
import Wire

@testable import VirtualController

@Suite struct SetRobustnessTests {
    /// One packet of every kind about sets, good for a host whose set has handle 1, whose link has
    /// handle 1 and whose sync has handle 1.
    static let packets: [[UInt8]] = advertising + listening

    private static func packet<Command: HCICommand>(
        _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) -> [UInt8] {
        RobustnessTests.packet(command, change)
    }

    private static let advertising: [[UInt8]] = [
        packet(LESetExtendedAdvertisingParameters()) {
            $0.advertisingHandle = 1
            ($0.intervalMin, $0.intervalMax, $0.channelMap) = (32, 160, 7)
            ($0.primaryPHY, $0.secondaryPHY, $0.scanRequestNotification) = (1, 2, 1)
        },
        packet(LESetAdvertisingSetRandomAddress()) {
            ($0.advertisingHandle, $0.randomAddress) = (1, Bench.setAddress(1))
        },
        packet(LESetExtendedAdvertisingData()) {
            ($0.advertisingHandle, $0.operation) = (1, 1)
            $0.data = [UInt8](repeating: 1, count: 20)
        },
        packet(LESetExtendedAdvertisingData()) {
            ($0.advertisingHandle, $0.operation, $0.data) = (1, 2, [5, 6])
        },
        packet(LESetExtendedScanResponseData()) {
            ($0.advertisingHandle, $0.operation, $0.data) = (1, 3, [5, 6])
        },
        packet(LESetExtendedAdvertisingEnable()) {
            var entry = LESetExtendedAdvertisingEnable.Entry()
            (entry.advertisingHandle, entry.duration, entry.maxEvents) = (1, 30, 5)
            ($0.enable, $0.sets) = (1, [entry])
        },
        packet(LERemoveAdvertisingSet()) { $0.advertisingHandle = 1 },
        packet(LEClearAdvertisingSets()), packet(LEReadMaximumAdvertisingDataLength()),
        packet(LEReadNumberOfSupportedAdvertisingSets()), packet(LEReadTransmitPower()),
        packet(LESetPeriodicAdvertisingParameters()) {
            ($0.advertisingHandle, $0.intervalMin, $0.intervalMax) = (1, 6, 8)
        },
        packet(LESetPeriodicAdvertisingData()) {
            ($0.advertisingHandle, $0.operation, $0.data) = (1, 3, [1, 2, 3])
        },
        packet(LESetPeriodicAdvertisingEnable()) {
            ($0.enable, $0.advertisingHandle) = (3, 1)
        },
    ]

    private static let listening: [[UInt8]] = [
        packet(LESetExtendedScanParameters()) {
            $0.scanningPHYs = 5
            var entry = LESetExtendedScanParameters.Entry()
            (entry.scanType, entry.scanInterval, entry.scanWindow) = (1, 16, 16)
            $0.entries = [entry, entry]
        },
        packet(LESetExtendedScanEnable()) {
            ($0.enable, $0.filterDuplicates, $0.duration, $0.period) = (1, 2, 20, 1)
        },
        packet(LEExtendedCreateConnection()) {
            ($0.peerAddressType, $0.peerAddress) = (.randomDevice, Bench.setAddress(1))
            $0.initiatingPHYs = 3
            var entry = LEExtendedCreateConnection.Entry()
            (entry.scanInterval, entry.scanWindow) = (16, 16)
            (entry.intervalMin, entry.intervalMax, entry.supervisionTimeout) = (24, 24, 100)
            $0.entries = [entry, entry]
        },
        packet(LEPeriodicAdvertisingCreateSync()) {
            ($0.advertiserAddressType, $0.advertiserAddress) = (.randomDevice, Bench.setAddress(1))
            $0.syncTimeout = 10
        },
        packet(LEPeriodicAdvertisingCreateSyncCancel()),
        packet(LEPeriodicAdvertisingTerminateSync()) { $0.syncHandle = SyncHandle(rawValue: 1) },
        packet(LESetPeriodicAdvertisingReceiveEnable()) {
            ($0.syncHandle, $0.enable) = (SyncHandle(rawValue: 1), 3)
        },
        packet(LEAddDeviceToPeriodicAdvertiserList()),
        packet(LERemoveDeviceFromPeriodicAdvertiserList()),
        packet(LEClearPeriodicAdvertiserList()), packet(LEReadPeriodicAdvertiserListSize()),
    ]

    @Test("there is a packet of every command about sets")
    func complete() {
        let sent = Set(Self.packets.map { Opcode(rawValue: $0.span.uint16(at: 1)) })
        let served = Capabilities.extendedCommands + Capabilities.periodicCommands
        #expect(Set(served.map(\.opcode)) == sent)
    }

    /// One sends a train and a connectable set, the other follows, scans and connects.
    private func busy(timing: Air.Timing) -> Bench {
        var bench = Bench(timing: timing)
        for port in 0...1 { bench.prepareAll(port) }
        bench.advertiseSet(0, 1, milliseconds: 20)
        for packet in Self.advertising.suffix(3) { bench.send(0, raw: packet) }
        bench.advertiseSet(0, 2, .connectable)
        for packet in Self.listening[..<2] { bench.send(1, raw: packet) }
        bench.send(1, raw: Self.listening[3])
        bench.connectExtended(1, to: Bench.setAddress(2))
        bench.run(for: .milliseconds(500))
        #expect(bench.events(1, LEPeriodicAdvertisingReport.self).count > 10)
        #expect(bench.events(1, LEEnhancedConnectionComplete.self).count == 1)
        return bench
    }

    @Test(
        "every prefix and mutation of every packet is survived",
        arguments: [Air.Timing.radio, .ideal])
    func mutated(timing: Air.Timing) {
        let busy = busy(timing: timing)
        for packet in Self.packets {
            for mutation in RobustnessTests.mutations(of: packet) {
                for port in 0...1 {
                    var bench = busy
                    bench.send(port, raw: mutation)
                    bench.run(for: .milliseconds(30))
                }
            }
        }
    }

    @Test(
        "storms of packets, time and departures keep sets, links and syncs consistent",
        arguments: [Air.Timing.radio, .ideal])
    func storms(timing: Air.Timing) {
        for seed in 0..<6 as Range<UInt64> {
            var random = SeededRandom(seed: seed, stream: "storm")
            var bench = Bench(seed: seed, timing: timing, controllers: 4)
            for port in 0..<4 { bench.prepareAll(port) }
            bench.air.loss = [0, 0, 0.1, 0.5][Int(random.below(4))]
            for _ in 0..<1500 {
                let port = Int(random.below(4))
                switch random.below(30) {
                case 0: bench.run(for: .microseconds(random.below(2_000_000)))
                case 1 where random.below(4) == 0: bench.prepareAll(port)
                case 2 where random.below(4) == 0:
                    bench.air.removeController(port, at: bench.now)
                    bench.add()
                    bench.mailboxes[port] = []
                case 3...6: bench.run(for: .microseconds(random.below(60_000)))
                default:
                    guard var packet = Self.packets.randomElement(using: &random) else { break }
                    if random.below(4) == 0 {
                        packet[Int(random.below(Int64(packet.count)))] ^=
                            1 << UInt8(random.below(8))
                    }
                    bench.send(port, raw: packet)
                }
                RobustnessTests.check(bench.air)
                if bench.mailboxes[port].count > 500 { bench.forget() }
            }
        }
    }
}
