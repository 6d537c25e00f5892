// pty: a serial line made of software, for a controller that wants to open a device.
import CLinux
import Glibc

/// Makes a pseudo-terminal in raw mode and a symbolic link to it, `pty:LINK`. The pipe is open once
/// somebody has opened the device and ends when the last one closes it; then a new one is made.
struct PseudoTerminal: TransportSource {
    static let form = "pty:LINK"
    static let meaning = "a serial line made of software, which a controller opens at LINK"
    private static let devices = "/dev/pts/"
    let link: String
    private var device: String?
    private var main: Descriptor?
    /// Tells that the device was opened: a pseudo-terminal does not say so itself.
    private var watcher: Descriptor?

    init?(specification: Substring) {
        guard !specification.isEmpty, !specification.utf8.contains(0) else { return nil }
        link = String(specification)
    }

    var ownFile: String? { link }
    var place: String { device.map { "\(link) (\($0))" } ?? link }

    mutating func open() throws(SystemError) -> Opening {
        close()
        let main = Descriptor(
            try systemCall("open", "/dev/ptmx") {
                unsafe Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
            })
        var isLocked: Int32 = 0
        var number: Int32 = 0
        _ = try systemCall("unlock", "a pseudo-terminal") {
            unsafe ioctl(main.number, UInt(peripheral_emu_tiocsptlck), &isLocked)
        }
        _ = try systemCall("number", "a pseudo-terminal") {
            unsafe ioctl(main.number, UInt(peripheral_emu_tiocgptn), &number)
        }
        let device = Self.devices + "\(number)"
        var settings = termios()
        _ = try systemCall("set up", device) { unsafe tcgetattr(main.number, &settings) }
        unsafe cfmakeraw(&settings)
        _ = try systemCall("set up", device) { unsafe tcsetattr(main.number, TCSANOW, &settings) }
        let watcher = Descriptor(
            try systemCall("watch", device) { inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK)) })
        _ = try systemCall("watch", device) {
            unsafe inotify_add_watch(watcher.number, device, UInt32(IN_OPEN))
        }
        try makeLink(to: device)
        self.device = device
        self.main = main
        self.watcher = watcher
        return .waiting(watcher)
    }

    private func makeLink(to device: String) throws(SystemError) {
        // A link to a pseudo-terminal is one that a killed program left behind.
        if linkTarget?.hasPrefix(Self.devices) == true { _ = unsafe unlink(link) }
        do throws(SystemError) {
            _ = try systemCall("make the link", link) { unsafe symlink(device, link) }
        } catch {
            throw error.code == EEXIST ? error.advising("remove it, or choose another name") : error
        }
    }

    private var linkTarget: String? {
        var target = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink(link, &target, target.count)
        guard count > 0 else { return nil }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    mutating func accept() throws(SystemError) -> Descriptor? {
        watcher?.close()
        watcher = nil
        return main
    }

    mutating func close() {
        watcher?.close()
        watcher = nil
        main?.close()
        main = nil
        if let device, linkTarget == device { _ = unsafe unlink(link) }
        device = nil
    }

    func read(_ descriptor: Descriptor, into buffer: inout ReadBuffer, _ name: String)
        throws(SystemError) -> Descriptor.Transfer
    {
        do throws(SystemError) {
            return try buffer.fill(from: descriptor, name)
        } catch {
            // So the kernel says that nobody has the device open any more.
            if error.code == EIO { return .count(0) }
            throw error
        }
    }
}
