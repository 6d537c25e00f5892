// Files of the source tree, and short ways to load profiles in tests.
import Profiles
import Testing

#if canImport(Glibc)
import Glibc
#endif

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

/// A profile around the characteristic lines `body`, indented by six spaces.
func characteristic(_ body: String) -> String {
    let lines = body.split(separator: "\n").map { "        \($0)" }.joined(separator: "\n")
    return """
        peripheral-emu: 1
        device: {name: T}
        services:
          - service: 0x1234
            characteristics:
              - characteristic: 0x5678
        \(lines)

        """
}

/// The errors of a characteristic, without the file's name.
func characteristicErrors(_ body: String) -> [String] {
    errors(characteristic(body)).map { $0.replacing("test.yaml:", with: "") }
}

/// The errors of one advertising set, without the file's name.
func advertisingErrors(_ body: String, device: String = "{name: T}") -> [String] {
    let lines = body.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
    let text = "peripheral-emu: 1\ndevice: \(device)\nadvertising:\n  -\n\(lines)\n"
    return errors(text).map { $0.replacing("test.yaml:", with: "") }
}
