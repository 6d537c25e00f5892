// Profiles/README.md: it is as the declarations say, its examples load, its defaults are true.
import Advertising
import Glibc
import Testing

@testable import Profiles

@Suite struct ReferenceTests {
    static let path = "Profiles/README.md"
    static let marker = "<!-- From here on as `peripheral-emu reference` prints it. -->\n"

    /// A profile of the map's context with these entries; a later one takes an earlier one's place.
    static func profile(_ notes: KeyNotes, _ entries: [String]) -> String {
        var all: [(key: String, entry: String)] = []
        for entry in notes.base + entries {
            let key = String(entry.prefix { $0 != ":" })
            all.removeAll { $0.key == key }
            // A key without a value takes the entry of the context away.
            if !entry.hasSuffix(":") { all.append((key, entry)) }
        }
        let context =
            notes.context.hasPrefix("…, device:")
            ? "peripheral-emu: 1" + notes.context.dropFirst()
            : notes.context.replacing("…", with: "peripheral-emu: 1, device: {name: T}")
        return "{" + context.replacing("%", with: all.map(\.entry).joined(separator: ", ")) + "}\n"
    }

    static func read(_ text: String) throws(ProfileErrors) -> DeviceProfile {
        try ProfileLoader.load(path: "test.yaml", bytes: Array(text.utf8)) { _ in
            .success(Array("time,magnitude\n0,0.2\n1,0\n".utf8))
        }
    }

    static func objections(_ text: String) -> [String] {
        do throws(ProfileErrors) {
            _ = try read(text)
            return []
        } catch { return error.list.map(\.description) + [text] }
    }

    @Test("every key of every map has a note, an example and a meaning, and no note is left over")
    func complete() {
        let sections = ProfileReference.sections
        #expect(sections.count > 50)
        var paths: Set<String> = []
        for section in sections {
            paths.insert(section.path)
            #expect(KeyNotes.all[section.path] != nil, "no notes on \(section.path)")
            for property in section.properties {
                let row = section.notes.rows[property.key]
                #expect(row != nil, "\(section.path): no note on \(property.key)")
                guard let row else { continue }
                #expect(!row.example.isEmpty && !row.meaning.isEmpty, "\(property.key)")
                #expect(property.isRequired == false || row.initial.isEmpty, "\(property.key)")
            }
        }
        #expect(Set(KeyNotes.all.keys).subtracting(paths).sorted() == [])
    }

    @Test("every example loads where its key stands")
    func examples() {
        for section in ProfileReference.sections {
            for property in section.properties {
                guard let row = section.notes.rows[property.key] else { continue }
                let text = Self.profile(
                    section.notes, row.needs + ["\(property.key): \(row.example)"])
                #expect(Self.objections(text) == [], "\(section.path).\(property.key)")
            }
        }
    }

    @Test("a default that is written out is the same as nothing")
    func defaults() throws {
        var checked = 0
        for section in ProfileReference.sections {
            for property in section.properties {
                guard let row = section.notes.rows[property.key], !row.initial.isEmpty,
                    !row.initial.hasPrefix("(")
                else { continue }
                let said = Self.profile(
                    section.notes, row.needs + ["\(property.key): \(row.initial)"])
                let unsaid = Self.profile(section.notes, row.needs)
                let objections = Self.objections(said) + Self.objections(unsaid)
                #expect(objections == [], "\(section.path).\(property.key)")
                guard objections.isEmpty else { continue }
                checked += 1
                let isSame = try Self.read(said) == Self.read(unsaid)
                #expect(isSame, "\(section.path).\(property.key)")
            }
        }
        #expect(checked > 30)
    }

    @Test("the octets of the activity are stated as they are")
    func activityOctets() throws {
        let states: [(ActivityState, String)] = [
            (.asleep, "asleep"), (.idle, "idle"), (.active, "active"),
        ]
        let words = states.map { "\($0.0.rawValue) \($0.1)" }.joined(separator: ", ")
        let text = try #require(SourceTree.text(Self.path))
        #expect(text.contains("`level` 0 to 100 %, or `state` \(words) |"))
    }

    @Test("Profiles/README.md ends with what `peripheral-emu reference` prints")
    func upToDate() throws {
        let whole = try #require(SourceTree.text(Self.path))
        let range = try #require(whole.ranges(of: Self.marker).first)
        let expected = whole[..<range.upperBound] + "\n" + ProfileReference.text
        if getenv("PERIPHERAL_EMU_WRITE_REFERENCE") != nil {
            SourceTree.write(String(expected), to: SourceTree.root + "/" + Self.path)
        }
        let isSame = whole == expected
        #expect(isSame, "set PERIPHERAL_EMU_WRITE_REFERENCE to have it written anew")
    }

    @Test("every YAML block of the guide is a profile that loads")
    func blocks() throws {
        let whole = try #require(SourceTree.text(Self.path))
        var blocks: [String] = []
        var block: String?
        for line in whole.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```yaml" {
                block = ""
            } else if line == "```", let done = block {
                blocks.append(done)
                block = nil
            } else {
                block? += line + "\n"
            }
        }
        #expect(blocks.count >= 5)
        for block in blocks { #expect(Self.objections(block) == []) }
    }
}
