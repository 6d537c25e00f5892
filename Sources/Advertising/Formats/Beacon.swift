// What one beacon says: the values of its format's fields, to octets and back.
import Wire

/// A field and what it holds.
public struct BeaconItem: Equatable, Sendable {
    public let field: BeaconField
    public var value: BeaconValue

    public init(_ field: BeaconField, _ value: BeaconValue) {
        self.field = field
        self.value = value
    }
}

/// One beacon.
public struct Beacon: Equatable, Sendable {
    public let format: BeaconFormat
    /// All fields, then the objects that are there, in wire order.
    public var items: [BeaconItem]
    /// What encrypts the items; nil for a beacon in the clear.
    public var key: BeaconKey?

    /// Every field as it is without a word of the profile.
    public init(_ format: BeaconFormat) {
        self.format = format
        items = format.fields.map { BeaconItem($0, $0.initial ?? $0.zero) }
    }

    /// Reads the data of an AD structure; nil where it is no beacon of the format. What is read is
    /// written to the same octets.
    init?(_ format: BeaconFormat, _ bytes: [UInt8]) {
        guard bytes.starts(with: format.prefix) else { return nil }
        var reader = BeaconReader(bytes: bytes, offset: format.prefix.count)
        self.format = format
        items = []
        for (index, field) in format.fields.enumerated() {
            let behind = format.fields[(index + 1)...].reduce(0) { $0 + $1.octetsMin }
            guard let value = reader.value(of: field, reserving: behind) else { return nil }
            items.append(BeaconItem(field, value))
        }
        while reader.offset < bytes.count, !format.objects.isEmpty {
            let start = reader.offset
            guard let field = format.objects.first(where: { $0.tag == bytes[start] }),
                let value = reader.tagged(field)
            else {
                // Without the object's length nothing behind it can be read, and without one that
                // can be read a format of nothing else is none.
                if items.isEmpty { return nil }
                items.append(BeaconItem(.unread, .octets(Array(bytes[start...]))))
                reader.offset = bytes.count
                break
            }
            items.append(BeaconItem(field, value))
        }
        guard reader.offset == bytes.count, octets == bytes, !items.isEmpty else { return nil }
    }

    /// The data of the AD structure behind its type; encrypted beacons have what `seal` made last.
    public var octets: [UInt8] {
        guard let key else { return format.prefix + itemOctets }
        return format.prefix + (key.sealed ?? BeaconKey.unsealed(itemOctets))
    }

    /// The items' octets in the clear.
    var itemOctets: [UInt8] {
        var bytes: [UInt8] = []
        for item in items { item.append(to: &bytes) }
        return bytes
    }
}

extension BeaconField {
    /// Octets behind an object that is not known.
    static let unread = BeaconField(
        "unread", .octets(0...AdvertisingDataLimits.structureDataOctets))

    /// What stands for a value that is still to come.
    public var zero: BeaconValue {
        switch kind {
        case .fixed, .typed: .absent
        case .number(let number):
            .number(min(max(0, number.range.lowerBound), number.range.upperBound))
        case .boolean: .boolean(false)
        case .words(let words): .word(words.first?.code ?? 0)
        case .company: .company(0)
        case .uuid: .uuid(BluetoothUUID(high: 0, low: 0))
        case .address: .address(DeviceAddress())
        case .octets(let range): .octets([UInt8](repeating: 0, count: range.lowerBound))
        case .text, .counted, .url: .octets([])
        }
    }

    /// How many octets it has at least.
    var octetsMin: Int {
        switch kind {
        case .fixed(let octets): octets.count
        case .number(let number): number.isShared ? 0 : number.octets
        case .boolean, .words, .counted: 1
        case .company: 2
        case .uuid: 16
        case .address: 6
        case .octets(let range): range.lowerBound
        case .text, .url, .typed: 0
        }
    }
}

