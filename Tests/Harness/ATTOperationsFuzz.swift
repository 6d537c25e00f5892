// Lists of operations on a GATT server with three clients: links, security, writes, time, changes.
import GATT
import SansIO
import Wire

enum ATTOperationsFuzz {
    static let handles: [UInt16] = [
        0x0000, 0x0001, 0x0003, 0x0004, 0x0006, 0x0008, 0x0012, 0x0013, 0x0014, 0x0016, 0x0017,
        0x0032, 0x0034, 0x0036, 0x0038, 0xFFF1, 0xFFF3, 0xFFF4, 0xFFFF, 0x8000,
    ]

    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var rig = ServerRig()
        for client in 0..<3 { rig.connect(client, security: .plain) }
        while !input.isEmpty {
            let operation = input.octet()
            step(operation >> 2, client: Int(operation & 3) % 3, &input, &rig)
        }
    }

    private static func step(
        _ operation: UInt8, client: Int, _ input: inout FuzzInput, _ rig: inout ServerRig
    ) {
        switch operation & 0x1F {
        case 0: rig.connect(client, security: LinkSecurity(fuzz: input.octet()))
        case 1: rig.disconnect(client)
        case 2: rig.secure(client, LinkSecurity(fuzz: input.octet()))
        case 3: rig.receive([0x02, input.octet(), input.octet() & 3], from: client)
        case 4, 5: rig.notify(handle(&input), to: client)
        case 6: rig.notifySeveral([handle(&input), handle(&input)], to: client)
        case 7: rig.server.setValue(value(&input), of: handle(&input))
        case 8: rig.pass(.seconds(Int64(input.octet() & 0x1F)))
        case 9:
            let (one, other) = (handle(&input), handle(&input))
            rig.server.databaseChanged(min(one, other)...max(one, other))
        case 10: rig.replaceTable(input.octet() & 1 == 0 ? ServerRig.table : ServerRig.otherTable)
        case 11:
            if let handle = rig.server.pendingIndication(of: client) {
                rig.notify(handle, to: client)
            }
        case 12: rig.server.forget(DeviceAddress(littleEndian: UInt64(client)))
        case 13: rig.server.restore(rig.server.bondedClients)
        default: rig.receive(pdu(operation & 0x1F, &input), from: client)
        }
    }

    private static func pdu(_ operation: UInt8, _ input: inout FuzzInput) -> [UInt8] {
        switch operation {
        case 14: [0x1E]
        case 15: [0x0A] + octets(handle(&input))
        case 16: [0x0C] + octets(handle(&input)) + octets(UInt16(input.octet()))
        case 17: [0x12] + octets(handle(&input)) + value(&input)
        case 18: [0x52] + octets(handle(&input)) + value(&input)
        case 19: [0x12] + octets(handle(&input)) + [input.octet(), input.octet()]
        case 20: [0x16] + octets(handle(&input)) + octets(UInt16(input.octet())) + value(&input)
        case 21: [0x18, input.octet() & 1]
        case 22: [0x04] + octets(handle(&input)) + octets(handle(&input))
        case 23: [0x06] + range(&input) + octets(0x2800) + value(&input)
        case 24: [0x08] + range(&input) + octets(0x2800 | UInt16(input.octet()))
        case 25: [0x10] + range(&input) + octets(0x2800 | UInt16(input.octet() & 3))
        case 26: [0x0E] + octets(handle(&input)) + octets(handle(&input))
        case 27: [0x20] + octets(handle(&input)) + octets(handle(&input))
        case 28: [0x08] + range(&input) + octets(0xB000 | UInt16(input.octet() & 3))
        case 29: [0x12, 0x06, 0x00, input.octet() & 7]
        // Long parts, which only a large MTU lets through.
        case 30:
            [0x16] + octets(handle(&input)) + octets(input.uint16() & 0x03FF)
                + Array(repeating: input.octet(), count: 230)
        default: input.octets(Int(input.octet() & 0x3F))
        }
    }

    private static func handle(_ input: inout FuzzInput) -> UInt16 {
        handles[Int(input.octet()) % handles.count]
    }

    private static func range(_ input: inout FuzzInput) -> [UInt8] {
        octets(handle(&input)) + octets(handle(&input))
    }

    private static func value(_ input: inout FuzzInput) -> [UInt8] {
        input.octets(Int(input.octet() & 0x1F))
    }

    private static func octets(_ value: UInt16) -> [UInt8] {
        [UInt8(value & 0xFF), UInt8(value >> 8)]
    }
}
