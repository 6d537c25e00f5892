// Mistakes in profiles: each with its place, what is wrong and what to write.
import Profiles
import Testing

@Suite struct MistakeTests {
    @Test("ten different mistakes in one file are ten errors")
    func ten() throws {
        let folder = "Tests/ProfilesTests/Mistakes/"
        let expected = try #require(SourceTree.text(folder + "ten.txt"))
        do {
            _ = try loadBundled(folder + "ten.yaml")
            Issue.record("it loads")
        } catch let errors as ProfileErrors {
            #expect(errors.list.count == 10)
            #expect(errors.description + "\n" == expected)
        }
    }

    @Test(
        "a unit in another multiple is converted in the hint",
        arguments: [
            ("0.001 ks", "1000 ms"), ("100000000 ns", "100 ms"), ("100 msec", "100 ms"),
        ])
    func multiples(written: String, hint: String) throws {
        let found = errors(
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising:\n"
                + "  - {type: connectable, interval: \(written)}\n")
        let message = try #require(found.first)
        #expect(found.count == 1 && message.contains("write '\(hint)'"), "\(message)")
    }

    @Test("a misspelt characteristic is one mistake, whatever its value is")
    func misspelt() throws {
        for value in ["21.5", "{sine: {min: 1, max: 2, period: 1 min}}", "{hex: \"01\"}"] {
            let found = errors(
                "peripheral-emu: 1\ndevice: {name: T}\nservices:\n"
                    + "  - service: environmental-sensing\n    characteristics:\n"
                    + "      - {characteristic: temprature, read: open, value: \(value)}\n")
            let message = try #require(found.first)
            #expect(found.count == 1 && message.hasSuffix("write 'temperature'"), "\(found)")
        }
    }

