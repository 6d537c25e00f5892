// Reads a record from octets, checking every bound.

/// A visitor that fills a record's fields from at most 256 octets, without allocating.
///
/// HCI parameters are at most 255 octets (Core 6.0, Vol 4, Part E, 5.4), SMP and LE signalling
/// payloads are shorter; longer input is refused as `invalid`.
public struct FieldDecoder: FieldVisitor {
    /// The most octets a record may have: HCI's parameter length is one octet.
    public static let octetsMax = 256

    @usableFromInline var storage = InlineArray<256, UInt8>(repeating: 0)
    @usableFromInline let count: Int
    @usableFromInline var offset = 0

    public init(_ bytes: Span<UInt8>) throws(WireError) {
        guard bytes.count <= Self.octetsMax else { throw .invalid(field: "record") }
        count = bytes.count
        for index in 0..<bytes.count { storage[index] = bytes[index] }
    }

    /// Octets not yet read.
    public var remaining: Int { count - offset }

    private mutating func take(_ octets: Int, _ name: StaticString) throws(WireError) -> Int {
        guard octets >= 0 else { throw .invalid(field: "\(name)") }
        guard octets <= remaining else {
            throw .truncated(field: "\(name)", needed: octets, available: remaining)
        }
        defer { offset += octets }
        return offset
    }

    private mutating func integer(_ octets: Int, _ name: StaticString) throws(WireError) -> UInt64 {
        let start = try take(octets, name)
        var value: UInt64 = 0
        for index in 0..<octets { value |= UInt64(storage[start + index]) &<< UInt64(8 * index) }
        return value
    }

    public mutating func field(_ name: StaticString, _ value: inout UInt8) throws(WireError) {
        value = storage[try take(1, name)]
    }

    public mutating func field(_ name: StaticString, _ value: inout Int8) throws(WireError) {
        value = Int8(bitPattern: storage[try take(1, name)])
    }

    public mutating func field(_ name: StaticString, _ value: inout UInt16) throws(WireError) {
        value = UInt16(truncatingIfNeeded: try integer(2, name))
    }

    public mutating func field24(_ name: StaticString, _ value: inout UInt32) throws(WireError) {
        value = UInt32(truncatingIfNeeded: try integer(3, name))
    }

    public mutating func field(_ name: StaticString, _ value: inout UInt32) throws(WireError) {
        value = UInt32(truncatingIfNeeded: try integer(4, name))
    }

    public mutating func field(_ name: StaticString, _ value: inout UInt64) throws(WireError) {
        value = try integer(8, name)
    }

    public mutating func field(_ name: StaticString, _ value: inout DeviceAddress) throws(WireError)
    {
        value = DeviceAddress(littleEndian: try integer(6, name))
    }

    public mutating func field(
        _ name: StaticString, _ value: inout [UInt8], count: Int
    ) throws(WireError) {
        let start = try take(count, name)
        value.removeAll(keepingCapacity: true)
        for index in start..<start + count { value.append(storage[index]) }
    }

    public mutating func rest(_ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        try field(name, &value, count: remaining)
    }

    public mutating func list<Element: Record>(
        _ name: StaticString, _ value: inout [Element], count: Int
    ) throws(WireError) {
        guard count >= 0 else { throw .invalid(field: "\(name)") }
        value.removeAll(keepingCapacity: true)
        for _ in 0..<count {
            var element = Element()
            let before = offset
            try element.visit(&self)
            // A list of empty records would let a count of 255 pass without octets.
            guard offset > before else { throw .invalid(field: "\(name)") }
            value.append(element)
        }
    }
}

/// What to do with octets behind the last field.
public enum LeftoverRule: Sendable {
    /// ATT, SMP and L2CAP signalling: the PDU is wrong.
    case refuse
    /// HCI: real controllers append octets; they are ignored.
    case ignore
}

extension Record {
    /// Reads the record from `bytes`.
    public init(decoding bytes: Span<UInt8>, leftover rule: LeftoverRule = .refuse)
        throws(WireError)
    {
        self.init()
        var decoder = try FieldDecoder(bytes)
        try visit(&decoder)
        if rule == .refuse, decoder.remaining > 0 { throw .leftover(count: decoder.remaining) }
    }

    /// The record's octets, for tests and rare packets.
    public var encoded: [UInt8] {
        var block = ByteBlock(capacity: 64)
        block.append(record: self)
        return block.bytes
    }
}
