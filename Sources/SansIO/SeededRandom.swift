// Reproducible random numbers, in streams that do not disturb each other.

/// xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018): equal seeds and streams, equal
/// numbers.
///
/// For addresses, generators and radio timing; never for keys on a real controller.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    @usableFromInline var s0: UInt64
    @usableFromInline var s1: UInt64
    @usableFromInline var s2: UInt64
    @usableFromInline var s3: UInt64

    /// - Parameters:
    ///   - seed: the run's seed.
    ///   - stream: what the numbers are for; each stream is independent of how much others draw.
    public init(seed: UInt64, stream: String = "") {
        // FNV-1a folds the stream's name into the seed.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        var state = seed ^ (stream.isEmpty ? 0 : hash)
        func next() -> UInt64 {
            state = state &+ 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        s0 = next()
        s1 = next()
        s2 = next()
        s3 = next()
    }

    /// The next 64 bits, by xoshiro256**.
    @inlinable public mutating func next() -> UInt64 {
        let product = s1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let t = s1 << 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = s3 << 45 | s3 >> 19
        return result
    }

    /// A whole number from 0 up to but without `bound`; 0 where `bound` is not positive.
    @inlinable public mutating func below(_ bound: Int64) -> Int64 {
        guard bound > 0 else { return 0 }
        // The upper half of the product is uniform enough: the bias is below bound / 2^64.
        return Int64(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A real number in [0, 1).
    @inlinable public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