    @Test("private addresses of a set need peers that can, or must not, find it again")
    func setAddresses() {
        func said(_ device: String, _ set: String, _ security: String = "{io: none}") -> String {
            errors(
                "peripheral-emu: 1\ndevice: {name: T\(device)}\nsecurity: \(security)\n"
                    + "advertising: [{interval: 1 s, \(set)}]\n"
            ).joined()
        }
        let connectable = "type: connectable, address: "
        #expect(said("", connectable + "resolvable-private") == "")
        #expect(
            said(", address: public", connectable + "resolvable-private").contains(
                "needs an identity that bonded centrals learn"))
        #expect(
            said("", connectable + "non-resolvable-private").contains(
                "a bonded central could never find it again"))
        #expect(
            said("", connectable + "non-resolvable-private", "{io: none, bonding: false}") == "")
        #expect(said("", "type: non-connectable, address: non-resolvable-private") == "")
    }

    @Test(
        "a periodic train ends before the next begins",
        arguments: [
            ("7.5 ms", "1M", 3, true), ("7.5 ms", "1M", 4, false), ("7.5 ms", "2M", 5, true),
            ("12.5 ms", "1M", 6, false), ("15 ms", "1M", 6, true), ("7.5 ms", "coded", 1, true),
            ("7.5 ms", "coded", 2, false),
        ])
    func trains(interval: String, phy: String, packets: Int, fits: Bool) {
        let hex = String(repeating: "00", count: 246)
        let data = (0..<packets).map { _ in "{raw: {type: 0xFF, data: {hex: \"\(hex)\"}}}" }
            .joined(separator: ", ")
        let found = errors(
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising:\n"
                + "  - {type: non-connectable, interval: 1 s, "
                + "pdu: {extended: {secondary: \(phy)}}, "
                + "periodic: {interval: \(interval), data: [\(data)]}}\n")
        #expect(found.isEmpty == fits, "\(found)")
        #expect(fits || found[0].contains("its packets take longer than its interval"))
    }

    @Test("what is wrong with a static address is said")
    func staticAddresses() {
        func said(_ address: String) -> String {
            errors(
                "peripheral-emu: 1\ndevice: {name: T, address: {type: random-static, "
                    + "value: '\(address)'}}\n"
            ).joined()
        }
        #expect(said("C0:00:00:00:00:00").contains("its lower 46 bits must not all be equal"))
        #expect(said("80:00:00:00:00:01").contains("its two top bits must be 1"))
        #expect(said("C0:00:00:00:00:01").isEmpty)
    }

    @Test("advertising data of 34 octets is refused with its octets itemised")
    func budget() {
        let found = errors(
            """
            peripheral-emu: 1
            device: {name: Money Drop!}
            advertising:
              - type: connectable
                interval: 100 ms
                data:
                  - flags: [general-discoverable, no-br-edr]
                  - name: complete
                  - service-uuids: [5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10]
            """)
        #expect(
            found == [
                "test.yaml:6:5: advertising[0].data: advertising data is 34 of 31 bytes: "
                    + "flags 3, complete-name 13, service-uuid128 18; "
                    + "remove 3 bytes, or move a structure to 'scan-response', "
                    + "or write 'pdu: extended'"
            ])
    }

    /// One mistake of `lines.txt`: where it stands, what stands there, and the errors it must give.
    struct Mistake: CustomTestStringConvertible {
        var place: String
        var text: String
        var errors: [String] = []
        var testDescription: String { "\(place): \(text)" }

        /// Lines `place | text`, each followed by its errors, indented.
        static func all() -> [Mistake] {
            var all: [Mistake] = []
            let file = SourceTree.text("Tests/ProfilesTests/Mistakes/lines.txt") ?? ""
            for line in file.split(separator: "\n") where !line.hasPrefix("#") {
                if line.hasPrefix("  ") {
                    all[all.count - 1].errors.append(String(line.dropFirst(2)))
                } else if let bar = line.firstRange(of: " | ") {
                    all.append(
                        Mistake(
                            place: String(line[..<bar.lowerBound]),
                            text: String(line[bar.upperBound...])))
                }
            }
            return all
        }

        /// The text in its profile.
        var found: [String] {
            let text = text.replacing("\\n", with: "\n").replacing("\\u0001", with: "\u{1}")
                .replacing("\\0", with: "")
            let top = "peripheral-emu: 1\ndevice: {name: Twelve bytes}\n"
            let lines = text.replacing("\n", with: "\n        ")
            let service = top + "services:\n  - service: "
            let found =
                switch place {
                case "file": Fixture.errors(text)
                case "top": Fixture.errors(top + text + "\n")
                case "device": Fixture.errors("peripheral-emu: 1\ndevice: \(text)\n")
                case "service": Fixture.errors(service + text + "\n")
                case "characteristic":
                    Fixture.errors(
                        service + "0x1234\n    characteristics:\n      - characteristic: 0x5678\n"
                            + "        \(lines)\n")
                case "temperature":
                    Fixture.errors(
                        service + "0x1234\n    characteristics:\n"
                            + "      - {characteristic: temperature, value: \(text)}\n")
                case "set": Fixture.errors(top + "advertising:\n  -\n        \(lines)\n")
                case "sets": Fixture.errors(top + "advertising: \(text)\n")
                case "interval":
                    Fixture.errors(
                        top + "advertising: [{type: connectable, interval: \(text)}]\n")
                case "policy":
                    Fixture.errors(
                        top + "activity: {source: gatt, hold: 10 s}\n"
                            + "advertising: [{type: connectable, interval: \(text)}]\n")
                case "activity": Fixture.errors(top + "activity: \(text)\n", ["a.csv": ""])
                case "trace":
                    Fixture.errors(
                        top + "activity: {source: {csv: a.csv, column: x}, "
                            + "active-above: 0.2 g, idle-below: 0.1 g, hold: 10 s}\n",
                        ["a.csv": text])
                default: ["unknown place"]
                }
            return found.map { $0.replacing("test.yaml:", with: "") }
        }
    }

    @Test("each mistake has its errors, word for word", arguments: Mistake.all())
    func mistake(_ mistake: Mistake) {
        #expect(mistake.found == mistake.errors)
    }

    @Test("there are mistakes to test")
    func count() { #expect(Mistake.all().count > 100) }

    @Test("a value is at most 512 octets")
    func longValue() {
        func found(_ body: String) -> [String] {
            Mistake(place: "characteristic", text: "read: open\\n" + body).found
        }
        let path = "services[0].characteristics[0].value"
        let hex = String(repeating: "00", count: 512)
        #expect(found("value: {hex: \"\(hex)\"}") == [])
        #expect(
            found("value: {hex: \"\(hex)00\"}") == [
                "8:22: \(path).hex: the value has 513 octets, the limit is 512; write fewer"
            ])
        #expect(
            found("format: utf8\\nvalue: \(String(repeating: "x", count: 513))") == [
                "9:16: \(path): the text has 513 octets, the limit is 512; write a shorter one"
            ])
    }

    @Test("of very many errors the first hundred are shown")
    func many() {
        let keys = (0..<500).map { "k\($0): 1\n" }.joined()
        let found = errors("peripheral-emu: 1\ndevice: {name: T}\n" + keys)
        #expect(found.count == 101)
        let last = "there are more errors than the 100 shown; correct these first"
        #expect(found.last?.hasSuffix(last) == true)
    }
}
