// Sets that a controller refuses although it said that it has room for them.
import Advertising
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

@Suite struct RefusedSetTests {
    private static func refusals(_ rig: SetRig) -> [String] {
        rig.told.compactMap {
            guard case .advertisingRefused(let status, let set) = $0 else { return nil }
            return "\(set) \(status)"
        }
    }

    @Test(
        "a refused set is left alone, said once and asked for each minute until there is room",
        arguments: [UInt8(1), 4])
    func refused(credits: UInt8) throws {
        var controller = SetController()
        controller.base.commandCredits = credits
        // It says nothing of how many it has.
        controller.base.supportedCommands[36] &= 0x7F
        controller.setsMax = 2
        var rig = try SetRig((0..<4).map { SetRig.plan($0) }, controller)
        rig.drain()
        #expect(rig.controller.onAir == [0, 1] && rig.failures.isEmpty)
        #expect(rig.controller.refusals.count == 2 && rig.controller.disallowed.isEmpty)
        rig.wait(.seconds(150))
        #expect(rig.controller.refusals.count == 6)
        #expect(rig.controller.refusals.allSatisfy { $0.contains("Parameters: Memory Capacity") })
        #expect(Self.refusals(rig).count == 2 && !rig.notes.contains { $0.contains("refused") })
        rig.controller.setsMax = 4
        rig.wait(.seconds(60))
        #expect(rig.controller.onAir == [0, 1, 2, 3] && rig.failures.isEmpty)
        #expect(rig.host.deadline == nil)
    }

    @Test("a train's data count against what the controller takes, too")
    func longTrain() throws {
        var controller = SetController()
        controller.dataOctets = 100
        for (octets, failures) in [(100, 0), (101, 1)] {
            let plan = SetRig.plan(0) {
                $0.pdu = .extended(ExtendedPDU())
                $0.periodic = TrainPlan(
                    interval: 80, data: [UInt8](repeating: 1, count: octets))
            }
            var rig = try SetRig([plan], controller)
            rig.drain()
            #expect(rig.failures.count == failures && rig.controller.refusals.isEmpty)
        }
    }

    @Test("a set that takes turns and is refused leaves the advertiser to the others")
    func refusedInTurn() {
        let setups = (0..<2).map {
            AdvertisingSetup(plan: SetRig.plan($0), interval: AdvertisingInterval(steps: 160))
        }
        var sets = AdvertisingSets(setups, deviceAddress: nil)
        sets.controllerWasReset(.legacy)
        sets.isWanted = true
        var (now, holders) = (Instant.zero, [Int]())
        var isRefused = true
        func settle() {
            while true {
                let steps = sets.reconcile()
                guard !steps.isEmpty else { return }
                for step in steps {
                    let isEnable = step.command == .enable(true)
                    let isFull = isRefused && isEnable && step.set == 0
                    if isEnable, !isFull { holders.append(step.set) }
                    let answer = sets.answered(
                        step.command.opcode(.legacy), isFull ? .memoryCapacityExceeded : .success,
                        at: now)
                    if case .enabled(let interval) = answer?.change {
                        _ = sets.toldInterval(of: step.set, interval, at: now)
                    }
                }
            }
        }
        settle()
        while now < .zero + .seconds(61), let deadline = sets.deadline {
            if now >= .zero + .seconds(30) { isRefused = false }
            now = deadline
            sets.expire(at: now)
            settle()
            #expect(!sets.controls[0].isEnabled || now >= .zero + .seconds(60))
        }
        #expect(holders.first == 1 && holders.contains(0) && sets.deadline != nil)
    }
}
