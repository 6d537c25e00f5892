// `check`: validates profiles and shows what they come to.
import Emulator
import Profiles

enum CheckCommand {
    static func run(_ paths: [String], _ console: inout Console) -> ExitCode {
        var code = ExitCode.done
        for (index, path) in paths.enumerated() {
            guard let profile = ProfileFile.load(path, &console) else {
                code = .usage
                continue
            }
            if index > 0 { console.print("") }
            console.print(CheckReport.text(of: profile))
        }
        return code
    }
}
