// Files of the source tree, for tests that read them.

#if canImport(Glibc)
    import Glibc
#endif

enum SourceTree {
    /// The text of the file at `path` in the project; empty where there is none.
    static func read(_ path: String) -> String {
        var root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        root.removeLast(3)
        guard let file = fopen(root.joined(separator: "/") + "/" + path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
