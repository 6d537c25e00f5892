// A socket to the kernel's Bluetooth adapters: their state, and up and down.
import CBluetooth
import Glibc
import Wire

/// One of the kernel's HCI sockets.
struct HCISocket {
    let descriptor: Descriptor

    /// - Throws: EAFNOSUPPORT where the kernel has no Bluetooth.
    init() throws(SystemError) {
        let type = Int32(SOCK_RAW.rawValue) | O_NONBLOCK | O_CLOEXEC
        descriptor = Descriptor(
            try systemCall("open", "a Bluetooth socket") {
                socket(peripheral_emu_af_bluetooth, type, peripheral_emu_btproto_hci)
            })
    }

    /// Ties the socket to a channel of an adapter; the errno where that fails.
    private func bind(to adapter: UInt16, channel: Int32) -> Int32? {
        var address = sockaddr_hci()
        address.hci_family = sa_family_t(peripheral_emu_af_bluetooth)
        address.hci_dev = adapter
        address.hci_channel = UInt16(channel)
        let length = socklen_t(MemoryLayout<sockaddr_hci>.size)
        let result = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.bind(descriptor.number, $0, length)
            }
        }
        return result == 0 ? nil : errno
    }

    /// What the kernel knows of an adapter.
    struct Information {
        var address: DeviceAddress
        /// The number of its bus type (hci.h).
        var bus: Int
        var isUp: Bool
        var isStarting: Bool
        /// LMP features, octet 4; nil before the kernel has asked for them.
        var lmpFeatures: UInt8?
    }

    /// nil where there is no such adapter.
    func information(_ adapter: UInt16) -> Information? {
        var information = hci_dev_info()
        information.dev_id = adapter
        let result = unsafe ioctl(
            descriptor.number, UInt(peripheral_emu_hcigetdevinfo), &information)
        guard result == 0 else { return nil }
        let octets = information.bdaddr.b
        let list = [octets.5, octets.4, octets.3, octets.2, octets.1, octets.0]
        let features = information.features
        return Information(
            address: DeviceAddress(littleEndian: list.reduce(0) { $0 << 8 | UInt64($1) }),
            bus: Int(information.type & 0x0F), isUp: information.flags & 1 << HCI_UP != 0,
            isStarting: information.flags & 1 << HCI_INIT != 0,
            lmpFeatures: features.0 == 0 && features.4 == 0 ? nil : features.4)
    }

    /// Takes the adapter away from the kernel; the errno where that fails.
    func take(_ adapter: UInt16) -> Int32? { bind(to: adapter, channel: HCI_CHANNEL_USER) }

    /// Whether a program has the adapter by its user channel. The kernel refuses every request of
    /// an adapter's own raw socket then, also one that makes no sense, which is why this asks one.
    static func isInUserChannel(_ adapter: UInt16) -> Bool {
        guard let socket = try? HCISocket(),
            socket.bind(to: adapter, channel: HCI_CHANNEL_RAW) == nil
        else { return false }
        var request = hci_auth_info_req()
        let result = unsafe ioctl(
            socket.descriptor.number, UInt(peripheral_emu_hcigetauthinfo), &request)
        return result < 0 && errno == EBUSY
    }

    /// Switches an adapter on; the errno where that fails.
    func bringUp(_ adapter: UInt16) -> Int32? {
        ioctl(descriptor.number, UInt(peripheral_emu_hcidevup), Int32(adapter)) == 0 ? nil : errno
    }

    /// Switches an adapter off; the errno where that fails.
    func takeDown(_ adapter: UInt16) -> Int32? {
        ioctl(descriptor.number, UInt(peripheral_emu_hcidevdown), Int32(adapter)) == 0 ? nil : errno
    }
}
