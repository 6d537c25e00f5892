// The `services:` part: services and characteristics.
import Behaviours
import GATT
import SansIO
import Wire
import YAML

extension Form where Value == [ServiceSpec] {
    static var services: Form {
        list(of: .service, says: "a list of services", minimum: 0)
    }
}

extension Form where Value == ServiceSpec {
    fileprivate static var service: Form {
        map(says: "a map of service and characteristics") { keys in
            let uuid = keys.required("service", .uuid(.service, example: "heart-rate"))
            var service = ServiceSpec(uuid: uuid ?? BluetoothUUID(0))
            service.label = keys.label()
            keys.read(
                "type", into: &service.isSecondary,
                .word([("primary", false), ("secondary", true)]))
            service.handle = keys.optional("handle", .handle)
            service.end = keys.optional("end", .handle)
            keys.read(
                "includes", into: &service.includes,
                .list(of: .include, says: "a list of services", minimum: 0))
            keys.read(
                "characteristics", into: &service.characteristics,
                .list(of: .characteristic, says: "a list of characteristics", minimum: 0))
            return uuid == nil ? nil : service
        }
    }
}

extension Form where Value == ServiceSpec.Include {
    /// A service's name, or `{service: NAME, handle: 0x0002}`.
    fileprivate static var include: Form {
        let name = Form<String>.reference(to: .service)
        let long = map(says: "a map of service and handle") { keys in
            let reference = keys.required("service", name)
            let handle = keys.optional("handle", .handle)
            return reference.map { ServiceSpec.Include(reference: $0, handle: handle) }
        }
        return either(scalar: name.map { ServiceSpec.Include(reference: $0) }, map: long)
    }
}

extension Form where Value == String {
    /// The label, assigned name or UUID of something in the file; looked up when all is read.
    static func reference(to kind: DecodeContext.ReferenceKind) -> Form {
        let text = text(64, says: "the label or the name of a \(kind)")
        return Form(says: text.says) { place, context in
            // 0x180A is a number to YAML and a UUID here.
            let isHex = place.scalar?.text.hasPrefix("0x") == true
            guard let name = isHex ? place.scalar?.text : text.read(place, context) else {
                return nil
            }
            context.refer(to: kind, place)
            return name
        }
    }
}

extension Form where Value == UInt16 {
    static var handle: Form {
        Form<Int>.integer(1...0xFFFF, says: "a handle such as 0x0012").map { UInt16($0) }
    }
}

extension Form where Value == Int {
    /// `{max: 20}`: the most octets a value may have.
    static var length: Form {
        map(says: "a map such as '{max: 20}'") { keys in
            keys.required("max", .integer(0...valueOctetsMax, says: "0 to 512 octets"))
        }
    }
}

extension Keys {
    /// The key `label`, which names one thing in the file.
    fileprivate mutating func label() -> String? {
        guard let label = optional("label", .text(64, says: "a name for references")) else {
            return nil
        }
        if !context.labels.insert(label).inserted {
            report(at: "label", "the label '\(label)' stands twice", "give each its own")
        }
        return label
    }

    /// The key `length`, which has to hold `octets`.
    mutating func lengthMax(holding octets: Int) -> Int? {
        guard let length = optional("length", .length) else { return nil }
        if length < octets {
            report(
                at: "length", "the value has \(octets) octets, more than 'max', which is \(length)",
                "write \(octets) or more")
        }
        return length
    }
}

extension Form where Value == CharacteristicSpec {
    fileprivate static var characteristic: Form {
        map(says: "a map of characteristic, permissions and value") { keys in
            let uuid = keys.required(
                "characteristic", .uuid(.characteristic, example: "battery-level"))
            let label = keys.label()
            let permissions = permissions(&keys)
            let format = valueFormat(uuid, &keys)
            let value = keys.optional("value", Form<Place>.any(says: "a value"))
            let update = keys.optional("update", .every)
            let send = keys.optional("send", .sendRule)
            keys.later("fields", "on-write", "records")
            let source = format.flatMap { format in
                let form = ValueForm(format: format)
                return value.map { form.source($0, keys.context) } ?? form.atRest
            }
            var spec = CharacteristicSpec(
                uuid: uuid ?? BluetoothUUID(0), format: format ?? .bytes,
                value: source ?? .constant([]))
            spec.label = label
            spec.permissions = permissions
            spec.update = update
            spec.send = send ?? .onUpdate
            readLayout(&spec, &keys)
            keys.read(
                "descriptors", into: &spec.descriptors,
                .list(of: .descriptor(of: spec.format), says: "a list of descriptors", minimum: 0))
            if send != nil, !keys.has("notify"), !keys.has("indicate") {
                keys.report(
                    at: "send", "nothing is sent without 'notify' or 'indicate'",
                    "add 'notify: open', or remove 'send'")
            }
            guard uuid != nil, format != nil, let source else { return nil }
            checkUpdate(source, spec.send, keys)
            return spec
        }
    }

    /// What an exact clone of a device says and others leave to the plan.
    private static func readLayout(_ spec: inout CharacteristicSpec, _ keys: inout Keys) {
        spec.handle = keys.optional("handle", .handle)
        spec.valueHandle = keys.optional("value-handle", .handle)
        keys.read("managed", into: &spec.isManaged, .boolean)
        if let words = keys.optional("properties", Form<[PropertyWord]>.properties) {
            spec.statedProperties = CharacteristicProperties(words.map(\.property))
            let extended = words.compactMap(\.extended)
            if !extended.isEmpty { spec.extendedProperties = ExtendedProperties(extended) }
        }
        spec.lengthMax = keys.lengthMax(holding: spec.value.octets)
    }

