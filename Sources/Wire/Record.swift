// One declaration of a wire record gives decode, encode, length and a readable dump.

/// A record on the wire: it lists its fields once, in order, to whichever visitor comes.
///
/// The same `visit` decodes (the visitor writes the fields), encodes and dumps (it reads them).
/// Counts
/// that precede lists are fields like any other: visit the count, then the list with that count.
public protocol Record: Equatable, Sendable {
    /// A value with every field at rest, to decode into.
    init()
    /// Shows each field to `visitor`, in wire order.
    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError)
}

/// A record without fields.
public struct NoFields: Record {
    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// What a record shows its fields to: a decoder, an encoder or a dumper.
public protocol FieldVisitor {
    mutating func field(_ name: StaticString, _ value: inout UInt8) throws(WireError)
    mutating func field(_ name: StaticString, _ value: inout Int8) throws(WireError)
    mutating func field(_ name: StaticString, _ value: inout UInt16) throws(WireError)
    /// Three octets; the upper eight bits of `value` are zero.
    mutating func field24(_ name: StaticString, _ value: inout UInt32) throws(WireError)
    mutating func field(_ name: StaticString, _ value: inout UInt32) throws(WireError)
    mutating func field(_ name: StaticString, _ value: inout UInt64) throws(WireError)
    mutating func field(_ name: StaticString, _ value: inout DeviceAddress) throws(WireError)
    /// Exactly `count` octets. An encoder pads with zeros or cuts.
    mutating func field(_ name: StaticString, _ value: inout [UInt8], count: Int) throws(WireError)
    /// All octets that are left.
    mutating func rest(_ name: StaticString, _ value: inout [UInt8]) throws(WireError)
    /// `count` records one after another.
    mutating func list<Element: Record>(
        _ name: StaticString, _ value: inout [Element], count: Int
    ) throws(WireError)
}

extension FieldVisitor {
    /// A code of one octet that a later specification may extend.
    public mutating func field<Code: RawRepresentable<UInt8> & OpenCode>(
        _ name: StaticString, _ value: inout Code
    ) throws(WireError) {
        var raw = value.rawValue
        try field(name, &raw)
        value = Code(rawValue: raw)
    }

    /// A code of two octets that a later specification may extend.
    public mutating func field<Code: RawRepresentable<UInt16> & OpenCode>(
        _ name: StaticString, _ value: inout Code
    ) throws(WireError) {
        var raw = value.rawValue
        try field(name, &raw)
        value = Code(rawValue: raw)
    }
}

/// A code that a peer or a later specification may extend: every raw value is a value of the type.
public protocol OpenCode: RawRepresentable, Hashable, Sendable {
    init(rawValue: RawValue)
}
