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

    /// What stands before `sign` where it stands first, and behind it. A sign is found by its
    /// octets, whatever follows: a combining mark behind it makes it no other sign.
    public func divided(by sign: String) -> (before: String, behind: String)? {
        firstPlace(of: sign).map { place in
            (String(self[..<place.lowerBound]), String(self[place.upperBound...]))
        }
    }

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
