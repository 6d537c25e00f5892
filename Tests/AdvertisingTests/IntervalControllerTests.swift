// Interval policies: which interval is in force, and why.
import Advertising
import HCI
import SansIO
import Testing

@Suite struct IntervalControllerTests {
    static let active = AdvertisingInterval(steps: 244)
    static let idle = AdvertisingInterval(steps: 2056)

    private func change(_ seconds: Int64, _ state: ActivityState) -> ActivityChange {
        ActivityChange(
            at: .zero + .seconds(seconds), state: state,
            reason: state == .active
                ? .above(value: 0.31, threshold: 0.12)
                : .below(threshold: 0.05, hold: .seconds(10)))
    }

    @Test("the activity policy starts idle and tells each change with its reason, once")
    func activity() {
        var controller = IntervalController(.activity(active: Self.active, idle: Self.idle))
        #expect(controller.interval == Self.idle)
        #expect(controller.reason == "idle at power-on")
        var outputs = Outputs<IntervalDecision>()
        for step in [change(1, .active), change(2, .active), change(20, .idle)] {
            controller.handle(.activity(step), at: step.at, emit: &outputs)
        }
        #expect(
            outputs.elements == [
                IntervalDecision(
                    at: .zero + .seconds(1), from: Self.idle, to: Self.active,
                    reason: "activity 0.31 g above 0.12 g"),
                IntervalDecision(
                    at: .zero + .seconds(20), from: Self.active, to: Self.idle,
                    reason: "idle: below 0.05 g for 10 s"),
            ])
        #expect(controller.interval == Self.idle)
        #expect(controller.reason == "idle: below 0.05 g for 10 s")
        #expect(controller.deadline == nil)
    }

    @Test("a fixed interval stays, whatever happens")
    func fixed() {
        var controller = IntervalController(.fixed(Self.active))
        #expect(controller.interval == Self.active)
        #expect(controller.reason == "fixed")
        var outputs = Outputs<IntervalDecision>()
        controller.handle(.activity(change(1, .active)), at: .zero, emit: &outputs)
        controller.expire(at: .zero + .seconds(5), emit: &outputs)
        #expect(outputs.isEmpty)
        #expect(controller.interval == Self.active)
    }

    @Test("equal levels make no change")
    func equalLevels() {
        var controller = IntervalController(.activity(active: Self.idle, idle: Self.idle))
        var outputs = Outputs<IntervalDecision>()
        controller.handle(.activity(change(1, .active)), at: .zero, emit: &outputs)
        #expect(outputs.isEmpty)
    }
}
