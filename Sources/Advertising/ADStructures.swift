// From advertising data of any origin to AD structures with a line of text each.
public import Wire

/// One AD structure as found in advertising data.
public struct ADStructure: Equatable, Sendable {
    /// What the data means, where its layout is known.
    public enum Content: Equatable, Sendable {
        case flags(AdvertisingFlags)
        case serviceUUIDs([BluetoothUUID], complete: Bool)
        /// Octets that are not UTF-8 have become U+FFFD.
        case name(String, complete: Bool)
        /// In dBm.
        case txPower(Int8)
        case appearance(UInt16)
        case manufacturer(company: UInt16, data: [UInt8])
        case serviceData(BluetoothUUID, data: [UInt8])
        /// A beacon or data format inside service or manufacturer data.
        case beacon(Beacon)
        /// In steps of 1.25 ms; 0xFFFF is no specific value.
        case connectionIntervalRange(minimum: UInt16, maximum: UInt16)
        /// A type whose layout is not known here.
        case other
        /// The data does not have the layout of its type.
        case malformed
        /// The advertising data ended before the `announced` octets of type and data.
        case truncated(announced: Int)
    }

    /// 0x00 where the structure ended before its type.
    public var type: ADType
    /// The octets behind the type.
    public var bytes: [UInt8]
    public var content: Content

    public init(type: ADType, bytes: [UInt8], content: Content) {
        self.type = type
        self.bytes = bytes
        self.content = content
    }
}

/// The decoder of advertising data, scan responses and extended inquiry responses.
public enum ADStructures {
    /// The AD structures of `data`, in order; never fails, whatever a peer sent.
    ///
    /// A zero length ends the data early (Core 6.0, Vol 3, Part C, 11). A structure that is longer
    /// than the data is the last one and says so.
    public static func decode(_ data: Span<UInt8>) -> [ADStructure] {
        var structures: [ADStructure] = []
        var offset = 0
        while offset < data.count, data[offset] != 0 {
            let announced = Int(data[offset])
            let start = offset + 1
            let end = min(start + announced, data.count)
            guard start < end else {
                structures.append(
                    ADStructure(
                        type: ADType(rawValue: 0), bytes: [],
                        content: .truncated(announced: announced)))
                break
            }
            let type = ADType(rawValue: data[start])
            let bytes = data.copied(start + 1..<end)
            let isWhole = end - start == announced
            structures.append(
                ADStructure(
                    type: type, bytes: bytes,
                    content: isWhole ? content(type, bytes) : .truncated(announced: announced)))
            offset = end
        }
        return structures
    }

    private static func content(_ type: ADType, _ bytes: [UInt8]) -> ADStructure.Content {
        switch type {
        case .flags:
            // More octets than one are reserved for future use, an empty one has no flags.
            .flags(AdvertisingFlags(rawValue: bytes.first ?? 0))
        case .incompleteServiceUUIDs16: uuids(bytes, width: 2, complete: false)
        case .completeServiceUUIDs16: uuids(bytes, width: 2, complete: true)
        case .incompleteServiceUUIDs32: uuids(bytes, width: 4, complete: false)
        case .completeServiceUUIDs32: uuids(bytes, width: 4, complete: true)
        case .incompleteServiceUUIDs128: uuids(bytes, width: 16, complete: false)
        case .completeServiceUUIDs128: uuids(bytes, width: 16, complete: true)
        case .shortenedLocalName: .name(String(decoding: bytes, as: UTF8.self), complete: false)
        case .completeLocalName: .name(String(decoding: bytes, as: UTF8.self), complete: true)
        case .txPowerLevel:
            bytes.count == 1 ? .txPower(Int8(bitPattern: bytes[0])) : .malformed
        case .appearance: bytes.count == 2 ? .appearance(bytes.span.uint16(at: 0)) : .malformed
        case .peripheralConnectionIntervalRange:
            bytes.count == 4
                ? .connectionIntervalRange(
                    minimum: bytes.span.uint16(at: 0), maximum: bytes.span.uint16(at: 2))
                : .malformed
        case .serviceData16:
            BeaconFormat.beacon(type, bytes).map { .beacon($0) } ?? serviceData(bytes, width: 2)
        case .serviceData32: serviceData(bytes, width: 4)
        case .serviceData128: serviceData(bytes, width: 16)
        case .manufacturerSpecificData:
            BeaconFormat.beacon(type, bytes).map { .beacon($0) } ?? manufacturer(bytes)
        default: .other
        }
    }

    private static func uuids(
        _ bytes: [UInt8], width: Int, complete: Bool
    ) -> ADStructure.Content {
        guard bytes.count.isMultiple(of: width) else { return .malformed }
        let uuids = stride(from: 0, to: bytes.count, by: width).compactMap {
            BluetoothUUID(littleEndian: bytes.span.extracting($0..<$0 + width))
        }
        return .serviceUUIDs(uuids, complete: complete)
    }

    private static func serviceData(_ bytes: [UInt8], width: Int) -> ADStructure.Content {
        guard bytes.count >= width,
            let uuid = BluetoothUUID(littleEndian: bytes.span.extracting(0..<width))
        else { return .malformed }
        return .serviceData(uuid, data: Array(bytes[width...]))
    }

    private static func manufacturer(_ bytes: [UInt8]) -> ADStructure.Content {
        guard bytes.count >= 2 else { return .malformed }
        return .manufacturer(company: bytes.span.uint16(at: 0), data: Array(bytes[2...]))
    }
}