    /// What is not said is refused.
    private static func permissions(_ keys: inout Keys) -> Permissions {
        var permissions = Permissions()
        keys.read("read", into: &permissions.read, .access)
        keys.read("write", into: &permissions.write, .access)
        keys.read("write-without-response", into: &permissions.writeCommand, .access)
        keys.read("notify", into: &permissions.notify, .access)
        keys.read("indicate", into: &permissions.indicate, .access)
        return permissions
    }

    private static func checkUpdate(_ source: ValueSource, _ send: SendRule, _ keys: Keys) {
        guard case .generated(let generator, _) = source else { return }
        if case .writes = generator {
            if keys.has("update") {
                keys.report(
                    at: "update", "'writes-of' is counted at each write, at no other time",
                    "remove 'update'")
            }
        } else if !keys.has("update"), send != .asFastAsPossible {
            keys.report(
                at: "value", "a generated value needs to know when a sample is taken",
                "add 'update: every 10 s'")
        }
    }

    /// The format that `format`, `scale` and `unit` say, else the assigned one, else octets.
    private static func valueFormat(_ uuid: BluetoothUUID?, _ keys: inout Keys) -> ValueFormat? {
        let wire = keys.optional("format", Form<WireFormat>.wireFormat)
        let scale = keys.optional("scale", .scale)
        let unit = keys.optional("unit", Form<UInt16>.assigned(.unit, example: "degree-celsius"))
        guard keys.has("format") else {
            for key in ["scale", "unit"] where keys.has(key) {
                keys.report(at: key, "'\(key)' needs 'format'", "add 'format: sint16' or another")
            }
            return uuid.flatMap { AssignedNames.format($0) } ?? .bytes
        }
        guard let wire else { return nil }
        if case .integer = wire.kind {
            let measurement = unit.flatMap { AssignedNames.unit($0) } ?? .unitless
            return wire.valueFormat(scale: scale ?? 1, unit: measurement)
        }
        for key in ["scale", "unit"] where keys.has(key) {
            keys.report(
                at: key, "'\(wire.name)' has no \(key)", "remove it, or choose a number format")
        }
        return wire.valueFormat(scale: 1, unit: .unitless)
    }
}

/// A word of `properties:`: a bit of the declaration, or one of the extended properties.
private struct PropertyWord {
    var property: CharacteristicProperties
    var extended: ExtendedProperties?
}

extension Form where Value == [PropertyWord] {
    fileprivate static var properties: Form {
        let plain = CharacteristicProperties.words.map { ($0.0, PropertyWord(property: $0.1)) }
        let extended: [(String, ExtendedProperties)] = [
            ("reliable-write", .reliableWrite), ("writable-auxiliaries", .writableAuxiliaries),
        ]
        let words =
            plain
            + extended.map {
                ($0.0, PropertyWord(property: .extendedProperties, extended: $0.1))
            }
        return list(of: .word(words), says: "a list such as '[read, notify]'", minimum: 0)
    }
}

/// The longest value an attribute can have (Core 6.0, Vol 3, Part F, 3.2.9).
let valueOctetsMax = 512

extension Form where Value == WireFormat {
    fileprivate static var wireFormat: Form {
        let served = WireFormat.all.filter { $0.kind != .later }
        let later = WireFormat.all.filter { $0.kind == .later }
        return word(served.map { ($0.name, $0) }, later: later.map(\.name))
    }
}

extension Form where Value == Double {
    /// The value of one step: `0.01`, or a fraction such as `1/1024`.
    fileprivate static var scale: Form {
        let says = "the value of one step such as 0.01 or 1/1024"
        return Form(says: says) { place, context in
            let parts =
                place.scalar?.text.split(separator: "/", omittingEmptySubsequences: false) ?? []
            let numbers = parts.compactMap { Quantity.decimal($0) }
            guard numbers.count == parts.count, (1...2).contains(numbers.count) else {
                return mismatch(place, context, says: says)
            }
            let scale = numbers.count == 2 ? numbers[0] / numbers[1] : numbers[0]
            guard scale.isFinite, (1e-9...1e9).contains(scale) else {
                context.report(
                    place, "\(place.found) is not within 0.000000001 to 1000000000", "write \(says)"
                )
                return nil
            }
            return scale
        }
    }
}

extension Form where Value == SendRule {
    fileprivate static var sendRule: Form {
        let says = "'on-update', 'on-change', 'every 10 s', 'as-fast-as-possible' or 'manual'"
        let words = word(
            [
                ("on-update", .onUpdate), ("on-change", .onChange), ("manual", .manual),
                ("as-fast-as-possible", .asFastAsPossible),
            ])
        let every = Form<TimeSpan>.every
        return Form(says: says) { place, context in
            if place.scalar?.text.hasPrefix("every") == true {
                return every.read(place, context).map { .every($0) }
            }
            guard place.scalar.map({ Quantity.decimal($0.text.prefix { $0 != " " }) }) == .some(nil)
            else { return mismatch(place, context, says: says) }
            return words.read(place, context)
        }
    }
}
