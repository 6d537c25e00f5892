// The advertising intervals that Apple recommends.
public import HCI

/// Accessory Design Guidelines for Apple Devices, Bluetooth Low Energy, Advertising Interval:
/// 20 ms for at least 30 s, then one of a list.
public enum AppleIntervals {
    /// For the first 30 s or more.
    public static let first = AdvertisingInterval(steps: 32)

    /// 152.5, 211.25, 318.75, 417.5, 546.25, 760, 852.5, 1022.5 and 1285 ms.
    public static let recommended: [AdvertisingInterval] =
        [244, 338, 510, 668, 874, 1216, 1364, 1636, 2056].map { AdvertisingInterval(steps: $0) }

    /// The nearest of the list, the faster of two as near; 20 ms stays, for it is the first
    /// interval that Apple asks for.
    public static func nearest(to interval: AdvertisingInterval) -> AdvertisingInterval {
        guard interval > first else { return first }
        let distance = { (each: AdvertisingInterval) in
            abs(Int(each.steps) - Int(interval.steps))
        }
        return recommended.min { distance($0) < distance($1) } ?? interval
    }
}
