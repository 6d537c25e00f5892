// Parts of date and time, as the characteristics of the Current Time and Device Time services.

/// One number of a date or a time of day (GATT Specification Supplement, 3.69 and others).
public enum ClockPart: Equatable, Sendable, CaseIterable {
    case year, month, day, hours, minutes, seconds
    /// 1 for Monday to 7 for Sunday.
    case dayOfWeek
    /// 1/256 of a second.
    case fractions
    /// Seconds since 1970-01-01.
    case unixSeconds

    /// The name of the field that it fills.
    public var name: String {
        switch self {
        case .year: "year"
        case .month: "month"
        case .day: "day"
        case .hours: "hours"
        case .minutes: "minutes"
        case .seconds: "seconds"
        case .dayOfWeek: "day-of-week"
        case .fractions: "fractions-256"
        case .unixSeconds: "unix-seconds"
        }
    }

    public init?(name: String) {
        for part in Self.allCases where part.name == name {
            self = part
            return
        }
        return nil
    }

    /// The number at `microseconds` since 1970-01-01T00:00:00.
    public func value(at microseconds: Int64) -> Double {
        let second: Int64 = 1_000_000
        let seconds = Self.floorDivide(microseconds, second)
        let day = Self.floorDivide(seconds, 86_400)
        let ofDay = seconds - day * 86_400
        switch self {
        case .hours: return Double(ofDay / 3600)
        case .minutes: return Double(ofDay / 60 % 60)
        case .seconds: return Double(ofDay % 60)
        case .fractions: return Double((microseconds - seconds * second) * 256 / second)
        case .unixSeconds: return Double(seconds)
        // 1970-01-01 was a Thursday.
        case .dayOfWeek: return Double((day + 3) - Self.floorDivide(day + 3, 7) * 7 + 1)
        case .year: return Double(Self.civil(day).year)
        case .month: return Double(Self.civil(day).month)
        case .day: return Double(Self.civil(day).day)
        }
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The date of a day since 1970-01-01 in the Gregorian calendar. Years begin in March here, so
    /// that the leap day is the last of its year.
    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDivide(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
