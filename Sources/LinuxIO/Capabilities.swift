// What the process may do beyond its user's rights (capabilities(7)).
import CLinux
import Glibc

/// The process's capabilities.
public enum Capabilities {
    /// Administers networks, and with them the kernel's Bluetooth adapters.
    static let netAdmin: UInt64 = 1 << UInt64(peripheral_emu_cap_net_admin)

    /// Whether this process may take an adapter.
    public static var hasNetAdmin: Bool { peripheral_emu_capabilities() & netAdmin != 0 }

    /// Works in the folders of other users.
    private static let dacOverride: UInt64 = 1 << UInt64(peripheral_emu_cap_dac_override)

    /// Whether a file at `path` can be made and removed with the capabilities of now and not
    /// without: root in the folder of another user.
    public static func areNeeded(at path: String) -> Bool {
        guard peripheral_emu_capabilities() & dacOverride != 0 else { return false }
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        var status = stat()
        guard unsafe stat(end.map { String(path[...$0]) } ?? ".", &status) == 0 else {
            return false
        }
        let bit =
            status.st_uid == geteuid() ? S_IWUSR : status.st_gid == getegid() ? S_IWGRP : S_IWOTH
        return status.st_mode & bit == 0
    }

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
