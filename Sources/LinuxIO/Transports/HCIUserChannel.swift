// hci: a Bluetooth adapter of this machine, by the kernel's user channel.
import CBluetooth
import Glibc
import HCI

/// Takes a Bluetooth adapter away from the kernel and speaks HCI with it, `hci:N`. The adapter must
/// be down; each read and each write is one whole H4 packet.
struct HCIUserChannel: TransportSource {
    static let form = "hci:N"
    static let meaning = "a Bluetooth adapter of this machine, which must be down"
    private let adapter: UInt16

    init?(specification: Substring) {
        // 0xFFFF is the kernel's "no adapter".
        guard let adapter = Endpoint.port(specification), adapter != .max else { return nil }
        self.adapter = adapter
    }

    var place: String { "hci\(adapter)" }

    func open() throws(SystemError) -> Opening {
        let type = Int32(SOCK_RAW.rawValue) | O_NONBLOCK | O_CLOEXEC
        let number = socket(peripheral_emu_af_bluetooth, type, peripheral_emu_btproto_hci)
        guard number >= 0 else { throw failure(errno) }
        let descriptor = Descriptor(number)
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(peripheral_emu_af_bluetooth)
        address.hci_dev = adapter
        address.hci_channel = UInt16(HCI_CHANNEL_USER)
        let length = socklen_t(MemoryLayout<sockaddr_hci>.size)
        let result = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, length)
            }
        }
        guard result == 0 else { throw failure(errno) }
        return .open(descriptor)
    }

    /// Why the adapter cannot be had, and what to do.
    func failure(_ code: Int32) -> SystemError {
        let (reason, advice) = sentence(code)
        return SystemError(
            code, operation: "open", object: "hci:\(adapter)", reason: reason, advice: advice)
    }

    private func sentence(_ code: Int32) -> (reason: String?, advice: String?) {
        switch code {
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            ("no Bluetooth in this kernel", "use --controller virtual, or a controller over TCP")
        case EPERM, EACCES:
            (
                "the user channel needs the capability CAP_NET_ADMIN",
                "run as root, or once: sudo setcap cap_net_admin+ep peripheral-emu"
            )
        case EBUSY, EALREADY:
            (
                "the adapter is up",
                "take it down: bluetoothctl power off, or sudo hciconfig hci\(adapter) down"
            )
        case EUSERS: ("another program has the adapter's user channel", "end that program first")
        case ENODEV: ("there is no such adapter", "see /sys/class/bluetooth for those there are")
        case ERFKILL: ("the adapter is switched off by rfkill", "rfkill unblock bluetooth")
        default: (nil, nil)
        }
    }

    func write(_ bytes: [UInt8], to descriptor: Descriptor, _ name: String) throws(SystemError)
        -> Int
    {
        var start = 0
        while start < bytes.count {
            guard case .packet(_, let end) = H4.frame(bytes.span, from: start) else {
                throw SystemError(
                    EPROTO, operation: "write to", object: name, reason: "this is no HCI packet")
            }
            if try descriptor.write(bytes, start..<end, to: name) == 0 { break }
            start = end
        }
        return start
    }
}
