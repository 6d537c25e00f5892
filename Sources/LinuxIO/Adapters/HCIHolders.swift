// Who uses the kernel's Bluetooth, as far as /proc shows it.
import Glibc

/// Programs with an HCI socket. The kernel does not tell whose socket is at which adapter.
enum HCIHolders {
    /// These use the kernel's own stack, or look on; an adapter's user channel is never theirs.
    private static let onlookers = ["bluetoothd", "btmon"]
    private static let table = "/proc/net/hci"
    private static let textOctetsMax = 1 << 20

    /// A program that may hold an adapter that is up: the daemon of the kernel's stack.
    static var daemon: String? { programs { $0 == "bluetoothd" }.first }

    /// The programs that may have an adapter's user channel: "peripheral-emu (PID 123)".
    static var userChannels: [String] { programs { !onlookers.contains($0) } }

    private static func programs(_ isMeant: (String) -> Bool) -> [String] {
        let inodes = socketInodes
        guard !inodes.isEmpty else { return [] }
        return listFolder("/proc").compactMap { Int32($0) }.sorted().compactMap { process in
            guard process != getpid(), let name = text("/proc/\(process)/comm"), isMeant(name),
                descriptors(of: process).contains(where: { inodes.contains($0) })
            else { return nil }
            return "\(name) (PID \(process))"
        }
    }

    private static func descriptors(of process: Int32) -> [String] {
        let folder = "/proc/\(process)/fd"
        return listFolder(folder).compactMap { linkTarget(folder + "/" + $0) }
    }

    /// All HCI sockets, as links in /proc name them: `socket:[12345]`.
    private static var socketInodes: [String] {
        guard let text = text(table) else { return [] }
        // sk RefCnt Rmem Wmem User Inode Parent
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ")
            return columns.count > 5 ? "socket:[\(columns[5])]" : nil
        }
    }

    private static func text(_ path: String) -> String? {
        guard let bytes = try? readFile(path, octetsMax: textOctetsMax) else { return nil }
        return String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }
}
