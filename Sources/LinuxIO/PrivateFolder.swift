// A folder that one process at a time holds, which others cannot look into.
import Glibc

/// Whoever holds a folder: by a lock that the kernel lets go of however the process ends.
public final class PrivateFolder {
    public let path: String
    private let lock: Descriptor

    private static let lockName = "lock"

    /// Takes the folder; it is made where it is not there, with mode 0700, as those above it are.
    ///
    /// - Throws: where another process holds it, an error of `EBUSY` with its process id.
    public init(path: String) throws(SystemError) {
        self.path = path
        try Self.make(path)
        _ = try systemCall("write to", path) { unsafe access(path, W_OK | X_OK) }
        let lockPath = path + "/" + Self.lockName
        let lock = Descriptor(
            try systemCall("lock", lockPath) {
                unsafe open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        do throws(SystemError) {
            _ = try systemCall("lock", lockPath) { flock(lock.number, LOCK_EX | LOCK_NB) }
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            let text = (try? readFile(lockPath, octetsMax: 32)) ?? []
            let holder = String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            throw SystemError(
                EBUSY, operation: "use", object: path,
                reason: holder.isEmpty
                    ? "another process holds it" : "the process \(holder) holds it")
        }
        // What a process before has written in it may be longer.
        _ = try systemCall("write to", lockPath) { ftruncate(lock.number, 0) }
        let text = Array("\(getpid())\n".utf8)
        _ = try lock.write(text, 0..<text.count, to: lockPath)
        self.lock = lock
    }

    private static func make(_ path: String) throws(SystemError) {
        var place = path.hasPrefix("/") ? "/" : ""
        let parts = path.split(separator: "/")
        for (index, part) in parts.enumerated() {
            place += part
            let isLast = index == parts.count - 1
            guard unsafe access(place, F_OK) != 0 else {
                place += "/"
                continue
            }
            _ = try systemCall("make the folder", place) { unsafe mkdir(place, 0o700) }
            place += isLast ? "" : "/"
        }
    }
}

/// Makes an empty file that is its owner's alone, or takes away others' rights to the one there.
public func makePrivateFile(_ path: String) throws(SystemError) {
    let file = Descriptor(
        try systemCall("create", path) {
            unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        })
    _ = try systemCall("protect", path) { fchmod(file.number, 0o600) }
}

/// Removes a file; one that is not there is no failure.
public func removeFile(_ path: String) throws(SystemError) {
    guard exists(path) else { return }
    _ = try systemCall("remove", path) { unsafe unlink(path) }
}

/// Gives a file another name, in place of what bears it.
public func renameFile(_ path: String, to name: String) throws(SystemError) {
    _ = try systemCall("rename", path) { unsafe rename(path, name) }
}
