// `check`: validates profiles and shows what they come to.
import Emulator
import GATT
import LinuxIO
import OpenSSLCrypto
import Profiles

enum CheckCommand {
    static func run(_ paths: [String], _ console: inout Console) -> ExitCode {
        var code = ExitCode.done
        for (index, path) in paths.enumerated() {
            guard let (profile, source) = ProfileFile.loadWithSource(path, &console) else {
                code = .usage
                continue
            }
            if index > 0 { console.print("") }
            console.print(CheckReport.text(of: profile))
            for finding in Lint.findings(in: profile, of: source) {
                console.log(LogLine(.warning, finding.description))
            }
        }
        return code
    }

    /// A long session has some thousand lines.
    static let transcriptOctetsMax = 16 << 20

    /// Replays a transcript on the server of a profile.
    static func replay(
        _ path: String, on profilePath: String, _ console: inout Console
    ) -> ExitCode {
        guard let transcript = transcript(path, &console),
            let profile = ProfileFile.loadWithSource(profilePath, &console)?.profile
        else { return .usage }
        let server = AttributePlan(profile).makeServer(
            profile.server, authenticator: OpenSSLAuthenticator())
        if let difference = transcript.run(on: server) {
            console.print("\(path):\(difference.line): \(difference.message)")
            return .unmet
        }
        console.print("\(path): \(profilePath) does all that it says")
        return .done
    }

    private static func transcript(_ path: String, _ console: inout Console) -> Transcript? {
        do throws(SystemError) {
            let bytes = try readFile(path, octetsMax: transcriptOctetsMax)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                console.error("\(path): this is no text in UTF-8")
                return nil
            }
            do throws(TranscriptError) { return try Transcript.parse(text) } catch {
                console.error("\(path):\(error.line): \(error.message)")
                return nil
            }
        } catch {
            console.error("\(error)")
            return nil
        }
    }
}
