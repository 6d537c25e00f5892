// Beacon and data formats in `data:`: their keys are the fields that the formats declare.
import Advertising
import Behaviours
import Wire
import YAML

extension Form where Value == AdvertisingStructure {
    /// One key for each format.
    static var beacons: [Choice<AdvertisingStructure>] {
        BeaconFormat.all.filter(\.isWritten).map { format in
            Choice(format.name, beacon(format))
        }
    }

    private static func beacon(_ format: BeaconFormat) -> Form {
        let names = format.fields.map(\.name).filter { !$0.isEmpty }
        let says =
            "a map of " + (format.objects.isEmpty ? "" : "objects, ")
            + names.joined(separator: ", ")
        return map(says: says) { keys in
            var beacon = Beacon(format)
            for (index, field) in format.fields.enumerated() where !field.name.isEmpty {
                let form = BeaconValueForm(field: field).form
                let isRequired = field.initial == nil && field.own == nil
                let reading =
                    isRequired
                    ? keys.required(field.name, form) : keys.optional(field.name, form)
                if let reading {
                    beacon.take(reading, item: index, keys.context)
                } else if let own = field.own, !keys.has(field.name) {
                    beacon.take(.live(.own(own), factor: 1), item: index, keys.context)
                }
            }
            if !format.objects.isEmpty { objects(&beacon, &keys) }
            return .beacon(beacon)
        }
    }

    /// `objects:` and `encryption-key:` of BTHome.
    private static func objects(_ beacon: inout Beacon, _ keys: inout Keys) {
        let list = Form<[BeaconObject]>.list(
            of: .object(beacon.format),
            says: "a list of objects such as '[{object: battery, value: 97 %}]'")
        let objects = keys.required("objects", list) ?? []
        // Receivers that do not know a newer object stop there, so they stand in their order.
        let sorted = objects.enumerated().sorted {
            ($0.element.field.tag ?? 0, $0.offset) < ($1.element.field.tag ?? 0, $1.offset)
        }.map(\.element)
        for object in sorted {
            beacon.items.append(BeaconItem(object.field, object.field.zero))
            beacon.take(object.reading, item: beacon.items.count - 1, keys.context)
        }
        guard let key = keys.optional("encryption-key", Form<[UInt8]>.exactly(16...16)) else {
            return
        }
        beacon.key = BeaconKey(key)
        keys.context.liveParts.append(
            LiveField(entry: 0, range: 0..<0, source: .encryption))
    }
}

extension Beacon {
    fileprivate mutating func take(
        _ reading: BeaconReading, item: Int, _ context: DecodeContext
    ) {
        switch reading {
        case .constant(let value): items[item].value = value
        case .live(let source, let factor):
            items[item].value = items[item].field.zero
            var part = LiveField(entry: 0, range: 0..<0, source: source)
            (part.item, part.factor) = (item, factor)
            context.liveParts.append(part)
        }
    }
}

private struct BeaconObject {
    var field: BeaconField
    var reading: BeaconReading
}

extension Form where Value == BeaconObject {
    /// The value's format hangs on the object.
    fileprivate static func object(_ format: BeaconFormat) -> Form {
        map(says: "a map such as '{object: battery, value: 97 %}'") { keys in
            let field = keys.required("object", Form<BeaconField>.objectName(format))
            let value = keys.required(
                "value", Form<Place>.any(says: "a constant, or a generator such as '{sine: {…}}'"))
            guard let field, let value else { return nil }
            return BeaconValueForm(field: field).form.read(value, keys.context).map {
                BeaconObject(field: field, reading: $0)
            }
        }
    }
}

extension Form where Value == BeaconField {
    /// A name, or a number where several objects have the same.
    fileprivate static func objectName(_ format: BeaconFormat) -> Form {
        var words: [(String, BeaconField)] = []
        for field in format.objects where !words.contains(where: { $0.0 == field.name }) {
            words.append((field.name, field))
        }
        let names = word(words)
        let says = "an object's name, or its number such as 0x45"
        let schema = { Schema.anyOf([.words(words.map(\.0)), .integer(0...255)]) }
        return Form(says: says, schema: schema) { place, context in
            guard case .integer(let number) = place.scalar?.value else {
                return names.read(place, context)
            }
            if let field = format.objects.first(where: { $0.tag.map(Int64.init) == Int64(number) })
            {
                return field
            }
            context.report(place, "\(place.found) is no object of BTHome", "write a name")
            return nil
        }
    }
}
