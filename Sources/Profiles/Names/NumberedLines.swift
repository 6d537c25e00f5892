// A table as static texts: lines of a four-digit hexadecimal number, a space and the rest.
import Wire

/// The tables that `Tools/generate-names` makes.
enum AssignedNameTables {}

/// Lines by rising number, read in place: nothing is built at start-up, as a dictionary would be.
struct NumberedLines: Sendable {
    /// Parts of the table, each as long as a source file may be.
    private let texts: [String]
    /// The number's digits and the space behind them.
    private static let prefixOctets = 5

    /// - Parameter texts: literals, which take no memory of their own.
    init(_ texts: String...) { self.texts = texts }

    /// What stands behind `number`; nil where the table has no such line. A binary search.
    func rest(of number: UInt16) -> String? {
        let part = texts.last { Self.number(at: 0, in: $0.utf8.span).map { $0 <= number } ?? false }
        guard let part else { return nil }
        let octets = part.utf8.span
        var low = 0
        var high = octets.count
        while low < high {
            var start = (low + high) / 2
            while start > low, octets[start - 1] != Self.newline { start -= 1 }
            let end = Self.end(of: start, in: octets)
            guard let found = Self.number(at: start, in: octets) else { return nil }
            if found == number {
                return String(
                    decoding: octets.copied(start + Self.prefixOctets..<end), as: UTF8.self)
            }
            if found < number { low = min(end + 1, high) } else { high = start }
        }
        return nil
    }

    /// The number of the line whose first word is `name`; nil where there is none.
    func number(of name: String) -> UInt16? {
        let wanted = name.utf8.span
        for text in texts {
            let octets = text.utf8.span
            var start = 0
            while start < octets.count {
                let end = Self.end(of: start, in: octets)
                let word = Self.firstWord(from: start + Self.prefixOctets, to: end, in: octets)
                if word.count == wanted.count, Self.equal(octets, at: word.lowerBound, wanted) {
                    return Self.number(at: start, in: octets)
                }
                start = end + 1
            }
        }
        return nil
    }

    /// The number of the first line whose last word is `name`; nil where there is none.
    func number(ofLast name: String) -> UInt16? {
        let wanted = name.utf8.span
        guard wanted.count > 0 else { return nil }
        for text in texts {
            let octets = text.utf8.span
            var start = 0
            while start < octets.count {
                let end = Self.end(of: start, in: octets)
                let word = end - wanted.count
                if word > start + Self.prefixOctets, octets[word - 1] == UInt8(ascii: " "),
                    Self.equal(octets, at: word, wanted)
                {
                    return Self.number(at: start, in: octets)
                }
                start = end + 1
            }
        }
        return nil
    }

    /// Calls `body` with every line's first word.
    func forEachName(_ body: (String) -> Void) {
        for text in texts {
            let octets = text.utf8.span
            var start = 0
            while start < octets.count {
                let end = Self.end(of: start, in: octets)
                let word = Self.firstWord(from: start + Self.prefixOctets, to: end, in: octets)
                body(String(decoding: octets.copied(word), as: UTF8.self))
                start = end + 1
            }
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private static func end(of start: Int, in octets: Span<UInt8>) -> Int {
        var end = start
        while end < octets.count, octets[end] != newline { end += 1 }
        return end
    }

    private static func firstWord(
        from start: Int, to end: Int, in octets: Span<UInt8>
    ) -> Range<Int> {
        var stop = min(start, end)
        while stop < end, octets[stop] != UInt8(ascii: " ") { stop += 1 }
        return min(start, end)..<stop
    }

    private static func equal(_ octets: Span<UInt8>, at start: Int, _ wanted: Span<UInt8>) -> Bool {
        for index in 0..<wanted.count where octets[start + index] != wanted[index] { return false }
        return true
    }

    private static func number(at start: Int, in octets: Span<UInt8>) -> UInt16? {
        guard start + 4 <= octets.count else { return nil }
        var number: UInt16 = 0
        for index in start..<start + 4 {
            guard let digit = Hex.value(of: octets[index]) else { return nil }
            number = number << 4 | UInt16(digit)
        }
        return number
    }
}
