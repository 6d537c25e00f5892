// AD structures as lines for people.
import HCI
import SansIO
import Wire

extension ADStructure: CustomStringConvertible {
    /// One line: `complete local name "Acme Thermo"`, `16-bit services 0x181A`, `tx power 0 dBm`.
    ///
    /// Names of services and companies are not known here: whoever has them builds on `content`.
    public var description: String {
        switch content {
        case .flags(let flags): "flags " + (flags.names.isEmpty ? "none" : joined(flags.names))
        case .serviceUUIDs(let uuids, _):
            "\(type) " + (uuids.isEmpty ? "none" : joined(uuids.map(\.description)))
        case .name(let name, _): "\(type) \(quotedLine(name))"
        case .txPower(let level): "tx power \(level) dBm"
        case .appearance(let value): "appearance \(Hex.code(value))"
        case .manufacturer(let company, let data): line("manufacturer \(Hex.code(company))", data)
        case .serviceData(let uuid, let data): line("service data \(uuid)", data)
        case .beacon(let beacon): beacon.description
        case .connectionIntervalRange(let minimum, let maximum):
            "\(type) \(intervalText(minimum)) to \(intervalText(maximum))"
        case .other: line("\(type)", bytes)
        case .malformed: line("malformed \(type)", bytes)
        case .truncated(let announced):
            type.rawValue == 0 && bytes.isEmpty
                ? "truncated: \(announced) octets announced, 0 there"
                : line("truncated \(type)", bytes)
                    + ": \(announced) octets announced, \(bytes.count + 1) there"
        }
    }

    private func joined(_ texts: [String]) -> String { texts.joined(separator: ", ") }

    private func line(_ text: String, _ data: [UInt8]) -> String {
        data.isEmpty ? text : "\(text) \(Hex.string(data))"
    }

    private func intervalText(_ steps: UInt16) -> String {
        guard steps != 0xFFFF else { return "any" }
        let interval = ConnectionInterval(steps: steps)
        return TimeSpan(microseconds: interval.microseconds).description
    }
}

extension AdvertisingFlags {
    /// The names that the profile uses; reserved bits by number.
    var names: [String] {
        let known: [(flag: AdvertisingFlags, name: String)] = [
            (.limitedDiscoverable, "limited-discoverable"),
            (.generalDiscoverable, "general-discoverable"),
            (.noBREDR, "no-br-edr"),
        ]
        var names = known.filter { contains($0.flag) }.map(\.name)
        let rest = subtracting([.limitedDiscoverable, .generalDiscoverable, .noBREDR])
        if !rest.isEmpty { names.append(Hex.code(rest.rawValue)) }
        return names
    }
}

/// The text in quotation marks on one line: a peer's name must not move the cursor or hide text.
func quotedLine(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
            .unassigned:
            result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        default:
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}
