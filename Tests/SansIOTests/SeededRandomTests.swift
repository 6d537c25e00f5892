// Random numbers: their first values are pinned, since captures of equal seeds must stay equal.
import SansIO
import Testing

@Suite struct SeededRandomTests {
    static func first(_ count: Int, seed: UInt64, stream: String = "") -> [UInt64] {
        var random = SeededRandom(seed: seed, stream: stream)
        return (0..<count).map { _ in random.next() }
    }

    /// An independent xoshiro256** over splitmix64, written from their published description.
    static func reference(_ count: Int, seed: UInt64) -> [UInt64] {
        var state = seed
        var s = (0..<4).map { _ -> UInt64 in
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        func rotated(_ x: UInt64, _ k: UInt64) -> UInt64 { (x << k) | (x >> (64 - k)) }
        return (0..<count).map { _ in
            let result = rotated(s[1] &* 5, 7) &* 9
            let t = s[1] << 17
            s[2] ^= s[0]
            s[3] ^= s[1]
            s[1] ^= s[2]
            s[0] ^= s[3]
            s[2] ^= t
            s[3] = rotated(s[3], 45)
            return result
        }
    }

    @Test("the numbers are xoshiro256**'s", arguments: [0, 1, 42, UInt64.max])
    func algorithm(seed: UInt64) {
        #expect(Self.first(100, seed: seed) == Self.reference(100, seed: seed))
    }

    @Test("first values are pinned")
    func pinned() {
        #expect(
            Self.first(3, seed: 0) == [
                0x99EC_5F36_CB75_F2B4, 0xBF6E_1F78_4956_452A, 0x1A5F_849D_4933_E6E0,
            ])
        #expect(
            Self.first(3, seed: 1) == [
                0xB3F2_AF6D_0FC7_10C5, 0x853B_5596_4736_4CEA, 0x92F8_9756_082A_4514,
            ])
        #expect(
            Self.first(3, seed: 1, stream: "address") == [
                0x7F62_D222_A576_C584, 0x1EC9_5BA9_D1D1_B965, 0x3F93_FEA3_CA91_8CAC,
            ])
    }

    @Test("streams of one seed differ, and equal streams are equal")
    func streams() {
        #expect(Self.first(8, seed: 7, stream: "a") == Self.first(8, seed: 7, stream: "a"))
        #expect(Self.first(8, seed: 7, stream: "a") != Self.first(8, seed: 7, stream: "b"))
        #expect(Self.first(8, seed: 7, stream: "a") != Self.first(8, seed: 7))
        #expect(Self.first(8, seed: 7, stream: "a") != Self.first(8, seed: 8, stream: "a"))
    }

    @Test("bounded numbers stay in their bounds and reach all of them")
    func bounds() {
        var random = SeededRandom(seed: 3)
        #expect(random.below(0) == 0)
        #expect(random.below(-5) == 0)
        #expect(random.below(1) == 0)
        var counts = [Int](repeating: 0, count: 7)
        for _ in 0..<7_000 { counts[Int(random.below(7))] += 1 }
        #expect(counts.allSatisfy { (800...1_200).contains($0) })
        for _ in 0..<1_000 { #expect((0..<Int64.max).contains(random.below(.max))) }
        let units = (0..<10_000).map { _ in random.unit() }
        #expect(units.allSatisfy { (0..<1).contains($0) })
        #expect(abs(units.reduce(0, +) / 10_000 - 0.5) < 0.02)
    }
}
