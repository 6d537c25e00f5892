// Another type of advertising while commands of the old one are under way.
import HCI
import SansIO
import Testing

@testable import BLEHost

@Suite struct PlanChangeTests {
    private static func plan(_ type: AdvertisingPlan.EventType) -> AdvertisingPlan {
        AdvertisingPlan(
            type: type, ownAddressType: .randomDevice, data: [2, 1, 6], scanResponse: [])
    }

    /// Answers all commands with success until none is left; returns them.
    private static func settle(_ sets: inout AdvertisingSets) -> [AdvertisingCommand] {
        var all: [AdvertisingCommand] = []
        while true {
            let commands = sets.reconcile().map(\.command)
            guard !commands.isEmpty else { return all }
            all += commands
            answer(commands, &sets)
        }
    }

    private static func answer(_ commands: [AdvertisingCommand], _ sets: inout AdvertisingSets) {
        for command in commands {
            _ = sets.answered(command.opcode(sets.family), .success, at: .zero)
        }
    }

    private static func sets(_ type: AdvertisingPlan.EventType) -> AdvertisingSets {
        let setup = AdvertisingSetup(
            plan: plan(type), interval: AdvertisingInterval(steps: 160))
        var sets = AdvertisingSets([setup], deviceAddress: nil)
        sets.controllerWasReset(.legacy)
        sets.isWanted = true
        return sets
    }

    private static func change(_ sets: inout AdvertisingSets, _ type: AdvertisingPlan.EventType) {
        sets.setPlans(
            [
                AdvertisingSetup(
                    plan: plan(type), interval: AdvertisingInterval(steps: 160))
            ], deviceAddress: nil, nil)
    }

    private static var isParameters: (AdvertisingCommand) -> Bool {
        { if case .parameters = $0 { true } else { false } }
    }

    @Test("another type is set with advertising off, the same plan sets nothing")
    func change() {
        var sets = Self.sets(.connectable)
        _ = Self.settle(&sets)
        Self.change(&sets, .connectable)
        #expect(Self.settle(&sets).isEmpty)
        Self.change(&sets, .nonConnectable)
        let commands = Self.settle(&sets)
        #expect(commands.first == .enable(false) && commands.last == .enable(true))
        #expect(commands.count(where: Self.isParameters) == 1 && sets.isEnabled)
        // A type with a scan response sets it again.
        Self.change(&sets, .scannable)
        let response = Self.settle(&sets).contains {
            if case .scanResponse = $0 { true } else { false }
        }
        #expect(response)
    }

    @Test("parameters of the old type that are under way are set again for the new one")
    func underWay() {
        var sets = Self.sets(.connectable)
        let commands = sets.reconcile().map(\.command)
        #expect(commands.contains(where: Self.isParameters))
        Self.change(&sets, .nonConnectable)
        Self.answer(commands, &sets)
        #expect(Self.settle(&sets).count(where: Self.isParameters) == 1 && sets.isEnabled)
    }
}
