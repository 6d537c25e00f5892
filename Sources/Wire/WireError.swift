// The one error of decoding: the bytes do not have the shape the record declares.

/// Why bytes could not be read as a record. A peer causes it, so it is always caught and answered.
public enum WireError: Error, Equatable, Sendable {
    /// The record needs `needed` more octets at `field`, `available` are there.
    case truncated(field: String, needed: Int, available: Int)
    /// The record was complete and `count` octets were left over.
    case leftover(count: Int)
    /// The field holds a value that the record's own layout cannot use (a count that does not
    /// fit, say).
    case invalid(field: String)
}

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let field, let needed, let available):
            "truncated at \(field): needs \(needed) octets, has \(available)"
        case .leftover(let count): "\(count) octets too many"
        case .invalid(let field): "unusable value of \(field)"
        }
    }
}
