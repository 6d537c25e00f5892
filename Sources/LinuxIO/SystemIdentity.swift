// What is this machine's own: an identity that stays, and random numbers that nobody can foretell.
import CLinux
import Glibc
import SansIO
import Wire

/// A number that stays the same on this machine and differs between machines, made from
/// /etc/machine-id (machine-id(5)); nil where the machine has none.
///
/// The identifier itself is confidential: only this digest of it is used.
public func machineID(path: String = "/etc/machine-id") -> UInt64? {
    // 32 hexadecimal digits and a line's end.
    guard let text = try? readFile(path, octetsMax: 64),
        let octets = Hex.bytes(String(decoding: text.prefix(32), as: UTF8.self)),
        octets.count == 16
    else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    for index in 0..<8 {
        high = high << 8 | UInt64(octets[index])
        low = low << 8 | UInt64(octets[index + 8])
    }
    var random = SeededRandom(seed: high, stream: "machine-id")
    var mixed = SeededRandom(seed: random.next() ^ low, stream: "peripheral-emu")
    return mixed.next()
}

/// Random octets from the kernel, fit for keys.
/// - Parameter count: 0 to 256, which the kernel gives at once (getrandom(2)).
public func systemRandom(_ count: Int) throws(SystemError) -> [UInt8] {
    var octets = [UInt8](repeating: 0, count: min(max(count, 0), 256))
    let taken = try systemCall("get", "random octets") {
        unsafe getrandom(&octets, octets.count, 0)
    }
    guard taken == octets.count else {
        throw SystemError(EIO, operation: "get", object: "random octets")
    }
    return octets
}