extension BeaconItem {
    /// Appends the item's octets, its tag first.
    fileprivate func append(to bytes: inout [UInt8]) {
        if let tag = field.tag { bytes.append(tag) }
        switch (field.kind, value) {
        case (.fixed(let octets), _): bytes += octets
        case (.number(let number), .number(let value)): append(number, value, to: &bytes)
        case (.number(let number), _): append(number, nil, to: &bytes)
        case (.boolean(let no, let yes), let value):
            bytes.append(value == .boolean(true) ? yes : no)
        case (.words, .word(let code)): bytes.append(code)
        case (.company, .company(let company)): bytes += BluetoothUUID(company).littleEndian
        case (.uuid, .uuid(let uuid)): bytes += uuid.fullLittleEndian.reversed()
        case (.address(let isBigEndian), .address(let address)):
            let octets = (0..<6).map {
                UInt8(truncatingIfNeeded: address.littleEndian >> UInt64(8 * $0))
            }
            bytes += isBigEndian ? octets.reversed() : octets
        case (.counted, .octets(let octets)):
            bytes += [UInt8(clamping: octets.count)] + octets.prefix(255)
        case (.typed(let type), .octets(let octets)):
            // Four bits count them.
            bytes += [UInt8(min(octets.count, 15)) << 4 | type] + octets.prefix(15)
        case (.octets, .octets(let octets)), (.text, .octets(let octets)),
            (.url, .octets(let octets)):
            bytes += octets
        case (.typed, _): break
        case (.words, _), (.company, _), (.uuid, _), (.address, _), (.octets, _), (.text, _),
            (.counted, _), (.url, _):
            // A value of another kind leaves the place empty.
            bytes += [UInt8](repeating: 0, count: field.octetsMin)
        }
    }

    private func append(_ number: BeaconNumber, _ value: Double?, to bytes: inout [UInt8]) {
        let start = number.isShared ? bytes.count - number.octets : bytes.count
        if !number.isShared { bytes += [UInt8](repeating: 0, count: number.octets) }
        guard start >= 0 else { return }
        number.put(number.integer(of: number.steps(of: value)), into: &bytes, at: start)
    }
}

/// Reads fields one behind another.
private struct BeaconReader {
    let bytes: [UInt8]
    var offset: Int

    /// The object behind its tag.
    mutating func tagged(_ field: BeaconField) -> BeaconValue? {
        let start = offset
        offset += 1
        if let value = value(of: field, reserving: 0) { return value }
        offset = start
        return nil
    }

    /// - Parameter count: how many octets the fields behind it need.
    mutating func value(of field: BeaconField, reserving count: Int) -> BeaconValue? {
        switch field.kind {
        case .fixed(let octets): return take(octets.count).flatMap { $0 == octets ? .absent : nil }
        case .number(let number): return self.number(number)
        case .boolean(let no, let yes):
            guard let octet = take(1)?.first, octet == no || octet == yes else { return nil }
            return .boolean(octet == yes)
        case .words(let words):
            guard let octet = take(1)?.first, words.contains(where: { $0.code == octet }) else {
                return nil
            }
            return .word(octet)
        case .company: return take(2).map { .company($0.span.uint16(at: 0)) }
        case .uuid:
            guard let octets = take(16) else { return nil }
            let reversed = [UInt8](octets.reversed())
            return BluetoothUUID(littleEndian: reversed.span).map { .uuid($0) }
        case .address(let isBigEndian):
            guard let octets = take(6) else { return nil }
            let ordered = isBigEndian ? octets : octets.reversed()
            return .address(
                DeviceAddress(littleEndian: ordered.reduce(0) { $0 << 8 | UInt64($1) }))
        case .octets(let range):
            let there = min(bytes.count - offset - count, range.upperBound)
            return there < range.lowerBound ? nil : take(there).map { .octets($0) }
        case .text, .url: return take(bytes.count - offset - count).map { .octets($0) }
        case .counted:
            return take(1)?.first.flatMap { take(Int($0)) }.map { .octets($0) }
        case .typed(let type):
            guard offset < bytes.count, bytes[offset] & 0x0F == type else { return .absent }
            return take(1)?.first.flatMap { take(Int($0 >> 4)) }.map { .octets($0) }
        }
    }

    private mutating func number(_ number: BeaconNumber) -> BeaconValue? {
        if number.isShared {
            offset -= number.octets
            guard offset >= 0 else { return nil }
        }
        guard offset + number.octets <= bytes.count else { return nil }
        let steps = number.steps(in: number.integer(bytes, at: offset))
        offset += number.octets
        return number.value(ofSteps: steps).map { .number($0) } ?? .absent
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }
}
