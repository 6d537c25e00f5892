// Numbers as a characteristic's octets, and back.
public import Wire

extension NumberFormat {
    /// The smallest value that the format can hold, in the characteristic's unit.
    public var smallest: Double {
        switch kind {
        case .integer: -value(of: lowerMagnitude)
        case .float, .medical: -largest
        }
    }

    /// The largest value that the format can hold, in the characteristic's unit.
    public var largest: Double {
        switch kind {
        case .integer: value(of: upper)
        case .float:
            (octets == 4 ? Double(Float.greatestFiniteMagnitude) : 1e300) * min(scale, 1)
        case .medical: MedicalFloat(octets: octets).largest * scale
        }
    }

    /// Whether its steps are the whole numbers.
    public var isWhole: Bool { kind == .integer && scale == 1 }

    /// The whole numbers that it can hold, as far as counters go; nil where there is none.
    var counts: ClosedRange<Int64>? { Self.counts(from: smallest, to: largest) }

    /// The whole numbers of a range, as far as counters go; nil where there is none.
    public static func counts(from lowest: Double, to highest: Double) -> ClosedRange<Int64>? {
        // Far beyond every count, and within 64 bits.
        let low = max(lowest.rounded(.up), -0x1p62)
        let high = min(highest.rounded(.down), 0x1p62)
        return low <= high ? Int64(low)...Int64(high) : nil
    }

    /// The octets of the step nearest to `value`, a half away from zero; a value outside the format
    /// becomes its nearest end, one that is not a number becomes zero or NaN.
    public func encode(_ value: Double) -> [UInt8] {
        var block = ByteBlock(capacity: 8)
        encode(value, into: &block)
        return block.bytes
    }

    /// Appends the octets of `encode`.
    public func encode(_ value: Double, into block: inout ByteBlock) {
        switch kind {
        case .integer: append(steps(of: value), to: &block)
        case .float where octets == 4: block.append(Float(value / scale).bitPattern)
        case .float: append((value / scale).bitPattern, to: &block)
        case .medical:
            append(UInt64(MedicalFloat(octets: octets).encode(value / scale)), to: &block)
        }
    }

    /// The value of the first octets of `bytes`; nil where there are too few.
    public func decode(_ bytes: Span<UInt8>) -> Double? {
        guard bytes.count >= width else { return nil }
        var steps: UInt64 = 0
        for index in 0..<min(width, 8) { steps |= UInt64(bytes[index]) << UInt64(8 * index) }
        switch kind {
        case .integer where width > 8: return wide(steps, bytes)
        case .integer: return value(ofSteps: steps)
        case .float where octets == 4:
            return Double(Float(bitPattern: UInt32(truncatingIfNeeded: steps))) * scale
        case .float: return Double(bitPattern: steps) * scale
        case .medical:
            return MedicalFloat(octets: octets).decode(UInt32(truncatingIfNeeded: steps)) * scale
        }
    }

    /// An integer of more than 64 bits: near enough to be shown.
    private func wide(_ low: UInt64, _ bytes: Span<UInt8>) -> Double {
        var high: UInt64 = 0
        for index in 8..<width { high |= UInt64(bytes[index]) << UInt64(8 * (index - 8)) }
        let isNegative = isSigned && bytes[width - 1] & 0x80 != 0
        if isNegative {
            let magnitude = Double(~high) * 0x1p64 + Double(~low) + 1
            return -magnitude * scale
        }
        return (Double(high) * 0x1p64 + Double(low)) * scale
    }

    // MARK: Steps, as the two's complement in 64 bits

    /// How many octets are used: `octets` within 1 to 16.
    var width: Int { min(max(octets, 1), 16) }

    private var upper: UInt64 { UInt64.max >> UInt64(64 - bits + (isSigned ? 1 : 0)) }
    private var lowerMagnitude: UInt64 { isSigned ? upper + 1 : 0 }

    func steps(of value: Double) -> UInt64 {
        let steps = (value / scale).rounded(.toNearestOrAwayFromZero)
        guard steps < 0 else {
            guard !steps.isNaN else { return 0 }
            return steps >= Double(upper) ? upper : UInt64(steps)
        }
        let magnitude = -steps >= Double(lowerMagnitude) ? lowerMagnitude : UInt64(-steps)
        return (0 &- magnitude) & (bits < min(64, 8 * width) ? mask : .max)
    }

    private var mask: UInt64 { UInt64.max >> UInt64(64 - bits) }

    func append(_ steps: UInt64, to block: inout ByteBlock) {
        let used = kind == .integer && bits < 64 && bits < 8 * width ? steps & mask : steps
        block.append(used, octets: min(width, 8))
        guard width > 8 else { return }
        let sign: UInt8 = isSigned && steps >> 63 == 1 ? 0xFF : 0
        for _ in 8..<width { block.append(sign) }
    }

    /// The value of the low bits of `steps`.
    func value(ofSteps steps: UInt64) -> Double {
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
