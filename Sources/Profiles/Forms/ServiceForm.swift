// The `services:` part: services, characteristics and descriptors.
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
            let characteristics = keys.optional(
                "characteristics",
                Form<[CharacteristicSpec]>.list(
                    of: .characteristic, says: "a list of characteristics", minimum: 0))
            keys.later("type", "handle", "end", "includes", "label")
            guard let uuid else { return nil }
            return ServiceSpec(uuid: uuid, characteristics: characteristics ?? [])
        }
    }
}

extension Form where Value == CharacteristicSpec {
    fileprivate static var characteristic: Form {
        map(says: "a map of characteristic, permissions and value") { keys in
            let uuid = keys.required(
                "characteristic", .uuid(.characteristic, example: "battery-level"))
            let label = keys.optional("label", .text(64, says: "a name for references"))
            if let label, !keys.context.labels.insert(label).inserted {
                keys.report(at: "label", "the label '\(label)' stands twice", "give each its own")
            }
            let permissions = permissions(&keys)
            let format = valueFormat(uuid, &keys)
            let value = keys.optional("value", Form<Place>.any(says: "a value"))
            let update = keys.optional("update", .every)
            let send = keys.optional("send", .sendRule)
            keys.later(
                "handle", "value-handle", "properties", "length", "fields", "on-write", "records")
            let descriptors = keys.optional(
                "descriptors",
                Form<[DescriptorSpec]>.list(
                    of: .descriptor(of: format ?? .bytes), says: "a list of descriptors", minimum: 0
                ))
            if send != nil, !keys.has("notify"), !keys.has("indicate") {
                keys.report(
                    at: "send", "nothing is sent without 'notify' or 'indicate'",
                    "add 'notify: open', or remove 'send'")
            }
            guard let uuid, let format else { return nil }
            let source =
                value.map { ValueForm(format: format).source($0, keys.context) }
                ?? ValueForm(format: format).atRest
            guard let source else { return nil }
            checkUpdate(source, keys)
            var spec = CharacteristicSpec(
                uuid: uuid, format: format, value: source,
                lengthMax: format.octets ?? valueOctetsMax)
            spec.label = label
            spec.permissions = permissions
            spec.update = update
            spec.send = send ?? .onUpdate
            spec.descriptors = descriptors ?? []
            if case .constant(let octets) = source {
                spec.lengthMax = max(spec.lengthMax, octets.count)
            }
            return spec
        }
    }

    /// What is not said is refused.
    private static func permissions(_ keys: inout Keys) -> Permissions {
        Permissions(
            read: keys.optional("read", .access) ?? .refused,
            write: keys.optional("write", .access) ?? .refused,
            writeCommand: keys.optional("write-without-response", .access) ?? .refused,
            notify: keys.optional("notify", .access) ?? .refused,
            indicate: keys.optional("indicate", .access) ?? .refused)
    }

    private static func checkUpdate(_ source: ValueSource, _ keys: Keys) {
        guard case .generated = source, !keys.has("update") else { return }
        keys.report(
            at: "value", "a generated value needs to know when a sample is taken",
            "add 'update: every 10 s'")
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
        let says = "'on-update', 'on-change', 'every 10 s' or 'manual'"
        let words = word(
            [("on-update", .onUpdate), ("on-change", .onChange), ("manual", .manual)],
            later: ["as-fast-as-possible"])
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

extension Form where Value == DescriptorSpec {
    fileprivate static func descriptor(of format: ValueFormat) -> Form {
        choice(
            says: "a descriptor such as '{user-description: Desk sensor}'",
            [
                Choice(
                    "user-description",
                    Form<String>.text(valueOctetsMax, says: "a text")
                        .map { .userDescription($0) }),
                Choice(
                    "presentation-format",
                    Form<PresentationFormat>.presentationFormat(of: format)
                        .map { .presentationFormat($0) }),
            ],
            later: [
                "aggregate-format", "extended-properties", "server-configuration", "valid-range",
                "external-report-reference", "report-reference", "number-of-digitals",
                "value-trigger-setting", "time-trigger-setting",
                "environmental-sensing-configuration", "environmental-sensing-measurement",
                "environmental-sensing-trigger-setting", "descriptor",
            ])
    }
}

extension Form where Value == PresentationFormat {
    /// What is left out is as the characteristic's own format has it.
    fileprivate static func presentationFormat(of own: ValueFormat) -> Form {
        map(says: "a map of format, exponent and unit") { keys in
            let served = WireFormat.all.filter { $0.number != nil }
            let format = keys.optional(
                "format", Form<UInt8>.word(served.map { ($0.name, $0.number ?? 0) }))
            let exponent = keys.optional("exponent", .integer(-128...127, says: "a power of ten"))
            let unit = keys.optional(
                "unit", Form<UInt16>.assigned(.unit, example: "degree-celsius"))
            let namespace = keys.optional("namespace", .integer(0...255, says: "0 to 255"))
            let description = keys.optional("description", .integer(0...65_535, says: "0 to 65535"))
            var result = PresentationFormat(
                format: format ?? WireFormat.number(of: own), exponent: 0, unit: 0x2700)
            if case .number(let spec) = own {
                result.unit = spec.unit.number
                result.exponent = decimalExponent(spec.format.scale)
            }
            if let exponent { result.exponent = Int8(exponent) }
            if let unit { result.unit = unit }
            if let namespace { result.namespace = UInt8(namespace) }
            if let description { result.description = UInt16(description) }
            return result
        }
    }

    /// -2 for 0.01; 0 for a scale that is no power of ten.
    private static func decimalExponent(_ scale: Double) -> Int8 {
        for exponent in Int8(-9)...9
        where abs(scale - Mathematics.pow(10, Double(exponent))) < scale * 1e-9 {
            return exponent
        }
        return 0
    }
}
