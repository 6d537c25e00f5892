// Commands of hosts: what is served, what is refused and with which status.
import HCI
import SansIO
import Testing
import Wire

@testable import VirtualController

@Suite struct CommandTests {
    @Test("everything that hosts send at power-on is answered and consistent")
    func powerOn() throws {
        var bench = Bench()
        #expect(bench.status(0, Reset()) == .success)
        let version = try bench.required(0, ReadLocalVersionInformation())
        #expect(version.hciVersion == 9 && version.lmpVersion == 9)
        let features = try bench.required(0, ReadLocalSupportedFeatures())
        // BR/EDR Not Supported, LE Supported.
        #expect(features.lmpFeatures == 0x60_0000_0000)
        let buffers = try bench.required(0, LEReadBufferSize())
        #expect(buffers.aclDataPacketLength == 251 && buffers.totalACLDataPackets == 12)
        let shared = try bench.required(0, ReadBufferSize())
        #expect(shared.aclDataPacketLength == 251 && shared.totalACLDataPackets == 12)
        let longest = try bench.required(0, LEReadMaximumDataLength())
        #expect(longest.supportedMaxTxOctets == 251 && longest.supportedMaxRxTime == 17_040)
        let addresses = (0...1).map { bench.answer($0, ReadBDADDR())?.bdAddr }
        #expect(addresses[0] != nil && addresses[0] != addresses[1])
        #expect(bench.answer(0, LEReadSupportedStates())?.leStates == 0x3FF_FFFF_FFFF)
        #expect(bench.answer(0, LEReadFilterAcceptListSize())?.filterAcceptListSize == 16)
        #expect(bench.answer(0, LEReadAdvertisingPhysicalChannelTxPower())?.txPowerLevel == 0)
        #expect(bench.status(0, SetEventMask()) { $0.eventMask = .max } == .success)
        #expect(bench.status(0, SetEventMaskPage2()) { $0.eventMask = .max } == .success)
        #expect(bench.status(0, LESetEventMask()) { $0.leEventMask = .max } == .success)
        #expect(bench.status(0, WriteLEHostSupport()) { $0.leSupportedHost = 1 } == .success)
        let number = bench.answer(0, LERand())?.randomNumber
        #expect(number != bench.answer(0, LERand())?.randomNumber)
    }

    @Test("the bits of Read Local Supported Commands are those of the commands that are served")
    func supportedCommands() throws {
        var bench = Bench()
        let answer = try bench.required(0, ReadLocalSupportedCommands())
        var bits = Set<Int>()
        for (octet, value) in answer.supportedCommands.enumerated() {
            for bit in 0..<8 where value >> bit & 1 == 1 { bits.insert(octet * 8 + bit) }
        }
        let commands = Capabilities.commands(.all, hasPrivacy: false)
        #expect(bits.count == commands.count)
        // Every opcode of every group: served exactly where it is listed.
        let listed = Set(commands.map(\.opcode.rawValue) + [0x1002])
        for group in 0...0x3F as ClosedRange<UInt16> {
            for command in 0...0x80 as ClosedRange<UInt16> {
                let opcode = group << 10 | command
                bench.forget()
                bench.send(0, raw: [1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), 0])
                let packet = try #require(bench.mailboxes[0].first?.packet)
                let isUnknown =
                    packet == [4, 0x0F, 4, 1, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
                #expect(isUnknown == !listed.contains(opcode), "\(Opcode(rawValue: opcode))")
            }
        }
    }

    @Test("parameters that are too short are invalid, and more octets than needed are ignored")
    func lengths() {
        var bench = Bench()
        bench.prepare(0)
        bench.forget()
        bench.send(0, raw: [1, 0x06, 0x20, 3, 1, 2, 3])
        #expect(bench.mailboxes[0].map(\.packet) == [[4, 0x0E, 4, 1, 0x06, 0x20, 0x12]])
        bench.forget()
        bench.send(0, raw: [1, 0x0D, 0x20, 1, 0])
        #expect(bench.mailboxes[0].map(\.packet) == [[4, 0x0F, 4, 0x12, 1, 0x0D, 0x20]])
        bench.forget()
        bench.send(0, raw: [1, 0x03, 0x0C, 2, 9, 9])
        #expect(bench.mailboxes[0].map(\.packet) == [[4, 0x0E, 4, 1, 0x03, 0x0C, 0]])
    }

