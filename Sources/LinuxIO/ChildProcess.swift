// Processes that this one starts, and files without a name that they share with it.
import CLinux
import Glibc

/// A process that was started; `wait` is to be called once.
struct ChildProcess: Sendable {
    let id: pid_t

    /// This program, whatever has become of its file.
    static let itself = "/proc/self/exe"

    /// - Parameters:
    ///   - program: a path, or a name to look for in the search path.
    ///   - words: its name and arguments.
    ///   - descriptors: what it has open, under which number, beside what this process passes on.
    ///   - isDetached: in a session of its own, where no signal of the terminal reaches it, without
    ///     outputs that would keep a pipe open, and without environment.
    /// - Throws: `ENOENT` where there is no such program.
    init(
        _ program: String, _ words: [String], descriptors: [(Descriptor, as: Int32)],
        isDetached: Bool = false
    ) throws(SystemError) {
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for text in words { unsafe strings.append(strdup(text)) }
        unsafe strings.append(nil)
        let owned = unsafe strings
        defer { unsafe owned.forEach { unsafe free($0) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, number) in descriptors {
            unsafe posix_spawn_file_actions_adddup2(&actions, descriptor.number, number)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        if isDetached {
            for output in [STDOUT_FILENO, STDERR_FILENO] {
                unsafe posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
            }
            unsafe posix_spawnattr_setflags(&attributes, Int16(peripheral_emu_spawn_setsid))
        }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(
            &process, program, &actions, &attributes, &strings, isDetached ? nil : environ)
        guard code == 0 else { throw SystemError(code, operation: "start", object: words[0]) }
        id = process
    }

    /// Waits for its end.
    /// - Returns: its exit code, or 128 and the signal that ended it.
    @discardableResult
    func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
        return Self.code(status)
    }

    /// As `wait`, but nil where it has not ended.
    func end() -> Int32? {
        var status: Int32 = 0
        return unsafe waitpid(id, &status, WNOHANG) == id ? Self.code(status) : nil
    }

    private static func code(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}

extension Descriptor {
    /// A file in memory, for processes that exchange more than a pipe takes.
    /// - Parameter appends: whether each write goes to its end, whoever writes.
    static func inMemory(appends: Bool = false) throws(SystemError) -> Descriptor {
        let descriptor = Descriptor(
            try systemCall("create", "a file in memory") {
                unsafe memfd_create("peripheral-emu", peripheral_emu_mfd_cloexec)
            })
        if appends { _ = fcntl(descriptor.number, F_SETFL, O_APPEND) }
        return descriptor
    }

    /// What it holds, from its start, up to `octetsMax` octets.
    func content(octetsMax: Int) throws(SystemError) -> [UInt8] {
        _ = lseek(number, 0, SEEK_SET)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while content.count < octetsMax {
            let count = try systemCall("read", "a file in memory") {
                unsafe read(number, &chunk, chunk.count)
            }
            if count == 0 { break }
            content += chunk.prefix(count)
        }
        return content
    }
}
