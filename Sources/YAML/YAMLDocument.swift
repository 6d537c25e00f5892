// Builds the marked tree of a YAML file from libyaml's events, within fixed limits.

/// What a file holds: its tree, and the mistakes that did not keep it from being read.
public struct YAMLDocument: Equatable, Sendable {
    public var root: YAMLNode
    /// Duplicate keys, tags, merge keys, further documents: by place. The tree is without them.
    public var problems: [YAMLError]

    /// The largest file read: a profile with every value at its limit is far below.
    public static let octetsMax = 4 * 1024 * 1024
    /// The deepest nesting, which also bounds the stack of everything that walks the tree.
    public static let depthMax = 32
    /// The most nodes, with aliases counted as what they stand for.
    public static let nodesMax = 200_000
    /// Reading stops at this many problems; nobody reads more.
    public static let problemsMax = 100

    /// Reads a file of one YAML document in UTF-8.
    ///
    /// - Throws: what keeps the file from being read: syntax, encoding or a limit.
    public static func parse(_ bytes: [UInt8]) throws(YAMLError) -> YAMLDocument {
        guard bytes.count <= octetsMax else {
            throw YAMLError(
                mark: YAMLMark(line: 1, column: 1),
                problem: "the file has \(bytes.count) octets, the limit is 4 MiB",
                remedy: "make it smaller")
        }
        // A byte order mark would shift the first line's columns.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        var builder = TreeBuilder(EventReader(text))
        return try builder.document()
    }
}

/// Recursive descent over the events; the depth limit bounds the recursion.
private struct TreeBuilder {
    /// A node that an alias may stand for.
    private struct Anchored {
        var node: YAMLNode
        var nodes: Int
        var depth: Int
    }

    private let reader: EventReader
    private var anchors: [String: Anchored] = [:]
    private var problems: [YAMLError] = []
    private var nodes = 0

    init(_ reader: EventReader) { self.reader = reader }

    mutating func document() throws(YAMLError) -> YAMLDocument {
        let first = try reader.next()
        guard case .documentStart = first.kind else {
            throw YAMLError(
                mark: first.mark, problem: "the file is empty",
                remedy: "write a profile, beginning with 'peripheral-emu: 1'")
        }
        let start = try reader.next()
        let root = try build(start, depth: 1).node
        _ = try reader.next()
        let after = try reader.next()
        if case .documentStart = after.kind {
            report(after.mark, "a second document begins here", "keep one document in a file")
        }
        return YAMLDocument(root: root, problems: problems)
    }

    private mutating func report(_ mark: YAMLMark, _ problem: String, _ remedy: String) {
        guard problems.count < YAMLDocument.problemsMax else { return }
        problems.append(YAMLError(mark: mark, problem: problem, remedy: remedy))
    }

    private mutating func count(_ added: Int, at mark: YAMLMark) throws(YAMLError) {
        nodes += added
        guard nodes <= YAMLDocument.nodesMax else {
            throw YAMLError(
                mark: mark, problem: "the file has more than \(YAMLDocument.nodesMax) nodes",
                remedy: "make it smaller; an alias counts as what it stands for")
        }
    }

    private func check(depth: Int, at mark: YAMLMark) throws(YAMLError) {
        guard depth <= YAMLDocument.depthMax else {
            throw YAMLError(
                mark: mark, problem: "the nesting is deeper than \(YAMLDocument.depthMax) levels",
                remedy: "nest less deeply")
        }
    }

    /// The node that `event` begins, and how many levels it has.
    private mutating func build(
        _ event: Event, depth: Int
    ) throws(YAMLError) -> (node: YAMLNode, depth: Int) {
        try check(depth: depth, at: event.mark)
        if case .alias(let name) = event.kind { return try resolve(name, event.mark, depth: depth) }
        let nodesBefore = nodes
        try count(1, at: event.mark)
        if event.hasTag {
            report(event.mark, "tags ('!…') are not used in profiles", "remove the tag")
        }
        let content: YAMLNode.Content
        var levels = 1
        switch event.kind {
        case .scalar(let scalar): content = .scalar(scalar)
        case .sequenceStart: content = .sequence(try elements(depth: depth, levels: &levels))
        case .mappingStart: content = .mapping(try pairs(depth: depth, levels: &levels))
        case .alias, .documentStart, .end:
            throw YAMLError(
                mark: event.mark, problem: "a value is missing", remedy: "write a value here")
        }
        let node = YAMLNode(content, mark: event.mark)
        if let anchor = event.anchor {
            anchors[anchor] = Anchored(node: node, nodes: nodes - nodesBefore, depth: levels)
        }
        return (node, levels)
    }

    private mutating func resolve(
        _ name: String, _ mark: YAMLMark, depth: Int
    ) throws(YAMLError) -> (node: YAMLNode, depth: Int) {
        guard let anchored = anchors[name] else {
            throw YAMLError(
                mark: mark, problem: "no anchor '&\(name)' stands above the alias '*\(name)'",
                remedy: "write the anchor first, or quote the text")
        }
        try count(anchored.nodes, at: mark)
        try check(depth: depth + anchored.depth - 1, at: mark)
        return (YAMLNode(anchored.node.content, mark: mark), anchored.depth)
    }

    private mutating func elements(
        depth: Int, levels: inout Int
    ) throws(YAMLError) -> [YAMLNode] {
        var elements: [YAMLNode] = []
        while true {
            let event = try reader.next()
            if case .end = event.kind { return elements }
            let element = try build(event, depth: depth + 1)
            levels = max(levels, element.depth + 1)
            elements.append(element.node)
        }
    }

    private mutating func pairs(depth: Int, levels: inout Int) throws(YAMLError) -> [YAMLPair] {
        var pairs: [YAMLPair] = []
        var lines: [String: Int] = [:]
        while true {
            let event = try reader.next()
            if case .end = event.kind { return pairs }
            let key = try build(event, depth: depth + 1).node
            guard case .scalar(let scalar) = key.content else {
                throw YAMLError(
                    mark: key.mark, problem: "a key is a list or a map",
                    remedy: "write a word as the key")
            }
            let value = try build(try reader.next(), depth: depth + 1)
            levels = max(levels, value.depth + 1)
            if scalar.isPlain, scalar.text == "<<" {
                report(key.mark, "merge keys ('<<') are not used in profiles", "write the keys out")
            } else if let line = lines[scalar.text] {
                report(
                    key.mark, "the key '\(scalar.text)' stands already in line \(line)",
                    "keep one of the two")
            } else {
                lines[scalar.text] = key.mark.line
                pairs.append(YAMLPair(key: scalar.text, keyMark: key.mark, value: value.node))
            }
        }
    }
}
