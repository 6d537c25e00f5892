// Numbers to octets and back.
import Behaviours
import SansIO
import Testing
import Wire

private func decode(_ format: NumberFormat, _ octets: [UInt8]) -> Double? {
    format.decode(octets.span)
}

@Suite struct NumberFormatTests {
    static let all = (1...8).flatMap { octets in
        [true, false].flatMap { isSigned in
            [1, 0.01, 0.1, 0.5, 2, 1.0 / 1024].map {
                NumberFormat(octets: octets, isSigned: isSigned, scale: $0)
            }
        }
    }

    @Test(
        "a number becomes its nearest step, a half away from zero",
        arguments: [
            (NumberFormat(octets: 2, isSigned: true, scale: 0.01), 21.57, "6D08"),
            (NumberFormat(octets: 2, isSigned: true, scale: 0.01), -21.57, "93F7"),
            (NumberFormat(octets: 1, isSigned: false, scale: 1), 0.5, "01"),
            (NumberFormat(octets: 1, isSigned: false, scale: 1), 2.5, "03"),
            (NumberFormat(octets: 1, isSigned: true, scale: 1), -2.5, "FD"),
            (NumberFormat(octets: 1, isSigned: true, scale: 1), -0.4, "00"),
            (NumberFormat(octets: 3, isSigned: false, scale: 1), 0x010203, "030201"),
            (NumberFormat(octets: 4, isSigned: false, scale: 0.1), 101_325.5, "07760F00"),
            (NumberFormat(octets: 2, isSigned: false, scale: 1.0 / 1024), 1, "0004"),
        ])
    func encode(format: NumberFormat, value: Double, expected: String) {
        #expect(Hex.string(format.encode(value)) == expected)
    }

    @Test("a number outside the format becomes its nearest end, NaN becomes zero", arguments: all)
    func clamped(format: NumberFormat) {
        let count = format.octets
        let top = [UInt8](repeating: 0xFF, count: count - 1) + [format.isSigned ? 0x7F : 0xFF]
        let bottom = [UInt8](repeating: 0, count: count - 1) + [format.isSigned ? 0x80 : 0]
        for value in [Double.infinity, 1e300, .greatestFiniteMagnitude, format.largest] {
            #expect(format.encode(value) == top)
        }
        for value in [-Double.infinity, -1e300, format.smallest] {
            #expect(format.encode(value) == bottom)
        }
        #expect(format.encode(.nan) == [UInt8](repeating: 0, count: count))
        #expect(decode(format, top) == format.largest)
        #expect(decode(format, bottom) == format.smallest)
    }

    @Test("what is decoded encodes to the same octets", arguments: all)
    func roundTrip(format: NumberFormat) throws {
        var random = SeededRandom(seed: 7, stream: "round trip")
        // A real number holds 53 bits.
        let octets = min(format.octets, 6)
        for _ in 0..<500 {
            var bytes = (0..<octets).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            let sign: UInt8 = format.isSigned && (bytes.last ?? 0) > 0x7F ? 0xFF : 0
            bytes += [UInt8](repeating: sign, count: format.octets - octets)
            let value = try #require(decode(format, bytes))
            #expect(format.encode(value) == bytes)
        }
    }

    @Test("a decimal scale gives the decimal number")
    func decimal() {
        let format = NumberFormat(octets: 2, isSigned: true, scale: 0.1)
        #expect(decode(format, [3, 0]) == 0.3)
        #expect(format.largest == 3276.7)
        #expect(format.smallest == -3276.8)
    }

    @Test("too few octets are no number, further ones are left alone")
    func length() {
        let format = NumberFormat(octets: 2, isSigned: false, scale: 1)
        #expect(decode(format, [1, 2, 3]) == 0x0201)
        #expect(decode(format, [1]) == nil)
        #expect(decode(format, []) == nil)
    }

    @Test("no format and no number trap")
    func rubbish() {
        let scales = [0, -1, .nan, .infinity, -.infinity, 1e-300, 1e308]
        let values = [0, -0.0, .nan, .infinity, -.infinity, 1e308, 0x1p63, -0x1p63, 0x1p64, 1]
        for octets in [Int.min, -1, 0, 1, 7, 8, 9, .max] {
            for scale in scales {
                for isSigned in [true, false] {
                    let format = NumberFormat(octets: octets, isSigned: isSigned, scale: scale)
                    for value in values {
                        let bytes = format.encode(value)
                        #expect(bytes.count == min(max(octets, 1), 16))
                        #expect(decode(format, bytes) != nil)
                    }
                }
            }
        }
    }
}
