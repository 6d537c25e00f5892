// Extended PDUs, directed and periodic advertising, scan requests: what the controller is told.
import Advertising
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

@Suite struct ExtendedSetTests {
    private static func extended(
        _ type: AdvertisingPlan.EventType = .nonConnectable,
        _ change: (inout AdvertisingPlan) -> Void = { _ in }
    ) -> AdvertisingPlan {
        SetRig.plan(0, type) {
            $0.pdu = .extended(ExtendedPDU())
            $0.scanResponse = []
            change(&$0)
        }
    }

    @Test("data of any length arrive whole, in fragments of 251 octets", arguments: [0, 31, 1650])
    func fragments(length: Int) throws {
        let data = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var rig = try SetRig([Self.extended { $0.data = data }])
        rig.drain()
        let name = "LE Set Extended Advertising Data"
        #expect(rig.controller.sets[0]?.data == data && rig.controller.onAir == [0])
        #expect(rig.controller.received.count { $0 == name } == max((length + 250) / 251, 1))
        // Other long data go with a pause, and short ones without.
        rig.setData([UInt8](repeating: 7, count: 300), of: 0)
        rig.drain()
        #expect(rig.controller.sets[0]?.data.count == 300 && rig.controller.onAir == [0])
        let before = rig.controller.received.count
        rig.setData([1, 2], of: 0)
        rig.drain()
        #expect(rig.controller.received[before...] == [name] && rig.isClean)
    }

