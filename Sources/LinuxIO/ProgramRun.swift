// Runs another program with a text as its input and takes what it prints.
import Glibc

/// A program on the search path, run to its end.
public enum ProgramRun {
    /// The most octets of output that are taken.
    public static let octetsMax = 64 << 20

    /// What `program` prints for `input`; nil where it is not installed, or does not end with 0.
    ///
    /// Input and output are files, so that neither side waits for the other.
    public static func output(
        of program: String, _ arguments: [String] = [], input: String
    ) throws(SystemError) -> String? {
        let given = try Descriptor.inMemory()
        let taken = try Descriptor.inMemory()
        let bytes = Array(input.utf8)
        var done = 0
        while done < bytes.count {
            done += try given.write(bytes, done..<bytes.count, to: "a file in memory")
        }
        _ = lseek(given.number, 0, SEEK_SET)
        let process: ChildProcess
        do throws(SystemError) {
            process = try ChildProcess(
                program, [program] + arguments,
                descriptors: [(given, as: STDIN_FILENO), (taken, as: STDOUT_FILENO)])
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        guard process.wait() == 0 else { return nil }
        return String(decoding: try taken.content(octetsMax: octetsMax), as: UTF8.self)
    }
}
