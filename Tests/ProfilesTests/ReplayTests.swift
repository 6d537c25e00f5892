// Every transcript under Tests/Vectors is replayed on the server of the profile beside it.
import GATT
import OpenSSLCrypto
import Profiles
import Testing

@Suite struct ReplayTests {
    /// A transcript and its profile, which stands in the same folder as `profile.yaml`.
    struct Replay: CustomTestStringConvertible, CustomStringConvertible {
        var folder: String
        var name: String
        var description: String { "\(folder)/\(name)" }
        var testDescription: String { description }
    }

    static let root = "Tests/Vectors"

    /// The folders below `folder` that have a profile.
    static func folders(below folder: String) -> [String] {
        var found: [String] = []
        let names = SourceTree.names(in: folder)
        if names.contains("profile.yaml") { found.append(folder) }
        for name in names where !name.contains(".") {
            found += folders(below: folder + "/" + name)
        }
        return found
    }

    static let all: [Replay] = folders(below: root).flatMap { folder in
        SourceTree.names(in: folder).filter { $0.hasSuffix(".txt") }
            .map { Replay(folder: folder, name: $0) }
    }

    @Test("the server does what the transcript says", arguments: all)
    func replay(_ replay: Replay) throws {
        let profile = try loadBundled(replay.folder + "/profile.yaml")
        let server = AttributePlan(profile).makeServer(
            profile.server, authenticator: OpenSSLAuthenticator())
        let text = try #require(SourceTree.text(replay.folder + "/" + replay.name))
        let difference = try Transcript.parse(text).run(on: server)
        #expect(difference == nil, "\(replay) \(difference?.description ?? "")")
    }

    @Test("a hash that another stack has stored is the one computed of its database")
    func storedHash() throws {
        let profile = try loadBundled("\(Self.root)/gatt/edtt/edtt-service-set-0/profile.yaml")
        let table = AttributePlan(profile).table
        let index = try #require(table.index(of: 0x0008))
        let hash = table.databaseHash(by: OpenSSLAuthenticator(), order: .littleEndian)
        #expect(table.value(at: index) == hash)
    }

    @Test("all cases of other suites and all sessions are there")
    func counts() {
        func count(_ part: String) -> Int { Self.all.count { $0.folder.contains(part) } }
        #expect(count("/gatt/bluez/") == 47)
        #expect(count("/gatt/edtt/") == 36)
        #expect(count("/phones/") == 6)
        #expect(count("/gatt/strictness/") > 90)
    }
}
