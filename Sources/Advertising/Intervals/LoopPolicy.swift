// The policy `loop`: intervals in turn, for ever.
import HCI
import SansIO

struct LoopPolicy: IntervalChooser {
    private let phases: [IntervalPhase]
    /// All phases together, at most a hundred years so that sums of them stay exact.
    private let round: Int64
    private var start: Instant?
    private var index = 0
    private var end: Instant?

    init(_ phases: [IntervalPhase]) {
        // A phase without a length is never in force.
        self.phases = phases.filter { $0.span > .zero }
        var sum = TimeSpan.zero
        for phase in self.phases { sum = sum + phase.span }
        round = sum.microseconds
    }

    var choice: IntervalChoice {
        guard phases.indices.contains(index) else {
            return IntervalChoice(interval: .minimum, reason: "loop without phases")
        }
        return IntervalChoice(
            interval: phases[index].interval, reason: "loop, \(index + 1) of \(phases.count)")
    }

    var deadline: Instant? { end }

    mutating func take(_ input: IntervalInput, at now: Instant) {
        guard input == .powerOn else { return }
        start = now
        place(at: now)
    }

    mutating func expire(at now: Instant) { place(at: now) }

    /// Finds the phase at `now`, counted from the start so that lateness does not add up.
    private mutating func place(at now: Instant) {
        guard let start, round > 0 else { return }
        var passed = TimeSpan(microseconds: max((now - start).microseconds, 0) % round)
        end = now - passed
        for (index, phase) in phases.enumerated() {
            self.index = index
            end = end.map { $0 + phase.span }
            guard passed >= phase.span else { break }
            passed = passed - phase.span
        }
        // At the end of time nothing follows.
        if let end, end <= now { self.end = nil }
    }
}
