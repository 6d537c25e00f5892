// A host and a controller whose packets take as long as they like.
import Advertising
import GATT
import HCI
import SansIO
import Testing
import Wire

@testable import BLEHost

/// A controller of a test: packets that it answers a command with.
protocol AnsweringController {
    mutating func answer(_ sent: [UInt8]) -> [[UInt8]]
}

extension SetController: AnsweringController {}
extension ScriptedController: AnsweringController {}

/// With several advertising sets.
typealias SetRig = SlowRig<SetController>

struct SlowRig<Controller: AnsweringController> {
    var host: PeripheralHost
    var controller: Controller
    var now = Instant.zero
    /// On their way to the controller, and to the host.
    var commands: [[UInt8]] = []
    var events: [[UInt8]] = []
    var told: [PeripheralEvent] = []
    private var out = ByteBlock()
    private var emitted = Outputs<PeripheralEvent>()

    init(_ configuration: PeripheralConfiguration, _ controller: Controller) throws {
        self.controller = controller
        host = PeripheralHost(
            configuration, server: GATTServer(table: try PeripheralRig.table([1])))
    }

    mutating func start() {
        perform { host, now, out, emit in host.start(at: now, sending: &out, emit: &emit) }
    }

    mutating func perform(
        _ action: (
            inout PeripheralHost, Instant, inout ByteBlock, inout Outputs<PeripheralEvent>
        ) -> Void
    ) {
        action(&host, now, &out, &emitted)
        host.settle(at: now, sending: &out)
        commands += H4Packets.split(out.bytes)
        out.removeAll()
        told += emitted.elements
        emitted.removeAll()
    }

    mutating func deliverCommand() {
        if !commands.isEmpty { events += controller.answer(commands.removeFirst()) }
    }

    mutating func deliverEvent() {
        guard !events.isEmpty else { return }
        let packet = events.removeFirst()
        perform { host, now, out, emit in
            host.receive(packet.span, at: now, sending: &out, emit: &emit)
        }
    }

    mutating func drain() {
        while !commands.isEmpty || !events.isEmpty {
            deliverCommand()
            deliverEvent()
        }
    }

    mutating func receive(_ packets: [[UInt8]]) {
        events += packets
        drain()
    }

    /// Lets time pass, deadline by deadline.
    mutating func wait(_ span: TimeSpan) {
        let end = now + span
        while let deadline = host.deadline, deadline <= end {
            now = max(now, deadline)
            perform { host, now, out, emit in host.expire(at: now, sending: &out, emit: &emit) }
            drain()
        }
        now = end
    }

    mutating func setInterval(_ steps: UInt16, of set: Int = 0) {
        perform { host, now, out, _ in
            host.setInterval(
                AdvertisingInterval(steps: steps), of: set, at: now, sending: &out)
        }
    }

    mutating func setData(_ data: [UInt8], of set: Int) {
        perform { host, now, out, _ in
            host.setAdvertisingData(data, scanResponse: [], of: set, at: now, sending: &out)
        }
    }

    // MARK: what was told

    var notes: [String] {
        told.compactMap { if case .note(let note) = $0 { note.description } else { nil } }
    }

    var failures: [String] {
        told.compactMap { if case .failed(let failure) = $0 { failure.description } else { nil } }
    }

    /// `set interval`, of each that was said to be on the air.
    var advertised: [String] {
        told.compactMap {
            if case .advertising(let interval, _, let set) = $0 {
                "\(set) \(interval)"
            } else {
                nil
            }
        }
    }
}

extension SetRig {
    static var deviceAddress: DeviceAddress { DeviceAddress(littleEndian: 0xC0FF_EE00_0000) }

    /// A set by its place: an address of its own, two octets of data and 100 ms.
    static func plan(
        _ place: Int, _ type: AdvertisingPlan.EventType = .nonConnectable,
        _ change: (inout AdvertisingPlan) -> Void = { _ in }
    ) -> AdvertisingPlan {
        var plan = AdvertisingPlan(
            type: type, ownAddressType: .randomDevice, data: [1, UInt8(place)],
            scanResponse: type == .nonConnectable ? [] : [1, 0x80])
        plan.name = "set\(place)"
        plan.address = DeviceAddress(littleEndian: 0xC0FF_EE00_0001 + UInt64(place))
        plan.sid = UInt8(place & 15)
        change(&plan)
        return plan
    }

    init(
        _ plans: [AdvertisingPlan], connectionsMax: Int = 1,
        _ controller: SetController = SetController()
    ) throws {
        let setups = plans.map {
            AdvertisingSetup(plan: $0, interval: AdvertisingInterval(steps: 160))
        }
        try self.init(
            PeripheralConfiguration(
                sets: setups, randomAddress: Self.deviceAddress, connectionsMax: connectionsMax),
            controller)
        start()
    }

    var isClean: Bool {
        controller.disallowed.isEmpty && controller.refusals.isEmpty && failures.isEmpty
    }
}
