// What is wrong with a YAML file, in plain words.

/// A mistake in a YAML file: where, what, and what to do.
public struct YAMLError: Error, Equatable, Sendable, CustomStringConvertible {
    public var mark: YAMLMark
    public var problem: String
    /// What to write instead.
    public var remedy: String

    public init(mark: YAMLMark, problem: String, remedy: String) {
        self.mark = mark
        self.problem = problem
        self.remedy = remedy
    }

    public var description: String { "\(mark.line):\(mark.column): \(problem); \(remedy)" }
}

/// libyaml's messages in words for people who do not know the YAML grammar.
enum SyntaxMessage {
    /// What is wrong and what to do for libyaml's `problem`.
    static func plain(_ problem: String) -> (problem: String, remedy: String) {
        for (theirs, ours, remedy) in table where problem.hasPrefix(theirs) {
            return (ours, remedy)
        }
        return ("the YAML is not well-formed here: \(problem)", "correct it, or quote the text")
    }

    private static let table: [(String, String, String)] = [
        (
            "mapping values are not allowed", "a ':' cannot stand here",
            "begin a new line with the right indentation, or quote text that contains ': '"
        ),
        (
            "mapping keys are not allowed", "a key cannot stand here",
            "begin a new line with the right indentation"
        ),
        (
            "block sequence entries are not allowed", "a list entry '- ' cannot stand here",
            "begin the list on a line of its own"
        ),
        (
            "could not find expected ':'", "this is neither a key nor part of a value",
            "write 'key: value' with a space after the colon"
        ),
        (
            "did not find expected key", "the indentation fits no line above",
            "indent the line as its neighbours, or close a bracket or quote above"
        ),
        (
            "did not find expected '-'", "the indentation fits no list above",
            "indent the line as its neighbours and begin list entries with '- '"
        ),
        (
            "did not find expected ',' or ']'", "a list in brackets is not closed",
            "write ',' between its entries and ']' at its end"
        ),
        (
            "did not find expected ',' or '}'", "a map in braces is not closed",
            "write ',' between its entries and '}' at its end"
        ),
        ("did not find expected node content", "a value is missing", "write a value here"),
        (
            "did not find expected <document start>", "the text goes on after the document's end",
            "indent the line, or remove it"
        ),
        (
            "found character that cannot start any token",
            "a value cannot begin with this character",
            "quote the text; indent with spaces, not tabs"
        ),
        ("found a tab character", "a tab stands where the indentation is", "indent with spaces"),
        (
            "found unexpected end of stream", "the file ends inside a quoted text or a bracket",
            "close what is open"
        ),
        ("found unexpected document indicator", "a quoted text is not closed", "close the quote"),
        (
            "found unknown escape character", "a backslash in double quotes begins no known escape",
            "write two backslashes, or use single quotes"
        ),
        (
            "did not find expected hexdecimal number", "an escape in double quotes lacks digits",
            "write the hexadecimal digits, or two backslashes"
        ),
        ("found unexpected ':'", "a ':' cannot stand in a plain text here", "quote the text"),
        (
            "did not find expected alphabetic or numeric character",
            "an anchor or alias has no name",
            "write a name after '&' or '*', or quote the text"
        ),
        (
            "control characters are not allowed", "the file contains a control character",
            "remove it, or write it as an escape in double quotes"
        ),
        ("found undefined tag handle", "tags ('!…') are not used in profiles", "remove the tag"),
    ]
}