    @Test("more data than the controller takes is refused, or the set falls back")
    func tooLong() throws {
        var controller = SetController()
        controller.dataOctets = 191
        let long = Self.extended { $0.data = [UInt8](repeating: 1, count: 192) }
        var rig = try SetRig([long], controller)
        rig.drain()
        #expect(
            rig.failures.first?.contains("takes 191 octets of advertising data, not 192") == true)
        rig = try SetRig(
            [
                Self.extended {
                    $0.data = [UInt8](repeating: 1, count: 192)
                    $0.fallback = .skip
                }, SetRig.plan(1),
            ], controller)
        rig.drain()
        #expect(rig.controller.onAir == [1] && rig.isClean)
    }

    @Test("PHYs, set ID, transmit power, channels and properties are the set's")
    func parameters() throws {
        var pdu = ExtendedPDU()
        (pdu.primary, pdu.secondary) = (.leCoded, .le2M)
        (pdu.isAnonymous, pdu.includesTxPower) = (true, true)
        var rig = try SetRig([
            Self.extended {
                $0.pdu = .extended(pdu)
                ($0.sid, $0.txPower, $0.channelMap) = (9, -4, 0b101)
                $0.tellsScanRequests = true
            }
        ])
        rig.drain()
        let parameters = try #require(rig.controller.sets[0]?.parameters)
        #expect(parameters.primaryPHY == 3 && parameters.secondaryPHY == 2)
        #expect(parameters.advertisingSid == 9 && parameters.txPower == -4)
        #expect(parameters.channelMap == 0b101 && parameters.scanRequestNotification == 1)
        #expect(rig.controller.sets[0]?.properties == [.anonymous, .includeTxPower])
        rig = try SetRig([Self.extended(.connectable)])
        rig.drain()
        #expect(rig.controller.sets[0]?.properties == .connectable)
        rig = try SetRig([
            Self.extended(.scannable) {
                $0.data = []
                $0.scanResponse = [UInt8](repeating: 3, count: 600)
            }
        ])
        rig.drain()
        #expect(rig.controller.sets[0]?.properties == .scannable && rig.isClean)
        #expect(rig.controller.sets[0]?.response.count == 600)
    }

    @Test("a periodic train begins with its set")
    func periodic() throws {
        let train = TrainPlan(interval: 80, data: [UInt8](repeating: 9, count: 400))
        var rig = try SetRig([Self.extended { $0.periodic = train }])
        rig.drain()
        let entry = try #require(rig.controller.sets[0])
        #expect(entry.isPeriodic && entry.periodicInterval == 80 && entry.isEnabled)
        #expect(entry.periodicData == train.data && rig.isClean)
        rig.setInterval(400, of: 0)
        rig.drain()
        #expect(rig.controller.sets[0]?.isPeriodic == true && rig.isClean)
        var without = SetController()
        without.base.leFeatures = 1 << 12
        rig = try SetRig([Self.extended { $0.periodic = train }], without)
        rig.drain()
        #expect(rig.failures.first?.contains("no periodic advertising") == true)
    }

    @Test("a train's data change while it is on; several commands of them pause the train alone")
    func trainData() throws {
        let train = TrainPlan(interval: 80, data: [1, 9])
        var rig = try SetRig([Self.extended { $0.periodic = train }])
        rig.drain()
        func received(_ data: [UInt8]) -> [String] {
            let before = rig.controller.received.count
            rig.perform { host, now, out, _ in
                host.setAdvertisingData(
                    [1, 0], scanResponse: [], train: data, at: now, sending: &out)
            }
            rig.drain()
            #expect(rig.controller.sets[0]?.periodicData == data)
            #expect(rig.controller.sets[0]?.isPeriodic == true && rig.controller.onAir == [0])
            return rig.controller.received[before...].filter { $0.contains("Periodic") }
        }
        let set = "LE Set Periodic Advertising Data"
        let enable = "LE Set Periodic Advertising Enable"
        #expect(received([1, 8]) == [set])
        #expect(received([1, 8]) == [])
        #expect(received([UInt8](repeating: 7, count: 252)) == [set])
        #expect(received([UInt8](repeating: 7, count: 253)) == [enable, set, set, enable])
        #expect(rig.isClean)
        // One that is refused is not asked for again.
        var rude = SetController()
        rude.base.refused[.leSetPeriodicAdvertisingParameters] = .unknownCommand
        rig = try SetRig([Self.extended { $0.periodic = train }], rude)
        rig.drain()
        let count = rig.controller.received.count
        rig.perform { host, now, out, _ in
            host.setAdvertisingData(
                [1, 0], scanResponse: [], train: [1, 5], at: now, sending: &out)
        }
        rig.drain()
        #expect(!rig.controller.received[count...].contains { $0.contains("Periodic") })
        #expect(rig.controller.onAir == [0] && rig.failures.isEmpty)
    }

    @Test("high duty cycle has its 1.28 s, then low duty follows until the next disconnection")
    func directed() throws {
        let peer = PeerAddress(DeviceAddress(littleEndian: 0xC011_2233_4455), isRandom: true)
        var rig = try SetRig([
            SetRig.plan(0, .directedHighDuty) {
                ($0.peer, $0.data, $0.scanResponse) = (peer, [], [])
            }
        ])
        rig.drain()
        #expect(
            rig.controller.sets[0]?.properties == [
                .connectable, .directed, .highDutyCycle, .legacy,
            ])
        #expect(rig.controller.sets[0]?.parameters.peerAddress == peer.address)
        #expect(rig.controller.sets[0]?.duration == 128)
        rig.controller.sets[0]?.isEnabled = false
        rig.receive([SetController.terminated(0, HCIStatus(rawValue: 0x3C))])
        #expect(rig.controller.sets[0]?.properties == [.connectable, .directed, .legacy])
        #expect(rig.controller.onAir == [0] && rig.controller.sets[0]?.duration == 0)
        rig.receive(rig.controller.connect(to: 0, handle: 0x40))
        rig.receive([ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated)])
        #expect(rig.controller.sets[0]?.properties.contains(.highDutyCycle) == true)
        #expect(rig.controller.onAir == [0] && rig.isClean)
    }

    @Test("scan requests are told with their set")
    func scanRequests() throws {
        var rig = try SetRig([SetRig.plan(0), SetRig.plan(1, .scannable)])
        rig.drain()
        var event = LEScanRequestReceived()
        event.advertisingHandle = 1
        event.scannerAddressType = .randomDevice
        event.scannerAddress = DeviceAddress(littleEndian: 0xC011_2233_4455)
        rig.receive([ScriptedController.packet(event)])
        let told = rig.told.compactMap {
            if case .scanRequested(let set, let scanner) = $0 {
                "\(set) \(scanner.address)"
            } else {
                nil
            }
        }
        #expect(told == ["1 C0:11:22:33:44:55"])
    }
}
