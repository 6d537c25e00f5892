// The policy `activity`: one interval while the accessory is used, another while it is not.
import HCI
import SansIO

struct ActivityPolicy: IntervalChooser {
    let active: AdvertisingInterval
    let idle: AdvertisingInterval

    var first: IntervalChoice { IntervalChoice(interval: idle, reason: "idle at power-on") }

    mutating func choice(for input: IntervalInput, at now: Instant) -> IntervalChoice? {
        switch input {
        case .activity(let change):
            IntervalChoice(
                interval: change.state == .active ? active : idle,
                reason: change.reason.description)
        }
    }
}
