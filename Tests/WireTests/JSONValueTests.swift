// JSON as RFC 8259 has it, read strictly.
import Testing
import Wire

@Suite struct JSONValueTests {
    static func read(_ text: String) -> JSONValue? {
        let octets = Array(text.utf8)
        return try? JSONValue(octets.span)
    }

    @Test(
        "what is right is read, and written again the same",
        arguments: [
            "null", "true", "false", "0", "-12", "3.25", "\"\"", "\"a\\\"b\\\\c\\nd\"", "[]", "{}",
            "[1,[2,{\"a\":null}]]", "{\"x\":1,\"y\":[true,\"é\"]}", "9223372036854775807",
            "\"\\u0001\"",
        ])
    func right(text: String) { #expect(Self.read(text)?.text() == text) }

    @Test(
        "what is wrong is refused",
        arguments: [
            "", " ", "nul", "+1", "01", "1.", ".5", "1e", "[1,]", "[1", "{\"a\"}", "{\"a\":1,}",
            "{a:1}", "\"a", "\"\\x\"", "\"\u{1}\"", "1 2", "{\"a\":1,\"a\":2}", "\"\\ud800\"",
            "NaN", "Infinity", "'a'", "[1}", "1e999",
            String(repeating: "[", count: 33) + String(repeating: "]", count: 33),
        ])
    func wrong(text: String) { #expect(Self.read(text) == nil) }

    @Test("many names cost little, and the last one may not be the first one's")
    func manyNames() {
        let names = (0..<100_000).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(Self.read("{\(names)}") != nil)
        #expect(Self.read("{\(names),\"n0\":1}") == nil)
    }

    @Test("escapes mean their characters, pairs of surrogates too")
    func escapes() {
        #expect(Self.read("\"\\u00e9\\ud83d\\ude00\\/\\t\"") == .string("é😀/\t"))
        #expect(Self.read("1e3") == .real(1000))
        #expect(Self.read(" { \"a\" : [ 1 , 2 ] } ")?["a"] == .array([.integer(1), .integer(2)]))
    }

    @Test("no mutation of a text traps")
    func mutations() {
        let octets = Array("{\"a\":[1,-2.5e3,\"x\\u00e9\\n\",true,null,{}]}".utf8)
        for place in octets.indices {
            for octet in [UInt8(0), 0x22, 0x2C, 0x5C, 0x7B, 0x7D, 0xFF] {
                var changed = octets
                changed[place] = octet
                _ = try? JSONValue(changed.span)
                _ = try? JSONValue(Array(changed[..<place]).span)
            }
        }
    }
}
