// Spans and instants: saturation, order, and their text.
import SansIO
import Testing

@Suite struct TimeTests {
    static let max = TimeSpan(microseconds: .max)
    static let min = TimeSpan(microseconds: .min)

    @Test("arithmetic of spans saturates at both ends")
    func spans() {
        #expect(Self.max + .microseconds(1) == Self.max)
        #expect(Self.min + .microseconds(-1) == Self.min)
        #expect(Self.min - .microseconds(1) == Self.min)
        #expect(Self.max - .microseconds(-1) == Self.max)
        #expect(TimeSpan.zero - Self.min == Self.max)
        #expect(Self.max * 2 == Self.max)
        #expect(Self.max * -2 == Self.min)
        #expect(Self.min * 2 == Self.min)
        #expect(Self.min * -1 == Self.max)
        #expect(TimeSpan.seconds(.max) == Self.max)
        #expect(TimeSpan.seconds(.min) == Self.min)
        #expect(TimeSpan.milliseconds(.max) == Self.max)
        #expect(TimeSpan.seconds(2) + .milliseconds(500) == .microseconds(2_500_000))
        #expect(TimeSpan.milliseconds(3) * 4 == .milliseconds(12))
        #expect(TimeSpan.milliseconds(1_500).seconds == 1.5)
    }

    @Test("arithmetic of instants saturates at both ends")
    func instants() {
        let end = Instant(microseconds: .max)
        let start = Instant(microseconds: .min)
        #expect(end + .seconds(1) == end)
        #expect(start - .seconds(1) == start)
        #expect(end - start == Self.max)
        #expect(start - end == Self.min)
        #expect(Instant.zero + .seconds(2) - .zero == .seconds(2))
        #expect(
            Instant.zero + .seconds(2) - TimeSpan.seconds(3) == Instant(microseconds: -1_000_000))
        #expect(start < end)
    }

    @Test("the earlier of two deadlines, where nil means never")
    func earlier() {
        let (one, two) = (Instant(microseconds: 1), Instant(microseconds: 2))
        #expect(earliest(one, two) == one)
        #expect(earliest(two, one) == one)
        #expect(earliest(nil, two) == two)
        #expect(earliest(one, nil) == one)
        #expect(earliest(nil, nil) == nil)
    }

    @Test(
        "a span's text is exact, in one unit",
        arguments: [
            (0, "0 s"), (1, "1 us"), (999, "999 us"), (-1, "-1 us"), (1_000, "1 ms"),
            (20_000, "20 ms"), (152_500, "152.5 ms"), (211_250, "211.25 ms"),
            (1_285_000, "1285 ms"),
            (1_000_001, "1000.001 ms"), (1_000_000, "1 s"), (1_500_000, "1500 ms"),
            (10_240_000, "10240 ms"), (11_000_000, "11 s"), (11_500_000, "11.5 s"),
            (60_000_000, "60 s"), (-152_500, "-152.5 ms"), (-3_000_000, "-3 s"),
            (Int64.max, "9223372036854.775807 s"), (Int64.min, "-9223372036854.775808 s"),
        ] as [(Int64, String)])
    func text(microseconds: Int64, text: String) {
        #expect(TimeSpan(microseconds: microseconds).description == text)
    }
}
