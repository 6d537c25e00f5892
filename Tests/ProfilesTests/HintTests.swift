// A mistyped key, word or name gets a message that names the right one.
import SansIO
import Testing
import Wire

@testable import Profiles

/// The mistakes that people make, of one name.
struct Typos {
    private var random: SeededRandom
    /// What lies beside each letter on a keyboard.
    private static let rows = ["qwertyuiop", "asdfghjkl", "zxcvbnm", "1234567890"]

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func all(of name: String) -> [String] {
        let letters = Array(name)
        var typos = [deleted(letters), doubled(letters), replaced(letters)]
        if letters.count > 2 { typos.append(exchanged(letters)) }
        if name.contains("-") {
            typos.append(camelCase(name))
            typos.append(name.replacing("-", with: "_"))
            typos.append(name.replacing("-", with: " "))
            typos.append(name.replacing("-", with: ""))
        }
        for (british, american) in [
            ("metre", "meter"), ("litre", "liter"), ("gramme", "gram"), ("lour", "lor"),
            ("sulf", "sulph"), ("ise", "ize"), ("tyre", "tire"), ("fibre", "fiber"),
        ] {
            if name.contains(british) { typos.append(name.replacing(british, with: american)) }
            if name.contains(american) { typos.append(name.replacing(american, with: british)) }
        }
        return typos.filter { !$0.isEmpty && $0 != name }
    }

    private mutating func place(_ count: Int) -> Int { Int(random.below(Int64(count))) }

    private mutating func deleted(_ letters: [Character]) -> String {
        var letters = letters
        letters.remove(at: place(letters.count))
        return String(letters)
    }

    private mutating func doubled(_ letters: [Character]) -> String {
        var letters = letters
        let place = place(letters.count)
        letters.insert(letters[place], at: place)
        return String(letters)
    }

    private mutating func exchanged(_ letters: [Character]) -> String {
        var letters = letters
        let place = place(letters.count - 1)
        letters.swapAt(place, place + 1)
        return String(letters)
    }

    private mutating func replaced(_ letters: [Character]) -> String {
        var letters = letters
        let place = place(letters.count)
        for row in Self.rows.map({ Array($0) }) {
            guard let column = row.firstIndex(of: letters[place]) else { continue }
            letters[place] = row[column + (column > 0 ? -1 : 1)]
            return String(letters)
        }
        letters[place] = "x"
        return String(letters)
    }

    private func camelCase(_ name: String) -> String {
        let words = name.split(separator: "-")
        return words.dropFirst().reduce(String(words[0])) { text, word in
            text + word.prefix(1).uppercased() + word.dropFirst()
        }
    }
}

@Suite struct HintTests {
    struct Score {
        var tried = 0
        var right = 0
        var wrong: [String] = []

        /// - Parameter text: a profile with the typo; the message must name the original.
        mutating func count(_ typo: String, for name: String, in text: String) {
            guard let errors = refusal(text) else { return }
            let about = errors.filter { $0.problem.contains("'\(typo.prefix(100))") }
            tried += 1
            if about.contains(where: { $0.remedy.hasPrefix("write '\(name)'") }) {
                right += 1
            } else {
                wrong.append("\(typo) for \(name): \(about.first?.description ?? text)")
            }
        }

        /// nil where the typo is right too.
        private func refusal(_ text: String) -> [ProfileError]? {
            do throws(ProfileErrors) {
                _ = try ReferenceTests.read(text)
                return nil
            } catch { return error.list }
        }

        func report(_ what: String) {
            let percent = Double(right * 1000 / max(tried, 1)) / 10
            print("hints for \(what): \(right) of \(tried) right, \(percent) %")
            for line in wrong.prefix(12) { print("  \(line)") }
            #expect(right * 100 >= tried * 95, "hints for \(what)")
        }
    }

    static func quoted(_ typo: String) -> String { typo.contains(" ") ? "\"\(typo)\"" : typo }

    @Test("a mistyped key of any map is told the right one, 95 times in 100")
    func keys() {
        var typos = Typos(seed: 1)
        var score = Score()
        for section in ProfileReference.sections {
            let keys = Set(section.properties.map(\.key))
            for property in section.properties {
                guard let row = section.notes.rows[property.key] else { continue }
                for typo in typos.all(of: property.key) where !keys.contains(typo) {
                    // The right key is not there besides.
                    var notes = section.notes
                    notes.base.removeAll { $0.hasPrefix(property.key + ":") }
                    let needs = row.needs.filter { !$0.hasPrefix(property.key + ":") }
                    let text = ReferenceTests.profile(
                        notes, needs + ["\(Self.quoted(typo)): \(row.example)"])
                    score.count(typo, for: property.key, in: text)
                }
            }
        }
        score.report("keys")
        #expect(score.tried > 1500)
    }

