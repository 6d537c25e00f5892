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
    fileprivate static var service: Form { noted(.service, wholeService) }

    private static var wholeService: Form {
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

extension Form {
    /// The same, and what has errors is noted as there.
    fileprivate static func noted(_ kind: NameKind, _ form: Form) -> Form {
        Form(says: form.says, schema: form.schema) { place, context in
            let errors = context.errors.count
            let value = form.read(place, context)
            if context.errors.count > errors { context.noteUnloaded(place, kind) }
            return value
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
        let text = text(64, says: "the label or the name of a \(kind.rawValue)")
        return Form(says: text.says, schema: { .assigned([]) }) { place, context in
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
        guard let label = optional("label", .line(64, says: "a name for references")) else {
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
    fileprivate static var characteristic: Form { noted(.characteristic, wholeCharacteristic) }

    private static var wholeCharacteristic: Form {
        map(says: "a map of characteristic, permissions and value") { keys in
            let uuid = keys.required(
                "characteristic", .uuid(.characteristic, example: "battery-level"))
            let label = keys.label()
            let permissions = permissions(&keys)
            let (format, source) = value(of: uuid, &keys)
            let update = keys.optional("update", .every)
            let send = keys.optional("send", .sendRule)
            let persists = keys.optional("persist", .boolean)
            let onWrite = keys.optional(
                "on-write",
                Form<Place>.any(says: "a list of rules").described(
                    ReactionForm.unbound.rules.schema()))
            let records = keys.optional(
                "records",
                Form<Place>.any(says: "a map of of and values").described(
                    ReactionForm.unbound.records.schema()))
            var spec = CharacteristicSpec(
                uuid: uuid ?? BluetoothUUID(0), format: format ?? .bytes,
                value: source ?? .constant([]))
            spec.label = label
            spec.permissions = permissions
            spec.update = update
            spec.send = send ?? .onUpdate
            spec.persists = persists ?? false
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
            if onWrite != nil || records != nil {
                spec.deferred = keys.context.later(onWrite: onWrite, records: records)
                if !keys.has("write"), !keys.has("write-without-response"),
                    !keys.has("signed-write")
                {
                    keys.report(
                        at: onWrite != nil ? "on-write" : "records", "nothing can be written",
                        "add 'write: open'")
                }
            }
            return spec
        }
    }

    /// The format that `format` or `fields` say, else the assigned one, else octets; and the value
    /// in it.
    private static func value(
        of uuid: BluetoothUUID?, _ keys: inout Keys
    ) -> (ValueFormat?, ValueSource?) {
        let stated = keys.numberFormat()
        let fields = keys.optional("fields", Form<FieldList>.fields())
        let value = keys.optional("value", Form<Place>.value)
        if keys.has("fields") {
            if keys.has("format") {
                keys.report(at: "format", "'fields' say the format", "remove 'format'")
            }
            guard let fields, let list = keys.child("fields") else { return (nil, nil) }
            let form = FieldValueForm(fields.layout)
            let format = ValueFormat.fields(fields.layout)
            guard let value else {
                return (format, form.source(fields.given, at: list, keys.context))
            }
            if !fields.given.isEmpty {
                keys.report(at: "value", "some fields have values too", "write values in one place")
            }
            return (format, ValueForm(format: format).source(value, keys.context))
        }
        // Of what has no name the value's form is not known: one mistake, one message.
        if stated == nil, keys.has("format") || uuid == nil { return (nil, nil) }
        let format = stated ?? uuid.flatMap { AssignedNames.format($0) } ?? .bytes
        let form = ValueForm(format: format)
        return (format, value.map { form.source($0, keys.context) } ?? form.atRest)
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
        keys.read("signed-write", into: &permissions.signedWrite, .signature)
        keys.read("notify", into: &permissions.notify, .access)
        keys.read("indicate", into: &permissions.indicate, .access)
        return permissions
    }

    private static func checkUpdate(_ source: ValueSource, _ send: SendRule, _ keys: Keys) {
        if case .generated(.writes, _) = source {
            if keys.has("update") {
                keys.report(
                    at: "update", "'writes-of' is counted at each write, at no other time",
                    "remove 'update'")
            }
        } else if source.isLive, !keys.has("update"), send != .asFastAsPossible {
            keys.report(
                at: keys.has("value") ? "value" : "fields",
                "a generated value needs to know when a sample is taken",
                "add 'update: every 10 s'")
        }
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
