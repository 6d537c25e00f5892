// Words that stand for 0, 1, 2 … in a value or in bits of one.

/// What numbers from 0 mean. `_` in the place of a number's word says that it has none.
struct WordList {
    private let words: [String]

    init(_ words: [String]) { self.words = words }

    /// The words with their numbers.
    var choices: [(String, Int)] {
        words.enumerated().filter { $0.element != "_" }.map { ($0.element, $0.offset) }
    }

    /// For messages: `'chest', 'wrist' or 'finger'`.
    var says: String { Form<Int>.oneOf(choices.map(\.0)) }

    /// The word of a number; nil where it has none.
    subscript(number: UInt64) -> String? {
        guard number < UInt64(words.count) else { return nil }
        let word = words[Int(number)]
        return word == "_" ? nil : word
    }
}
