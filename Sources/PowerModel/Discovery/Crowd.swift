// Other advertisers around, whose PDUs collide with the advertiser's.
import SansIO

/// Advertisers with one interval and PDUs as long as the advertiser's, in no step with it.
///
/// PDUs of one advertising event keep their distance, so two advertisers that collide on one
/// channel collide on all three: events collide, or none of their PDUs does.
struct Crowd {
    private let interval: Int64
    /// The start of each one's first event that could still collide.
    private var nexts: [Int64]
    private var isPlaced = false

    /// - Parameter interval: in microseconds, 1 or more, advDelay not included.
    init(count: Int, interval: Int64) {
        self.interval = interval
        nexts = [Int64](repeating: 0, count: max(count, 0))
    }

    /// Other advertisers, in other phases.
    mutating func forget() { isPlaced = false }

    /// Whether nobody else is on the air during an event at `time`, not before the last one asked
    /// for, with PDUs of `airTime`. In microseconds.
    mutating func isClear(at time: Int64, airTime: Int64, _ random: inout SeededRandom) -> Bool {
        var isClear = true
        let from = time - airTime
        for index in nexts.indices {
            var next = nexts[index]
            if isPlaced {
                while next <= from {
                    next += interval + random.below(AdvertisingDelay.max + 1)
                }
            } else {
                next = from + 1 + AdvertisingDelay.wait(interval, &random)
            }
            nexts[index] = next
            if next < time + airTime { isClear = false }
        }
        isPlaced = true
        return isClear
    }
}

/// advDelay (Core 6.0, Vol 6, Part B, 4.4.2.2.1): uniform from 0 to 10 ms.
enum AdvertisingDelay {
    /// In microseconds.
    static let max: Int64 = 10_000

    /// From a random instant to the next advertising event. With X = interval + advDelay, the
    /// wait's density falls as P(X > wait): constant up to the interval, then linear to 0.
    @inline(__always)
    static func wait(_ interval: Int64, _ random: inout SeededRandom) -> Int64 {
        let place = random.below(interval + max / 2)
        guard place >= interval else { return place }
        let rest = 2 * Double(place - interval) / Double(max)
        return interval + Int64(Double(max) * (1 - (1 - rest).squareRoot()))
    }
}
