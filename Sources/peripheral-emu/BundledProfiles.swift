// Profiles that are known by name: where they are, and the command that lists them.
import Emulator
import Glibc
import LinuxIO
import Wire
import YAML

/// The folders with profiles of their own name, in the order they are looked through.
enum BundledProfiles {
    private static let suffix = ".yaml"
    /// From the program in `.build/…` of a source tree up to its top.
    private static let levelsMax = 5

    /// The path of the profile that is called `name`; nil where `name` is a path, or nobody's name.
    static func path(of name: String) -> String? {
        guard !name.contains("/"), !name.hasSuffix(suffix), !isReadable(name) else { return nil }
        for folder in folders {
            let path = folder + "/" + name + suffix
            if isReadable(path) { return path }
        }
        return nil
    }

    /// What is said of a path that is no file and might be meant as a name; nil for other paths.
    ///
    /// - Parameter names: the names there are.
    static func hint(for path: String, among names: [String]) -> String? {
        let name = path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
        guard !name.contains("/") else { return nil }
        let near = NearestName.of(name, among: names).map { "'\($0)', or " } ?? ""
        return "write \(near)a name that 'peripheral-emu profiles' lists, or a path"
    }

    /// What a profile's first comment says up to its first full stop; nil where it has none.
    static func summary(of text: String) -> String? {
        let comment = text.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }.joined(separator: " ")
        guard !comment.isEmpty else { return nil }
        guard let stop = comment.firstPlace(of: ". ") else { return comment }
        return String(comment[..<stop.upperBound].dropLast())
    }

    /// Each name once, with its path; the first folder that has it counts.
    static var all: [(name: String, path: String)] {
        var found: [(name: String, path: String)] = []
        for folder in folders {
            for file in listFolder(folder) where file.hasSuffix(suffix) {
                let name = String(file.dropLast(suffix.count))
                if !found.contains(where: { $0.name == name }) {
                    found.append((name, folder + "/" + file))
                }
            }
        }
        return found.sorted { $0.name < $1.name }
    }

    /// The file at `path` below the first folder that has it; nil where none does.
    static func file(_ path: String) -> String? {
        folders.lazy.map { $0 + "/" + path }.first { isReadable($0) }
    }

    /// The names of the YAML files in `folder` below all folders, each once.
    static func names(in folder: String) -> [String] {
        var names: [String] = []
        for top in folders {
            for file in listFolder(top + "/" + folder) where file.hasSuffix(suffix) {
                let name = String(file.dropLast(suffix.count))
                if !names.contains(name) { names.append(name) }
            }
        }
        return names.sorted()
    }

    private static var folders: [String] {
        var folders: [String] = []
        if let variable = unsafe getenv("PERIPHERAL_EMU_PROFILES") {
            folders += unsafe String(cString: variable).split(separator: ":").map { String($0) }
        }
        guard let program = linkTarget("/proc/self/exe") else { return folders }
        var parts = program.split(separator: "/").dropLast()
        folders.append(
            "/"
                + (parts.dropLast() + ["share", "peripheral-emu", "profiles"])
                .joined(separator: "/"))
        for _ in 0..<levelsMax where !parts.isEmpty {
            parts = parts.dropLast()
            let top = "/" + parts.joined(separator: "/")
            // A source tree, not just any folder of that name.
            if isReadable(top + "/Profiles"), isReadable(top + "/Package.swift") {
                folders.append(top + "/Profiles")
                break
            }
        }
        return folders
    }
}

/// `profiles`: what there is by name, with the first sentence of each.
enum ProfilesCommand {
    static func run(_ console: inout Console) -> ExitCode {
        let profiles = BundledProfiles.all
        let width = profiles.map(\.name.count).max() ?? 0
        for (name, path) in profiles {
            var line = name
            do throws(SystemError) {
                let bytes = try readFile(path, octetsMax: YAMLDocument.octetsMax)
                if let summary = BundledProfiles.summary(of: String(decoding: bytes, as: UTF8.self))
                {
                    line += String(repeating: " ", count: width - name.count + 2) + summary
                }
            } catch { console.error("\(error)") }
            console.print(line)
        }
        guard profiles.isEmpty else { return .done }
        console.error(
            "no profiles are installed; name their folder by PERIPHERAL_EMU_PROFILES")
        return .failure
    }
}
