// Why a state cannot be read or written.

/// A failure of the database, in words for the user.
public enum StoreError: Error, Equatable, Sendable {
    /// Written by a later version of the program.
    case newer(schema: Int, known: Int)
    /// What is there is no state, or not a whole one.
    case damaged(String)
    /// The system does not let it be read or written: a full disk, missing permission.
    case failed(String)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .newer(let schema, let known):
            "it has format \(schema), and this version knows \(known)"
        case .damaged(let reason), .failed(let reason): reason
        }
    }
}
