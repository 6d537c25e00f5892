// Copies of this program that work side by side, each with a part of what it prints.
import CLinux
import Glibc

/// Processes of this program, their outputs in files without a name.
///
/// Each tells how far it is by octets that it appends to one shared file, a step an octet: nobody
/// waits for anybody.
public struct WorkerProcesses: ~Copyable {
    /// nil for one that has ended.
    private var processes: [ChildProcess?] = []
    private var outputs: [Descriptor] = []
    private let steps: Descriptor
    /// The exit code of the first that did not end with 0; 128 and the signal that ended it.
    public private(set) var failure: Int32?

    /// What a worker's output may be.
    private static let octetsMax = 1 << 30

    /// The descriptor that a worker appends its steps to.
    private static let stepsDescriptor: Int32 = 3

    /// Says to a worker whose it is, by that process's number.
    private static let variable = "PERIPHERAL_EMU_WORKER"

    /// Whether this process is a worker.
    public static var isWorker: Bool { unsafe getenv(variable) != nil }

    /// Ends this worker with the process that started it, however that ends.
    public static func followParent() {
        guard let parent = unsafe getenv(variable) else { return }
        _ = peripheral_emu_end_with_parent()
        // It may have ended before.
        if unsafe pid_t(String(cString: parent)) != getppid() { raise(SIGTERM) }
    }

    /// A worker has done one more step.
    public static func tellStep() {
        guard isWorker else { return }
        _ = unsafe write(stepsDescriptor, [UInt8](".".utf8), 1)
    }

    public init() throws(SystemError) {
        steps = try Descriptor.inMemory(appends: true)
        _ = unsafe setenv(Self.variable, "\(getpid())", 1)
    }

    /// Starts one more with these arguments.
    public mutating func start(_ arguments: [String]) throws(SystemError) {
        let output = try Descriptor.inMemory(appends: true)
        let name = CommandLine.arguments.first ?? "peripheral-emu"
        processes.append(
            try ChildProcess(
                ChildProcess.itself, [name] + arguments,
                descriptors: [(output, as: STDOUT_FILENO), (steps, as: Self.stepsDescriptor)]))
        outputs.append(output)
    }

    /// Steps that all workers together have done.
    public var stepCount: Int {
        var status = stat()
        guard unsafe fstat(steps.number, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    /// Looks whether workers have ended.
    /// - Returns: whether all have, or one has failed.
    public mutating func poll() -> Bool {
        for index in processes.indices {
            guard let code = processes[index]?.end() else { continue }
            processes[index] = nil
            if code != 0 { failure = failure ?? code }
        }
        return failure != nil || processes.allSatisfy { $0 == nil }
    }

    /// Ends those that still work.
    public mutating func stop() {
        for case let process? in processes {
            // One that was stopped takes no other signal.
            kill(process.id, SIGKILL)
            process.wait()
        }
        processes = []
    }

    /// What each has printed, in the order of their start.
    public func takeOutputs() throws(SystemError) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        for output in outputs { texts.append(try output.content(octetsMax: Self.octetsMax)) }
        return texts
    }
}
