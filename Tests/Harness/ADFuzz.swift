// Advertising data of any origin through the decoder.
import Advertising
import Wire

enum ADFuzz {
    /// Each kind of structure once.
    static func seeds() -> [[UInt8]] {
        let structures: [AdvertisingStructure] = [
            .flags([.generalDiscoverable, .noBREDR]),
            .serviceUUIDs([BluetoothUUID(0x180F), BluetoothUUID(high: 1, low: 2)], complete: true),
            .serviceUUIDs([BluetoothUUID(medium: 0x1234_5678)], complete: false),
            .name("Sample", complete: true), .name("Sam", complete: false), .txPower(-4),
            .appearance(0x0300), .manufacturer(company: 0x0059, data: [1, 2]),
            .serviceData(BluetoothUUID(0x180F), data: [100]),
            .serviceData(BluetoothUUID(medium: 0x1234_5678), data: []),
            .serviceData(BluetoothUUID(high: 1, low: 2), data: [3]),
            .raw(type: 0x12, data: [6, 0, 12, 0]),
        ]
        return structures.map { advertisingBytes([$0]) } + [advertisingBytes(structures)]
    }

    static func run(_ bytes: [UInt8]) {
        var encoded: [UInt8] = []
        for structure in ADStructures.decode(bytes.span) {
            let text = structure.description
            precondition(!text.isEmpty, "a structure has a line")
            precondition(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a line is one line")
            if case .truncated(let announced) = structure.content {
                encoded.append(UInt8(announced))
                if announced > 0, encoded.count < bytes.count {
                    encoded.append(structure.type.rawValue)
                }
                encoded += structure.bytes
                precondition(encoded == bytes, "a truncated structure is the last one")
            } else {
                encoded.append(UInt8(structure.bytes.count + 1))
                encoded.append(structure.type.rawValue)
                encoded += structure.bytes
            }
        }
        precondition(bytes.starts(with: encoded), "structures encode to the octets they came from")
        let rest = bytes.dropFirst(encoded.count)
        precondition(rest.isEmpty || rest.first == 0, "only a zero length ends the data early")
    }
}
