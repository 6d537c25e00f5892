// JSON-RPC 2.0 as a client may get it wrong.
import Emulator
import Harness
import Testing
import Wire

@Suite struct RPCTests {
    private func answer(_ line: String) throws -> JSONValue? {
        var world = GuestWorld(try SampleProfile.device())
        var session = ControlSession()
        guard let answer = world.ask(&session, line) else { return nil }
        #expect(answer.hasSuffix("}\n") && !answer.dropLast().contains("\n"))
        let octets = Array(answer.utf8)
        return try JSONValue(octets.span)
    }

    @Test(
        "each kind of mistake has its code and a sentence",
        arguments: [
            ("{", -32_700, "this is no JSON"),
            ("{\"jsonrpc\":\"2.0\"", -32_700, "this is no JSON"),
            ("\u{FEFF}{}", -32_700, "this is no JSON"),
            ("\"\\ud800\"", -32_700, "half a character"),
            (String(repeating: "[", count: 5000), -32_700, "values nest too deep"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\"method\":\"list\"}", -32_600,
                "'id' is too large a number; write it as a string"
            ),
            ("[]", -32_600, "batches are not supported; write one request a line"),
            ("7", -32_600, "a request is an object"),
            ("{}", -32_600, "'jsonrpc' must be \"2.0\""),
            (#"{"jsonrpc":"1.0","method":"list"}"#, -32_600, "'jsonrpc' must be"),
            (#"{"jsonrpc":"2.0","id":1}"#, -32_600, "'method' must be a string"),
            (#"{"jsonrpc":"2.0","id":{},"method":"list"}"#, -32_600, "'id' is a string"),
            (#"{"jsonrpc":"2.0","id":1,"method":"list","params":3}"#, -32_600, "'params' must"),
            (#"{"jsonrpc":"2.0","id":1,"method":"lst"}"#, -32_601, "did you mean 'list'?"),
            (#"{"jsonrpc":"2.0","id":1,"method":"fly"}"#, -32_601, "there are answer, authorize"),
            (#"{"jsonrpc":"2.0","id":1,"method":"get"}"#, -32_602, "'reference' is missing"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"get","params":{"referense":"a"}}"#, -32_602,
                "did you mean 'reference'?"
            ),
            (#"{"jsonrpc":"2.0","id":1,"method":"get","params":[1]}"#, -32_602, "must be a string"),
            (#"{"jsonrpc":"2.0","id":1,"method":"list","params":[1]}"#, -32_602, "too many"),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"get","params":["temperatur"]}"#, -32_602,
                "write 'temperature'"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature","hot"]}"#,
                -32_602, "write a number from"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature",1e308]}"#,
                -32_602, "the range is"
            ),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"set","params":["temperature","hex:0"]}"#,
                -32_602, "hexadecimal digits"
            ),
        ])
    func mistakes(line: String, code: Int64, said: String) throws {
        let error = try answer(line)?["error"]
        #expect(error?["code"]?.integer == code)
        let message = error?["message"]?.string ?? ""
        #expect(message.contains(said), "\(message)")
    }

    @Test("an id is given back as it came, and null where there was none to give back")
    func ids() throws {
        for id in ["1", "-3", "2.5", "\"a\"", "null", "\"é\\n\""] {
            let value = try answer(#"{"jsonrpc":"2.0","id":\#(id),"method":"watch"}"#)
            #expect(value?["id"]?.text() == id && value?["result"] != nil)
        }
        #expect(try answer("{")?["id"] == .null)
        #expect(try answer(#"{"id":5}"#)?["id"] == .integer(5))
    }

    @Test("a request without an id is done and not answered, nor is a blank line")
    func notification() throws {
        #expect(try answer(#"{"jsonrpc":"2.0","method":"watch"}"#) == nil)
        #expect(try answer(#"{"jsonrpc":"2.0","method":"none"}"#) == nil)
        #expect(try answer("  \r") == nil)
        #expect(try answer("") == nil)
    }

    @Test("no prefix and no one-octet mutation of a request traps; an answer is a line")
    func mutations() throws {
        var world = GuestWorld(try SampleProfile.device())
        world.powerOn()
        var session = ControlSession()
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":["count",{"hex":"01"}]}"#.utf8)
        for place in line.indices {
            var tried = [Array(line[..<place])]
            for octet in [UInt8(0), 0x22, 0x2C, 0x5C, 0x7B, 0x7D, 0xFF] {
                var changed = line
                changed[place] = octet
                tried.append(changed)
            }
            for octets in tried {
                let answer = world.ask(&session, octets)
                #expect(answer?.hasSuffix("\n") ?? true)
            }
        }
    }
}
