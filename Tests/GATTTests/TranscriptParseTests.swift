// Transcripts are read strictly, and a difference is told with its line.
import GATT
import Testing

struct TranscriptParseTests {
    private func difference(_ text: String) throws -> String? {
        try Transcript.parse(text).run(on: try TestDatabase.server())?.description
    }

    @Test("Comments, spaces and case do not matter")
    func format() throws {
        #expect(
            try difference("# a comment\n\n  > 0a 12 00  # read\r\n<0B 010203\n>0A1200\n< 0b010203")
                == nil)
    }

    @Test("The first difference is told with its line")
    func differences() throws {
        #expect(
            try difference("> 0A1200\n< 0B010204\n< 00")
                == "line 2: the server sent 0B010203, expected 0B010204")
        #expect(
            try difference("\n< 0B")
                == "line 2: the server sent nothing, expected 0B")
        #expect(
            try difference("> 0A1200\nsilence")
                == "line 2: the server also sent 0B010203")
        #expect(
            try difference("> 0A1200\n")
                == "line 1: the server also sent 0B010203")
        #expect(
            try difference("> 0A1200\ndisconnect\nsilence")
                == "line 2: the server also sent 0B010203")
        #expect(
            try difference("set 0x0099 01")
                == "line 1: 0x0099 cannot take the value 01")
        #expect(try difference("value 0x0012 010203\nvalue 0x001A") == nil)
        #expect(
            try difference("\nvalue 0x0012 0102")
                == "line 2: the value of 0x0012 is 010203, expected 0102")
        #expect(
            try difference("value 0x0099 01")
                == "line 1: the value of 0x0099 is none, expected 01")
        #expect(
            try difference("client 1\n> 0A1200\nclient 0\nsilence")
                == "line 4: the server also sent 0B010203 to client 1")
    }

    @Test(
        "What cannot be read is an error with its line and what to write",
        arguments: [
            ("> 0A120", "pairs of hexadecimal digits"), ("> ", "pairs of hexadecimal digits"),
            ("> XY", "pairs of hexadecimal digits"), ("hello", "write > HEX"),
            ("link strong", "write encrypted"), ("link key-size=6", "key-size=7 to 16"),
            ("link key-size=x", "key-size=7 to 16"), ("notify 12345 00", "a handle as 0x0003"),
            ("notify +1 00", "a handle as 0x0003"), ("set", "write > HEX"),
            ("client 16", "from 0 to 15"), ("client -1", "from 0 to 15"), ("wait 5", "write > HEX"),
            ("wait -5 s", "whole seconds"), ("changed 5 4", "the first and the last handle"),
            ("silence now", "write > HEX"), ("disconnect 1", "write > HEX"),
        ])
    func errors(_ line: String, _ advice: String) {
        let error = #expect(throws: TranscriptError.self) { try Transcript.parse("\n" + line) }
        #expect(error?.line == 2)
        #expect(error?.message.contains(advice) == true, "\(error?.description ?? "")")
    }
}
