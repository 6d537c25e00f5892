// What is wrong in a profile, where, and what to write instead.

/// One mistake in a profile. Printed as `file:line:column: path: what is wrong; what to write`.
public struct ProfileError: Error, Equatable, Sendable, CustomStringConvertible {
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// In characters, counted from 1.
    public var column: Int
    /// Where in the profile: `services[0].characteristics[1].value`; empty for the whole file.
    public var path: String
    public var problem: String
    /// What to write; empty where the problem says it.
    public var remedy: String

    public init(
        file: String, line: Int, column: Int, path: String, problem: String, remedy: String
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String {
        ValueFormat.printable("\(file):\(line):\(column): ") + sentence
    }

    /// The same without the place in a file, for what stands in none.
    public var sentence: String {
        let text =
            (path.isEmpty ? "" : path + ": ") + problem + (remedy.isEmpty ? "" : "; " + remedy)
        return ValueFormat.printable(text)
    }
}

/// All mistakes of a profile, by line and column.
public struct ProfileErrors: Error, Equatable, Sendable, CustomStringConvertible {
    public var list: [ProfileError]

    public init(list: [ProfileError]) { self.list = list }

    /// One line each.
    public var description: String { list.map(\.description).joined(separator: "\n") }
}
