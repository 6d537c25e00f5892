// Batteries: how long they feed a mean current, as a band.

/// A battery, with what is known of it only within bounds as such.
public struct Battery: Equatable, Sendable {
    public var name: String
    /// Volts of a fresh one under a light load; what the chip is fed with unless told otherwise.
    public var voltage: Double
    /// Volts when the capacity is used up.
    public var endVoltage: Double
    /// Milliampere hours, as the maker counts them.
    public var capacity: Double
    /// The share of the capacity that pulses get out of it, 0 to 1.
    public var usable: ClosedRange<Double>
    /// The share of the capacity that is lost each year by itself.
    public var selfDischarge: ClosedRange<Double>
    /// Ohms in series, new to nearly empty.
    public var resistance: ClosedRange<Double>
    /// Years after which it is no longer good, used or not.
    public var shelfLife: Double

    public init(
        name: String, voltage: Double, endVoltage: Double, capacity: Double,
        usable: ClosedRange<Double>, selfDischarge: ClosedRange<Double>,
        resistance: ClosedRange<Double>, shelfLife: Double
    ) {
        self.name = name
        self.voltage = voltage
        self.endVoltage = endVoltage
        self.capacity = capacity
        self.usable = usable
        self.selfDischarge = selfDischarge
        self.resistance = resistance
        self.shelfLife = shelfLife
    }

    public static let hoursPerYear = 8_760.0

    /// The mean current in microamperes that self-discharge comes to, at the middle of its band.
    public var selfDischargeCurrent: Double {
        let share = (selfDischarge.lowerBound + selfDischarge.upperBound) / 2
        return share * capacity * 1_000 / Self.hoursPerYear
    }

    /// The share of the capacity that can be used when the supply must not fall below `minimum`.
    ///
    /// The drop over the series resistance ends it before the capacity does where the chip needs
    /// more than what is left; the open voltage is taken to fall evenly to its end.
    ///
    /// - Parameters:
    ///   - peak: milliamperes of the largest pulse.
    ///   - minimum: volts that the chip needs.
    public func usable(peak: Double, minimum: Double) -> ClosedRange<Double> {
        func reach(_ ohms: Double) -> Double {
            let needed = minimum + peak * ohms / 1_000
            guard needed > endVoltage else { return 1 }
            guard voltage > endVoltage else { return 0 }
            return max(0, (voltage - needed) / (voltage - endVoltage))
        }
        let low = usable.lowerBound * reach(resistance.upperBound)
        let high = usable.upperBound * reach(resistance.lowerBound)
        return low...max(low, high)
    }

    /// Years that it feeds `current`: k C / (I + s C / 8760 h), at most its shelf life.
    ///
    /// - Parameters:
    ///   - current: mean microamperes, not below 0.
    ///   - usable: what `usable(peak:minimum:)` gives.
    public func life(current: Double, usable: ClosedRange<Double>) -> ClosedRange<Double> {
        func years(_ share: Double, _ lost: Double) -> Double {
            let drain = max(current, 0) / 1_000 + lost * capacity / Self.hoursPerYear
            guard drain > 0 else { return shelfLife }
            return min(share * capacity / drain / Self.hoursPerYear, shelfLife)
        }
        let low = years(usable.lowerBound, selfDischarge.upperBound)
        return low...max(low, years(usable.upperBound, selfDischarge.lowerBound))
    }
}

/// Something on the board that draws current beside the chip: a motion sensor above all.
public struct SensorCurrent: Equatable, Sendable {
    public var name: String
    /// Mean microamperes while it watches.
    public var current: Double

    public init(name: String, current: Double) {
        self.name = name
        self.current = current
    }
}
