// A small process that switches an adapter on again when the one that took it over has ended.
import Glibc

/// The keeper of an adapter that was up when it was taken over. It outlives this program, however
/// that ends, SIGKILL included, and then does the one thing it is for.
public final class AdapterKeeper {
    /// The program's argument that makes it a keeper; the next one is the adapter's number.
    public static let argument = "keep-adapter"
    /// How long the kernel may take to let go of the adapter of a program that has ended.
    private static let patience: Int32 = 5_000
    private static let pause: Int32 = 20

    private let process: ChildProcess
    private var pipe: Descriptor?

    /// Starts the keeper of an adapter; what it is told later, it does at the end.
    init(of adapter: UInt16) throws(SystemError) {
        var ends: [Int32] = [0, 0]
        _ = try systemCall("make", "a pipe") { unsafe Glibc.pipe(&ends) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reader = Descriptor(ends[0])
        let pipe = Descriptor(ends[1])
        process = try ChildProcess(
            ChildProcess.itself, ["peripheral-emu", Self.argument, "\(adapter)"],
            descriptors: [(reader, as: STDIN_FILENO)], isDetached: true)
        self.pipe = pipe
    }

    deinit { end() }

    /// Tells the keeper that the adapter was up.
    func restore() {
        guard let pipe else { return }
        _ = try? pipe.write([1], 0..<1, to: "the adapter's keeper")
    }

    /// Lets the keeper do its work, and waits until it is done.
    func end() {
        guard let pipe else { return }
        pipe.close()
        self.pipe = nil
        process.wait()
    }

    /// What the keeper does; standard input is the pipe.
    public static func run(_ adapter: UInt16) {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { _ = signal(number, SIG_IGN) }
        _ = try? Capabilities.drop(keepingNetAdmin: true)
        guard hasWork, let socket = try? HCISocket() else { return }
        var waited: Int32 = 0
        while HCISocket.isInUserChannel(adapter), waited < patience {
            _ = poll(nil, 0, pause)
            waited += pause
        }
        _ = socket.bringUp(adapter)
    }

    /// Waits for the end of the pipe; whether something was said before.
    private static var hasWork: Bool {
        var octet: UInt8 = 0
        var isTold = false
        while true {
            let count = unsafe read(STDIN_FILENO, &octet, 1)
            if count > 0 { isTold = true }
            if count == 0 || count < 0 && errno != EINTR { return isTold }
        }
    }
}
