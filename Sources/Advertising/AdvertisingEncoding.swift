// From the profile's advertising entries to octets, with an itemised budget.
import Wire

/// Limits of advertising data that do not depend on the controller.
public enum AdvertisingDataLimits {
    /// AdvData and ScanRspData of legacy PDUs (Core 6.0, Vol 6, Part B, 2.3.1.1).
    public static let legacyDataOctets = 31
    /// What one AD structure can hold beside its length and type: the length is one octet and
    /// counts the type (Core 6.0, Vol 3, Part C, 11).
    public static let structureDataOctets = 254
}

extension AdvertisingStructure {
    /// Appends the AD structures of this entry. Data over 254 octets is cut, where `octetCount` is
    /// not, so that a budget refuses it first.
    public func encode(into bytes: inout [UInt8]) {
        for element in elements {
            let data = element.data.prefix(AdvertisingDataLimits.structureDataOctets)
            bytes.append(UInt8(data.count + 1))
            bytes.append(element.type.rawValue)
            bytes.append(contentsOf: data)
        }
    }

    /// Octets on the air, lengths and types included.
    public var octetCount: Int { elements.reduce(0) { $0 + $1.data.count + 2 } }

    /// The AD structures by name with their octets, lengths and types included, for budgets:
    /// `flags 3, complete-name 13, service-uuid128 18`.
    public var parts: [(label: String, octets: Int)] {
        elements.map { ($0.label, $0.data.count + 2) }
    }

    /// One AD structure before it is written.
    private struct Element {
        var label: String
        var type: ADType
        var data: [UInt8]
    }

    private var elements: [Element] {
        switch self {
        case .flags(let flags):
            [Element(label: "flags", type: .flags, data: [flags.rawValue])]
        case .serviceUUIDs(let uuids, let complete):
            Self.serviceLists(uuids, complete: complete)
        case .name(let name, let complete):
            [
                Element(
                    label: complete ? "complete-name" : "shortened-name",
                    type: complete ? .completeLocalName : .shortenedLocalName,
                    data: Array(name.utf8))
            ]
        case .txPower(let level):
            [Element(label: "tx-power", type: .txPowerLevel, data: [UInt8(bitPattern: level)])]
        case .appearance(let value):
            [Element(label: "appearance", type: .appearance, data: littleEndian(value))]
        case .manufacturer(let company, let data):
            [
                Element(
                    label: "manufacturer", type: .manufacturerSpecificData,
                    data: littleEndian(company) + data)
            ]
        case .serviceData(let uuid, let data):
            [Self.serviceData(uuid, data)]
        case .beacon(let beacon):
            beacon.format.preamble.flatMap(\.elements) + [
                Element(label: beacon.format.name, type: beacon.format.type, data: beacon.octets)
            ]
        case .raw(let type, let data):
            [Element(label: "raw-\(Hex.code(type))", type: ADType(rawValue: type), data: data)]
        }
    }

    /// One list for each width: a packet has at most one of each (Supplement, Part A, 1.1.1).
    private static func serviceLists(_ uuids: [BluetoothUUID], complete: Bool) -> [Element] {
        let lists: [(BluetoothUUID.Width, String, complete: ADType, incomplete: ADType)] = [
            (.short, "service-uuid16", .completeServiceUUIDs16, .incompleteServiceUUIDs16),
            (.medium, "service-uuid32", .completeServiceUUIDs32, .incompleteServiceUUIDs32),
            (.full, "service-uuid128", .completeServiceUUIDs128, .incompleteServiceUUIDs128),
        ]
        return lists.compactMap { width, label, completeType, incompleteType in
            let ofWidth = uuids.filter { $0.width == width }
            guard !ofWidth.isEmpty else { return nil }
            return Element(
                label: label, type: complete ? completeType : incompleteType,
                data: ofWidth.flatMap(\.littleEndian))
        }
    }

    private static func serviceData(_ uuid: BluetoothUUID, _ data: [UInt8]) -> Element {
        let octets = uuid.littleEndian + data
        return switch uuid.width {
        case .short: Element(label: "service-data16", type: .serviceData16, data: octets)
        case .medium: Element(label: "service-data32", type: .serviceData32, data: octets)
        case .full: Element(label: "service-data128", type: .serviceData128, data: octets)
        }
    }
}

/// The octets of advertising data or a scan response: all entries in their order.
public func advertisingBytes(_ structures: [AdvertisingStructure]) -> [UInt8] {
    var bytes: [UInt8] = []
    for structure in structures { structure.encode(into: &bytes) }
    return bytes
}

private func littleEndian(_ value: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
}
