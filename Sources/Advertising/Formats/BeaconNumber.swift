// Numbers inside beacon formats: whole octets of either order, or bits of shared ones.
import Wire

/// How a number stands on the air: `offset` + steps * `scale` in `unit`.
public struct BeaconNumber: Equatable, Sendable {
    /// 1 to 8.
    public let octets: Int
    public let isSigned: Bool
    let isBigEndian: Bool
    /// The value of one step.
    public let scale: Double
    /// The value of no step.
    public let offset: Double
    /// The lowest bit, and how many there are.
    let lowest: Int
    public let bits: Int
    /// Whether it lies in the octets of the number before it.
    let isShared: Bool
    /// The steps that mean that there is no value.
    let absent: UInt64?
    /// As it is written behind the number: `°C`; empty where it has none.
    public let unit: String
    /// What a profile may ask for.
    public let range: ClosedRange<Double>

    init(
        octets: Int, isSigned: Bool = false, isBigEndian: Bool = true, scale: Double = 1,
        offset: Double = 0, lowest: Int = 0, bits: Int? = nil, isShared: Bool = false,
        absent: UInt64? = nil, unit: String = "", limits: ClosedRange<Double>? = nil
    ) {
        self.octets = octets
        self.isSigned = isSigned
        self.isBigEndian = isBigEndian
        self.scale = scale
        self.offset = offset
        self.lowest = lowest
        let width = bits ?? 8 * octets
        self.bits = width
        self.isShared = isShared
        self.absent = absent
        self.unit = unit
        let largest = UInt64.max >> UInt64(64 - width + (isSigned ? 1 : 0))
        // The steps that mean no value are the largest unsigned or the smallest signed ones.
        var (low, high) = (isSigned ? -Double(largest) - 1 : 0, Double(largest))
        if absent == largest { high -= 1 }
        if absent == largest + 1, isSigned { low += 1 }
        let whole =
            Self.value(
                low, scale: scale, offset: offset)...Self.value(
                high, scale: scale, offset: offset)
        range = limits.map { whole.clamped(to: $0) } ?? whole
    }

    private static func value(_ steps: Double, scale: Double, offset: Double) -> Double {
        // A division gives 21.57 where 2157 * 0.01 need not.
        let stepsPerUnit = (1 / scale).rounded()
        let isDecimal = abs(stepsPerUnit * scale - 1) < 1e-12
        let value = isDecimal ? steps / stepsPerUnit : steps * scale
        guard offset != 0, isDecimal else { return value + offset }
        // The sum as a whole number of steps: 1.6 + 1.377 is 2.977.
        return (steps + (offset * stepsPerUnit).rounded()) / stepsPerUnit
    }

    /// 1 for yes, 0 for no.
    public static let flag = BeaconNumber(octets: 1, limits: 0...1)

    private var mask: UInt64 { UInt64.max >> UInt64(64 - bits) }

    /// The bits of the nearest step within the number's width that means a value; of no value zero,
    /// where no steps mean that.
    func steps(of value: Double?) -> UInt64 {
        guard let value, !value.isNaN else { return absent ?? 0 }
        let nearest = nearestSteps(to: value)
        guard nearest == absent else { return nearest }
        return isSigned || nearest == 0 ? nearest + 1 : nearest - 1
    }

    private func nearestSteps(to value: Double) -> UInt64 {
        let exact = ((value - offset) / scale).rounded(.toNearestOrAwayFromZero)
        let largest = mask >> (isSigned ? 1 : 0)
        guard exact < 0 else {
            return exact >= Double(largest) ? largest : UInt64(exact)
        }
        guard isSigned else { return 0 }
        let magnitude = -exact > Double(largest) ? largest + 1 : UInt64(-exact)
        return (0 &- magnitude) & mask
    }

    /// Nil for the steps that mean that there is no value.
    func value(ofSteps steps: UInt64) -> Double? {
        guard steps != absent else { return nil }
        let isNegative = isSigned && steps > mask >> 1
        let signed = isNegative ? -Double((0 &- steps) & mask) : Double(steps)
        return Self.value(signed, scale: scale, offset: offset)
    }

    /// The number's bits in the integer of its octets.
    func steps(in integer: UInt64) -> UInt64 { integer >> UInt64(lowest) & mask }

    func integer(of steps: UInt64) -> UInt64 { (steps & mask) << UInt64(lowest) }

    /// The integer of the octets from `offset` on, which are there.
    func integer(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        var integer: UInt64 = 0
        for index in 0..<octets {
            let place = isBigEndian ? offset + index : offset + octets - 1 - index
            integer = integer << 8 | UInt64(bytes[place])
        }
        return integer
    }

    /// Puts the integer's set bits into the octets from `offset` on, which are there.
    func put(_ integer: UInt64, into bytes: inout [UInt8], at offset: Int) {
        for index in 0..<octets {
            let place = isBigEndian ? offset + octets - 1 - index : offset + index
            bytes[place] |= UInt8(truncatingIfNeeded: integer >> UInt64(8 * index))
        }
    }
}
