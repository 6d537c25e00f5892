// The record visitor: one declaration decodes, encodes and dumps, and refuses what does not fit.
import Testing
import Wire

/// Every kind of field.
private struct Sample: Record {
    struct Item: Record {
        var number: UInt16 = 0
        var level: Int8 = 0
        init() {}
        mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            try visitor.field("number", &number)
            try visitor.field("level", &level)
        }
    }

    var kind = AddressType.publicDevice
    var short: UInt16 = 0
    var middle: UInt32 = 0
    var long: UInt32 = 0
    var mask: UInt64 = 0
    var address = DeviceAddress()
    var key: [UInt8] = [0, 0, 0]
    var items: [Item] = []
    var rest: [UInt8] = []
    init() {}
    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("kind", &kind)
        try visitor.field("short", &short)
        try visitor.field24("middle", &middle)
        try visitor.field("long", &long)
        try visitor.field("mask", &mask)
        try visitor.field("address", &address)
        try visitor.field("key", &key, count: 3)
        var count = UInt8(truncatingIfNeeded: items.count)
        try visitor.field("count", &count)
        try visitor.list("items", &items, count: Int(count))
        try visitor.rest("rest", &rest)
    }
}

/// A list whose elements have no octets, behind a count that a peer chooses.
private struct Hollow: Record {
    var items: [NoFields] = []
    init() {}
    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        var count = UInt8(truncatingIfNeeded: items.count)
        try visitor.field("count", &count)
        try visitor.list("items", &items, count: Int(count))
    }
}

/// A count that goes below zero, as a subtraction on a peer's length would.
private struct Negative: Record {
    var length: UInt8 = 0
    var data: [UInt8] = []
    init() {}
    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field("length", &length)
        try visitor.field("data", &data, count: Int(length) - 2)
    }
}

@Suite struct RecordTests {
    static let octets =
        "01 3412 563412 EFBEADDE 0807060504030201 5544332211C0 A1A2A3 02 0100FF 02007F BBCC"

    @Test("decode gives the value, encode the octets, dump the text")
    func sample() throws {
        let bytes = try #require(Hex.bytes(Self.octets))
        let sample = try Sample(decoding: bytes.span)
        #expect(sample.kind == .randomDevice)
        #expect(sample.short == 0x1234)
        #expect(sample.middle == 0x12_3456)
        #expect(sample.long == 0xDEAD_BEEF)
        #expect(sample.mask == 0x0102_0304_0506_0708)
        #expect(sample.address.description == "C0:11:22:33:44:55")
        #expect(sample.key == [0xA1, 0xA2, 0xA3])
        #expect(sample.items.map(\.number) == [1, 2])
        #expect(sample.items.map(\.level) == [-1, 127])
        #expect(sample.rest == [0xBB, 0xCC])
        #expect(sample.encoded == bytes)
        #expect(
            sample.dump
                == "kind 1, short 0x1234, middle 1193046, long 3735928559, mask 0807060504030201, "
                + "address C0:11:22:33:44:55, key A1A2A3, count 2, "
                + "items [{number 0x0001, level -1}, {number 0x0002, level 127}], rest BBCC")
    }

    @Test("every prefix is refused with the field that is missing")
    func prefixes() throws {
        let bytes = try #require(Hex.bytes(Self.octets))
        let needed = bytes.count - 2
        for count in 0..<needed {
            let prefix = Array(bytes[..<count])
            #expect(throws: WireError.self) { try Sample(decoding: prefix.span) }
        }
        let cut = Array(bytes[..<2])
        #expect(throws: WireError.truncated(field: "short", needed: 2, available: 1)) {
            try Sample(decoding: cut.span)
        }
    }

    @Test("octets behind the last field are refused or ignored, as the rule says")
    func leftover() throws {
        let bytes: [UInt8] = [7, 0, 1, 2]
        #expect(throws: WireError.leftover(count: 1)) {
            try Sample.Item(decoding: bytes.span)
        }
        #expect(try Sample.Item(decoding: bytes.span, leftover: .ignore).number == 7)
        let empty: [UInt8] = []
        #expect(try NoFields(decoding: empty.span) == NoFields())
    }

    @Test("counts that a peer chooses neither loop nor trap")
    func counts() {
        let hollow: [UInt8] = [255]
        #expect(throws: WireError.invalid(field: "items")) { try Hollow(decoding: hollow.span) }
        for length in UInt8.min...UInt8.max {
            let bytes = [length, 1, 2]
            let record = try? Negative(decoding: bytes.span)
            #expect((record != nil) == (length == 4))
        }
        let long = [UInt8](repeating: 0, count: 257)
        #expect(throws: WireError.invalid(field: "record")) { try Hollow(decoding: long.span) }
    }

    @Test("fixed fields are padded with zeros or cut when written")
    func padding() {
        var sample = Sample()
        let start = sample.encoded.count - 4
        sample.key = [9]
        #expect(Array(sample.encoded[start...]) == [9, 0, 0, 0])
        sample.key = [1, 2, 3, 4, 5]
        #expect(Array(sample.encoded[start...]) == [1, 2, 3, 0])
    }

    @Test("an error says what is wrong in words")
    func errors() {
        #expect(
            WireError.truncated(field: "status", needed: 2, available: 1).description
                == "truncated at status: needs 2 octets, has 1")
        #expect(WireError.leftover(count: 3).description == "3 octets too many")
        #expect(WireError.invalid(field: "count").description == "unusable value of count")
    }
}
