// Every transcript under Tests/Vectors is replayed on the server of the profile beside it.
import GATT
import OpenSSLCrypto
import Profiles
import Testing

@Suite struct ReplayTests {
    /// A transcript and its profile, which stands in the same folder as `profile.yaml`.
    struct Replay: CustomTestStringConvertible {
        var folder: String
        var name: String
        var testDescription: String { "\(folder)/\(name)" }
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
        #expect(
            difference == nil,
            "\(replay.folder)/\(replay.name):\(difference?.line ?? 0): \(difference?.message ?? "")")
    }

    @Test("all cases of other suites and all sessions are there")
    func counts() {
        func count(_ part: String) -> Int { Self.all.count { $0.folder.contains(part) } }
        #expect(count("/gatt/bluez/") == 47)
        #expect(count("/gatt/edtt/") == 36)
    }
}
