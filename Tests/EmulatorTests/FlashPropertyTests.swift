// Random edits of a profile while a client is connected, subscribes and writes.
import Emulator
import GATT
import Harness
import Profiles
import SansIO
import Testing
import Wire

/// A profile in the making, and the edits that people make.
private struct Draft {
    struct Value: Equatable {
        /// Never used twice, so that a name is one characteristic's.
        var number: Int
        var value: Int
        var isNotified: Bool
        var counts: Bool
    }

    struct Service: Equatable {
        var number: Int
        var values: [Value]
    }

    var services: [Service] = []
    var interval = 100
    private var numbers = 0

    init(_ random: inout SeededRandom) {
        for _ in 0..<3 { addService(&random) }
    }

    private mutating func number() -> Int {
        numbers += 1
        return numbers
    }

    private mutating func makeValue(_ random: inout SeededRandom) -> Value {
        Value(
            number: number(), value: Int(random.below(1000)), isNotified: random.below(3) > 0,
            counts: random.below(3) == 0)
    }

    private mutating func addService(_ random: inout SeededRandom) {
        let values = (0...Int(random.below(3))).map { _ in makeValue(&random) }
        let place = Int(random.below(Int64(services.count + 1)))
        services.insert(Service(number: number(), values: values), at: place)
    }

    mutating func edit(_ random: inout SeededRandom) {
        let service = Int(random.below(Int64(services.count)))
        let value = Int(random.below(Int64(services[service].values.count)))
        switch random.below(9) {
        case 0, 1: services[service].values[value].value = Int(random.below(1000))
        case 2: services[service].values[value].isNotified.toggle()
        case 3: services[service].values.insert(makeValue(&random), at: value)
        case 4 where services[service].values.count > 1: services[service].values.remove(at: value)
        case 5: addService(&random)
        case 6 where services.count > 1: services.remove(at: service)
        case 7: services.swapAt(service, Int(random.below(Int64(services.count))))
        default: interval = 100 + Int(random.below(10)) * 50
        }
    }

    static func uuid(_ number: Int) -> String {
        "7C3E\(String(10_000 + number).dropFirst())-52B1-4F0A-8E6D-91A2B3C4D5E6"
    }

    /// What a characteristic of this name begins with.
    func octets(of name: String) -> [UInt8]? {
        services.flatMap(\.values).first { Self.uuid($0.number) == name }.map {
            [UInt8($0.value & 255), UInt8($0.value >> 8)]
        }
    }

    var text: String {
        var text = """
            peripheral-emu: 1
            device: {name: Draft}
            advertising:
              - type: connectable
                interval: \(interval) ms
                data: [{flags: [general-discoverable, no-br-edr]}, {name: complete}]
            services:

            """
        for service in services {
            text += "  - service: \(Self.uuid(service.number))\n    characteristics:\n"
            for value in service.values {
                text += "      - characteristic: \(Self.uuid(value.number))\n"
                text += "        read: open\n        write: open\n        format: uint16\n"
                if value.isNotified { text += "        notify: open\n" }
                text +=
                    value.counts
                    ? "        value: {counter: {start: \(value.value), step: 1}}\n"
                        + "        update: every 300 ms\n"
                    : "        value: \(value.value)\n"
            }
        }
        return text
    }
}

/// What a flash is to be compared with.
private struct Before {
    let device: EmulatedDevice
    let configurations: [UInt16: UInt16]
    let values: [String: [UInt8]]

    init(_ world: GuestWorld) {
        device = world.port.device
        let server = device.host.server
        var configurations: [UInt16: UInt16] = [:]
        var values: [String: [UInt8]] = [:]
        for (binding, name) in zip(device.plan.bindings, device.plan.bindingNames) {
            values[name] = server.value(of: binding.valueHandle)
            guard let cccd = binding.cccdHandle else { continue }
            configurations[cccd] = server.cccd(of: cccd, client: world.client)
        }
        self.configurations = configurations
        self.values = values
    }
}

@Suite struct FlashPropertyTests {
    @Test(
        "links outlive any edit, clients learn what they must, and what is the same goes on",
        arguments: UInt64(1)...12)
    func randomEdits(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var draft = Draft(&random)
        let device = EmulatedDevice(
            profile: try FlashTests.load(draft.text), seed: seed,
            authenticator: FoldingAuthenticator())
        var world = GuestWorld(device, seed: seed)
        world.powerOn()
        world.connect()
        world.subscribe(device.cccdHandle("service-changed"), notify: false)
        for _ in 0..<12 {
            act(on: &world, &random)
            for _ in 0...random.below(3) { draft.edit(&random) }
            let before = Before(world)
            let start = world.heard.count
            world.flash(try FlashTests.load(draft.text))
            #expect(world.isConnected, "seed \(seed)")
            check(world, before, draft)
            world.run(for: .milliseconds(700))
            let changes = world.changes(since: start)
            #expect(changes == Self.range(before, world).map { [$0] } ?? [], "seed \(seed)")
            // The device still sends only to who has asked for it, and answers.
            let discovered = world.perform(.discover)
            #expect(discovered.count == 1)
            let hash = world.port.device.valueHandle("database-hash")
            let old = before.device.plan.table.databaseHashMessage
            let new = world.port.device.plan.table.databaseHashMessage
            let authenticator = FoldingAuthenticator()
            let expected = Array(authenticator.cmac(key: [], message: new).reversed())
            let seen = world.read(hash)
            #expect(seen == expected)
            #expect((old == new) == (Self.range(before, world) == nil), "all is in the hash here")
        }
    }

    /// The client writes and subscribes at random.
    private func act(on world: inout GuestWorld, _ random: inout SeededRandom) {
        for binding in world.port.device.plan.bindings.dropFirst(6) {
            if let cccd = binding.cccdHandle, random.below(2) == 0 { world.subscribe(cccd) }
            if random.below(4) == 0 {
                let value = [UInt8(random.below(256)), 0xEE]
                world.perform(.write(handle: binding.valueHandle, value: value))
            }
        }
        world.run(for: .milliseconds(200))
    }

    /// By the definition: what Service Changed is to say.
    private static func range(_ before: Before, _ world: GuestWorld) -> ClosedRange<UInt16>? {
        before.device.plan.table.changes(to: world.port.device.plan.table)
    }

    private func check(_ world: GuestWorld, _ before: Before, _ draft: Draft) {
        let device = world.port.device
        let (plan, old) = (device.plan, before.device.plan)
        for (index, binding) in plan.bindings.enumerated() {
            let name = plan.bindingNames[index]
            let same = zip(old.bindings, old.bindingNames).first { $0.1 == name }?.0
            if let cccd = binding.cccdHandle {
                let stays =
                    same?.cccdHandle == cccd && same?.valueHandle == binding.valueHandle
                let expected = stays ? before.configurations[cccd] : 0
                #expect(device.host.server.cccd(of: cccd, client: world.client) == expected)
            }
            let value = device.host.server.value(of: binding.valueHandle)
            guard binding.uuid != GATTType.databaseHash else { continue }
            if let same, same.source == binding.source {
                #expect(value == before.values[name], "\(name) goes on")
            } else {
                #expect(value == draft.octets(of: binding.name), "\(name) begins anew")
            }
        }
    }
}
