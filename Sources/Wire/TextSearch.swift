// Text found and replaced: the standard library's own brings a regular expression engine along.

extension Substring {
    /// Where `text` stands first; nil where it does not, or is empty.
    public func firstPlace(of text: String) -> Range<Index>? {
        let length = text.utf8.count
        var rest = utf8
        while length > 0, rest.count >= length {
            if rest.starts(with: text.utf8) {
                return rest.startIndex..<rest.index(rest.startIndex, offsetBy: length)
            }
            rest.removeFirst()
        }
        return nil
    }
}

extension String {
    /// Where `text` stands first; nil where it does not, or is empty.
    public func firstPlace(of text: String) -> Range<Index>? { self[...].firstPlace(of: text) }

    /// With `new` wherever `old` stands.
    public func replacingEach(_ old: String, with new: String) -> String {
        var result = ""
        var rest = self[...]
        while let place = rest.firstPlace(of: old) {
            result += rest[..<place.lowerBound] + new
            rest = rest[place.upperBound...]
        }
        return result + rest
    }
}
