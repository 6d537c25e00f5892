// What a benchmark's report says of its conditions, and which of them nobody has asked for.
import Advertising
import Bench
import HCI
import PowerModel
import Profiles
import SansIO

enum BenchSettings {
    static func of(_ request: BenchRequest, _ options: BenchOptions) -> [BenchRequest.Setting] {
        typealias Setting = BenchRequest.Setting
        let profile = request.profile
        var settings = [Setting("profile", profile.file, isDefault: false)]
        if let set = profile.advertising.first, profile.advertising.count > 1 {
            settings.append(
                Setting(
                    "set",
                    "\(set.name), the first of \(profile.advertising.count): discovery is of it, "
                        + "charge of all", isDefault: false))
        }
        if let pdu = profile.advertising.first?.pdu.extended {
            settings.append(Setting("heard by", listeners(pdu), isDefault: false))
        }
        if let activity = profile.activity {
            settings.append(
                Setting(
                    "activity", activity.text(for: request.duration),
                    isDefault: options.run.substitutes.first?.activity == nil))
        }
        // Parts of different sweeps are told from one another by it.
        if !options.sweeps.isEmpty {
            settings.append(
                Setting("policies", options.sweeps.joined(separator: " "), isDefault: false))
        } else if request.policies.count > 1 {
            settings.append(Setting("policies", "the usual ones", isDefault: true))
        }
        let radio = request.radio
        settings += [
            Setting("chip", radio.chip.name, isDefault: options.chip == nil),
            Setting(
                "supply", FigureText.significant(radio.voltage, 3) + " V",
                isDefault: options.voltage == nil),
            Setting(
                "transmit power", "\(radio.power) dBm",
                isDefault: options.power == nil && profile.advertising.first?.txPower == nil),
            Setting("battery", request.battery.name, isDefault: options.battery == nil),
        ]
        for sensor in request.sensors {
            settings.append(
                Setting(
                    "motion sensor",
                    "\(sensor.name), \(FigureText.significant(sensor.current, 3)) uA where the "
                        + "policy follows motion", isDefault: options.sensor == nil))
        }
        settings += [
            Setting(
                "duration", BenchText.span(request.duration),
                isDefault: options.run.duration == nil),
            Setting(
                "precision",
                FigureText.significant(request.precision * 100, 3)
                    + " % of the mean and p95, at 95 % confidence",
                isDefault: options.precision == nil),
            Setting(
                "other advertisers",
                request.reception.crowd == 0
                    ? "none"
                    : "\(request.reception.crowd), each at "
                        + "\(TimeSpan.microseconds(request.reception.crowdInterval))",
                isDefault: options.crowd == nil),
            Setting(
                "search ends after",
                BenchText.span(.microseconds(request.reception.patience)), isDefault: true),
            Setting("seed", "\(request.seed)", isDefault: options.run.seed == nil),
        ]
        return settings
    }

    /// The scanners' models say when they listen, not to which PDUs.
    private static func listeners(_ pdu: ExtendedPDU) -> String {
        (pdu.primary == .leCoded ? "scanners on LE Coded" : "scanners of extended advertisements")
            + ", which on phones an app must ask for"
    }
}
