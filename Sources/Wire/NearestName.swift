// The known name that a mistyped one most likely means.

/// Finds the nearest of many names, for hints.
public struct NearestName {
    private let wanted: [UInt8]
    /// Without what joins words: `heartRate` and `heart_rate` are `heart-rate`.
    private let letters: [UInt8]
    /// The nearest one; nil where none is near enough.
    public private(set) var best: String?
    private var distance: Int

    /// Longer texts are no typing mistakes, and comparing them takes long.
    public static let octetsMax = 64

    public init(to text: String) {
        let wanted = Array(text.lowercased().utf8)
        self.wanted = wanted
        letters = wanted.filter { !Self.joins($0) }
        // A third of the letters may be wrong, but at least one and at most four.
        distance = min(max(wanted.count / 3, 1), 4) + 1
        if wanted.count > Self.octetsMax || wanted.isEmpty { distance = 0 }
    }

    /// Considers one more name; the first of equally near ones stays.
    public mutating func consider(_ name: String) {
        guard distance > 0 else { return }
        let octets = Array(name.utf8)
        if isSame(octets) {
            distance = 0
            best = name
            return
        }
        guard distance > 1, abs(octets.count - wanted.count) < distance else { return }
        let found = Self.edits(from: wanted, to: octets)
        if found < distance {
            distance = found
            best = name
        }
    }

    /// Whether the letters are the same, whatever joins the words.
    private func isSame(_ octets: [UInt8]) -> Bool {
        guard octets.count >= letters.count else { return false }
        var place = 0
        for octet in octets where !Self.joins(octet) {
            guard place < letters.count, letters[place] == octet else { return false }
            place += 1
        }
        return place == letters.count
    }

    private static func joins(_ octet: UInt8) -> Bool {
        octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_") || octet == UInt8(ascii: " ")
    }

    /// The nearest of `names`; nil where none is near enough.
    public static func of(_ text: String, among names: [String]) -> String? {
        var nearest = NearestName(to: text)
        for name in names { nearest.consider(name) }
        return nearest.best
    }

    /// Letters to insert, remove, replace or exchange with their neighbour (optimal string
    /// alignment).
    static func edits(from left: [UInt8], to right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            row.reserveCapacity(right.count + 1)
            for j in right.indices {
                var edits = min(
                    last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    edits = min(edits, beforeLast[j - 1] + 1)
                }
                row.append(edits)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
