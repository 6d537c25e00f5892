// Live fields of advertising data in lines for people.
import Advertising
import SansIO

extension DeviceProfile {
    /// One line for each live field of a set: which octets, from what, how often.
    func liveFieldLines(of index: Int) -> [String] {
        let set = advertising[index]
        guard let update = set.update else { return [] }
        return liveFields.filter { $0.set == index }.map { field in
            let part = field.isInScanResponse ? set.scanResponse : set.data
            let label =
                part.indices.contains(field.entry)
                ? part[field.entry].parts.first?.label ?? "" : ""
            let place =
                field.range.count == 1
                ? "octet \(field.range.lowerBound)"
                : "octets \(field.range.lowerBound) to \(field.range.upperBound - 1)"
            return "  every \(update): \(label) \(place) = \(field.source.text)"
        }
    }
}

extension LiveFieldSource {
    fileprivate var text: String {
        switch self {
        case .activityLevel: "activity level in percent"
        case .activityState: "activity state: 0 asleep, 1 idle, 2 active"
        case .own: "a generator"
        case .value(let name): "the value of \(name)"
        }
    }
}
