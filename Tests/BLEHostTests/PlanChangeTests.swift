// Another type of advertising while commands of the old one are under way.
import HCI
import Testing

@testable import BLEHost

@Suite struct PlanChangeTests {
    private static func plan(_ type: AdvertisingPlan.EventType) -> AdvertisingPlan {
        AdvertisingPlan(
            type: type, ownAddressType: .randomDevice, data: [2, 1, 6], scanResponse: [])
    }

    /// Answers all commands with success until none is left; returns them.
    private static func settle(_ control: inout AdvertisingControl) -> [AdvertisingCommand] {
        var all: [AdvertisingCommand] = []
        while true {
            let commands = control.reconcile()
            guard !commands.isEmpty else { return all }
            all += commands
            for command in commands {
                _ = control.answered(command.opcode(control.family), .success)
            }
        }
    }

    private static var isParameters: (AdvertisingCommand) -> Bool {
        { if case .parameters = $0 { true } else { false } }
    }

    private static func enabled(_ type: AdvertisingPlan.EventType) -> AdvertisingControl {
        var control = AdvertisingControl(
            plan: plan(type), interval: AdvertisingInterval(steps: 160))
        control.controllerWasReset(.legacy)
        control.isWanted = true
        _ = settle(&control)
        return control
    }

    @Test("another type is set with advertising off, the same plan sets nothing")
    func change() {
        var control = Self.enabled(.connectable)
        control.setPlan(Self.plan(.connectable))
        #expect(Self.settle(&control).isEmpty)
        control.setPlan(Self.plan(.nonConnectable))
        let commands = Self.settle(&control)
        #expect(commands.first?.isEnable == true && commands.last?.isEnable == true)
        #expect(commands.count(where: Self.isParameters) == 1 && control.isEnabled)
        // A type with a scan response sets it again.
        control.setPlan(Self.plan(.scannable))
        let response = Self.settle(&control).contains {
            if case .scanResponse = $0 { true } else { false }
        }
        #expect(response)
    }

    @Test("parameters of the old type that are under way are set again for the new one")
    func underWay() {
        var control = AdvertisingControl(
            plan: Self.plan(.connectable), interval: AdvertisingInterval(steps: 160))
        control.controllerWasReset(.legacy)
        control.isWanted = true
        let commands = control.reconcile()
        #expect(commands.contains(where: Self.isParameters))
        control.setPlan(Self.plan(.nonConnectable))
        for command in commands { _ = control.answered(command.opcode(.legacy), .success) }
        #expect(Self.settle(&control).count(where: Self.isParameters) == 1 && control.isEnabled)
    }
}
