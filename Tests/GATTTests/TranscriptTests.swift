// Every transcript of the folder is replayed on the test database.
import Foundation
import GATT
import Testing

struct TranscriptTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Transcripts")

    static var names: [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path())
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }

    /// A first comment `# settings: mtu=517 …` sets the server.
    static func settings(_ text: String) throws -> ServerSettings {
        var settings = ServerSettings()
        guard let first = text.split(separator: "\n").first, first.hasPrefix("# settings:") else {
            return settings
        }
        for word in first.dropFirst("# settings:".count).split(separator: " ") {
            switch word {
            case "mtu=23": settings.mtu = 23
            case "mtu=517": settings.mtu = 517
            case "by-requirement": settings.unencryptedError = .byRequirement
            case "cccd-error=13": settings.cccdError = .valueNotAllowed
            case "oversize=refuse": settings.oversize = .refuse
            case "reliable=extended-property": settings.reliableWrites = .extendedProperty
            default: Issue.record("unknown setting \(word)")
            }
        }
        return settings
    }

    @Test("The server does what the transcript says", arguments: names)
    func replay(_ name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        let server = try TestDatabase.server(try Self.settings(text))
        let difference = try Transcript.parse(text).run(on: server)
        #expect(difference == nil, "\(name) \(difference?.description ?? "")")
    }

    @Test("There are transcripts")
    func presence() { #expect(Self.names.count > 0) }
}
