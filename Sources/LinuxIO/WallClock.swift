// The time of day where the machine is, and when the clock was set.
import CLinux
import Glibc
public import SansIO

/// Tells the local time of day, and notices when it jumps: somebody set the clock, or summer time
/// begins or ends.
public struct WallClock: Sendable {
    /// Where the local midnight lies on the monotonic clock.
    private var midnight: Instant?

    /// Less is the clocks' own drift.
    private static let jumpMin = TimeSpan.seconds(1)
    private static let day = TimeSpan.seconds(86_400)

    public init() {}

    /// The time since midnight, where it is not what was told before plus the time that has passed;
    /// the first time always.
    /// - Parameter now: of the loop's clock.
    public mutating func jump(at now: Instant) -> TimeSpan? {
        jump(to: Self.timeOfDay(), at: now)
    }

    mutating func jump(to time: TimeSpan, at now: Instant) -> TimeSpan? {
        let found = now - time
        if let midnight {
            let days =
                ((found - midnight) + Self.day * 1_000_000).microseconds
                % Self.day.microseconds
            let error = min(days, Self.day.microseconds - days)
            guard error >= Self.jumpMin.microseconds else { return nil }
        }
        midnight = found
        return time
    }

    private static func timeOfDay() -> TimeSpan {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        var local = unsafe tm()
        guard unsafe localtime_r(&time.tv_sec, &local) != nil else { return .zero }
        let (hours, minutes) = unsafe (Int64(local.tm_hour), Int64(local.tm_min))
        let seconds = unsafe hours * 3600 + minutes * 60 + Int64(local.tm_sec)
        return .seconds(min(seconds, 86_399)) + .microseconds(Int64(time.tv_nsec) / 1000)
    }
}
