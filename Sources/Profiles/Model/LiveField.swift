// Parts of advertising data that are taken anew at each update of their set.
public import Advertising
public import Behaviours

/// A part of an entry of advertising data.
public struct LiveField: Equatable, Sendable {
    /// What of a set the entry is a part of.
    public enum Part: Int, CaseIterable, Sendable { case data, scanResponse, periodic }

    /// The set's place in the profile.
    public var set = 0
    public var part: Part
    /// The entry's index.
    public var entry: Int
    /// The entry's octets that the field takes at most; those that the profile's structure holds
    /// there are the place of the largest value, for budgets.
    public var range: Range<Int>
    public var source: LiveFieldSource
    /// The item of the entry's beacon that it is, in place of a range.
    public var item: Int?
    /// What makes a number of the source one in the item's unit.
    public var factor = 1.0

    public init(in part: Part = .data, entry: Int, range: Range<Int>, source: LiveFieldSource) {
        self.part = part
        self.entry = entry
        self.range = range
        self.source = source
    }
}

/// Where a live field's octets come from.
public enum LiveFieldSource: Equatable, Sendable {
    /// One octet: the level of the activity in percent.
    case activityLevel
    /// One octet: 0 asleep, 1 idle, 2 active.
    case activityState
    /// A constant or a generator of its own.
    case generated(ValueSource)
    /// What a characteristic's value is now, by its label or name.
    case value(of: String)
    /// What the device knows by itself.
    case own(BeaconField.OwnValue)
    /// A beacon is encrypted anew, under the next counter.
    case encryption

    /// Whether it changes with time, so that it must be said when it is taken anew.
    var moves: Bool { self != .own(.address) }
}
