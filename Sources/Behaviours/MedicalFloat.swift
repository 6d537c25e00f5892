// IEEE 11073-20601 numbers: SFLOAT in 16 bits and FLOAT in 32, which weights and thermometers send.
import Wire

/// The layout of a decimal floating-point number: a mantissa and an exponent of ten, both signed.
struct MedicalFloat {
    let mantissaBits: Int
    let exponentBits: Int

    /// SFLOAT.
    static let short = MedicalFloat(mantissaBits: 12, exponentBits: 4)
    /// FLOAT.
    static let long = MedicalFloat(mantissaBits: 24, exponentBits: 8)

    init(mantissaBits: Int, exponentBits: Int) {
        self.mantissaBits = mantissaBits
        self.exponentBits = exponentBits
    }

    init(octets: Int) { self = octets <= 2 ? .short : .long }

    /// The five greatest magnitudes are NaN, the infinities, NRes and a reserved one.
    private var mantissaMax: Double { Double((Int64(1) << (mantissaBits - 1)) - 3) }
    private var exponentMax: Int { (1 << (exponentBits - 1)) - 1 }
    private var exponentMin: Int { -exponentMax - 1 }
    private var mantissaMask: UInt32 { (UInt32(1) << UInt32(mantissaBits)) - 1 }

    var largest: Double { mantissaMax * Mathematics.pow(10, Double(exponentMax)) }

    /// The number with the fewest digits that is as near as the mantissa allows.
    func encode(_ value: Double) -> UInt32 {
        let top = UInt32(1) << UInt32(mantissaBits - 1)
        guard !value.isNaN else { return top - 1 }
        guard value <= largest else { return top - 2 }
        guard -value <= largest else { return top + 2 }
        var exponent = 0
        var mantissa = value
        while abs(mantissa.rounded()) > mantissaMax, exponent < exponentMax {
            exponent += 1
            mantissa = value / Self.power(exponent)
        }
        while exponent > exponentMin, !Self.isWhole(mantissa) {
            let finer =
                exponent > 0
                ? value / Self.power(exponent - 1)
                : value * Self.power(1 - exponent)
            guard abs(finer.rounded()) <= mantissaMax else { break }
            mantissa = finer
            exponent -= 1
        }
        let whole = Int64(max(min(mantissa.rounded(), mantissaMax), -mantissaMax))
        let low = UInt32(truncatingIfNeeded: whole) & mantissaMask
        let high = UInt32(truncatingIfNeeded: exponent) << UInt32(mantissaBits)
        return exponentBits + mantissaBits == 32 ? high | low : (high | low) & 0xFFFF
    }

    /// NaN also for NRes and the reserved value.
    func decode(_ raw: UInt32) -> Double {
        let low = Int64(raw & mantissaMask)
        let top = Int64(1) << Int64(mantissaBits - 1)
        let mantissa = low >= top ? low - 2 * top : low
        let exponentRaw =
            Int64(raw >> UInt32(mantissaBits)) & ((Int64(1) << Int64(exponentBits)) - 1)
        let half = Int64(1) << Int64(exponentBits - 1)
        let exponent = Int(exponentRaw >= half ? exponentRaw - 2 * half : exponentRaw)
        if exponent == 0 {
            if mantissa == top - 2 { return .infinity }
            if mantissa == 2 - top { return -.infinity }
            if mantissa == top - 1 || mantissa <= 1 - top { return .nan }
        }
        return exponent < 0
            ? Double(mantissa) / Self.power(-exponent)
            : Double(mantissa) * Self.power(exponent)
    }

    private static func power(_ exponent: Int) -> Double {
        var power = 1.0
        // By multiplication: exact as far as a Double is, up to 10^22.
        for _ in 0..<min(exponent, 300) { power *= 10 }
        return power
    }

    private static func isWhole(_ value: Double) -> Bool {
        abs(value - value.rounded()) <= abs(value) * 1e-12
    }
}
