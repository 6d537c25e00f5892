// Files of the source tree, for tests that read them or compare with them.

#if canImport(Glibc)
    import Glibc
#endif

/// The project's files. Paths count from the project's folder.
public enum SourceTree {
    /// The project's folder.
    public static let root: String = {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        return parts.joined(separator: "/")
    }()

    /// The octets of a file; nil where there is none.
    public static func bytes(_ path: String) -> [UInt8]? {
        guard let file = fopen(root + "/" + path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// The text of a file; empty where there is none.
    public static func text(_ path: String) -> String {
        String(decoding: bytes(path) ?? [], as: UTF8.self)
    }

    /// The names of the files in a folder, sorted.
    public static func files(_ path: String) -> [String] {
        guard let folder = opendir(root + "/" + path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            var name = entry.pointee.d_name
            let text = withUnsafePointer(to: &name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !text.hasPrefix(".") { names.append(text) }
        }
        return names.sorted()
    }

    /// The first line in which `text` differs from the snapshot at `path`; nil where they are
    /// equal.
    ///
    /// A snapshot that is not there is written, to be read and committed.
    public static func difference(of text: String, from path: String) -> String? {
        guard let bytes = bytes(path) else {
            guard let file = fopen(root + "/" + path, "w") else { return "\(path) is missing" }
            defer { fclose(file) }
            fputs(text, file)
            return "\(path) was missing and is written now: read it, then commit it"
        }
        let expected = String(decoding: bytes, as: UTF8.self)
        guard text != expected else { return nil }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let others = expected.split(separator: "\n", omittingEmptySubsequences: false)
        for index in 0..<max(lines.count, others.count) {
            let line = index < lines.count ? String(lines[index]) : "(end)"
            let other = index < others.count ? String(others[index]) : "(end)"
            if line != other { return "\(path):\(index + 1): expected \(other)\nfound \(line)" }
        }
        return "\(path) differs"
    }
}
