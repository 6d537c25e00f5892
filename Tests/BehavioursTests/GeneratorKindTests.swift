// The generators of the profile format one by one, and values put together of them.
import Behaviours
import SansIO
import Testing
import Wire

@Suite struct GeneratorKindTests {
    static let octet = NumberFormat(octets: 1, isSigned: false, scale: 1)

    static func samples(
        _ generator: Generator, seconds: [Int64], _ surroundings: Surroundings = Surroundings()
    ) -> [Double] {
        var state = GeneratorState(generator, format: octet, seed: 1, stream: "t")
        return seconds.map { state.sample(at: .seconds($0), in: surroundings) }
    }

    @Test("a square is high for its duty, then low")
    func square() {
        let generator = Generator.square(min: 1, max: 9, period: .seconds(10), duty: 0.3)
        #expect(Self.samples(generator, seconds: [0, 2, 3, 9, 10]) == [9, 9, 1, 1, 9])
    }

    @Test("noise stays within its bounds and differs")
    func noise() {
        let found = Self.samples(.noise(min: 3, max: 4), seconds: Array(0..<100))
        #expect(found.allSatisfy { (3..<4).contains($0) })
        #expect(Set(found).count > 90)
    }

    @Test("a replay holds each value until the next; its end holds, or it begins again")
    func replay() {
        let values = [
            TimedValue(time: .seconds(1), value: 5), TimedValue(time: .seconds(3), value: 7),
            TimedValue(time: .seconds(4), value: 8),
        ]
        let seconds: [Int64] = [0, 1, 2, 3, 4, 5, 7]
        #expect(
            Self.samples(.replay(values, loops: false), seconds: seconds)
                == [5, 5, 5, 7, 8, 8, 8])
        #expect(
            Self.samples(.replay(values, loops: true), seconds: seconds)
                == [5, 5, 5, 7, 5, 5, 7])
    }

    @Test("the activity is what surrounds the value")
    func activity() {
        var surroundings = Surroundings()
        surroundings.activityLevel = 0.25
        surroundings.isActive = true
        #expect(Self.samples(.activity(isLevel: true), seconds: [0], surroundings) == [0.25])
        #expect(Self.samples(.activity(isLevel: false), seconds: [0], surroundings) == [1])
    }

    @Test(
        "dates are those of the Gregorian calendar",
        arguments: [
            // date -u +%s
            (951_782_400, 2000, 2, 29, 2), (946_684_800, 2000, 1, 1, 6),
            (1_709_251_199, 2024, 2, 29, 4), (-1, 1969, 12, 31, 3),
            (4_107_542_400, 2100, 3, 1, 1),
        ] as [(Int64, Double, Double, Double, Double)])
    func dates(seconds: Int64, year: Double, month: Double, day: Double, ofWeek: Double) {
        let now = seconds * 1_000_000
        #expect(ClockPart.year.value(at: now) == year)
        #expect(ClockPart.month.value(at: now) == month)
        #expect(ClockPart.day.value(at: now) == day)
        #expect(ClockPart.dayOfWeek.value(at: now) == ofWeek)
    }

    @Test("a clock counts from the surroundings' time, ahead by its offset")
    func clock() {
        let seconds: [Int64] = [0, 61, 3600 * 23]
        let hour = TimeSpan.seconds(3600)
        #expect(Self.samples(.clock(.hours, offset: hour), seconds: seconds) == [1, 1, 0])
        #expect(Self.samples(.clock(.minutes, offset: .zero), seconds: seconds) == [0, 1, 0])
        #expect(Self.samples(.clock(.seconds, offset: .zero), seconds: seconds) == [0, 1, 0])
    }

    @Test("a composed value has its fields one behind another, equal for equal seeds")
    func composed() {
        let source = ValueSource.composed([
            ValuePart(name: "flags", source: .constant([0x10])),
            ValuePart(
                name: "count",
                source: .generated(
                    .counter(start: 7, step: 1),
                    encoding: NumberFormat(octets: 2, isSigned: false, scale: 1))),
            ValuePart(
                name: "bits",
                source: .packed(
                    octets: 1,
                    [
                        PackedBits(name: "a", lowest: 0, width: 2, source: .constant(3)),
                        PackedBits(
                            name: "b", lowest: 4, width: 3,
                            source: .generated(.counter(start: 6, step: 1))),
                    ])),
        ])
        var machine = ValueMachine(
            source, update: .seconds(1), send: .onChange, start: .zero, seed: 1, stream: "x")
        #expect(machine.value == [0x10, 7, 0, 0x63])
        let step = machine.expire(at: Instant(microseconds: 1_000_000))
        #expect(step == ValueMachine.Step(isUpdated: true, isChanged: true, isSent: true))
        #expect(machine.value == [0x10, 8, 0, 0x73])
        #expect(
            machine.set([1])
                == ValueMachine.Step(
                    isUpdated: true, isChanged: true, isSent: true))
        #expect(machine.value == [1])
        let after = machine.expire(at: Instant(microseconds: 2_000_000))
        #expect(!after.isUpdated)
        #expect(machine.value == [1])
    }
}
