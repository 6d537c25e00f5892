// The number of Passkey Entry as people write it.

/// Passkeys are 0 to 999,999, and always shown and entered with six digits (Core 6.0, Vol 3,
/// Part H, 2.3.5.3).
public enum Passkey {
    /// Reads six decimal digits; nil for anything else.
    public static func number(_ text: some StringProtocol) -> UInt32? {
        let isDigits = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        return text.utf8.count == 6 && isDigits ? UInt32(text) : nil
    }

    /// The six digits of a passkey, or of a number that is compared.
    public static func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(6 - text.utf8.count, 0)) + text
    }

    /// What is wrong with `text`, and what to write, where `number` is nil.
    public static func mistake(_ text: some StringProtocol) -> String {
        let isDigits = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        let count = text.utf8.count
        return isDigits && count > 0
            ? "a passkey has six digits, and \(text.prefix(20)) has \(count)"
            : "'\(text.prefix(20))' is no passkey, which has six digits such as 012345"
    }
}
