// Files of the source tree, and short ways to load profiles in tests.
import Glibc
import Profiles
import Testing

enum SourceTree {
    /// The project's folder, from this file's place in it.
    static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// The text of a file under the project's folder.
    static func text(_ path: String) -> String? {
        read(root + "/" + path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names in a folder under the project's folder, sorted.
    static func names(in path: String) -> [String] {
        guard let folder = opendir(root + "/" + path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names.sorted()
    }

    static func write(_ text: String, to path: String) {
        guard let file = fopen(path, "w") else { return }
        defer { fclose(file) }
        fputs(text, file)
    }
}

/// Loads the profile at `path` under the project's folder; messages and files are as if run there.
func loadBundled(_ path: String) throws -> DeviceProfile {
    let bytes = try #require(SourceTree.read(SourceTree.root + "/" + path))
    return try ProfileLoader.load(path: path, bytes: bytes, files: bundledFile)
}

func bundledFile(_ path: String) -> Result<[UInt8], FileFailure> {
    guard let bytes = SourceTree.read(SourceTree.root + "/" + path) else {
        return .failure(FileFailure(reason: "No such file or directory"))
    }
    return .success(bytes)
}

func load(_ text: String, files: [String: String] = [:]) throws(ProfileErrors) -> DeviceProfile {
    try ProfileLoader.load(path: "test.yaml", bytes: Array(text.utf8)) { path in
        guard let content = files[path] else {
            return .failure(FileFailure(reason: "No such file or directory"))
        }
        return .success(Array(content.utf8))
    }
}

/// The errors of `text`, one a line; empty where it loads.
func errors(_ text: String, files: [String: String] = [:]) -> [String] {
    do throws(ProfileErrors) {
        _ = try load(text, files: files)
        return []
    } catch { return error.list.map(\.description) }
}

/// The one characteristic of a profile whose lines are `body`.
func only(_ body: String) throws -> CharacteristicSpec {
    let lines = body.split(separator: "\n").map { "        \($0)\n" }.joined()
    let top = "peripheral-emu: 1\ndevice: {name: T}\nservices:\n  - service: 0x1234\n"
    let profile = try load(
        top + "    characteristics:\n      - characteristic: 0x5678\n" + lines)
    return try #require(profile.services.first?.characteristics.first)
}

/// The same for a type that has `errors` of its own.
enum Fixture {
    static func errors(_ text: String, _ files: [String: String] = [:]) -> [String] {
        ProfilesTests.errors(text, files: files)
    }
}
