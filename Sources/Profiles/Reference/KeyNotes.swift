// What the declarations of the profile's keys do not say: titles, defaults, examples, meanings.

/// Notes on the keys of one map.
struct KeyNotes {
    struct Row {
        /// What holds where the key is absent: a value, or words in parentheses.
        var initial: String
        /// A value in YAML's flow style.
        var example: String
        /// Other keys that the example needs beside it.
        var needs: [String]
        var meaning: String
    }

    var title: String
    /// A profile in flow style in which `%` stands for the map's entries.
    var context = ""
    /// Entries that are there besides an example.
    var base: [String] = []
    var rows: [String: Row] = [:]

    init(title: String) { self.title = title }

    /// By the map's path. Tools/names/keys.txt says how the notes are written.
    static var all: [String: KeyNotes] {
        var all: [String: KeyNotes] = [:]
        var path = ""
        for line in texts.flatMap({ $0.split(separator: "\n") }) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                trimmed($0)
            }
            if line.hasPrefix("@"), cells.count == 4 {
                path = String(cells[0].dropFirst())
                var notes = KeyNotes(title: cells[1])
                notes.context = cells[2]
                notes.base = entries(cells[3])
                all[path] = notes
            } else if cells.count == 5 {
                all[path]?.rows[cells[0]] = Row(
                    initial: cells[1], example: cells[2], needs: entries(cells[3]),
                    meaning: cells[4])
            }
        }
        return all
    }

    private static func entries(_ text: String) -> [String] {
        text.split(separator: ";").map { trimmed($0) }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
