// The policy `fixed`: one interval for ever.
import HCI
import SansIO

struct FixedPolicy: IntervalChooser {
    let interval: AdvertisingInterval

    var choice: IntervalChoice { IntervalChoice(interval: interval, reason: "fixed") }
    var deadline: Instant? { nil }

    mutating func take(_ input: IntervalInput, at now: Instant) {}
    mutating func expire(at now: Instant) {}
}
