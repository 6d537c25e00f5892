// Values given outside the profile, as `--set` and the control socket take them.
import Behaviours
import Profiles
import Testing
import Wire

@Suite struct SettingTests {
    static let text = """
        peripheral-emu: 1
        device: {name: T}
        services:
          - service: 0x1234
            characteristics:
              - {characteristic: 0x0001, label: note, read: open, format: utf8}
              - {characteristic: 0x0002, label: level, read: open, format: uint16}
              - characteristic: 0x0003
                label: state
                read: open
                fields:
                  - name: flags
                    format: uint8
                    flags-of: fields
                  - {name: count, format: uint8, present: {flag: 0}}
                  - name: word
                    format: uint16
                    bits:
                      - {name: on, bit: 0}
                      - {name: phase, bit: 1, width: 3, words: [idle, busy]}
                      - {name: level, bit: 4, width: 12}

        """

    /// The octets of a setting, or why there is none.
    static func setting(_ value: String, of reference: String) throws -> String {
        let profile = try load(text)
        do throws(ProfileErrors) {
            let setting = try ProfileLoader.setting(
                value, of: reference, in: profile, source: "--set")
            return Hex.string(setting.octets)
        } catch { return error.list.map { "\($0.problem); \($0.remedy)" }.joined(separator: "\n") }
    }

    @Test(
        "bit fields take what they can hold",
        arguments: [
            ("true", "on", "01"), ("false", "on", "00"), ("1", "on", "01"), ("busy", "phase", "01"),
            ("4095", "level", "FF0F"), ("0", "level", "0000"), ("hex:FF0F", "level", "FF0F"),
        ])
    func bits(value: String, field: String, octets: String) throws {
        #expect(try Self.setting(value, of: "state." + field) == octets)
    }

    @Test(
        "bit fields refuse what they cannot hold",
        arguments: [
            ("2", "on"), ("maybe", "on"), ("8", "phase"), ("lazy", "phase"), ("4096", "level"),
            ("-1", "level"), ("1.5", "level"), ("true", "level"), ("hex:0010", "level"),
            ("hex:", "level"), ("{counter: {start: 0, step: 1}}", "level"),
        ])
    func wrongBits(value: String, field: String) throws {
        #expect(try Self.setting(value, of: "state." + field).contains("; write "))
    }

    @Test("a field is replaced only where all others can still be read")
    func flags() throws {
        let profile = try load(Self.text)
        let format = try #require(profile.services.first?.characteristics.last?.format)
        #expect(format.replacing("flags", by: [0xFF], in: [0, 1, 2]) == nil)
        #expect(format.replacing("flags", by: [0], in: [1, 5, 1, 2]) == nil)
        #expect(format.replacing("flags", by: [2], in: [0, 1, 2]) == [2, 1, 2])
        #expect(format.replacing("level", by: [0xFF, 0x0F], in: [0, 1, 2]) == [0, 0xF1, 0xFF])
        #expect(format.replacing("level", by: [0x00, 0x10], in: [0, 1, 2]) == nil)
        #expect(format.replacing("level", by: [], in: [0, 1, 2]) == nil)
    }

    @Test("what a file may not hold is refused in words of a value")
    func problems() throws {
        #expect(
            try Self.setting("--- 1\n--- 2", of: "level")
                == "a second document begins here; keep one value")
        #expect(
            try Self.setting("!!int 3", of: "level")
                == "tags ('!…') are not used in profiles; remove the tag")
        for wrong in ["{hex: \"01\", hex: \"02\"}", "{<<: {a: 1}}", "\"open", "\u{1}", "", " # x"] {
            let answer = try Self.setting(wrong, of: "level")
            #expect(answer.contains("; ") && !answer.contains("the file"), "\(wrong)")
        }
    }

    @Test("a mistake names the value and no place in a file")
    func sentence() throws {
        let profile = try load(Self.text)
        do throws(ProfileErrors) {
            _ = try ProfileLoader.setting("70000", of: "level", in: profile, source: "--set")
            Issue.record("it is too great")
        } catch {
            let text =
                "level: 70000 does not fit: the range is 0 to 65535; write a number within it"
            #expect(error.list.map(\.sentence) == [text])
        }
    }

    @Test("a long reference is shown whole up to 100 characters, then cut with a sign of it")
    func long() throws {
        for count in [100, 101] {
            let name = String(repeating: "x", count: count)
            let answer = try Self.setting("1", of: name)
            #expect(answer.contains("'\(name)'") == (count == 100))
            #expect(answer.contains("x…'") == (count == 101))
        }
    }

    @Test("what is no number of its unit has none")
    func notANumber() {
        let format = ValueFormat.number(
            NumberSpec(
                format: NumberFormat(octets: 2, isSigned: true, scale: 1, kind: .medical),
                unit: MeasurementUnit(name: "", symbol: "mmHg", number: 0)))
        #expect(format.describe([0xFF, 0x07]) == "not a number")
        #expect(format.describe([0xFE, 0x07]) == "infinity")
        #expect(format.describe([0x02, 0x08]) == "-infinity")
        #expect(format.describe([0x78, 0x00]) == "120 mmHg")
    }

    @Test("an empty text is a text, and no number")
    func empty() throws {
        #expect(try Self.setting("", of: "note") == "")
        #expect(try Self.setting("\"\"", of: "note") == "")
        #expect(
            try Self.setting("", of: "level")
                == "the value is empty; write a number from 0 to 65535")
    }
}
