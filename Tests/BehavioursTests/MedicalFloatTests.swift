// Decimal floating-point numbers of IEEE 11073, and the other formats beside plain integers.
import Behaviours
import Testing

@Suite struct MedicalFloatTests {
    static let short = NumberFormat(octets: 2, isSigned: true, scale: 1, kind: .medical)
    static let long = NumberFormat(octets: 4, isSigned: true, scale: 1, kind: .medical)

    @Test("an SFLOAT has a mantissa of 12 bits and an exponent of 4")
    func short() {
        // Personal Health Devices Transcoding White Paper, 2.2: 114 is 0x0072.
        #expect(Self.short.encode(114) == [0x72, 0x00])
        #expect(Self.short.encode(36.5) == [0x6D, 0xF1])
        #expect(Self.short.encode(-1) == [0xFF, 0x0F])
        #expect(Self.short.encode(0.00105) == [0x69, 0xB0])
        #expect(Self.short.encode(20_000) == [0xD0, 0x17])
        #expect(Self.short.read([0x6D, 0xF1]) == 36.5)
        #expect(Self.short.read([0x72, 0x00]) == 114)
        #expect(Self.short.read([0xFE, 0x07]) == .infinity)
        #expect(Self.short.read([0x02, 0x08]) == -.infinity)
        #expect(Self.short.read([0xFF, 0x07])?.isNaN == true)
        #expect(Self.short.read([0x00, 0x08])?.isNaN == true)
    }

    @Test("a FLOAT has a mantissa of 24 bits and an exponent of 8")
    func long() {
        // The same paper: 36.4 °C is 0xFF00016C.
        #expect(Self.long.encode(36.4) == [0x6C, 0x01, 0x00, 0xFF])
        #expect(Self.long.read([0x6C, 0x01, 0x00, 0xFF]) == 36.4)
        #expect(Self.long.encode(.nan) == [0xFF, 0xFF, 0x7F, 0x00])
        #expect(Self.long.encode(.infinity) == [0xFE, 0xFF, 0x7F, 0x00])
    }

    @Test("every SFLOAT and many FLOATs are decoded, and what is encoded again means the same")
    func all() {
        for raw in UInt16.min...UInt16.max {
            let bytes = [UInt8(truncatingIfNeeded: raw), UInt8(truncatingIfNeeded: raw >> 8)]
            guard let value = Self.short.decode(bytes.span) else { Issue.record("nil"); return }
            guard value.isFinite else { continue }
            let again = Self.short.encode(value)
            guard let decoded = Self.short.decode(again.span) else { continue }
            #expect(abs(decoded - value) <= abs(value) * 3e-3)
        }
        for value in [1e-130, -1e-20, 1e40, -3.25, 8_388_605, 1e300, -1e300] {
            _ = Self.long.encode(value)
        }
    }

    @Test("IEEE 754 numbers are their bit patterns")
    func float() {
        let single = NumberFormat(octets: 4, isSigned: true, scale: 1, kind: .float)
        let double = NumberFormat(octets: 8, isSigned: true, scale: 1, kind: .float)
        #expect(single.encode(1.5) == [0, 0, 0xC0, 0x3F])
        #expect(double.encode(1.5) == [0, 0, 0, 0, 0, 0, 0xF8, 0x3F])
        #expect(double.read([0, 0, 0, 0, 0, 0, 0xF8, 0x3F]) == 1.5)
    }

    @Test("integers of 12 bits leave the upper ones zero, those of 128 repeat the sign")
    func widths() {
        let twelve = NumberFormat(octets: 2, isSigned: true, scale: 1, bits: 12)
        #expect(twelve.encode(-1) == [0xFF, 0x0F])
        #expect(twelve.read([0xFF, 0x0F]) == -1)
        #expect(twelve.smallest == -2048)
        #expect(twelve.encode(5000) == [0xFF, 0x07])
        let wide = NumberFormat(octets: 16, isSigned: true, scale: 1)
        #expect(wide.encode(-2) == [0xFE] + Array(repeating: 0xFF, count: 15))
        #expect(wide.read([0xFE] + Array(repeating: 0xFF, count: 15)) == -2)
    }
}

extension NumberFormat {
    fileprivate func read(_ bytes: [UInt8]) -> Double? { decode(bytes.span) }
}
