// Recorded and made sources, and the lines of live ones.
import Advertising
import SansIO
import Testing

private typealias Sample = ActivityRule.Sample

private func sample(_ milliseconds: Int64, _ value: Double) -> Sample {
    Sample(time: .milliseconds(milliseconds), value: value)
}

/// The changes of a rule's state and level up to `end`, in milliseconds.
private func events(
    _ source: ActivitySource, until end: TimeSpan, timeOfDay: TimeSpan = .zero, seed: UInt64 = 1
) -> [ActivityEvent] {
    var rule = ActivityRule(
        sources: [source], activeAbove: 0.12, idleBelow: 0.05, hold: .milliseconds(10))
    rule.fullScale = 1
    var detector = ActivityDetector(
        rule, start: .zero, tellsLevel: true, timeOfDay: timeOfDay, seed: seed)
    var outputs = Outputs<ActivityEvent>()
    while let deadline = detector.deadline, deadline - .zero <= end {
        detector.expire(at: deadline, emit: &outputs)
    }
    return outputs.elements
}

private func levels(_ events: [ActivityEvent]) -> [(at: TimeSpan, level: Double)] {
    events.compactMap {
        if case .level(let level, let at) = $0 { (at - .zero, level) } else { nil }
    }
}

@Suite struct TraceSourceTests {
    private let samples = [sample(0, 0), sample(1000, 0.5), sample(1100, 0), sample(4000, 0.3)]

    @Test("a scaled trace plays its rows at time / speed")
    func speed() {
        let fast = TraceSource(samples: samples, speed: 2)
        let slow = TraceSource(samples: samples, speed: 0.5)
        #expect(
            levels(events(.trace(fast), until: .seconds(100))).map(\.at)
                == [.milliseconds(500), .milliseconds(550), .milliseconds(2000)])
        #expect(
            levels(events(.trace(slow), until: .seconds(100))).map(\.at)
                == [.milliseconds(2000), .milliseconds(2200), .milliseconds(8000)])
        for speed in [0, -1, .nan, .infinity, 1e-300] {
            let odd = TraceSource(samples: samples, speed: speed)
            #expect(
                events(.trace(odd), until: .seconds(9))
                    == events(.trace(TraceSource(samples: samples)), until: .seconds(9)))
        }
    }

    @Test("a repeated trace is the same as its rows written out")
    func repeats() {
        let long = (0..<50 as Range<Int64>).flatMap { round in
            samples.map { sample($0.time.microseconds / 1000 + 4000 * round, $0.value) }
        }
        let looped = TraceSource(samples: samples, repeats: true)
        #expect(
            events(.trace(looped), until: .seconds(190))
                == events(.trace(TraceSource(samples: long)), until: .seconds(190)))
        #expect(levels(events(.trace(looped), until: .seconds(190))).count == 96)
    }

    @Test("a trace without a length does not repeat, nor one without rows")
    func nothingToRepeat() {
        let one = TraceSource(samples: [sample(0, 1)], repeats: true)
        #expect(levels(events(.trace(one), until: .seconds(100))).count == 1)
        #expect(events(.trace(TraceSource(samples: [], repeats: true)), until: .seconds(1)).isEmpty)
    }

    @Test("a repeated trace that changes nothing lets the driver sleep for long")
    func quiet() {
        let quiet = TraceSource(samples: [sample(0, 0), sample(1000, 0)], repeats: true)
        let rule = ActivityRule(
            sources: [.trace(quiet)], activeAbove: 0.12, idleBelow: 0.05, hold: .seconds(1))
        var detector = ActivityDetector(rule, start: .zero)
        var outputs = Outputs<ActivityEvent>()
        var wakes = 0
        while let deadline = detector.deadline, deadline < .zero + .seconds(86_400) {
            detector.expire(at: deadline, emit: &outputs)
            wakes += 1
        }
        #expect(outputs.isEmpty)
        #expect((1...12).contains(wakes))
    }
}

@Suite struct GeneratorSourceTests {
    @Test("bursts: one in each period, of the length and magnitude asked for")
    func bursts() {
        let source = ActivitySource.bursts(
            BurstSource(every: .seconds(60), length: .seconds(5), magnitude: 0.4))
        let told = levels(events(source, until: .seconds(6000)))
        #expect(told.count == 200)
        var starts: Set<Int64> = []
        for (index, pair) in zip(told, told.dropFirst()).enumerated() where index % 2 == 0 {
            #expect(pair.0.level == 0.4 && pair.1.level == 0)
            #expect(pair.1.at - pair.0.at == .seconds(5))
            let period = TimeSpan.seconds(60) * Int64(index / 2)
            #expect((period...period + .seconds(55)).contains(pair.0.at))
            starts.insert((pair.0.at - period).microseconds)
        }
        #expect(starts.count > 90, "bursts begin anywhere in their period")
    }

    @Test("the day's rhythm: still at night, most alive at noon")
    func day() {
        let source = ActivitySource.dayRhythm(
            DayRhythmSource(from: .seconds(7 * 3600), to: .seconds(19 * 3600), magnitude: 0.4))
        let told = levels(events(source, until: .seconds(86_400 * 20), timeOfDay: .seconds(3600)))
        var moves = [Int](repeating: 0, count: 24)
        for (at, level) in told where level > 0 {
            #expect(level <= 0.6)
            moves[Int((at.microseconds / 1_000_000 + 3600) / 3600 % 24)] += 1
        }
        #expect(moves[..<7].allSatisfy { $0 == 0 } && moves[19...].allSatisfy { $0 == 0 })
        #expect(moves[7..<19].allSatisfy { $0 > 0 })
        #expect(moves[12] > 3 * moves[7] && moves[13] > 3 * moves[18])
    }

