// Every file of Profiles/ loads, and its check report is as committed.
import Profiles
import Testing

@Suite struct BundledProfileTests {
    @Test(
        "every bundled profile loads and its report equals the snapshot",
        arguments: ["battery", "bluetify", "core-bluetooth-sample", "environment-sensor", "ibeacon"])
    func snapshot(name: String) throws {
        let report = CheckReport.text(of: try loadBundled("Profiles/\(name).yaml"))
        let path = SourceTree.root + "/Tests/ProfilesTests/Snapshots/\(name).txt"
        let expected = SourceTree.read(path).map { String(decoding: $0, as: UTF8.self) }
        // A new profile's snapshot is written once, to be read and committed.
        if expected == nil { SourceTree.write(report, to: path) }
        #expect(report == expected)
    }
}
