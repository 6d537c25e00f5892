// `fields:` of advertising data: octets one behind another, some of which are taken anew.
import Advertising
import Behaviours
import SansIO
import YAML

/// Octets of an advertising structure, and which of them are live.
struct AdvertisingFields {
    /// Live ones hold the place of their largest value.
    var octets: [UInt8] = []
    var live: [(range: Range<Int>, source: LiveFieldSource)] = []

    fileprivate mutating func append(_ field: AdvertisingField) {
        switch field {
        case .fixed(let fixed): octets += fixed
        case .live(let count, let source):
            live.append((octets.count..<octets.count + count, source))
            octets += [UInt8](repeating: 0, count: count)
        }
    }
}

private enum AdvertisingField {
    case fixed([UInt8])
    case live(octets: Int, LiveFieldSource)
}

extension Keys {
    /// `data` or `fields` of a structure; live fields are left in the context for the set.
    mutating func advertisingPayload() -> [UInt8] {
        let data = optional(
            "data", Form<[UInt8]>.octets(AdvertisingDataLimits.structureDataOctets))
        let fields = optional(
            "fields",
            Form<[AdvertisingField]>.list(of: .advertisingField, says: "a list of fields"))
        if has("data"), has("fields") {
            report(at: "fields", "'data' and 'fields' are two ways to say it", "keep one of them")
        }
        var all = AdvertisingFields()
        for field in fields ?? [] { all.append(field) }
        context.liveParts += all.live.map {
            LiveField(entry: 0, range: $0.range, source: $0.source)
        }
        return data ?? all.octets
    }
}

extension Form where Value == AdvertisingField {
    fileprivate static var advertisingField: Form {
        // Which keys there are hangs on the kind.
        let kinds = ["hex", "text", "activity", "value-of", "format"]
        let read = { (keys: inout Keys) -> AdvertisingField? in
            let given = kinds.filter { keys.has($0) }
            if given.count > 1 {
                keys.report(
                    at: given[1], "only one of \(kinds.joined(separator: ", ")) can stand here",
                    "write two fields")
                for kind in given.dropFirst() {
                    _ = keys.optional(kind, Form<Place>.any(says: ""))
                }
            }
            switch given.first {
            case "hex":
                return keys.optional("hex", .hex(octetsMax: structureOctetsMax)).map { .fixed($0) }
            case "text":
                return keys.optional("text", .text(structureOctetsMax, says: "a text")).map {
                    .fixed(Array($0.utf8))
                }
            case "activity": return activity(&keys)
            case "value-of": return value(&keys)
            case "format": return own(&keys)
            default:
                keys.mention(kinds.dropLast())
                _ = keys.required("format", Form<Place>.any(says: "a format, or one of the others"))
                return nil
            }
        }
        return map(says: "a field such as '{value-of: battery-level}'", read).described(
            .anyOf(kinds.map { schema(assuming: [$0], of: read) }))
    }

    private static var structureOctetsMax: Int { AdvertisingDataLimits.structureDataOctets }

    private static func activity(_ keys: inout Keys) -> AdvertisingField? {
        let word = Form<LiveFieldSource>.word([
            ("level", .activityLevel), ("state", .activityState),
        ])
        let source = keys.optional("activity", word)
        if case .absent = keys.context.activity {
            keys.report(
                at: "activity", "the profile does not say what the device feels",
                "add 'activity:' to the profile")
        }
        return source.map { .live(octets: 1, $0) }
    }

    /// The value of a characteristic, and how many octets of it at most.
    private static func value(_ keys: inout Keys) -> AdvertisingField? {
        let name = keys.optional("value-of", Form<String>.reference(to: .characteristic))
        let most = keys.optional(
            "octets", .integer(1...structureOctetsMax, says: "how many octets at most"))
        guard let name else { return nil }
        // A reference that names nothing is reported where all are.
        let services = keys.context.services
        guard let entry = References.characteristics(services).one(name) else {
            return .live(octets: 1, .value(of: name))
        }
        let spec = services[entry.service].characteristics[entry.characteristic]
        guard let octets = most ?? spec.format.octets ?? spec.lengthMax else {
            keys.report(
                at: "value-of", "the length of '\(name)' is not known", "add 'octets: 8'")
            return nil
        }
        return .live(octets: octets, .value(of: spec.name))
    }

    /// A number of its own: a constant or a generator.
    private static func own(_ keys: inout Keys) -> AdvertisingField? {
        let words = ["uint8", "uint16", "uint24", "uint32", "sint8", "sint16", "sint24", "sint32"]
        let formats = WireFormat.all.filter { words.contains($0.name) }
        let wire = keys.optional("format", Form<WireFormat>.word(formats.map { ($0.name, $0) }))
        let value = keys.required("value", Form<Place>.value)
        guard let wire, let value else { return nil }
        let format = wire.valueFormat(scale: 1, unit: .unitless)
        guard let source = ValueForm(format: format).source(value, keys.context) else { return nil }
        if case .constant(let octets) = source { return .fixed(octets) }
        if case .echo(let name) = source {
            keys.report(
                at: "value", "'echo' has no place in advertising data",
                "write the field '{value-of: \(name)}'")
            return nil
        }
        return .live(octets: format.octets ?? 1, .generated(source))
    }
}
