// Copies of this program that work side by side, each with a part of what it prints.
import Glibc

/// Processes of this program, their outputs in files without a name.
///
/// Each tells how far it is by octets that it appends to one shared file, a step an octet: nobody
/// waits for anybody.
public struct WorkerProcesses: ~Copyable {
    private var processes: [pid_t] = []
    private var outputs: [Descriptor] = []
    private let steps: Descriptor
    private var ended = 0
    private var failed: Int32?

    /// What a worker's output may be.
    private static let octetsMax = 1 << 30

    /// The descriptor that a worker appends its steps to.
    private static let stepsDescriptor: Int32 = 3

    /// Says to a worker that it may tell its steps.
    private static let variable = "PERIPHERAL_EMU_WORKER"

    /// Whether this process is a worker.
    public static var isWorker: Bool { unsafe getenv(variable) != nil }

    /// A worker has done one more step.
    public static func tellStep() {
        guard isWorker else { return }
        _ = unsafe write(stepsDescriptor, [UInt8](".".utf8), 1)
    }

    public init() throws(SystemError) {
        steps = try Self.unnamedFile()
        _ = unsafe setenv(Self.variable, "1", 1)
    }

    /// Writes to its end, whoever writes.
    private static func unnamedFile() throws(SystemError) -> Descriptor {
        var path: [CChar] = "/tmp/peripheral-emu-XXXXXX".utf8.map { CChar(bitPattern: $0) } + [0]
        let number = try systemCall("create a file in", "/tmp") {
            unsafe mkstemp(&path)
        }
        _ = unsafe unlink(path)
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        _ = fcntl(number, F_SETFL, O_APPEND)
        return Descriptor(number)
    }

    /// Starts one more with these arguments.
    public mutating func start(_ arguments: [String]) throws(SystemError) {
        let output = try Self.unnamedFile()
        var strings: [UnsafeMutablePointer<CChar>?] = unsafe []
        for text in [CommandLine.arguments.first ?? ""] + arguments {
            unsafe strings.append(strdup(text))
        }
        unsafe strings.append(nil)
        let owned = unsafe strings
        defer { unsafe owned.forEach { unsafe free($0) } }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, steps.number, Self.stepsDescriptor)
        var process: pid_t = 0
        let program = "/proc/self/exe"
        let code = unsafe posix_spawn(&process, program, &actions, nil, &strings, environ)
        guard code == 0 else { throw SystemError(code, operation: "start", object: program) }
        processes.append(process)
        outputs.append(output)
    }

    /// Steps that all workers together have done.
    public var stepCount: Int {
        var status = stat()
        guard unsafe fstat(steps.number, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Looks whether workers have ended.
    /// - Returns: whether all have.
    public mutating func poll() -> Bool {
        for index in processes.indices where processes[index] > 0 {
            var status: Int32 = 0
            guard unsafe waitpid(processes[index], &status, WNOHANG) == processes[index] else {
                continue
            }
            processes[index] = 0
            ended += 1
            // The exit code, or a signal.
            let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
            if code != 0 { failed = failed ?? code }
        }
        return ended == processes.count
    }

    /// The exit code of the first that did not end with 0.
    public var failure: Int32? { failed }

    /// Ends those that still work.
    public mutating func stop() {
        for process in processes where process > 0 {
            kill(process, SIGTERM)
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        processes = []
    }

    /// What each has printed, in the order of their start.
    public func takeOutputs() throws(SystemError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for output in outputs {
            _ = lseek(output.number, 0, SEEK_SET)
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 18)
            while bytes.count <= Self.octetsMax {
                let count = try systemCall("read", "a worker's output") {
                    unsafe read(output.number, &buffer, buffer.count)
                }
                if count <= 0 { break }
                bytes += buffer[..<count]
            }
            texts.append(bytes)
        }
        return texts
    }
}
