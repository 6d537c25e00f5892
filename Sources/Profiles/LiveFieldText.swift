// Live fields of advertising data in lines for people.
public import Advertising
import Behaviours
import SansIO

extension DeviceProfile {
    /// One line for each live field of a set: which octets, from what, how often.
    func liveFieldLines(of index: Int) -> [String] {
        let set = advertising[index]
        return liveFields.filter { $0.set == index }.map { field in
            let part = set.entries(of: field.part)
            let entry = part.indices.contains(field.entry) ? part[field.entry] : nil
            let every = set.update.map { field.source.moves ? "every \($0): " : "" } ?? ""
            let moment = every + (field.part == .periodic ? "train " : "")
            guard let beacon = entry?.beacon else {
                let label = entry?.parts.first?.label ?? ""
                let place =
                    field.range.count == 1
                    ? "octet \(field.range.lowerBound)"
                    : "octets \(field.range.lowerBound) to \(field.range.upperBound - 1)"
                return "  \(moment)\(label) \(place) = \(field.source.text)"
            }
            let item = field.item.flatMap {
                beacon.items.indices.contains($0) ? beacon.items[$0].field : nil
            }
            if field.source == .encryption {
                return "  \(moment)\(beacon.description), \(field.source.text)"
            }
            let place = beacon.format.name + (item.map { " " + $0.name } ?? "")
            return "  \(moment)\(place) = \(field.source.text(in: item))"
        }
    }
}

extension AdvertisingSet {
    /// The structures of one of its parts.
    public func entries(of part: LiveField.Part) -> [AdvertisingStructure] {
        switch part {
        case .data: data
        case .scanResponse: scanResponse
        case .periodic: periodic?.data ?? []
        }
    }
}

extension LiveFieldSource {
    /// A generator in the unit of a beacon's field.
    fileprivate func text(in field: BeaconField?) -> String {
        guard case .generated(let source) = self, case .generated(_, let encoding) = source else {
            return text
        }
        var unit = MeasurementUnit.unitless
        if case .number(let number) = field?.kind { unit.symbol = number.unit }
        return source.text(in: .number(NumberSpec(format: encoding, unit: unit)))
    }

    fileprivate var text: String {
        switch self {
        case .activityLevel: "activity level in percent"
        case .activityState: "activity state: 0 asleep, 1 idle, 2 active"
        case .generated: "a generator"
        case .own(.address): "the device's address"
        case .own(.uptime): "the time since power-on"
        case .own(.advertisingEvents): "how often it has advertised since power-on"
        case .encryption: "encrypted, under the next counter"
        case .value(let name): "the value of \(name)"
        }
    }
}
