// Interval changes at any moment: what a controller is sent, and what it never is.
import BLEHost
import GATT
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

extension SlowRig<ScriptedController> {
    init(type: AdvertisingPlan.EventType, connectionsMax: Int, isExtended: Bool) throws {
        var controller = ScriptedController()
        controller.leFeatures = isExtended ? 1 << 12 : 0
        if !isExtended { controller.supportedCommands[36] = 0 }
        try self.init(
            PeripheralConfiguration(
                plan: AdvertisingPlan(
                    type: type, ownAddressType: .randomDevice, data: [2, 1, 6], scanResponse: []),
                interval: AdvertisingInterval(steps: 160),
                randomAddress: DeviceAddress(littleEndian: 0xC0FF_EE00_0001),
                connectionsMax: connectionsMax),
            controller)
    }
}

@Suite struct IntervalChangeTests {
    @Test(
        "thousands of changes, connections and disconnections earn no Command Disallowed",
        arguments: [(false, 1), (true, 1), (false, 2), (true, 2)])
    func neverDisallowed(isExtended: Bool, connectionsMax: Int) throws {
        var changes = 0
        for seed in 0..<40 {
            var random = SeededRandom(seed: UInt64(seed), stream: "changes")
            var rig = try SlowRig(
                type: .connectable, connectionsMax: connectionsMax, isExtended: isExtended)
            rig.controller.commandCredits = UInt8(1 + random.below(4))
            rig.start()
            rig.drain()
            var wanted: UInt16 = 160
            var isConnected = false
            for step in 0..<500 {
                rig.now = rig.now + .microseconds(random.below(2000))
                switch random.below(10) {
                case 0...2:
                    wanted = 32 + UInt16(random.below(2000))
                    changes += 1
                    rig.setInterval(wanted)
                case 3...5: rig.deliverCommand()
                case 6...7: rig.deliverEvent()
                case 8 where rig.controller.isAdvertising && !isConnected:
                    isConnected = true
                    rig.controller.isAdvertising = false
                    rig.events.append(ScriptedController.connected(handle: 0x40))
                case 9 where isConnected:
                    isConnected = false
                    rig.events.append(ScriptedController.disconnected(handle: 0x40, .success))
                default:
                    let data = [UInt8](repeating: UInt8(step & 0xFF), count: 3)
                    rig.perform { host, now, out, _ in
                        host.setAdvertisingData(data, scanResponse: [], at: now, sending: &out)
                    }
                }
            }
            rig.drain()
            #expect(rig.failures.isEmpty)
            #expect(rig.controller.disallowedCount == 0)
            let mayAdvertise = !isConnected || connectionsMax > 1
            #expect(rig.controller.isAdvertising == mayAdvertise)
            if mayAdvertise { #expect(rig.controller.steps == wanted) }
        }
        #expect(changes > 5000)
    }

    @Test("a change is disable, set and enable; what a connection took is not enabled again")
    func burst() throws {
        var rig = try SlowRig(type: .connectable, connectionsMax: 1, isExtended: false)
        rig.controller.commandCredits = 4
        rig.start()
        rig.drain()
        rig.setInterval(400)
        #expect(rig.commands.count == 3)
        rig.drain()
        #expect(
            rig.controller.received.suffix(3) == [
                "LE Set Advertising Enable 0", "LE Set Advertising Parameters 250 ms",
                "LE Set Advertising Enable 1",
            ])
        rig.controller.commandCredits = 1
        rig.setInterval(800)
        rig.deliverCommand()
        // The central was there first: its connection comes before the answer.
        rig.controller.isAdvertising = false
        rig.events.insert(ScriptedController.connected(handle: 0x40), at: 0)
        rig.drain()
        #expect(!rig.controller.isAdvertising)
        #expect(rig.controller.disallowedCount == 0)
    }

    @Test(
        "before Bluetooth 5 what is not connectable is rounded up to 100 ms, with one warning",
        arguments: [AdvertisingPlan.EventType.scannable, .nonConnectable])
    func version(type: AdvertisingPlan.EventType) throws {
        var rig = try SlowRig(type: type, connectionsMax: 1, isExtended: false)
        rig.controller.hciVersion = 8
        rig.controller.shortestSteps = 160
        rig.perform { host, now, out, emit in
            host.setInterval(AdvertisingInterval(steps: 32), at: now, sending: &out)
            host.start(at: now, sending: &out, emit: &emit)
        }
        rig.drain()
        for steps in [400, 64, 800, 96] as [UInt16] {
            rig.setInterval(steps)
            rig.drain()
            #expect(rig.controller.steps == max(steps, 160))
            #expect(rig.controller.isAdvertising)
        }
        #expect(rig.failures.isEmpty)
        #expect(
            rig.notes == [
                "the controller cannot advertise every 20 ms here: 100 ms instead, "
                    + "and so with all intervals below"
            ])
        let set = rig.controller.received.filter { $0.contains("Parameters") }
        #expect(set.allSatisfy { !$0.hasSuffix(" 20 ms") && !$0.hasSuffix(" 40 ms") })
    }

    @Test(
        "an interval that a controller refuses is rounded up the same way",
        arguments: [false, true])
    func refused(isExtended: Bool) throws {
        var rig = try SlowRig(type: .nonConnectable, connectionsMax: 1, isExtended: isExtended)
        rig.controller.shortestSteps = 160
        rig.perform { host, now, out, emit in
            host.setInterval(AdvertisingInterval(steps: 32), at: now, sending: &out)
            host.start(at: now, sending: &out, emit: &emit)
        }
        rig.drain()
        #expect(rig.controller.isAdvertising)
        #expect(rig.controller.steps == 160)
        rig.setInterval(64)
        rig.drain()
        #expect(rig.controller.steps == 160)
        rig.setInterval(400)
        rig.drain()
        #expect(rig.controller.steps == 400)
        #expect(rig.failures.isEmpty)
        #expect(rig.notes.count == 1)
        #expect(rig.controller.disallowedCount == 0)
    }
}
