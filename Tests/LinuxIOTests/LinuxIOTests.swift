// What the suites of LinuxIO share. They run one after another: some count descriptors.
import Glibc
import SansIO
import Testing
import Wire

@testable import LinuxIO

@Suite(.serialized) enum LinuxIOTests {}

/// Open sockets of this process; other suites open none.
func openSocketCount() -> Int {
    var count = 0
    guard let folder = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        var target = [CChar](repeating: 0, count: 64)
        guard readlink("/proc/self/fd/" + name, &target, 63) > 0 else { continue }
        let text = String(
            decoding: target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("socket:") { count += 1 }
    }
    return count
}

/// A name in /tmp that this process alone uses.
func temporaryPath(_ name: String) -> String { "/tmp/peripheral-emu-\(getpid())-\(name)" }

extension EventLoop {
    /// Time by which everything in a test has happened, whatever the machine is busy with.
    func patience() -> Instant { now() + .seconds(30) }
}

func transport(_ text: String) throws -> ByteTransport {
    switch try ControllerSpec.parse(text).get() {
    case .transport(let spec): try spec.open()
    case .virtual: throw SystemError(EINVAL, operation: "open", object: text)
    }
}

/// Octets that show a loss or an exchange: a run of a prime length.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) } }
