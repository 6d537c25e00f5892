// Runs another program with a text as its input and takes what it prints.
import CLinux
import Glibc

/// A program on the search path, run to its end.
public enum ProgramRun {
    /// The most octets of output that are taken.
    public static let octetsMax = 64 << 20

    /// What `program` prints for `input`; nil where it is not installed, or does not end with 0.
    ///
    /// Input and output are files without a name, so that neither side waits for the other.
    public static func output(
        of program: String, _ arguments: [String] = [], input: String
    ) throws(SystemError) -> String? {
        let given = try unnamedFile()
        let taken = try unnamedFile()
        try write(Array(input.utf8), to: given)
        _ = lseek(given.number, 0, SEEK_SET)
        guard try run([program] + arguments, input: given, output: taken) else { return nil }
        return try readAll(taken)
    }

    private static func unnamedFile() throws(SystemError) -> Descriptor {
        var path: [CChar] = "/tmp/peripheral-emu-XXXXXX".utf8.map { CChar(bitPattern: $0) } + [0]
        let number = try systemCall("create a file in", "/tmp") { unsafe mkstemp(&path) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = unsafe unlink(path)
        return Descriptor(number)
    }

    private static func write(_ bytes: [UInt8], to file: Descriptor) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            done += try file.write(bytes, done..<bytes.count, to: "a file in /tmp")
        }
    }

    private static func readAll(_ file: Descriptor) throws(SystemError) -> String {
        _ = lseek(file.number, 0, SEEK_SET)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < octetsMax {
            let count = try systemCall("read", "a file in /tmp") {
                unsafe read(file.number, &buffer, buffer.count)
            }
            if count <= 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the program was there and ended with 0.
    private static func run(
        _ words: [String], input: Descriptor, output: Descriptor
    ) throws(SystemError) -> Bool {
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for text in words { unsafe strings.append(strdup(text)) }
        unsafe strings.append(nil)
        let owned = unsafe strings
        defer { unsafe owned.forEach { unsafe free($0) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.number, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, words[0], &actions, nil, &strings, environ)
        if code == ENOENT { return false }
        guard code == 0 else { throw SystemError(code, operation: "start", object: words[0]) }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status == 0
    }
}
