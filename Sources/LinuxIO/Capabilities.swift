// What the process may do beyond its user's rights (capabilities(7)).
import CLinux
import Glibc

/// The process's capabilities.
public enum Capabilities {
    /// Administers networks, and with them the kernel's Bluetooth adapters.
    static let netAdmin: UInt64 = 1 << UInt64(peripheral_emu_cap_net_admin)

    /// Whether this process may take an adapter.
    public static var hasNetAdmin: Bool { peripheral_emu_capabilities() & netAdmin != 0 }

    /// Gives up all capabilities, but CAP_NET_ADMIN where an adapter is to be had again.
    public static func drop(keepingNetAdmin: Bool) throws(SystemError) {
        _ = try systemCall("give up", "capabilities") {
            peripheral_emu_keep_capabilities(keepingNetAdmin ? netAdmin : 0)
        }
    }

    /// The line by which this program may take an adapter without being root.
    public static var remedy: String {
        let program = linkTarget("/proc/self/exe") ?? "peripheral-emu"
        return "run as root, or once: sudo setcap cap_net_admin+ep \(program)"
    }
}
