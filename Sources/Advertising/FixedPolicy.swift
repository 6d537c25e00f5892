// The policy `fixed`: one interval for ever.
import HCI
import SansIO

struct FixedPolicy: IntervalChooser {
    let interval: AdvertisingInterval

    var first: IntervalChoice { IntervalChoice(interval: interval, reason: "fixed") }

    mutating func choice(for input: IntervalInput, at now: Instant) -> IntervalChoice? { nil }
}
