// Every input that the fuzzers keep, and every one that once broke something, again.
import Harness
import TestFiles
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
            let text = SourceTree.text("Tests/Corpora/\(name)/\(file).txt")
            if file == "corpus" { #expect(!text.isEmpty, "Tools/fuzz --keep writes the corpus") }
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                target.run(try #require(Hex.bytes(line), "a line is one input in hexadecimal"))
            }
        }
    }
}
