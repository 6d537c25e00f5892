// Files: one that grows, and whole ones that are read.
import Glibc

/// A file that is written from its start, through a buffer.
public final class FileOutput {
    /// For messages.
    public let path: String
    private let descriptor: Descriptor
    private var buffer: [UInt8] = []

    private let isLive: Bool

    /// Octets gathered before they are written by themselves.
    private static let bufferOctetsMax = 65_536
    /// Octets that wait for the reader of a live pipe; with more it is given up.
    static let waitingOctetsMax = 4 << 20
    /// How long the end of a live pipe waits for its reader, in milliseconds.
    private static let patience: Int32 = 1000

    /// Creates the file, or empties the one that is there. Opening a pipe waits for its reader.
    /// - Parameter isLive: whether nothing may wait for the reader of a pipe afterwards.
    public init(path: String, isLive: Bool = false) throws(SystemError) {
        self.path = path
        self.isLive = isLive
        descriptor = Descriptor(
            try systemCall("create", path) {
                unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            })
        // A pipe opened by its name is our own: nobody else gets to see that it does not wait.
        if isLive { _ = fcntl(descriptor.number, F_SETFL, O_WRONLY | O_NONBLOCK) }
        buffer.reserveCapacity(2 * Self.bufferOctetsMax)
    }

    deinit {
        // Whoever wants to know of a failure calls `close`.
        do throws(SystemError) { try flush() } catch {}
    }

    /// Appends `bytes`; they reach the file when 64 KiB have been gathered, at `flush` or at
    /// `close`.
    public func write(_ bytes: [UInt8]) throws(SystemError) {
        buffer += bytes
        if buffer.count >= Self.bufferOctetsMax { try flush() }
    }

    /// Writes out what has been gathered. After a failure the octets are dropped, so that a full
    /// disk does not become full memory.
    public func flush() throws(SystemError) {
        var start = 0
        defer { buffer.removeFirst(start) }
        while start < buffer.count {
            let count: Int
            do throws(SystemError) {
                count = try descriptor.write(buffer, start..<buffer.count, to: path)
            } catch {
                start = buffer.count
                throw error
            }
            start += count
            guard count == 0 else { continue }
            // Only a live pipe does not take any.
            guard buffer.count - start <= Self.waitingOctetsMax else {
                start = buffer.count
                throw unread
            }
            return
        }
    }

    private var unread: SystemError {
        SystemError(EAGAIN, operation: "write to", object: path, reason: "nobody reads it")
    }

    /// Writes out the rest and closes the file.
    public func close() throws(SystemError) {
        guard descriptor.isOpen else { return }
        defer { descriptor.close() }
        try flush()
        while !buffer.isEmpty {
            var state = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&state, 1, Self.patience) > 0 else {
                buffer.removeAll()
                throw unread
            }
            try flush()
        }
    }
}

/// Throws what writing to the file would, without touching it.
public func requireWritable(_ path: String) throws(SystemError) {
    var status = stat()
    if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
        throw SystemError(EISDIR, operation: "write", object: path)
    }
    guard unsafe access(path, W_OK) != 0 else { return }
    let reason = errno
    // What is not there yet is made in its folder.
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { path[...$0] } ?? "."
    guard reason == ENOENT, unsafe access(String(folder), W_OK) == 0 else {
        throw SystemError(reason == ENOENT ? errno : reason, operation: "write", object: path)
    }
}

/// Reads a whole file, or a pipe to its end.
/// - Parameter octetsMax: a longer file is refused, so that a wrong path does not fill the memory.
public func readFile(_ path: String, octetsMax: Int) throws(SystemError) -> [UInt8] {
    let descriptor = Descriptor(
        try systemCall("read", path) { unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
    let size = descriptor.size
    guard size <= octetsMax else {
        throw SystemError(
            EFBIG, operation: "read", object: path,
            reason: "it has \(size) octets, the limit is \(octetsMax)")
    }
    var content = try firstOctets(of: descriptor, path)
    _ = fcntl(descriptor.number, F_SETFL, O_RDONLY)
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = try systemCall("read", path) {
            unsafe read(descriptor.number, &chunk, chunk.count)
        }
        if count == 0 { return content }
        content += chunk.prefix(count)
        guard content.count <= octetsMax else {
            throw SystemError(
                EFBIG, operation: "read", object: path,
                reason: "it is larger than \(octetsMax) octets")
        }
    }
}

extension Descriptor {
    /// Of a file on a disk, in octets; 0 of anything else: sysfs says a page of every attribute.
    fileprivate var size: Int {
        var status = stat()
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_blocks > 0
        else { return 0 }
        return Int(status.st_size)
    }
}

/// Waits for up to 1 s until a pipe has a writer, which may take its time afterwards.
/// - Returns: what had to be read to see that; nothing of other files.
private func firstOctets(of descriptor: Descriptor, _ path: String) throws(SystemError) -> [UInt8] {
    var status = stat()
    guard unsafe fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
        return []
    }
    var state = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&state, 1, 1000) == 0 else { return [] }
    var octet: [UInt8] = [0]
    let count = unsafe read(descriptor.number, &octet, 1)
    // With a writer a read would have to wait, without one it is at the end.
    guard count == 0 else { return count > 0 ? octet : [] }
    throw SystemError(
        EAGAIN, operation: "read", object: path, reason: "it is a pipe, and nobody writes to it",
        advice: "name a regular file, or start the writer first")
}

/// Whether there is something at `path` that can be read.
public func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

/// Whether there is something at `path`; behind a symbolic link, what that points to.
public func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

/// The names in a folder, sorted; none where it cannot be read.
public func listFolder(_ path: String) -> [String] {
    guard let folder = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(folder) }
    var names: [String] = []
    while let entry = unsafe readdir(folder) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { octets in
            unsafe String(decoding: octets.prefix { $0 != 0 }, as: UTF8.self)
        }
        names.append(name)
    }
    return names.sorted()
}

/// The absolute path without symbolic links; nil where there is nothing.
public func realPath(_ path: String) -> String? {
    guard let found = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
}

/// What a symbolic link points to; nil where it is none.
public func linkTarget(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe buffer.withUnsafeMutableBytes { octets in
        guard let base = octets.baseAddress else { return 0 }
        return unsafe readlink(path, base, octets.count)
    }
    return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
}