    @Test("a day that ends after midnight")
    func night() {
        let source = ActivitySource.dayRhythm(
            DayRhythmSource(from: .seconds(22 * 3600), to: .seconds(2 * 3600), magnitude: 1))
        let told = levels(events(source, until: .seconds(86_399)))
        let hours = Set(told.filter { $0.level > 0 }.map { $0.at.microseconds / 3_600_000_000 })
        #expect(hours == [0, 1, 22, 23])
    }

    @Test("noise: at each period, between 0 and the magnitude")
    func noise() {
        let source = ActivitySource.random(RandomSource(every: .milliseconds(100), magnitude: 1))
        let told = levels(events(source, until: .seconds(1000)))
        #expect(told.allSatisfy { $0.at.microseconds % 100_000 == 0 && $0.level < 1 })
        #expect(Set(told.map(\.level)).count == 20)
    }

    @Test("equal seeds, equal events; another seed, others")
    func seeds() {
        let sources: [ActivitySource] = [
            .bursts(BurstSource(every: .seconds(60), length: .seconds(5), magnitude: 0.4)),
            .dayRhythm(DayRhythmSource(from: .zero, to: .seconds(80_000), magnitude: 0.4)),
            .random(RandomSource(every: .seconds(1), magnitude: 1)),
        ]
        for source in sources {
            let one = events(source, until: .seconds(20_000))
            #expect(!one.isEmpty)
            #expect(one == events(source, until: .seconds(20_000)))
            #expect(one != events(source, until: .seconds(20_000), seed: 2))
        }
    }
}

@Suite struct SampleLineTests {
    /// A line, and what it is read as.
    private static let lines: [(String, String)] = [
        ("0.31", "0.31"), (" -2 \r", "-2.0"), ("+1e-2", "0.01"), ("1000", "1000.0"),
        ("0.01,-0.02,0.99", "0.01 -0.02 0.99"), ("1 ,\t2, 3", "1.0 2.0 3.0"),
        ("", "nothing"), ("  \r", "nothing"), ("# a comment, of 3, words", "nothing"),
        ("abc", "'abc' is no number"), ("nan", "'nan' is no number"), ("inf", "'inf' is no number"),
        ("0x10", "'0x10' is no number"), ("1_000", "'1_000' is no number"),
        ("1 2", "'1 2' is no number"), ("1,2", "2 values"), ("1,2,3,4", "4 values"),
        ("1,,3", "'' is no number"), ("1e999", "1e999 g is not within 1000 g either way"),
        ("0,0,-1000.5", "-1000.5 g is not within 1000 g either way"),
        ("\u{1B}[31m\u{0}x", "'?[31m?x' is no number"), ("1e", "'1e' is no number"),
        (String(repeating: "9", count: 129), "longer than 128 characters"),
        (String(repeating: "z", count: 99), "'\(String(repeating: "z", count: 32))' is no number"),
    ]

    private static func read(_ line: [UInt8]) -> String {
        do throws(SampleLineError) {
            switch try SampleLine.parse(line.span) {
            case .magnitude(let value): return "\(value)"
            case .acceleration(let x, let y, let z): return "\(x) \(y) \(z)"
            case nil: return "nothing"
            }
        } catch {
            #expect("\(error)".hasSuffix("; write a magnitude in g, or x,y,z in g"))
            return "\("\(error)".prefix { $0 != ";" })"
        }
    }

    @Test("a number, or x,y,z; anything else says what to write", arguments: lines)
    func parse(line: String, expected: String) {
        #expect(Self.read(Array(line.utf8)) == expected)
    }

    @Test("every prefix, every changed octet, any noise: a value, nothing or an error")
    func mutations() {
        func check(_ octets: [UInt8]) {
            guard let line = try? SampleLine.parse(octets.span) else { return }
            switch line {
            case .magnitude(let value): #expect(abs(value) <= 1000)
            case .acceleration(let x, let y, let z):
                #expect([x, y, z].allSatisfy { abs($0) <= 1000 })
            }
        }
        for (line, _) in Self.lines {
            let octets = Array(line.utf8)
            for count in octets.indices { check(Array(octets[..<count])) }
            for index in octets.indices {
                for value in 0...255 as ClosedRange<UInt8> {
                    var changed = octets
                    changed[index] = value
                    check(changed)
                }
            }
        }
        var random = SeededRandom(seed: 1, stream: "lines")
        for _ in 0..<20_000 {
            let letters = Array("0123456789.-+eE, #\r\n\u{7F}nax".utf8)
            check(
                (0..<random.below(12)).map { _ in
                    letters[Int(random.below(Int64(letters.count)))]
                })
        }
    }

    @Test("octets in pieces of any size are the same lines")
    func pieces() {
        let text =
            "0.1\n\n# from a sensor\n0.02,0,1\r\nrubbish\n7\n"
            + String(repeating: "5", count: 1000) + "\n0.3"
        let expected: [ActivityInput] = [
            .sample(0.1, source: 2), .acceleration(x: 0.02, y: 0, z: 1, source: 2),
            .sourceLost(
                reason: "line 5: 'rubbish' is no number; write a magnitude in g, or x,y,z in g",
                source: 2),
            .sample(7, source: 2),
            .sourceLost(
                reason: "line 7: longer than 128 characters; write a magnitude in g, "
                    + "or x,y,z in g", source: 2),
            .sample(0.3, source: 2),
        ]
        for size in 1...50 {
            var reader = SampleLineReader(source: 2)
            var outputs = Outputs<ActivityInput>()
            let octets = Array(text.utf8)
            for start in stride(from: 0, to: octets.count, by: size) {
                reader.take(
                    Array(octets[start..<min(start + size, octets.count)]).span, emit: &outputs)
            }
            reader.finish(emit: &outputs)
            #expect(outputs.elements == expected)
        }
    }
}
