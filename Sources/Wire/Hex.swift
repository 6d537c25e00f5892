// Hexadecimal text, both ways.

/// Hexadecimal text for people: upper case, no separators unless said.
public enum Hex {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Two digits: `0F`.
    public static func string(_ value: UInt8) -> String {
        String(decoding: [digits[Int(value >> 4)], digits[Int(value & 15)]], as: UTF8.self)
    }

    /// The octets in the order given.
    public static func string(_ bytes: [UInt8], separator: String = "") -> String {
        guard separator.isEmpty else {
            return bytes.map { string($0) }.joined(separator: separator)
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A number with its usual prefix: `0x2A37`.
    public static func code(_ value: UInt16) -> String {
        "0x" + string(UInt8(value >> 8)) + string(UInt8(value & 0xFF))
    }

    /// A number with its usual prefix: `0x0A`.
    public static func code(_ value: UInt8) -> String { "0x" + string(value) }

    /// Reads pairs of hexadecimal digits; spaces between pairs are allowed. Nil for anything else.
    @inlinable
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        // Generic code is slow in another module, so there is little of it.
        bytes(utf8: Array(text.utf8))
    }

    @usableFromInline
    static func bytes(utf8 text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text {
            if character == UInt8(ascii: " "), high == nil { continue }
            guard let digit = value(of: character) else { return nil }
            if let upper = high {
                bytes.append(upper << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// The value of one hexadecimal digit, nil where it is none.
    public static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
