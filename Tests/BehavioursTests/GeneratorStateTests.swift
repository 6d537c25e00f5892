// Generators: bounds, shapes, and the same numbers for the same seed.
import Behaviours
import SansIO
import Testing

private let byte = NumberFormat(octets: 1, isSigned: false, scale: 1)

private func samples(
    _ generator: Generator, format: NumberFormat = byte, seed: UInt64 = 1, stream: String = "a",
    every period: TimeSpan = .seconds(1), count: Int
) -> [Double] {
    var state = GeneratorState(generator, format: format, seed: seed, stream: stream)
    return (0..<count).map { state.sample(at: period * Int64($0)) }
}

@Suite struct GeneratorStateTests {
    @Test("a sine starts in the middle, rises, and returns after its period")
    func sine() {
        let values = samples(
            .sine(min: 18, max: 24, period: .seconds(8), noise: 0), count: 17)
        let expected = [21, 23.121, 24, 23.121, 21, 18.879, 18, 18.879, 21]
        for (value, expected) in zip(values, expected) { #expect(abs(value - expected) < 0.001) }
        #expect(Array(values[0..<8]) == Array(values[8..<16]))
    }

    @Test("a sine is as exact after ten years as at the start")
    func longSine() {
        let generator = Generator.sine(min: -1, max: 1, period: .seconds(10), noise: 0)
        var state = GeneratorState(generator, format: byte, seed: 1, stream: "")
        let first = state.sample(at: .milliseconds(1_234))
        #expect(state.sample(at: .seconds(315_360_000) + .milliseconds(1_234)) == first)
    }

    @Test("noise moves a sine by at most its size, within the bounds")
    func noise() {
        let period = TimeSpan.seconds(100)
        let noisy = samples(.sine(min: 0, max: 10, period: period, noise: 0.5), count: 1_000)
        let clean = samples(.sine(min: 0, max: 10, period: period, noise: 0), count: 1_000)
        let differences = zip(noisy, clean).map { $0 - $1 }
        #expect(differences.allSatisfy { abs($0) <= 0.5 })
        #expect(differences.contains { $0 > 0.4 })
        #expect(differences.contains { $0 < -0.4 })
        #expect(noisy.allSatisfy { (0...10).contains($0) })
    }

    @Test("a ramp goes from one end to the other and stays, or begins again")
    func ramp() {
        let once = Generator.ramp(from: 100, to: 0, over: .seconds(4), loops: false)
        #expect(samples(once, count: 7) == [100, 75, 50, 25, 0, 0, 0])
        let again = Generator.ramp(from: 0, to: 8, over: .seconds(4), loops: true)
        #expect(samples(again, count: 7) == [0, 2, 4, 6, 0, 2, 4])
    }

    @Test("a random walk stays within its bounds and makes no step over its size")
    func randomWalk() {
        let walk = Generator.randomWalk(min: 50, max: 60, step: 2, start: nil)
        let values = samples(walk, count: 5_000)
        #expect(values[0] == 55)
        #expect(values.allSatisfy { (50...60).contains($0) })
        for (value, next) in zip(values, values.dropFirst()) { #expect(abs(value - next) <= 2) }
        #expect(values.contains { $0 < 51 })
        #expect(values.contains { $0 > 59 })
        #expect(samples(.randomWalk(min: 0, max: 9, step: 1, start: 4), count: 1) == [4])
        #expect(samples(.randomWalk(min: 0, max: 9, step: 1, start: 12), count: 1) == [9])
    }

    @Test("a counter starts where it is told and steps at each sample")
    func counter() {
        #expect(samples(.counter(start: 3, step: 2), count: 4) == [3, 5, 7, 9])
        var state = GeneratorState(
            .counter(start: 0, step: 1), format: byte, seed: 1, stream: "")
        #expect((0..<3).map { _ in state.sample(at: .zero) } == [0, 1, 2])
    }

    @Test("a counter wraps to the range of its format")
    func wrap() {
        #expect(samples(.counter(start: 254, step: 1), count: 4) == [254, 255, 0, 1])
        #expect(samples(.counter(start: 1, step: -1), count: 4) == [1, 0, 255, 254])
        let signed = NumberFormat(octets: 1, isSigned: true, scale: 1)
        #expect(
            samples(.counter(start: 126, step: 1), format: signed, count: 4)
                == [126, 127, -128, -127])
        let halves = NumberFormat(octets: 1, isSigned: false, scale: 0.5)
        #expect(
            samples(.counter(start: 126, step: 1), format: halves, count: 4)
                == [126, 127, 0, 1])
        let wide = NumberFormat(octets: 8, isSigned: true, scale: 1)
        #expect(
            samples(.counter(start: .max, step: 1), format: wide, count: 2)
                == [0x1p63, -0x1p63])
    }

    @Test(
        "equal seeds give equal numbers; another seed or stream gives others",
        arguments: [
            Generator.sine(min: 0, max: 1, period: .seconds(7), noise: 0.5),
            .randomWalk(min: 0, max: 100, step: 3, start: nil),
        ])
    func determinism(generator: Generator) {
        let values = samples(generator, count: 50)
        #expect(samples(generator, count: 50) == values)
        #expect(samples(generator, seed: 2, count: 50) != values)
        #expect(samples(generator, stream: "b", count: 50) != values)
    }

    @Test("no parameters trap")
    func rubbish() {
        let numbers = [0, .nan, .infinity, -.infinity, 1e308, -1e308, 5]
        let spans = [Int64.min, -1, 0, 1, .max].map { TimeSpan(microseconds: $0) }
        let counts = [Int64.min, -1, 0, .max]
        let formats =
            [byte, NumberFormat(octets: 8, isSigned: true, scale: 0.1)]
            + [0, .nan, -2].map { NumberFormat(octets: 0, isSigned: false, scale: $0) }
        func exercise(_ generator: Generator) {
            for format in formats {
                var state = GeneratorState(generator, format: format, seed: 1, stream: "")
                for span in spans { _ = format.encode(state.sample(at: span)) }
            }
        }
        for a in numbers {
            for b in numbers {
                for span in spans {
                    exercise(.sine(min: a, max: b, period: span, noise: a))
                    exercise(.ramp(from: a, to: b, over: span, loops: span > .zero))
                }
                exercise(.randomWalk(min: a, max: b, step: b, start: a))
                exercise(.randomWalk(min: a, max: b, step: a, start: nil))
            }
        }
        for start in counts { for step in counts { exercise(.counter(start: start, step: step)) } }
    }
}
