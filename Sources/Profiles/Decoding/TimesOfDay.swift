// Times of day: `"07:00"`, quoted.
import SansIO
import YAML

extension Form where Value == TimeSpan {
    /// Since midnight, less than 24 h: hours and minutes, seconds where they matter.
    static var timeOfDay: Form {
        let says = "a time of day in quotes such as '\"07:00\"'"
        let schema = Schema.text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")
        return Form(says: says, schema: { schema }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null,
                let time = clock(scalar.text)
            else { return mismatch(place, context, says: says) }
            guard !scalar.isPlain else {
                context.report(
                    place, "the time of day stands without quotes", "write '\"\(scalar.text)\"'")
                return nil
            }
            return time
        }
    }

    private static func clock(_ text: String) -> TimeSpan? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var seconds: Int64 = 0
        for (part, limit) in zip(parts, [24, 60, 60] as [Int64]) {
            guard part.utf8.count == 2, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int64(part), number < limit
            else { return nil }
            seconds = seconds * 60 + number
        }
        return .seconds(parts.count == 2 ? seconds * 60 : seconds)
    }
}