    @Test("a mistyped word of any key is told the right one, 95 times in 100")
    func words() {
        var typos = Typos(seed: 2)
        var score = Score()
        for section in ProfileReference.sections {
            for property in section.properties {
                guard let row = section.notes.rows[property.key],
                    let (words, isList) = Self.words(property.schema)
                else { continue }
                for word in words {
                    for typo in typos.all(of: word) where !words.contains(typo) {
                        let value = isList ? "[\(Self.quoted(typo))]" : Self.quoted(typo)
                        let text = ReferenceTests.profile(
                            section.notes, row.needs + ["\(property.key): \(value)"])
                        score.count(typo, for: word, in: text)
                    }
                }
            }
        }
        score.report("words")
        #expect(score.tried > 1000)
    }

    private static func words(_ schema: Schema) -> (words: [String], isList: Bool)? {
        switch schema {
        case .words(let words): return (words, false)
        case .list(let element, _): return words(element).map { ($0.words, true) }
        case .anyOf(let schemas):
            return schemas.lazy.compactMap { words($0) }.first { !$0.isList }
        case .any, .boolean, .integer, .number, .text, .quantity, .assigned, .map, .open, .value,
            .valueNumber, .generator:
            return nil
        }
    }

    @Test(
        "a mistyped assigned name is told the right one, 95 times in 100",
        arguments: [
            NameKind.service, .characteristic, .descriptor, .company, .appearance, .unit,
        ])
    func names(kind: NameKind) throws {
        var typos = Typos(seed: 3)
        var score = Score()
        var all: [String] = []
        kind.table.forEachName { all.append($0) }
        let used = Self.namesUsed
        let isAssigned = Set(all)
        let step = max(all.count / 60, 1)
        for (index, name) in all.enumerated()
        where index.isMultiple(of: step) || used.contains(name) {
            for typo in typos.all(of: name) where !isAssigned.contains(typo) {
                score.count(typo, for: name, in: Self.profile(kind, Self.quoted(typo)))
            }
        }
        score.report("\(kind.word) names")
        #expect(score.tried > 100)
    }

    /// The words of all bundled profiles.
    private static var namesUsed: Set<String> {
        var words: Set<String> = []
        for name in BundledProfileTests.names {
            let text = SourceTree.text("Profiles/\(name).yaml") ?? ""
            for word in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "-") }) {
                words.insert(String(word))
            }
        }
        return words
    }

    private static func profile(_ kind: NameKind, _ name: String) -> String {
        let head = "peripheral-emu: 1\ndevice: {name: T"
        let services = "}\nservices: [{service: 0x1234, characteristics: [{characteristic: "
        let set = "}\nadvertising: [{type: connectable, interval: 1 s, data: [{manufacturer: "
        return switch kind {
        case .service: head + "}\nservices: [{service: \(name)}]\n"
        case .characteristic: head + services + "\(name)}]}]\n"
        case .descriptor: head + services + "0x5678, descriptors: [{descriptor: \(name)}]}]}]\n"
        case .company: head + set + "{company: \(name)}}]}]\n"
        case .appearance: head + ", appearance: \(name)}\n"
        case .unit: head + services + "0x5678, format: uint8, unit: \(name)}]}]\n"
        }
    }

    @Test("a mistyped field of any assigned layout is told the right one, 95 times in 100")
    func fields() {
        var typos = Typos(seed: 4)
        var score = Score()
        for number in UInt16(0x2A00)...0x2C40 {
            guard let format = AssignedNames.format(BluetoothUUID(number)),
                case .fields(let layout) = format
            else { continue }
            for name in layout.names {
                for typo in typos.all(of: name) where !layout.names.contains(typo) {
                    let text = Self.profile(
                        .characteristic,
                        "0x" + String(number, radix: 16, uppercase: true)
                            + ", value: {\(Self.quoted(typo)): 0}")
                    score.count(typo, for: name, in: text)
                }
            }
        }
        score.report("fields")
        #expect(score.tried > 1000)
    }

    @Test("a mistyped reference is told the right one, 95 times in 100")
    func references() {
        var typos = Typos(seed: 5)
        var score = Score()
        let names = ["receipt", "transfer-notice", "battery-level", "heart-rate-measurement"]
        let all = names.map { name in
            let isLabel = name == "receipt" || name == "transfer-notice"
            let uuid = isLabel ? "0x5678, label: \(name)" : name
            return "{characteristic: \(uuid)}"
        }.joined(separator: ", ")
        for name in names {
            for _ in 0..<5 {
                for typo in typos.all(of: name) {
                    let text = Self.profile(
                        .characteristic,
                        "0x1111, value: {echo: \(Self.quoted(typo))}}, " + all.dropLast())
                    score.count(typo, for: name, in: text)
                }
            }
        }
        score.report("references")
        #expect(score.tried > 100)
    }
}
