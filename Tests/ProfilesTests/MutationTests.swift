// Profiles with anything changed: each loads or is refused, and none ends the process.
import Profiles
import SansIO
import Testing

@Suite struct MutationTests {
    /// The first five are enough: what they hold does not grow with their number.
    static var profiles: [String] { Array(BundledProfileTests.names.prefix(5)) }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try #require(SourceTree.text("Profiles/\(name).yaml")).utf8)
    }

    /// A short trace in place of the bundled one keeps the loads quick.
    static func outcome(_ bytes: [UInt8]) -> Bool {
        do throws(ProfileErrors) {
            let profile = try ProfileLoader.load(path: "p.yaml", bytes: bytes) { _ in
                .success(Array("time,magnitude\n0,0.2\n1,0\n".utf8))
            }
            #expect(!CheckReport.text(of: profile).isEmpty)
            return true
        } catch {
            #expect(!error.list.isEmpty)
            return false
        }
    }

    @Test("every prefix of every profile loads or is refused", arguments: profiles)
    func prefixes(name: String) throws {
        let bytes = try Self.bytes(name)
        for count in stride(from: 0, to: bytes.count, by: 3) {
            _ = Self.outcome(Array(bytes[..<count]))
        }
        #expect(Self.outcome(bytes))
    }

    @Test("six hundred random mutations of every profile load or are refused", arguments: profiles)
    func mutations(name: String) throws {
        let bytes = try Self.bytes(name)
        let pieces = [
            "0", "-", "9999999999999999999", "1e999", ".nan", "{}", "[]", "~", ": ", "\n", "  ",
            "'", "\"", "*a", "&a ", "0x", "0xFFFF", "é", "{hex: \"\"}", "every ", " ms", " d", "-1",
            "true",
            "ramp", "counter", "min", "#", "|", ">", "!", "%", "\u{0}",
        ].map { Array($0.utf8) }
        var random = SeededRandom(seed: 1, stream: name)
        var loaded = 0
        for _ in 0..<600 {
            var mutated = bytes
            for _ in 0...random.below(2) {
                let place = Int(random.below(Int64(mutated.count)))
                let end = min(place + Int(random.below(12)), mutated.count)
                switch random.below(4) {
                case 0: mutated.removeSubrange(place..<end)
                case 1: mutated.insert(contentsOf: Array(mutated[place..<end]), at: place)
                case 2: mutated[place] = UInt8(truncatingIfNeeded: random.next())
                default:
                    let piece = pieces[Int(random.below(Int64(pieces.count)))]
                    mutated.replaceSubrange(place..<end, with: piece)
                }
                if mutated.isEmpty { mutated = bytes }
            }
            if Self.outcome(mutated) { loaded += 1 }
        }
        // Comments and texts may change, so some load; keys may not, so most do not.
        #expect((1..<540).contains(loaded))
    }
}
