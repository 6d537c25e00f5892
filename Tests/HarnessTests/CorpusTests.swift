// Every input that the fuzzers keep, and every one that once broke something, again.
import Harness
import Testing
import Wire

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct CorpusTests {
    @Test("every kept input of the fuzzer passes", arguments: FuzzTarget.all.map(\.name))
    func corpus(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        target.run([])
        for file in ["corpus", "found"] {
            let text = Self.read("Tests/Corpora/\(name)/\(file).txt")
            if file == "corpus" { #expect(text != nil, "Tools/fuzz --keep writes the corpus") }
            for line in (text ?? "").split(separator: "\n") where !line.hasPrefix("#") {
                target.run(try #require(Hex.bytes(line), "a line is one input in hexadecimal"))
            }
        }
    }

    static func read(_ path: String) -> String? {
        var root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        root.removeLast(3)
        guard let file = fopen(root.joined(separator: "/") + "/" + path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
