// Rude hosts: no octets and no order of packets end the air or break its rules.
import HCI
import SansIO
import Testing
import Wire

@testable import VirtualController

@Suite struct RobustnessTests {
    static func packet<Command: HCICommand>(
        _ command: Command, _ change: (inout Command) -> Void = { _ in }
    ) -> [UInt8] {
        var copy = command
        change(&copy)
        var block = ByteBlock()
        block.append(command: copy)
        return block.bytes
    }

    /// One packet of every kind that hosts send, good for a host whose link has handle 1.
    private static func packets() -> [[UInt8]] { setUpPackets() + linkPackets() }

    /// What hosts send before there is a link, and to read what a link has.
    private static func setUpPackets() -> [[UInt8]] {
        let handle = ConnectionHandle(rawValue: 1)
        return [
            packet(SetEventMask()) { $0.eventMask = .max }, packet(SetEventMaskPage2()),
            packet(WriteLEHostSupport()), packet(ReadLocalVersionInformation()),
            packet(ReadLocalSupportedCommands()), packet(ReadLocalSupportedFeatures()),
            packet(ReadBufferSize()), packet(ReadBDADDR()),
            packet(ReadRSSI()) { $0.connectionHandle = handle },
            packet(ReadTransmitPowerLevel()) { $0.connectionHandle = handle },
            packet(LESetEventMask()) { $0.leEventMask = .max }, packet(LEReadBufferSize()),
            packet(LEReadLocalSupportedFeatures()), packet(LEReadSupportedStates()),
            packet(LERand()), packet(LESetRandomAddress()) { $0.randomAddress = Bench.address },
            packet(LESetAdvertisingParameters()) {
                $0.intervalMin = 160
                $0.intervalMax = 160
                $0.channelMap = 7
            },
            packet(LEReadAdvertisingPhysicalChannelTxPower()),
            packet(LESetAdvertisingData()) { $0.length = 31 },
            packet(LESetScanResponseData()) { $0.length = 31 },
            packet(LESetAdvertisingEnable()) { $0.enable = 1 },
            packet(LESetScanParameters()) {
                $0.scanType = 1
                $0.scanInterval = 16
                $0.scanWindow = 16
            },
            packet(LESetScanEnable()) {
                $0.enable = 1
                $0.filterDuplicates = 1
            },
        ]
    }

    private static func linkPackets() -> [[UInt8]] {
        let handle = ConnectionHandle(rawValue: 1)
        return [
            packet(LECreateConnection()) {
                $0.scanInterval = 16
                $0.scanWindow = 16
                $0.peerAddressType = .randomDevice
                $0.peerAddress = Bench.address
                $0.intervalMin = 24
                $0.intervalMax = 40
                $0.supervisionTimeout = 100
            },
            packet(LECreateConnectionCancel()), packet(LEReadFilterAcceptListSize()),
            packet(LEClearFilterAcceptList()), packet(LEAddDeviceToFilterAcceptList()),
            packet(LERemoveDeviceFromFilterAcceptList()),
            packet(LEConnectionUpdate()) {
                $0.connectionHandle = handle
                $0.intervalMin = 6
                $0.intervalMax = 3200
                $0.supervisionTimeout = 3200
            },
            packet(LESetHostChannelClassification()) { $0.channelMap = [255, 255, 255, 255, 31] },
            packet(LEReadChannelMap()) { $0.connectionHandle = handle },
            packet(LEReadRemoteFeatures()) { $0.connectionHandle = handle },
            packet(ReadRemoteVersionInformation()) { $0.connectionHandle = handle },
            packet(LERemoteConnectionParameterRequestReply()) {
                $0.connectionHandle = handle
                $0.intervalMin = 24
                $0.intervalMax = 24
                $0.timeout = 100
            },
            packet(LERemoteConnectionParameterRequestNegativeReply()) {
                $0.connectionHandle = handle
                $0.reason = .unacceptableConnectionParameters
            },
            packet(LESetDataLength()) {
                $0.connectionHandle = handle
                $0.txOctets = 251
                $0.txTime = 2120
            },
            packet(LEReadSuggestedDefaultDataLength()),
            packet(LEWriteSuggestedDefaultDataLength()) {
                $0.suggestedMaxTxOctets = 251
                $0.suggestedMaxTxTime = 2120
            },
            packet(LEReadMaximumDataLength()), packet(LEReadPHY()) { $0.connectionHandle = handle },
            packet(LESetDefaultPHY()) { $0.allPHYs = 3 },
            packet(LESetPHY()) {
                $0.connectionHandle = handle
                $0.txPHYs = 2
                $0.rxPHYs = 2
            },
            packet(LEEncrypt()), packet(LEReadBufferSizeV2()),
            [2, 1, 0x00, 4, 0, 1, 2, 3, 4], [2, 1, 0x10, 1, 0, 9], [2, 1, 0x20, 0, 0],
            [3, 1, 0, 1, 0], [4, 0x0E, 4, 1, 3, 12, 0], [5, 1, 0, 1, 0, 0],
            packet(Disconnect()) {
                $0.connectionHandle = handle
                $0.reason = .remoteUserTerminated
            },
            packet(Reset()),
        ]
    }

