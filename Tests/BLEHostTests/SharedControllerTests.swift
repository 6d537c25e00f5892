// One controller shared by several hosts: each with its sets, its links and its database.
import Advertising
import GATT
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

/// Hosts on one controller.
private struct SharedRig {
    var hosts: [PeripheralHost]
    var share: SharedController
    var controller: SetController
    var events: [[PeripheralEvent]]
    private var out = ByteBlock()
    private var emitted = Outputs<PeripheralEvent>()

    /// Host `number` has as many sets as `counts` says; its value is its number. All but its first
    /// can be left out where `mayLeaveOut` says so.
    init(
        _ counts: [Int], mayLeaveOut: Bool = false, _ controller: SetController = SetController()
    ) throws {
        self.controller = controller
        hosts = try counts.enumerated().map { number, count in
            let setups = (0..<count).map { set in
                let type: AdvertisingPlan.EventType = set == 0 ? .connectable : .nonConnectable
                let plan = SetRig.plan(16 * number + set, type) {
                    $0.fallback = mayLeaveOut && set > 0 ? .skip : nil
                }
                return AdvertisingSetup(plan: plan, interval: AdvertisingInterval(steps: 160))
            }
            let address = DeviceAddress(littleEndian: 0xC0AA_AAAA_AA00 + UInt64(number))
            return PeripheralHost(
                PeripheralConfiguration(sets: setups, randomAddress: address),
                server: GATTServer(table: try PeripheralRig.table([UInt8(number)])))
        }
        share = SharedController(sets: counts.map { (mayLeaveOut ? 1 : $0)...$0 })
        events = counts.map { _ in [] }
        for number in hosts.indices {
            hosts[number].sharesController = true
            hosts[number].start(at: .zero, sending: &out, emit: &emitted)
            deliver(from: number)
        }
    }

    /// What a host has sent goes its way, and what follows.
    private mutating func deliver(from number: Int) {
        events[number] += emitted.elements
        emitted.removeAll()
        let packets = H4Packets.split(out.bytes)
        out.removeAll()
        var sent = ByteBlock()
        for packet in packets { share.send(packet.span, from: number, sending: &sent) }
        settle(sent.bytes)
    }

    private mutating func settle(_ sent: [UInt8]) {
        for packet in H4Packets.split(sent) { receive(controller.answer(packet)) }
        for number in hosts.indices where share.hasOutput(number) {
            var packets = ByteBlock()
            share.drain(number, into: &packets)
            for packet in H4Packets.split(packets.bytes) {
                hosts[number].receive(packet.span, at: .zero, sending: &out, emit: &emitted)
                hosts[number].settle(at: .zero, sending: &out)
                deliver(from: number)
            }
        }
    }

    /// Packets of the controller's own.
    mutating func receive(_ packets: [[UInt8]]) {
        for packet in packets {
            var sent = ByteBlock()
            share.receive(packet.span, sending: &sent)
            settle(sent.bytes)
        }
    }

    /// Reads the value on a link; what the controller was sent for it.
    mutating func read(_ handle: UInt16) -> [String] {
        let before = controller.base.data.count
        receive(ScriptedController.acl(handle: handle, [0x0A, 3, 0]))
        return Array(controller.base.data[before...])
    }

    func openLinks(_ number: Int) -> Int { hosts[number].links.count { $0.isOpen } }
}

@Suite struct SharedControllerTests {
    @Test("each host has advertising handles of its own on a controller that is reset once")
    func handles() throws {
        var rig = try SharedRig([2, 1, 3])
        #expect(rig.controller.onAir == Array(0..<6) && rig.controller.disallowed.isEmpty)
        let owners = [0, 1, 16, 32, 33, 34]
        for (handle, owner) in owners.enumerated() {
            let set = try #require(rig.controller.sets[UInt8(handle)])
            #expect(set.address == SetRig.plan(owner).address && set.data == [1, UInt8(owner)])
        }
        #expect(rig.controller.received.count { $0 == "Reset" } == 1)
        #expect(rig.controller.refusals == [] && rig.share.refusal == nil)
        for number in 0..<3 {
            let isReady = rig.events[number].contains {
                if case .ready = $0 { true } else { false }
            }
            #expect(isReady)
        }
        rig.receive([])
    }

    @Test("a link is its set's host's, whatever comes before that is known")
    func links() throws {
        var rig = try SharedRig([1, 1])
        let packets = rig.controller.connect(to: 1, handle: 0x41)
        // A request overtakes the event that says whose link it is.
        rig.receive([packets[0]] + ScriptedController.acl(handle: 0x41, [0x0A, 3, 0]))
        #expect(rig.openLinks(0) == 0 && rig.openLinks(1) == 0 && rig.controller.base.data == [])
        rig.receive([packets[1]])
        #expect(rig.openLinks(0) == 0 && rig.openLinks(1) == 1)
        #expect(rig.controller.base.data == ["0241000600020004000B01"])
        #expect(rig.controller.onAir == [0])
        // The other one, told the other way round.
        rig.receive(rig.controller.connect(to: 0, handle: 0x40).reversed())
        #expect(rig.openLinks(0) == 1 && rig.controller.onAir == [])
        #expect(rig.read(0x40) == ["0240000600020004000B00"])
        rig.receive([ScriptedController.disconnected(handle: 0x41, .remoteUserTerminated)])
        #expect(rig.openLinks(0) == 1 && rig.openLinks(1) == 0 && rig.controller.onAir == [1])
        #expect(rig.controller.disallowed == [] && rig.controller.refusals == [])
    }

