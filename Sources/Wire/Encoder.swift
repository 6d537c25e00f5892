// Writes a record's fields into a block, and shows them as text.

/// A visitor that appends a record's fields to a block.
struct FieldEncoder: FieldVisitor {
    var block: ByteBlock

    mutating func field(_ name: StaticString, _ value: inout UInt8) { block.append(value) }
    mutating func field(_ name: StaticString, _ value: inout Int8) {
        block.append(UInt8(bitPattern: value))
    }
    mutating func field(_ name: StaticString, _ value: inout UInt16) { block.append(value) }
    mutating func field24(_ name: StaticString, _ value: inout UInt32) {
        block.append(UInt16(truncatingIfNeeded: value))
        block.append(UInt8(truncatingIfNeeded: value &>> 16))
    }
    mutating func field(_ name: StaticString, _ value: inout UInt32) { block.append(value) }
    mutating func field(_ name: StaticString, _ value: inout UInt64) {
        block.append(UInt32(truncatingIfNeeded: value))
        block.append(UInt32(truncatingIfNeeded: value &>> 32))
    }
    mutating func field(_ name: StaticString, _ value: inout DeviceAddress) {
        block.append(UInt32(truncatingIfNeeded: value.littleEndian))
        block.append(UInt16(truncatingIfNeeded: value.littleEndian &>> 32))
    }
    mutating func field(_ name: StaticString, _ value: inout [UInt8], count: Int) {
        for index in 0..<max(count, 0) { block.append(index < value.count ? value[index] : 0) }
    }
    mutating func rest(_ name: StaticString, _ value: inout [UInt8]) { block.append(value) }
    mutating func list<Element: Record>(
        _ name: StaticString, _ value: inout [Element], count: Int
    ) throws(WireError) {
        for index in value.indices { try value[index].visit(&self) }
    }
}

extension ByteBlock {
    /// Appends the octets of `record`.
    public mutating func append(record: some Record) {
        var copy = record
        // The block is moved through the encoder, so that its memory stays its own.
        var encoder = FieldEncoder(block: ByteBlock(capacity: 0))
        swap(&encoder.block, &self)
        // An encoder never throws; the visitor's signature serves the decoder.
        do { try copy.visit(&encoder) } catch {}
        swap(&encoder.block, &self)
    }
}

/// A visitor that lists a record's fields as `name value` pairs.
struct FieldDumper: FieldVisitor {
    var parts: [String] = []

    mutating func field(_ name: StaticString, _ value: inout UInt8) { add(name, "\(value)") }
    mutating func field(_ name: StaticString, _ value: inout Int8) { add(name, "\(value)") }
    mutating func field(_ name: StaticString, _ value: inout UInt16) { add(name, Hex.code(value)) }
    mutating func field24(_ name: StaticString, _ value: inout UInt32) { add(name, "\(value)") }
    mutating func field(_ name: StaticString, _ value: inout UInt32) { add(name, "\(value)") }
    mutating func field(_ name: StaticString, _ value: inout UInt64) {
        var block = ByteBlock(capacity: 8)
        block.append(UInt32(truncatingIfNeeded: value))
        block.append(UInt32(truncatingIfNeeded: value &>> 32))
        add(name, Hex.string(block.bytes))
    }
    mutating func field(_ name: StaticString, _ value: inout DeviceAddress) {
        add(name, value.description)
    }
    mutating func field(_ name: StaticString, _ value: inout [UInt8], count: Int) {
        add(name, Hex.string(value))
    }
    mutating func rest(_ name: StaticString, _ value: inout [UInt8]) {
        add(name, Hex.string(value))
    }
    mutating func list<Element: Record>(
        _ name: StaticString, _ value: inout [Element], count: Int
    ) throws(WireError) {
        let elements = value.map { "{" + $0.dump + "}" }
        add(name, "[" + elements.joined(separator: ", ") + "]")
    }

    private mutating func add(_ name: StaticString, _ text: String) {
        parts.append("\(name) \(text)")
    }
}

extension Record {
    /// The fields as text, in wire order: `status 0, handle 0x0040`.
    public var dump: String {
        var copy = self
        var dumper = FieldDumper()
        do { try copy.visit(&dumper) } catch { dumper.parts.append("\(error)") }
        return dumper.parts.joined(separator: ", ")
    }
}
