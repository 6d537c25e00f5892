// The arguments of options: each read whole, or refused with what to write.
import Emulator
import LinuxIO
import SMP
import SansIO
import VirtualController

extension Options {
    static func controller(_ text: String) throws(UsageError) -> ControllerSpec {
        do throws(SpecificationError) { return try ControllerSpec.parse(text).get() } catch {
            throw UsageError("--controller: \(error)")
        }
    }

    static func endpoint(_ text: String) throws(UsageError) -> Endpoint {
        guard let endpoint = Endpoint(text) else {
            throw UsageError(
                "--air: \"\(text)\" is no numeric address with a port; write 127.0.0.1:6402")
        }
        return endpoint
    }

    static func adapters(_ text: String) throws(UsageError) -> Int {
        guard let count = Int(text), (1...VirtualAdapters.countMax).contains(count) else {
            throw UsageError(
                "--vhci: \"\(text)\" is no number of 1 to \(VirtualAdapters.countMax) adapters")
        }
        return count
    }

    static func airTiming(_ text: String) throws(UsageError) -> Air.Timing {
        switch text {
        case "radio": return .radio
        case "ideal": return .ideal
        default:
            throw UsageError("--air-timing: there is no timing \"\(text)\"; write radio or ideal")
        }
    }

    /// A share of 0% to 100% as 0 to 1.
    static func airLoss(_ text: String) throws(UsageError) -> Double {
        let digits = text.dropLast()
        guard text.last == "%", digits.allSatisfy({ $0 == "." || $0.utf8.allSatisfy(isDigit) }),
            let percent = Double(digits), percent <= 100
        else { throw UsageError("--air-loss: \"\(text)\" is no share of 0% to 100%; write 10%") }
        return percent / 100
    }

    static func activity(_ text: String) throws(UsageError) -> ActivitySpec {
        guard let spec = ActivitySpec(text) else {
            let forms = ActivitySpec.forms.map(\.form).joined(separator: ", ")
            throw UsageError("--activity: \"\(text)\" is no activity source; write \(forms)")
        }
        return spec
    }

    static func seed(_ text: String) throws(UsageError) -> UInt64 {
        guard text.utf8.allSatisfy(isDigit), let seed = UInt64(text) else {
            throw UsageError("--seed: \"\(text)\" is no whole number of 0 to \(UInt64.max)")
        }
        return seed
    }

    static func passkey(_ text: String) throws(UsageError) -> UInt32 {
        guard let passkey = Passkey.number(text) else {
            throw UsageError("--passkey: \(Passkey.mistake(text)); write --passkey 123456")
        }
        return passkey
    }

    static func logLevel(_ text: String) throws(UsageError) -> LogLevel {
        for level in LogLevel.allCases where level.name == text { return level }
        let names = LogLevel.allCases.map(\.name).joined(separator: ", ")
        throw UsageError("--log-level: there is no level \"\(text)\"; write one of \(names)")
    }

    /// A time of 1 us to 36,500 days: digits, perhaps with a point, and a unit.
    static func duration(_ text: String) throws(UsageError) -> TimeSpan {
        let refusal = UsageError(
            "--duration: \"\(text)\" is no time of up to 36500 days; "
                + "write 90s, 5min, 1h, 500ms or 1d"
        )
        let number = text.prefix { $0 == "." || $0.utf8.allSatisfy(isDigit) }
        let unit = text.dropFirst(number.count).drop { $0 == " " }
        let factors: [(String, Double)] = [
            ("us", 1), ("ms", 1e3), ("s", 1e6), ("min", 60e6), ("h", 3600e6), ("d", 86_400e6),
            ("y", 365 * 86_400e6),
        ]
        guard let value = Double(number), let factor = factors.first(where: { $0.0 == unit })?.1
        else { throw refusal }
        let microseconds = (value * factor).rounded()
        guard microseconds >= 1, microseconds <= 36_500 * 86_400e6 else { throw refusal }
        return TimeSpan(microseconds: Int64(microseconds))
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
    }
}