    @Test("the controller's buffers are divided, and given back one by one and with a link")
    func buffers() throws {
        var rig = try SharedRig([1, 1])
        rig.receive(rig.controller.connect(to: 0, handle: 0x40))
        rig.receive(rig.controller.connect(to: 1, handle: 0x41))
        // Four buffers, two each.
        for _ in 0..<4 { _ = rig.read(0x40) }
        #expect(rig.controller.base.data.count == 2)
        #expect(rig.read(0x41).count == 1 && rig.read(0x41).count == 1)
        #expect(rig.read(0x41).isEmpty)
        var completed = NumberOfCompletedPackets([
            .init(ConnectionHandle(rawValue: 0x40), 2), .init(ConnectionHandle(rawValue: 0x41), 1),
        ])
        rig.receive([ScriptedController.packet(completed)])
        #expect(rig.controller.base.data.count == 7)
        rig.receive([ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated)])
        completed = NumberOfCompletedPackets([.init(ConnectionHandle(rawValue: 0x41), 9)])
        rig.receive([ScriptedController.packet(completed)])
        for _ in 0..<3 { _ = rig.read(0x41) }
        #expect(rig.controller.base.data.count == 9)
    }

    @Test("a controller without sets, or with too few, cannot be shared")
    func refusals() throws {
        var few = SetController()
        few.setsMax = 2
        let rig = try SharedRig([1, 2], few)
        #expect(
            rig.share.refusal
                == "the controller has 2 advertising sets, and 2 accessories need 3: "
                + "use another controller, or fewer accessories")
        var old = SetController(isExtended: false)
        old.base.refused[.leReadNumberOfSupportedAdvertisingSets] = HCIStatus(rawValue: 0x01)
        #expect(try SharedRig([1, 1], old).share.refusal?.contains("no extended") == true)
    }

    @Test("where the controller has too few, sets that can be left out are, the last ones first")
    func leftOut() throws {
        for (most, onAir) in [
            (2, [0, 16]), (3, [0, 1, 16]), (4, [0, 1, 16, 17]), (5, [0, 1, 16, 17, 18]),
        ] {
            var few = SetController()
            few.setsMax = most
            let rig = try SharedRig([2, 3], mayLeaveOut: true, few)
            let data = rig.controller.onAir.map { rig.controller.sets[$0]?.data.last }
            #expect(data == onAir.map { UInt8($0) } && rig.share.refusal == nil)
            #expect(rig.controller.refusals == [] && rig.controller.disallowed == [])
        }
        var one = SetController()
        one.setsMax = 1
        #expect(try SharedRig([2, 3], mayLeaveOut: true, one).share.refusal != nil)
    }

    @Test(
        "a set that the controller refuses ends the run: the legacy family is out of reach",
        arguments: [
            Opcode.leSetExtendedAdvertisingParameters, .leSetExtendedAdvertisingData,
            .leSetExtendedAdvertisingEnable,
        ])
    func refused(_ opcode: Opcode) throws {
        var controller = SetController()
        controller.base.refused[opcode] = .memoryCapacityExceeded
        let rig = try SharedRig([1, 1], controller)
        for number in 0..<2 {
            let failures = rig.events[number].compactMap { event -> String? in
                if case .failed(let failure) = event { "\(failure)" } else { nil }
            }
            #expect(failures.count == 1)
            #expect(failures.first?.contains("cannot take turns") == true)
        }
        #expect(rig.controller.received.count { $0 == "Reset" } == 1)
        #expect(!rig.controller.received.contains { $0 == "LE Set Advertising Parameters" })
    }

    @Test("a link that comes by nobody's set is ended")
    func nobodys() throws {
        var rig = try SharedRig([1, 1])
        let packets = rig.controller.connect(to: 1, handle: 0x41)
        var terminated = packets[1]
        terminated[5] = 9
        rig.receive([packets[0], terminated])
        #expect(rig.openLinks(0) == 0 && rig.openLinks(1) == 0)
        #expect(rig.controller.received.count { $0 == "Disconnect" } == 1)
    }

    @Test("whatever a controller says, nothing traps")
    func rubbish() throws {
        var random = SeededRandom(seed: 7, stream: "rubbish")
        var rig = try SharedRig([1, 2])
        rig.receive(rig.controller.connect(to: 0, handle: 0x40))
        for _ in 0..<20_000 {
            let isEvent = random.below(4) > 0
            let codes: [UInt8] = [0x05, 0x08, 0x0E, 0x0F, 0x13, 0x30, 0x3E, 0x3E, 0x3E]
            let subevents: [UInt8] = [0x01, 0x03, 0x05, 0x0A, 0x0C, 0x12, 0x13, 0x14]
            var body = (0..<Int(random.below(24))).map { _ in UInt8(random.below(4) * 0x15) }
            if random.below(2) == 0, !body.isEmpty {
                body[0] = subevents[Int(random.below(8))]
            }
            let code = codes[Int(random.below(9))]
            rig.receive([
                isEvent
                    ? [0x04, code, UInt8(body.count)] + body
                    : [0x02, 0x40, 0x20, UInt8(body.count), 0] + body
            ])
        }
    }
}
