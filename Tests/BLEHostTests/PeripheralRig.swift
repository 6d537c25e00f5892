// A peripheral host wired to a scripted controller, in virtual time.
import BLEHost
import GATT
import HCI
import SansIO
import Testing
import Wire

/// Host and controller; every packet is delivered before a call returns.
struct PeripheralRig {
    var host: PeripheralHost
    var controller = ScriptedController()
    var now = Instant.zero
    var events: [PeripheralEvent] = []
    private var out = ByteBlock()

    /// A device at work on a controller without the extended advertising commands.
    static func legacy(connectionsMax: Int = 1) throws -> PeripheralRig {
        var rig = try PeripheralRig(connectionsMax: connectionsMax)
        rig.controller.supportedCommands[36] = 0
        rig.start()
        rig.controller.received = []
        return rig
    }

    /// A readable value of `value` octets that can be written and notified, at handle 3; CCCD at 4.
    static func table(_ value: [UInt8]) throws -> AttributeTable {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1234))
        try builder.addCharacteristic(
            BluetoothUUID(0x5678), properties: [.read, .write, .notify],
            permissions: Permissions(read: .open, write: .open, notify: .open), value: value,
            maximumLength: 512)
        try builder.addDescriptor(
            BluetoothUUID(0x2902), permissions: Permissions(read: .open, write: .open),
            kind: .clientConfiguration)
        return try builder.build()
    }

    init(
        value: [UInt8] = [1, 2, 3], connectionsMax: Int = 1,
        type: AdvertisingPlan.EventType = .connectable, mtu: UInt16 = 247
    ) throws {
        var settings = ServerSettings()
        settings.mtu = mtu
        host = PeripheralHost(
            PeripheralConfiguration(
                plan: AdvertisingPlan(
                    type: type, ownAddressType: .randomDevice, data: [2, 1, 6], scanResponse: []),
                interval: AdvertisingInterval(steps: 160),
                randomAddress: DeviceAddress(littleEndian: 0xC0FF_EE00_0001),
                connectionsMax: connectionsMax),
            server: GATTServer(table: try Self.table(value), settings: settings))
    }

    mutating func start() {
        perform { host, now, out, emit in host.start(at: now, sending: &out, emit: &emit) }
    }

    mutating func receive(_ packets: [UInt8]...) {
        for packet in packets { receive(packet) }
    }

    private mutating func receive(_ packet: [UInt8]) {
        perform { host, now, out, emit in
            host.receive(packet.span, at: now, sending: &out, emit: &emit)
        }
    }

    mutating func perform(
        _ action: (
            inout PeripheralHost, Instant, inout ByteBlock, inout Outputs<PeripheralEvent>
        ) -> Void
    ) {
        var emit = Outputs<PeripheralEvent>()
        action(&host, now, &out, &emit)
        host.settle(at: now, sending: &out)
        var waiting = controller.answer(out.bytes)
        out.removeAll()
        while !waiting.isEmpty {
            let packet = waiting.removeFirst()
            host.receive(packet.span, at: now, sending: &out, emit: &emit)
            host.settle(at: now, sending: &out)
            waiting += controller.answer(out.bytes)
            out.removeAll()
        }
        events += emit.elements
    }

    /// Lets time pass, deadline by deadline.
    mutating func wait(_ span: TimeSpan) {
        let end = now + span
        while let deadline = host.deadline, deadline <= end {
            now = max(now, deadline)
            perform { host, now, out, emit in host.expire(at: now, sending: &out, emit: &emit) }
        }
        now = end
    }

    var notes: [String] {
        events.compactMap { if case .note(let note) = $0 { note.description } else { nil } }
    }

    var failures: [ControllerFailure] {
        events.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }

    var advertised: [AdvertisingInterval] {
        events.compactMap {
            if case .advertising(let interval, _, _) = $0 { interval } else { nil }
        }
    }
}
