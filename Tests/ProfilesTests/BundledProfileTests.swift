// Every file of Profiles/ loads, and its check report is as committed.
import Profiles
import Testing

@Suite struct BundledProfileTests {
    /// The profiles by name, without `.yaml`.
    static var names: [String] {
        SourceTree.names(in: "Profiles").filter { $0.hasSuffix(".yaml") }.map {
            String($0.dropLast(5))
        }
    }

    @Test("there are profiles")
    func some() { #expect(Self.names.count >= 5) }

    @Test("every bundled profile loads and its report equals the snapshot", arguments: names)
    func snapshot(name: String) throws {
        let report = CheckReport.text(of: try loadBundled("Profiles/\(name).yaml"))
        let path = SourceTree.root + "/Tests/ProfilesTests/Snapshots/\(name).txt"
        let expected = SourceTree.read(path).map { String(decoding: $0, as: UTF8.self) }
        // A new profile's snapshot is written once, to be read and committed.
        if expected == nil { SourceTree.write(report, to: path) }
        #expect(report == expected)
    }

    @Test("no bundled profile gets advice that it does not decline", arguments: names)
    func advice(name: String) throws {
        let findings = Lint.findings(in: try loadBundled("Profiles/\(name).yaml"))
        #expect(findings.map(\.description) == [])
    }
}
