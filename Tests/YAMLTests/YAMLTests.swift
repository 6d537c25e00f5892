// The document tree: marks, limits, and mistakes in plain words.
import Glibc
import Testing
import YAML

/// The text of a file beside this one.
func fixture(_ path: String) -> String? {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    guard let file = fopen(folder.joined(separator: "/") + "/" + path, "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer[..<count], as: UTF8.self)
}

func parse(_ text: String) throws -> YAMLDocument { try YAMLDocument.parse(Array(text.utf8)) }

/// The error that keeps `text` from being read, as text.
func failure(_ text: String) -> String {
    do {
        _ = try YAMLDocument.parse(Array(text.utf8))
        return "none"
    } catch { return error.description }
}

/// The meaning of `text` as the only value of a document.
func value(_ text: String) throws -> YAMLValue? {
    guard case .mapping(let pairs) = try parse("key: \(text)").root.content,
        case .scalar(let scalar) = pairs[0].value.content
    else { return nil }
    return scalar.value
}

@Suite struct YAMLTests {
    @Test("keys, scalars, sequences and mappings know their line and column")
    func marks() throws {
        let document = try parse("device:\n  name: Strap\n  list: [1, \"2\"]\nä: 3\n")
        guard case .mapping(let top) = document.root.content,
            case .mapping(let device) = top[0].value.content,
            case .sequence(let list) = device[1].value.content
        else { Issue.record("wrong shape"); return }
        #expect(top[0].keyMark == YAMLMark(line: 1, column: 1))
        #expect(top[0].value.mark == YAMLMark(line: 2, column: 3))
        #expect(device[0].value.mark == YAMLMark(line: 2, column: 9))
        #expect(list.map(\.mark.column) == [10, 13])
        #expect(list[1].content == .scalar(YAMLScalar("2", isPlain: false)))
        #expect(top[1].value.mark == YAMLMark(line: 4, column: 4))
        #expect(document.problems.isEmpty)
    }

    @Test(
        "plain scalars follow the YAML 1.2 core schema, with booleans true and false only",
        arguments: [
            ("yes", .text("yes")), ("no", .text("no")), ("on", .text("on")), ("off", .text("off")),
            ("True", .text("True")), ("true", .boolean(true)), ("false", .boolean(false)),
            ("22:11", .text("22:11")), ("0755", .integer(755)), ("0o755", .integer(493)),
            ("1812", .integer(1812)), ("180D", .text("180D")), ("2E37", .real(2e37)),
            ("0x1812", .integer(0x1812)), ("0x", .text("0x")), ("0x-1", .text("0x-1")),
            ("1_000", .text("1_000")), ("0b11", .text("0b11")), ("~", .null), ("", .null),
            ("null", .null), ("'null'", .text("null")), ("\"1\"", .text("1")),
            ("-17", .integer(-17)), ("+3", .integer(3)), (".5", .real(0.5)), ("5.", .real(5)),
            ("1.e3", .real(1000)), ("-1.5e-3", .real(-0.0015)), (".", .text(".")), ("-", nil),
            ("e5", .text("e5")), ("1e", .text("1e")), (".inf", .real(.infinity)),
            ("-.inf", .real(-.infinity)), ("1.2.3", .text("1.2.3")),
            ("99999999999999999999", .real(1e20)),
            ("0xFFFFFFFFFFFFFFFF", .real(0x1p64)),
        ] as [(String, YAMLValue?)])
    func coreSchema(text: String, expected: YAMLValue?) throws {
        guard let expected else { return }
        #expect(try value(text) == expected)
    }

    @Test("a scalar of not a number is real")
    func notANumber() throws {
        guard case .real(let number) = try value(".nan") else { Issue.record("not real"); return }
        #expect(number.isNaN)
    }

    @Test("duplicate keys, tags, merge keys and further documents are all reported")
    func problems() throws {
        let document = try parse("a: 1\na: 2\nb: !!str 3\nc: {<<: 1}\n---\nd: 1\n")
        #expect(
            document.problems.map(\.description) == [
                "2:1: the key 'a' stands already in line 1; keep one of the two",
                "3:4: tags ('!…') are not used in profiles; remove the tag",
                "4:5: merge keys ('<<') are not used in profiles; write the keys out",
                "5:1: a second document begins here; keep one document in a file",
            ])
        guard case .mapping(let pairs) = document.root.content else { return }
        #expect(pairs.map(\.key) == ["a", "b", "c"])
    }

    @Test("aliases stand for their anchors, with the alias's own place")
    func aliases() throws {
        let document = try parse("a: &x {b: 1}\nc: *x\n")
        guard case .mapping(let pairs) = document.root.content else { return }
        #expect(pairs[0].value.content == pairs[1].value.content)
        #expect(pairs[1].value.mark == YAMLMark(line: 2, column: 4))
    }

    @Test("syntax errors are said in plain words, at their place")
    func syntax() throws {
        let file = try #require(fixture("Syntax/errors.txt"))
        let lines = file.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count > 20)
        for (text, expected) in zip(lines, lines.dropFirst()) where text.hasPrefix("| ") {
            let yaml = text.dropFirst(2).replacing("\\n", with: "\n").replacing("\\t", with: "\t")
                .replacing("\\u0001", with: "\u{1}").replacing("\\0", with: "")
            #expect(failure(String(yaml)) == expected.dropFirst(2))
        }
    }

    @Test("invalid UTF-8 is refused at its place")
    func encoding() {
        #expect(
            throws: YAMLError(
                mark: YAMLMark(line: 2, column: 5), problem: "the file is not valid UTF-8 here",
                remedy: "save it as UTF-8")
        ) {
            try YAMLDocument.parse(Array("ä: 1\nb: x".utf8) + [0xFF, 0x0A])
        }
    }

    @Test("a byte order mark does not shift the columns")
    func byteOrderMark() throws {
        let document = try YAMLDocument.parse([0xEF, 0xBB, 0xBF] + Array("a: 1".utf8))
        guard case .mapping(let pairs) = document.root.content else { return }
        #expect(pairs[0].value.mark == YAMLMark(line: 1, column: 4))
    }

    @Test("a document at a limit is read, one above it is refused by the limit's name")
    func limits() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try parse(nested(32))
        let deep = "1:33: the nesting is deeper than 32 levels; nest less deeply"
        #expect(failure(nested(33)) == deep)
        let open = String(repeating: "[", count: 15)
        let close = String(repeating: "]", count: 15)
        _ = try parse("a: &x \(nested(16))\nb: \(open)*x\(close)")
        let deeper = failure("a: &x \(nested(16))\nb: [\(open)*x\(close)]")
        #expect(deeper.hasSuffix("nest less deeply"))

        // A sequence of n scalars has n + 1 nodes.
        let full = "[" + String(repeating: "1,", count: 199_999) + "]"
        _ = try parse(full)
        let over = "[" + String(repeating: "1,", count: 200_000) + "]"
        #expect(failure(over).contains("200000 nodes"))
        let octets = "a: " + String(repeating: "x", count: 4 * 1024 * 1024 - 3)
        _ = try parse(octets)
        #expect(failure(octets + "x").contains("4194305 octets, the limit is 4 MiB"))
    }

    @Test("aliases of aliases are counted as what they stand for")
    func billionLaughs() {
        var text = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
        for level in 1..<12 {
            let alias = "*a\(level - 1),"
            text += "a\(level): &a\(level) [" + String(repeating: alias, count: 10) + "]\n"
        }
        #expect(failure(text).contains("more than 200000 nodes; make it smaller"))
    }

    @Test("every prefix and one-octet mutation of a document is read or refused")
    func mutations() {
        let lines = "a: &x [1, 'two', \"th\\u00e9\"]\nb: {c: *x, d: |\n  text\n  }\n# end\n"
        let text = Array(lines.utf8)
        var read = 0
        for index in text.indices {
            if (try? YAMLDocument.parse(Array(text[..<index]))) != nil { read += 1 }
            for octet in UInt8.min...UInt8.max {
                var mutated = text
                mutated[index] = octet
                if (try? YAMLDocument.parse(mutated)) != nil { read += 1 }
            }
        }
        #expect(read > 0)
    }
}
