// Times in the controller's own steps.
public import Wire

/// An advertising interval in steps of 0.625 ms, 20 ms to 10.24 s for legacy advertising
/// (Core 6.0, Vol 4, Part E, 7.8.5).
public struct AdvertisingInterval: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Steps of 0.625 ms.
    public let steps: UInt16

    public static let stepMicroseconds: Int64 = 625
    public static let minimum = AdvertisingInterval(steps: 0x0020)
    public static let maximum = AdvertisingInterval(steps: 0x4000)

    public init(steps: UInt16) { self.steps = steps }

    /// The nearest interval that the controller can keep; nil outside 20 ms to 10.24 s.
    public init?(microseconds: Int64) {
        let range = Int64(0x0020) * Self.stepMicroseconds...Int64(0x4000) * Self.stepMicroseconds
        guard range.contains(microseconds) else { return nil }
        steps = UInt16((microseconds + Self.stepMicroseconds / 2) / Self.stepMicroseconds)
    }

    public var microseconds: Int64 { Int64(steps) * Self.stepMicroseconds }

    public static func < (left: Self, right: Self) -> Bool { left.steps < right.steps }

    /// Milliseconds, exact: `152.5 ms`, `1285 ms`, `211.25 ms`.
    public var description: String {
        var fraction = String(microseconds % 1000 + 1000).dropFirst()
        while fraction.last == "0" { fraction = fraction.dropLast() }
        return "\(microseconds / 1000)" + (fraction.isEmpty ? "" : "." + fraction) + " ms"
    }
}

/// A connection interval in steps of 1.25 ms, 7.5 ms to 4 s (Core 6.0, Vol 4, Part E, 7.8.12).
public struct ConnectionInterval: Hashable, Comparable, Sendable {
    /// Steps of 1.25 ms.
    public let steps: UInt16
    public static let stepMicroseconds: Int64 = 1250
    public static let minimum = ConnectionInterval(steps: 6)
    public static let maximum = ConnectionInterval(steps: 3200)

    public init(steps: UInt16) { self.steps = steps }
    public var microseconds: Int64 { Int64(steps) * Self.stepMicroseconds }
    public static func < (left: Self, right: Self) -> Bool { left.steps < right.steps }
}

/// The controller's number of a connection, 0x0000 to 0x0EFF (Core 6.0, Vol 4, Part E, 5.4.2).
public struct ConnectionHandle: OpenCode, Comparable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue & 0x0FFF }
    public static let maximum = ConnectionHandle(rawValue: 0x0EFF)
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A PHY that is advertised on (Core 6.0, Vol 4, Part E, 7.8.53).
public enum AdvertisingPHY: UInt8, Sendable, CaseIterable {
    case le1M = 1
    case le2M = 2
    case leCoded = 3

    /// The profile's word.
    public var word: String {
        switch self {
        case .le1M: "1M"
        case .le2M: "2M"
        case .leCoded: "coded"
        }
    }
}