    static func mutations(of packet: [UInt8]) -> [[UInt8]] {
        var all = (0...packet.count).map { Array(packet.prefix($0)) }
        for place in packet.indices {
            for value in (0..<8).map({ packet[place] ^ 1 << UInt8($0) }) + [0x00, 0xFF] {
                var copy = packet
                copy[place] = value
                all.append(copy)
            }
        }
        // Shortened with a length that says so: whole packets with too few parameters.
        if packet.count > 4, packet[0] == 1 {
            for length in 0..<packet.count - 4 {
                var copy = Array(packet.prefix(4 + length))
                copy[3] = UInt8(length)
                all.append(copy)
            }
        }
        return all
    }

    @Test(
        "every prefix and mutation of every packet, on a link, is survived",
        arguments: [
            Air.Timing.radio, .ideal,
        ])
    func mutated(timing: Air.Timing) {
        let linked = Bench.linked(timing: timing).bench
        for packet in Self.packets() {
            for mutation in Self.mutations(of: packet) {
                var bench = linked
                bench.send(1, raw: mutation)
                bench.sendACL(0, ConnectionHandle(rawValue: 1), [1, 2, 3])
                bench.run(for: .milliseconds(70))
            }
        }
    }

    @Test("a truncated command is answered with Invalid HCI Command Parameters")
    func truncated() {
        let commands = Capabilities.commands(.all, hasPrivacy: false)
        for packet in Self.packets() + SetRobustnessTests.packets
        where packet[0] == 1 && packet.count > 4 {
            let opcode = Opcode(rawValue: packet.span.uint16(at: 1))
            guard commands.contains(where: { $0.opcode == opcode }) else { continue }
            for length in 0..<packet.count - 4 {
                var bench = Bench(controllers: 1)
                var copy = Array(packet.prefix(4 + length))
                copy[3] = UInt8(length)
                bench.send(0, raw: copy)
                let answer = bench.mailboxes[0].first?.packet ?? []
                let status = answer.count > 6 ? answer[answer[1] == 0x0E ? 6 : 3] : 0
                #expect(status == 0x12, "\(opcode) with \(length) octets")
                #expect(bench.mailboxes[0].count == 1)
            }
        }
    }

    /// Draws packets, time steps, resets and departures; checks credits and handles all the while.
    private func storm(seed: UInt64, timing: Air.Timing, steps: Int) {
        var random = SeededRandom(seed: seed, stream: "storm")
        var bench = Bench(seed: seed, timing: timing, controllers: 4)
        for port in 0..<4 { bench.prepare(port) }
        bench.air.loss = [0, 0, 0.1, 0.5][Int(random.below(4))]
        // Reset, the last one, is drawn on its own: else nothing would live long.
        let packets = Self.packets().dropLast()
        for _ in 0..<steps {
            let port = Int(random.below(4))
            switch random.below(40) {
            case 0: bench.run(for: .microseconds(random.below(3_000_000)))
            case 1: bench.send(port, Reset())
            case 2:
                bench.air.removeController(port, at: bench.now)
                bench.add()
                bench.mailboxes[port] = []
            case 3:
                bench.prepare(port)
                bench.advertise(port, milliseconds: 20, type: UInt8(random.below(5)))
            case 4...8: bench.run(for: .microseconds(random.below(60_000)))
            case 9: bench.connect(port)
            default:
                guard var packet = packets.randomElement(using: &random) else { break }
                if random.below(4) == 0, !packet.isEmpty {
                    packet[Int(random.below(Int64(packet.count)))] ^= 1 << UInt8(random.below(8))
                }
                // Any of the handles in use.
                if packet.count > 5, packet[0] == 1, packet[4] == 1 {
                    packet[4] = UInt8(random.below(6))
                } else if packet[0] == 2, packet.count > 1 {
                    packet[1] = UInt8(random.below(6))
                }
                bench.send(port, raw: packet)
            }
            Self.check(bench.air)
            if bench.mailboxes[port].count > 500 { bench.forget() }
        }
    }

    static func check(_ air: Air) {
        for (port, controller) in air.controllers.enumerated() {
            var held = 0
            for slot in controller.links {
                let link = air.links[slot]
                let ends = (0..<2).filter { link.sides[$0].port == port }
                #expect(ends.count == 1)
                for end in ends { held += link.sides[end].packetsHeld }
            }
            #expect(controller.packetsHeld == held)
            #expect((0...Capabilities.aclPacketsMax).contains(held))
            #expect(controller.links.count <= Capabilities.linksMax)
            #expect(Set(controller.links).count == controller.links.count)
            #expect(controller.sets.count <= Capabilities.setsMax + 1)
            for set in controller.sets where controller.isPresent {
                #expect(air.advertisers[set].port == port)
            }
            for sync in controller.syncs {
                guard let set = sync.set else { continue }
                #expect(air.advertisers[set].periodic.followers.next(from: port) == port)
            }
        }
        for slot in air.links.indices {
            for end in 0..<2 {
                guard let port = air.links[slot].sides[end].port else { continue }
                #expect(air.controllers[port].links.contains(slot))
            }
        }
        if let deadline = air.deadline { #expect(deadline >= air.clock) }
    }

    @Test(
        "storms of packets, time and departures keep credits and links consistent",
        arguments: [
            Air.Timing.radio, .ideal,
        ])
    func storms(timing: Air.Timing) {
        for seed in 0..<6 as Range<UInt64> { storm(seed: seed, timing: timing, steps: 1500) }
    }
}
