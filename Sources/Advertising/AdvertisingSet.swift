// What one advertising set says and how often, as the profile declares it.
public import SansIO

/// Who may answer an advertisement (Core 6.0, Vol 4, Part E, 7.8.5).
public enum AdvertisingKind: Equatable, Sendable { case connectable, scannable, nonConnectable }

/// One advertising set: what is sent and when.
public struct AdvertisingSet: Equatable, Sendable {
    /// The set's name in the profile, for messages; `main` where the profile gives none.
    public var name: String
    public var kind: AdvertisingKind
    public var policy: IntervalPolicy
    public var data: [AdvertisingStructure]
    public var scanResponse: [AdvertisingStructure]
    /// The time between two takes of what is live in the data; nil where nothing is.
    public var update: TimeSpan?

    public init(
        name: String = "main", kind: AdvertisingKind, policy: IntervalPolicy,
        data: [AdvertisingStructure], scanResponse: [AdvertisingStructure] = []
    ) {
        self.name = name
        self.kind = kind
        self.policy = policy
        self.data = data
        self.scanResponse = scanResponse
    }
}
