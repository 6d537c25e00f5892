// A YAML document as a tree in which every node knows where it stands in the file.

/// A place in a file.
public struct YAMLMark: Equatable, Comparable, Sendable {
    /// Counted from 1.
    public var line: Int
    /// In characters, counted from 1.
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: YAMLMark, right: YAMLMark) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A scalar, a sequence or a mapping.
public struct YAMLNode: Equatable, Sendable {
    /// What a node is; order is that of the file.
    public enum Content: Equatable, Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        case mapping([YAMLPair])
    }

    public var content: Content
    /// Where the node begins; for an alias, where the alias stands.
    public var mark: YAMLMark

    public init(_ content: Content, mark: YAMLMark) {
        self.content = content
        self.mark = mark
    }
}

/// One entry of a mapping. Its key is a scalar; a mapping never has two entries of one key.
public struct YAMLPair: Equatable, Sendable {
    public var key: String
    public var keyMark: YAMLMark
    public var value: YAMLNode

    public init(key: String, keyMark: YAMLMark, value: YAMLNode) {
        self.key = key
        self.keyMark = keyMark
        self.value = value
    }
}

/// A scalar's text and whether it stands plain, without quotes.
public struct YAMLScalar: Equatable, Sendable {
    public var text: String
    /// Quoted and block scalars are always text.
    public var isPlain: Bool

    public init(_ text: String, isPlain: Bool) {
        self.text = text
        self.isPlain = isPlain
    }
}
