// One value over time: samples, sends, lateness.
import Behaviours
import SansIO
import Testing
import Wire

private let word = NumberFormat(octets: 2, isSigned: false, scale: 1)
private let counter = ValueSource.generated(.counter(start: 10, step: 1), encoding: word)
private let start = Instant(microseconds: 5_000_000)

private func machine(
    _ source: ValueSource = counter, update: TimeSpan? = .seconds(2), send: SendRule = .onUpdate
) -> ValueMachine {
    ValueMachine(source, update: update, send: send, start: start, seed: 1, stream: "value")
}

/// What happened at which second from power-on, served at each deadline up to `seconds`.
private func run(_ machine: ValueMachine, for seconds: Int64) -> [String] {
    var machine = machine
    var lines: [String] = []
    while let deadline = machine.deadline, deadline <= start + .seconds(seconds) {
        let step = machine.expire(at: deadline)
        lines.append(
            "\(deadline - start)\(step.isUpdated ? " updated " + Hex.string(machine.value) : "")"
                + "\(step.isChanged ? " changed" : "")\(step.isSent ? " sent" : "")")
    }
    return lines
}

@Suite struct ValueMachineTests {
    @Test("the first sample is there at power-on, before the first update")
    func first() {
        #expect(machine().value == [10, 0])
        #expect(machine().deadline == start + .seconds(2))
        #expect(machine(update: nil).value == [10, 0])
        #expect(machine(update: nil).deadline == nil)
        #expect(machine(.constant([1, 2, 3]), update: nil).value == [1, 2, 3])
    }

    @Test("on-update sends every sample")
    func onUpdate() {
        #expect(
            run(machine(), for: 6) == [
                "2 s updated 0B00 changed sent", "4 s updated 0C00 changed sent",
                "6 s updated 0D00 changed sent",
            ])
        let still = ValueSource.generated(.counter(start: 7, step: 0), encoding: word)
        #expect(run(machine(still), for: 4) == ["2 s updated 0700 sent", "4 s updated 0700 sent"])
    }

    @Test("on-change sends a sample whose octets differ, not one whose number does")
    func onChange() {
        let ramp = ValueSource.generated(
            .ramp(from: 0, to: 1, over: .seconds(8), loops: false), encoding: word)
        #expect(
            run(machine(ramp, send: .onChange), for: 8) == [
                "2 s updated 0000", "4 s updated 0100 changed sent", "6 s updated 0100",
                "8 s updated 0100",
            ])
    }

    @Test("every sends at its own period; an update at the same instant comes first")
    func every() {
        #expect(
            run(machine(send: .every(.seconds(3))), for: 6) == [
                "2 s updated 0B00 changed", "3 s sent", "4 s updated 0C00 changed",
                "6 s updated 0D00 changed sent",
            ])
        #expect(
            run(machine(update: nil, send: .every(.seconds(3))), for: 6)
                == ["3 s sent", "6 s sent"])
    }

    @Test("manual sends nothing by itself")
    func manual() {
        #expect(
            run(machine(send: .manual), for: 4)
                == ["2 s updated 0B00 changed", "4 s updated 0C00 changed"])
    }

    @Test("a constant is sent at its period, and never written over what a central wrote")
    func constant() {
        #expect(run(machine(.constant([9])), for: 4) == ["2 s sent", "4 s sent"])
        var constant = machine(.constant([9]))
        #expect(!constant.expire(at: start + .seconds(2)).isUpdated)
        #expect(run(machine(.constant([9]), send: .onChange), for: 4) == ["2 s", "4 s"])
    }

    @Test("before the deadline nothing happens")
    func early() {
        var value = machine()
        for now in [start + .milliseconds(1_999), start, start - .seconds(9), .zero] {
            #expect(value.expire(at: now) == ValueMachine.Step())
        }
        #expect(value.value == [10, 0])
        #expect(value.deadline == start + .seconds(2))
    }

    @Test("late wake-ups neither drift nor burst")
    func late() {
        var value = machine()
        #expect(value.expire(at: start + .milliseconds(3_999)).isSent)
        #expect(value.deadline == start + .seconds(4))
        #expect(value.expire(at: start + .milliseconds(60_001)).isSent)
        #expect(value.value == [12, 0])
        #expect(value.deadline == start + .seconds(62))
    }

    @Test("a late sample is the one of its own instant")
    func lateSample() {
        let ramp = ValueSource.generated(
            .ramp(from: 0, to: 100, over: .seconds(100), loops: false), encoding: word)
        var value = machine(ramp)
        _ = value.expire(at: start + .milliseconds(5_900))
        #expect(value.value == [4, 0])
    }

    @Test("a period that is not positive never comes")
    func noPeriod() {
        for period in [Int64.min, -1, 0] {
            let span = TimeSpan(microseconds: period)
            #expect(machine(update: span).deadline == nil)
            #expect(machine(update: nil, send: .every(span)).deadline == nil)
        }
    }

    @Test("any lateness: one update a call, on the grid, and never twice", arguments: 0..<20)
    func property(seed: UInt64) {
        var random = SeededRandom(seed: seed, stream: "lateness")
        let period = random.below(1_000_000) + 1
        var value = machine(update: TimeSpan(microseconds: period), send: .onUpdate)
        var now = start
        var count = 0
        var served: Int64 = 0
        for _ in 0..<1_000 {
            now = now + TimeSpan(microseconds: random.below(3 * period))
            let due = (now - start).microseconds / period
            let step = value.expire(at: now)
            #expect(step.isSent == (due > served))
            if due > served { count += 1 }
            served = due
            #expect(value.deadline == start + TimeSpan(microseconds: (due + 1) * period))
        }
        #expect(value.value == word.encode(Double(10 + count)))
    }

    @Test("the end of time ends the machine")
    func endOfTime() {
        var value = machine(update: TimeSpan(microseconds: .max), send: .every(.seconds(1)))
        _ = value.expire(at: Instant(microseconds: .max))
        #expect(value.deadline == nil)
    }

    @Test("a counter of eight octets is exact beyond 53 bits")
    func wideCounter() {
        let wide = NumberFormat(octets: 8, isSigned: false, scale: 1)
        let source = ValueSource.generated(.counter(start: .max - 1, step: 1), encoding: wide)
        let value = machine(source)
        #expect(Hex.string(value.value) == "FEFFFFFFFFFFFF7F")
        #expect(
            run(value, for: 4) == [
                "2 s updated FFFFFFFFFFFFFF7F changed sent",
                "4 s updated 0000000000000080 changed sent",
            ])
    }

    @Test("equal seeds give equal octets for an hour")
    func determinism() {
        let source = ValueSource.generated(
            .sine(min: 18, max: 24, period: .seconds(600), noise: 0.05),
            encoding: NumberFormat(octets: 2, isSigned: true, scale: 0.01))
        #expect(run(machine(source), for: 3_600) == run(machine(source), for: 3_600))
    }
}