    @Test("while advertising is enabled its parameters and the random address stay as they are")
    func disallowedWhileAdvertising() {
        var bench = Bench()
        bench.prepare(0)
        bench.advertise(0)
        let parameters = bench.status(0, LESetAdvertisingParameters()) {
            $0.intervalMin = 160
            $0.intervalMax = 160
            $0.channelMap = 7
        }
        #expect(parameters == .commandDisallowed)
        #expect(
            bench.status(0, LESetRandomAddress()) { $0.randomAddress = Bench.address }
                == .commandDisallowed)
        // Data may change, and enabling twice is no error.
        #expect(bench.status(0, LESetAdvertisingData()) == .success)
        #expect(bench.status(0, LESetScanResponseData()) == .success)
        #expect(bench.status(0, LESetAdvertisingEnable()) { $0.enable = 1 } == .success)
        #expect(bench.status(0, LESetAdvertisingEnable()) == .success)
        #expect(bench.status(0, LESetAdvertisingEnable()) == .success)
    }

    @Test("while scanning or initiating the parameters and the random address stay as they are")
    func disallowedWhileListening() {
        var bench = Bench()
        bench.prepare(0)
        bench.scan(0)
        #expect(
            bench.status(0, LESetScanParameters()) {
                $0.scanInterval = 16
                $0.scanWindow = 16
            } == .commandDisallowed)
        #expect(bench.status(0, LESetRandomAddress()) == .commandDisallowed)
        #expect(bench.status(0, LESetScanEnable()) == .success)
        #expect(bench.status(0, LESetRandomAddress()) == .success)
        #expect(bench.status(0, LECreateConnectionCancel()) == .commandDisallowed)
        #expect(bench.connect(0) == .success)
        #expect(bench.connect(0) == .commandDisallowed)
        #expect(bench.status(0, LESetRandomAddress()) == .commandDisallowed)
        bench.forget()
        #expect(bench.status(0, LECreateConnectionCancel()) == .success)
        #expect(
            bench.events(0, LEConnectionComplete.self).map(\.event.status)
                == [.unknownConnectionIdentifier])
        #expect(bench.mailboxes[0].first?.eventCode == 0x0E)
        #expect(bench.air.deadline == nil)
    }

    @Test(
        "advertising parameters out of range are refused",
        arguments: [
            [0x1F, 0x40, 0, 0, 7, 0, 0x12], [0x40, 0x20, 0, 0, 7, 0, 0x12],
            [0x20, 0x4001, 0, 0, 7, 0, 0x12], [0x20, 0x4000, 0, 0, 7, 0, 0],
            [0x20, 0x20, 5, 0, 7, 0, 0x12], [0, 0, 1, 0, 7, 0, 0], [0x20, 0x20, 0, 4, 7, 0, 0x12],
            [0x20, 0x20, 0, 2, 7, 0, 0x11], [0x20, 0x20, 0, 0, 0, 0, 0x12],
            [0x20, 0x20, 0, 0, 8, 0, 0x12], [0x20, 0x20, 0, 0, 7, 4, 0x12],
            [0x20, 0x20, 3, 1, 1, 3, 0],
        ])
    func advertisingParameters(values: [Int]) {
        var bench = Bench()
        let status = bench.status(0, LESetAdvertisingParameters()) {
            $0.intervalMin = UInt16(values[0])
            $0.intervalMax = UInt16(values[1])
            $0.advertisingType = UInt8(values[2])
            $0.ownAddressType = AddressType(rawValue: UInt8(values[3]))
            $0.channelMap = UInt8(values[4])
            $0.filterPolicy = UInt8(values[5])
        }
        #expect(status?.rawValue == UInt8(values[6]))
    }

    @Test(
        "connection parameters out of range are refused",
        arguments: [
            // interval min, max, latency, timeout, window
            [5, 24, 0, 100, 16], [24, 3201, 0, 3200, 16], [25, 24, 0, 100, 16],
            [24, 24, 500, 3200, 16],
            [24, 24, 0, 9, 16], [24, 24, 0, 3201, 16], [24, 24, 0, 100, 17], [24, 24, 0, 100, 3],
            // 100 ms time-out needs less than 50 ms of silence.
            [40, 40, 0, 10, 16], [24, 24, 1, 12, 16],
        ])
    func connectionParameters(values: [Int]) {
        var bench = Bench()
        bench.prepare(0)
        #expect(
            bench.connect(0, interval: 24) {
                $0.intervalMin = UInt16(values[0])
                $0.intervalMax = UInt16(values[1])
                $0.maxLatency = UInt16(values[2])
                $0.supervisionTimeout = UInt16(values[3])
                $0.scanWindow = UInt16(values[4])
            } == .invalidParameters)
    }

    @Test("other parameters out of range are refused with their own status")
    func ranges() {
        var (bench, peripheral, _) = Bench.linked()
        #expect(bench.status(0, LESetAdvertisingEnable()) { $0.enable = 2 } == .invalidParameters)
        #expect(bench.status(0, LESetScanEnable()) { $0.enable = 2 } == .invalidParameters)
        #expect(bench.status(0, LESetAdvertisingData()) { $0.length = 32 } == .invalidParameters)
        #expect(bench.status(0, LESetScanResponseData()) { $0.length = 32 } == .invalidParameters)
        #expect(
            bench.status(0, LESetScanParameters()) {
                $0.scanInterval = 16
                $0.scanWindow = 16
                $0.filterPolicy = 2
            } == .unsupportedFeatureOrParameter)
        for reason in [0x00, 0x08, 0x16] as [UInt8] {
            let status = bench.status(0, Disconnect()) {
                $0.connectionHandle = peripheral
                $0.reason = HCIStatus(rawValue: reason)
            }
            #expect(status == .invalidParameters)
        }
        for (octets, time) in [(26, 328), (252, 328), (27, 327), (27, 17_041)] as [(UInt16, UInt16)]
        {
            let length = bench.status(0, LESetDataLength()) {
                $0.connectionHandle = peripheral
                $0.txOctets = octets
                $0.txTime = time
            }
            #expect(length == .invalidParameters)
            let suggested = bench.status(0, LEWriteSuggestedDefaultDataLength()) {
                $0.suggestedMaxTxOctets = octets
                $0.suggestedMaxTxTime = time
            }
            #expect(suggested == .invalidParameters)
        }
        #expect(bench.status(0, LESetDefaultPHY()) { $0.allPHYs = 3 } == .success)
        #expect(bench.status(0, LESetDefaultPHY()) == .invalidParameters)
        #expect(
            bench.status(0, LESetDefaultPHY()) {
                $0.txPHYs = 8
                $0.rxPHYs = 1
            } == .invalidParameters)
    }

    @Test("a random address is needed before it is used")
    func randomAddressMissing() {
        var bench = Bench()
        let parameters = bench.status(0, LESetAdvertisingParameters()) {
            $0.intervalMin = 160
            $0.intervalMax = 160
            $0.ownAddressType = .randomDevice
            $0.channelMap = 7
        }
        #expect(parameters == .success)
        #expect(bench.status(0, LESetAdvertisingEnable()) { $0.enable = 1 } == .invalidParameters)
        bench.status(0, LESetScanParameters()) {
            $0.scanInterval = 16
            $0.scanWindow = 16
            $0.ownAddressType = .randomDevice
        }
        #expect(bench.status(0, LESetScanEnable()) { $0.enable = 1 } == .invalidParameters)
        #expect(bench.connect(0) { $0.ownAddressType = .randomDevice } == .invalidParameters)
    }

    @Test("masked events are not sent, answers and completed packets always are")
    func masks() {
        var bench = Bench()
        bench.prepare(0)
        bench.prepare(1)
        // What Reset leaves has no LE Meta event.
        bench.status(1, Reset())
        bench.advertise(0)
        bench.scan(1)
        bench.connect(1)
        bench.run(for: .seconds(2))
        #expect(bench.mailboxes[1].allSatisfy { $0.eventCode == 0x0E || $0.eventCode == 0x0F })
        bench.status(1, SetEventMask()) { $0.eventMask = 1 << 61 }
        bench.status(1, LESetEventMask()) { $0.leEventMask = 0 }
        bench.sendACL(1, ConnectionHandle(rawValue: 1), [1])
        bench.send(1, Disconnect()) {
            $0.connectionHandle = ConnectionHandle(rawValue: 1)
            $0.reason = .remoteUserTerminated
        }
        bench.run(for: .seconds(2))
        #expect(bench.completedPackets(1) == 1)
        #expect(bench.events(1, DisconnectionComplete.self).isEmpty)
        #expect(bench.events(0, DisconnectionComplete.self).count == 1)
    }

    @Test("Reset forgets everything a host has set, and ends everything on the air")
    func reset() {
        var (bench, _, _) = Bench.linked()
        bench.advertise(1)
        bench.scan(1)
        bench.status(1, LEWriteSuggestedDefaultDataLength()) {
            $0.suggestedMaxTxOctets = 251
            $0.suggestedMaxTxTime = 2120
        }
        bench.forget()
        #expect(bench.status(1, Reset()) == .success)
        #expect(bench.mailboxes[1].count == 1)
        bench.run(for: .seconds(1))
        #expect(bench.mailboxes[1].count == 1)
        #expect(bench.answer(1, LEReadSuggestedDefaultDataLength())?.suggestedMaxTxOctets == 27)
        #expect(bench.status(1, LESetRandomAddress()) == .success)
    }
}
