// The database that the transcripts of this folder speak to.
import GATT
import Wire

/// Handles: `ro` 0x0012, `rw` 0x0014, `wo` 0x0016, `lg` 0x0018 (100 octets), `nt` 0x001A (CCCD
/// 0x001B), `in` 0x001D (0x001E), `ni` 0x0020 (0x0021); secured ones from 0x0030 on.
enum TestDatabase {
    static let service128 = BluetoothUUID("5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10")
    static let value128 = BluetoothUUID("5A1D0002-0E1E-4C1B-9D56-3E2F0C9B7A10")
    static let descriptor128 = BluetoothUUID("5A1D0003-0E1E-4C1B-9D56-3E2F0C9B7A10")

    static func server(_ settings: ServerSettings = ServerSettings()) throws -> GATTServer {
        GATTServer(table: try table(), settings: settings)
    }

    static func table() throws -> AttributeTable {
        var builder = AttributeTableBuilder()
        try addGenericAttribute(to: &builder)
        try addOpen(to: &builder)
        try addSecured(to: &builder)
        try addWide(to: &builder)
        return try builder.build()
    }

    private static func addGenericAttribute(to builder: inout AttributeTableBuilder) throws {
        try builder.addService(BluetoothUUID(0x1801), handle: 0x0001)
        try builder.addCharacteristic(
            GATTType.serviceChanged, properties: .indicate,
            permissions: Permissions(indicate: .open), kind: .serviceChanged)
        try addCCCD(to: &builder)
        try builder.addCharacteristic(
            GATTType.clientSupportedFeatures, properties: [.read, .write],
            permissions: Permissions(read: .open, write: .open), value: [0],
            kind: .clientSupportedFeatures)
        try builder.addCharacteristic(
            GATTType.databaseHash, properties: .read, permissions: Permissions(read: .open),
            value: Array(0x10...0x1F), kind: .databaseHash)
    }

    private static func addOpen(to builder: inout AttributeTableBuilder) throws {
        try builder.addService(BluetoothUUID(0xA000), handle: 0x0010, end: 0x002F)
        try builder.addCharacteristic(
            BluetoothUUID(0xB000), properties: .read, permissions: Permissions(read: .open),
            value: [1, 2, 3])
        try builder.addCharacteristic(
            BluetoothUUID(0xB001), properties: [.read, .write],
            permissions: Permissions(read: .open, write: .open), value: [0xAA])
        try builder.addCharacteristic(
            BluetoothUUID(0xB002), properties: .write, permissions: Permissions(write: .open),
            value: [0x5E, 0xC3, 0xE7])
        try builder.addCharacteristic(
            BluetoothUUID(0xB003), properties: .read, permissions: Permissions(read: .open),
            value: Array(0..<100))
        try builder.addCharacteristic(
            BluetoothUUID(0xB004), properties: .notify, permissions: Permissions(notify: .open))
        try addCCCD(to: &builder)
        try builder.addCharacteristic(
            BluetoothUUID(0xB005), properties: .indicate, permissions: Permissions(indicate: .open))
        try addCCCD(to: &builder)
        try builder.addCharacteristic(
            BluetoothUUID(0xB006), properties: [.notify, .indicate],
            permissions: Permissions(notify: .open, indicate: .open))
        try addCCCD(to: &builder)
        // Of the type of `rw`, with a longer value.
        try builder.addCharacteristic(
            BluetoothUUID(0xB001), properties: .read, permissions: Permissions(read: .open),
            value: [1, 2])
        try builder.addCharacteristic(
            BluetoothUUID(0xB007), properties: [.read, .writeWithoutResponse],
            permissions: Permissions(read: .open, writeCommand: .open), value: [0])
    }

    private static func addSecured(to builder: inout AttributeTableBuilder) throws {
        try builder.addService(BluetoothUUID(0xA001), isSecondary: true, handle: 0x0030)
        let levels: [(UInt16, Access)] = [
            (0xB010, .encrypted), (0xB011, .authenticated), (0xB012, .secure),
            (0xB013, Access(.open, authorization: true)),
            (0xB014, Access(.encrypted, keySizeMin: 16)),
        ]
        for (uuid, access) in levels {
            try builder.addCharacteristic(
                BluetoothUUID(uuid), properties: [.read, .write, .notify],
                permissions: Permissions(read: access, write: access, notify: access),
                value: [0x5E, UInt8(uuid & 0xFF)])
            try addCCCD(to: &builder)
        }
        // Of the type of the encrypted one, behind it.
        try builder.addCharacteristic(
            BluetoothUUID(0xB010), properties: .read, permissions: Permissions(read: .open),
            value: [0x07, 0x08])
        // One type, the second value of three not readable by all.
        for (access, value) in [(Access.open, UInt8(1)), (.encrypted, 0x5E), (.open, 3)] {
            try builder.addCharacteristic(
                BluetoothUUID(0xB015), properties: .read, permissions: Permissions(read: access),
                value: [value])
        }
    }

    private static func addWide(to builder: inout AttributeTableBuilder) throws {
        guard let service128, let value128, let descriptor128 else { return }
        try builder.addService(service128, handle: 0x0050)
        try builder.addInclude(of: 0x0030)
        try builder.addInclude(of: 0x0060)
        try builder.addCharacteristic(
            value128, properties: .read, permissions: Permissions(read: .open), value: [0x12])
        try builder.addDescriptor(
            GATTType.userDescription, permissions: Permissions(read: .open), value: [0x41])
        try builder.addDescriptor(
            descriptor128, permissions: Permissions(read: .open), value: [0x42])
        try builder.addService(service128, handle: 0x0060)
        try builder.addService(BluetoothUUID(0xA000), handle: 0x0070)
        try builder.addService(BluetoothUUID(0xA002), handle: 0x0080)
        for value in UInt8(0)..<10 {
            try builder.addCharacteristic(
                value128, properties: .read, permissions: Permissions(read: .open), value: [value])
        }
    }

    private static func addCCCD(to builder: inout AttributeTableBuilder) throws {
        try builder.addDescriptor(
            GATTType.clientConfiguration, permissions: Permissions(read: .open, write: .open),
            value: [0, 0], kind: .clientConfiguration)
    }
}
