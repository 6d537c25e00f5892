// The only caller of libyaml: its events as Swift values.
import CYaml

/// What the parser has found next.
struct Event {
    enum Kind {
        case documentStart
        /// The end of a document, a sequence, a mapping or the stream.
        case end
        case alias(String)
        case scalar(YAMLScalar)
        case sequenceStart
        case mappingStart
    }

    var kind: Kind
    var mark: YAMLMark
    var anchor: String?
    var hasTag = false
}

/// Owns one libyaml parser and the octets it reads.
@safe final class EventReader {
    private let octets: UnsafeMutableBufferPointer<UInt8>
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let isReady: Bool

    init(_ bytes: [UInt8]) {
        // One octet more, so that an empty file has an address too.
        unsafe octets = .allocate(capacity: bytes.count + 1)
        _ = unsafe octets.initialize(from: bytes + [0])
        unsafe parser = .allocate(capacity: 1)
        unsafe isReady = yaml_parser_initialize(parser) == 1
        guard isReady else { return }
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, octets.baseAddress, bytes.count)
    }

    deinit {
        if isReady { unsafe yaml_parser_delete(parser) }
        unsafe parser.deallocate()
        unsafe octets.deallocate()
    }

    /// The next event; the stream's start is passed over.
    func next() throws(YAMLError) -> Event {
        guard isReady else {
            throw YAMLError(
                mark: YAMLMark(line: 1, column: 1),
                problem: "there is no memory for the YAML parser",
                remedy: "free some memory")
        }
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { unsafe yaml_event_delete(&event) }
        if unsafe event.type == YAML_STREAM_START_EVENT { return try next() }
        return unsafe translate(event)
    }

    private func translate(_ event: yaml_event_t) -> Event {
        let mark = unsafe YAMLMark(
            line: event.start_mark.line + 1, column: event.start_mark.column + 1)
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return Event(kind: .documentStart, mark: mark)
        case YAML_ALIAS_EVENT:
            return Event(kind: .alias(unsafe text(event.data.alias.anchor) ?? ""), mark: mark)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let value = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            let text = unsafe String(decoding: value, as: UTF8.self)
            let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
            return Event(
                kind: .scalar(YAMLScalar(text, isPlain: isPlain)), mark: mark,
                anchor: unsafe self.text(scalar.anchor), hasTag: unsafe scalar.tag != nil)
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            return Event(
                kind: .sequenceStart, mark: mark, anchor: unsafe text(start.anchor),
                hasTag: unsafe start.tag != nil)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            return Event(
                kind: .mappingStart, mark: mark, anchor: unsafe text(start.anchor),
                hasTag: unsafe start.tag != nil)
        default: return Event(kind: .end, mark: mark)
        }
    }

    private func text(_ octets: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        guard let octets = unsafe octets else { return nil }
        return unsafe String(decodingCString: octets, as: UTF8.self)
    }

    /// The parser's error in plain words, at its place.
    private func failure() -> YAMLError {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? ""
        if unsafe parser.pointee.error == YAML_MEMORY_ERROR {
            return YAMLError(
                mark: YAMLMark(line: 1, column: 1),
                problem: "there is no memory for the YAML parser",
                remedy: "free some memory")
        }
        if unsafe parser.pointee.error == YAML_READER_ERROR {
            let mark = self.mark(offset: unsafe parser.pointee.problem_offset)
            if problem.hasPrefix("control") {
                let (plain, remedy) = SyntaxMessage.plain(problem)
                return YAMLError(mark: mark, problem: plain, remedy: remedy)
            }
            return YAMLError(
                mark: mark, problem: "the file is not valid UTF-8 here", remedy: "save it as UTF-8")
        }
        let place = unsafe parser.pointee.problem_mark
        let (plain, remedy) = SyntaxMessage.plain(problem)
        return YAMLError(
            mark: YAMLMark(line: place.line + 1, column: place.column + 1), problem: plain,
            remedy: remedy)
    }

    /// The line and column of an octet: characters are counted by their first octets.
    private func mark(offset: Int) -> YAMLMark {
        var mark = YAMLMark(line: 1, column: 1)
        for index in 0..<min(max(offset, 0), unsafe octets.count) {
            let octet = unsafe octets[index]
            if octet == UInt8(ascii: "\n") {
                mark = YAMLMark(line: mark.line + 1, column: 1)
            } else if octet & 0xC0 != 0x80 {
                mark.column += 1
            }
        }
        return mark
    }
}
