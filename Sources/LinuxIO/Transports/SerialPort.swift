// serial: a controller at a UART or a USB serial adapter.
import CLinux
import Glibc

/// Opens a serial device raw and for itself, `serial:DEVICE,BAUD[,rtscts]`: 8 data bits, no parity,
/// one stop bit, as H4 demands (Core 6.0, Vol 4, Part A, 3).
struct SerialPort: TransportSource {
    static let form = "serial:DEVICE,BAUD[,rtscts]"
    static let meaning = "a controller at a UART or a USB serial adapter"
    let device: String
    private let speed: speed_t
    private let hasFlowControl: Bool

    /// The rates the C library has a code for, in baud.
    private static let speeds: [(baud: Int, code: Int32)] = [
        (9_600, B9600), (19_200, B19200), (38_400, B38400), (57_600, B57600),
        (115_200, B115200), (230_400, B230400), (460_800, B460800), (500_000, B500000),
        (576_000, B576000), (921_600, B921600), (1_000_000, B1000000), (1_152_000, B1152000),
        (1_500_000, B1500000), (2_000_000, B2000000), (2_500_000, B2500000),
        (3_000_000, B3000000), (3_500_000, B3500000), (4_000_000, B4000000),
    ]

    init?(specification: Substring) {
        let parts = specification.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 && parts[2] == "rtscts", !parts[0].isEmpty,
            let baud = Int(parts[1]), let speed = Self.speeds.first(where: { $0.baud == baud })
        else { return nil }
        device = String(parts[0])
        self.speed = speed_t(speed.code)
        hasFlowControl = parts.count == 3
    }

    var place: String { device }

    func open() throws(SystemError) -> Opening {
        let descriptor: Descriptor
        do throws(SystemError) {
            descriptor = Descriptor(
                try systemCall("open", device) {
                    unsafe Glibc.open(device, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
                })
        } catch { throw error.advising(Self.advice(error.code)) }
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            throw SystemError(EBUSY, operation: "open", object: device, advice: Self.advice(EBUSY))
        }
        var settings = termios()
        guard unsafe tcgetattr(descriptor.number, &settings) == 0 else {
            throw SystemError(
                errno, operation: "open", object: device, reason: "it is no serial device",
                advice: "write \(Self.form)")
        }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        if hasFlowControl {
            settings.c_cflag |= tcflag_t(CRTSCTS)
        } else {
            settings.c_cflag &= ~tcflag_t(CRTSCTS)
        }
        _ = unsafe cfsetspeed(&settings, speed)
        _ = try systemCall("set up", device) {
            unsafe tcsetattr(descriptor.number, TCSANOW, &settings)
        }
        // No other program can open it now; what came before us is not for us.
        _ = ioctl(descriptor.number, UInt(TIOCEXCL))
        _ = tcflush(descriptor.number, TCIOFLUSH)
        return .open(descriptor)
    }

    private static func advice(_ code: Int32) -> String? {
        switch code {
        case EBUSY: "another program uses it: end that one first"
        case EACCES: "add yourself to the device's group, dialout usually, or run as root"
        case ENOENT, ENODEV, ENXIO: "plug the adapter in, or correct the path"
        default: nil
        }
    }
}
