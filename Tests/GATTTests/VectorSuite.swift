// Reads a file of databases and cases, as other servers' suites have them.
import Foundation
import GATT
import Testing
import Wire

struct VectorSuite {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let database: String
        /// Whether CCCDs are ordinary values.
        let hasPlainCCCD: Bool
        var transcript = ""

        var testDescription: String { name }
    }

    struct Row {
        let handle: UInt16
        let type: BluetoothUUID
        let words: [Substring]
        let value: [UInt8]
    }

    var databases: [String: [Row]] = [:]
    var cases: [Case] = []

    init(_ name: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Vectors/\(name).txt")
        var database = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words.first {
            case "#": continue
            case "database": database = String(words[1])
            case "attribute":
                databases[database, default: []].append(try Self.row(words))
            case "case":
                let isPlain = words[2] == "plain-cccd"
                cases.append(
                    Case(
                        name: words[(isPlain ? 3 : 2)...].joined(separator: " "),
                        database: String(words[1]), hasPlainCCCD: isPlain))
            default: cases[cases.count - 1].transcript += line + "\n"
            }
        }
    }

    struct Malformed: Error { let line: String }

    private static func row(_ words: [Substring]) throws -> Row {
        guard let handle = UInt16(words[1].dropFirst(2), radix: 16),
            let type = UInt16(words[2], radix: 16).map({ BluetoothUUID($0) })
                ?? BluetoothUUID(words[2]),
            let value = Hex.bytes(words.count > 4 ? words[4] : "")
        else { throw Malformed(line: words.joined(separator: " ")) }
        return Row(handle: handle, type: type, words: words[3].split(separator: ","), value: value)
    }

    /// The table of a database, laid out by the builder.
    func table(of test: Case, growth: Bool) throws -> AttributeTable {
        var builder = AttributeTableBuilder(growth: growth)
        var declaration: Row?
        for row in databases[test.database] ?? [] {
            switch row.type {
            case GATTType.primaryService, GATTType.secondaryService:
                let end = row.words.first { $0.hasPrefix("end=0x") }
                    .flatMap { UInt16($0.dropFirst(6), radix: 16) }
                guard let uuid = BluetoothUUID(littleEndian: row.value.span) else { continue }
                try builder.addService(
                    uuid, isSecondary: row.type == GATTType.secondaryService,
                    handle: row.handle, end: end)
            case GATTType.include:
                try builder.addInclude(of: row.value.span.uint16(at: 0), handle: row.handle)
            case GATTType.characteristic: declaration = row
            default:
                if let characteristic = declaration {
                    declaration = nil
                    try builder.addCharacteristic(
                        row.type, properties: .init(rawValue: characteristic.value[0]),
                        handle: characteristic.handle, valueHandle: row.handle,
                        permissions: permissions(of: row, sending: characteristic.value[0]),
                        value: row.value)
                } else {
                    let isManaged = row.type == GATTType.clientConfiguration && !test.hasPlainCCCD
                    try builder.addDescriptor(
                        row.type, handle: row.handle, permissions: permissions(of: row, sending: 0),
                        value: row.value, kind: isManaged ? .clientConfiguration : .value)
                }
            }
        }
        return try builder.build()
    }

    private func permissions(of row: Row, sending properties: UInt8) -> Permissions {
        var permissions = Permissions(
            read: access(row.words, "read"), write: access(row.words, "write"))
        permissions.writeCommand = permissions.write
        if properties & 0x10 != 0 { permissions.notify = .open }
        if properties & 0x20 != 0 { permissions.indicate = .open }
        return permissions
    }

    private func access(_ words: [Substring], _ operation: String) -> Access {
        if words.contains("\(operation)_authen") { return .authenticated }
        if words.contains("\(operation)_encrypt") { return .encrypted }
        if words.contains("\(operation)_author") { return Access(.open, authorization: true) }
        return words.contains(Substring(operation)) ? .open : .refused
    }
}
