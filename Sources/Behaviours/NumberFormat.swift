// Numbers as a characteristic's octets, and back.
public import Wire

extension NumberFormat {
    /// The smallest value that the format can hold, in the characteristic's unit.
    public var smallest: Double { -value(of: lowerMagnitude) }

    /// The largest value that the format can hold, in the characteristic's unit.
    public var largest: Double { value(of: upper) }

    /// The octets of the step nearest to `value`, a half away from zero; a value outside the format
    /// becomes its nearest end, one that is not a number becomes zero.
    public func encode(_ value: Double) -> [UInt8] {
        var block = ByteBlock(capacity: 8)
        encode(value, into: &block)
        return block.bytes
    }

    /// Appends the octets of `encode`.
    public func encode(_ value: Double, into block: inout ByteBlock) {
        append(steps(of: value), to: &block)
    }

    /// The value of the first octets of `bytes`; nil where there are too few.
    public func decode(_ bytes: Span<UInt8>) -> Double? {
        guard bytes.count >= width else { return nil }
        var steps: UInt64 = 0
        for index in 0..<width { steps |= UInt64(bytes[index]) << UInt64(8 * index) }
        return value(ofSteps: steps)
    }

    // MARK: Steps, as the two's complement in 64 bits

    /// How many octets are used: `octets` within 1 to 8.
    var width: Int { min(max(octets, 1), 8) }

    private var upper: UInt64 { UInt64.max >> UInt64(64 - 8 * width + (isSigned ? 1 : 0)) }
    private var lowerMagnitude: UInt64 { isSigned ? upper + 1 : 0 }

    func steps(of value: Double) -> UInt64 {
        let steps = (value / scale).rounded(.toNearestOrAwayFromZero)
        guard steps < 0 else {
            guard !steps.isNaN else { return 0 }
            return steps >= Double(upper) ? upper : UInt64(steps)
        }
        let magnitude = -steps >= Double(lowerMagnitude) ? lowerMagnitude : UInt64(-steps)
        return 0 &- magnitude
    }

    func append(_ steps: UInt64, to block: inout ByteBlock) {
        for index in 0..<width {
            block.append(UInt8(truncatingIfNeeded: steps >> UInt64(8 * index)))
        }
    }

    /// The value of the low octets of `steps`.
    func value(ofSteps steps: UInt64) -> Double {
        let mask = UInt64.max >> UInt64(64 - 8 * width)
        let unsigned = steps & mask
        guard isSigned, unsigned > upper else { return value(of: unsigned) }
        return -value(of: (0 &- unsigned) & mask)
    }

    /// `magnitude` steps in the unit. A division gives 21.57 where 2157 * 0.01 need not.
    private func value(of magnitude: UInt64) -> Double {
        let stepsPerUnit = (1 / scale).rounded()
        let isDecimal = abs(stepsPerUnit * scale - 1) < 1e-12
        return isDecimal ? Double(magnitude) / stepsPerUnit : Double(magnitude) * scale
    }
}
