// The entries of `descriptors:`: those with a form of their own, and any other by its UUID.
import Behaviours
import GATT
import Wire
import YAML

extension Form where Value == DescriptorSpec {
    /// `{user-description: Desk sensor}`, or `descriptor:` with its value in octets; both with
    /// handle, permissions and length where they are not as usual.
    static func descriptor(of format: ValueFormat) -> Form {
        let short = short(of: format)
        let schema = { Schema.anyOf([short.schema(), long.schema()]) }
        return Form(says: short.says, schema: schema) { place, context in
            let before = context.errors.count
            let spec = (place.has("descriptor") ? long : short).read(place, context)
            if spec == nil, context.errors.count == before {
                return mismatch(place, context, says: short.says)
            }
            return spec
        }
    }

    private static func short(of format: ValueFormat) -> Form {
        let choices = DescriptorChoice.all(of: format)
        return map(says: "a descriptor such as '{user-description: Desk sensor}'") { keys in
            var spec: DescriptorSpec?
            var found = 0
            for choice in choices {
                let key = choice.key
                if keys.has(key) { found += 1 }
                if found == 2, keys.has(key) {
                    keys.report(at: key, "a descriptor has one kind", "begin another one for it")
                }
                if let value = keys.optional(key, choice.octets) {
                    spec = DescriptorSpec(uuid: choice.uuid, value: value)
                    if spec?.kind != .value {
                        spec?.permissions = Permissions(read: .open, write: .open)
                    }
                }
            }
            AssignedNameTables.descriptors.forEachName { key in
                guard keys.has(key), !choices.contains(where: { $0.key == key }) else { return }
                keys.refuse(
                    key, "'\(key)' has no short form",
                    "write '{descriptor: \(key), read: open, value: {hex: \"01\"}}'")
            }
            if keys.has("aggregate-format") { spec?.aggregatesFormats = true }
            if found == 0 { keys.mention(["descriptor"]) }
            // Without an error where there is no kind: the caller says what to write.
            return complete(spec, &keys)
        }
    }

    private static var long: Form {
        map(says: "a map of descriptor, permissions and value") { keys in
            let uuid = keys.required(
                "descriptor", .uuid(.descriptor, example: "user-description"))
            let isManaged = keys.optional("managed", .boolean) ?? true
            let value = keys.optional("value", Form<[UInt8]>.octets(valueOctetsMax))
            var spec = DescriptorSpec(
                uuid: uuid ?? BluetoothUUID(0), permissions: Permissions(), value: value ?? [])
            spec.isManaged = isManaged
            if spec.kind != .value {
                spec.permissions = Permissions(read: .open, write: .open)
                if value == nil { spec.value = [0, 0] }
                if spec.value.count != 2 {
                    keys.report(
                        at: "value", "the value has \(spec.value.count) octets, not 2",
                        "write 2 octets, or add 'managed: false'")
                }
            }
            return complete(uuid == nil ? nil : spec, &keys)
        }
    }

    private static func complete(_ spec: DescriptorSpec?, _ keys: inout Keys) -> DescriptorSpec? {
        let handle = keys.optional("handle", .handle)
        let read = keys.optional("read", .access)
        let write = keys.optional("write", .access)
        let lengthMax = keys.lengthMax(holding: spec?.value.count ?? 0)
        guard var complete = spec else { return nil }
        complete.handle = handle
        complete.lengthMax = lengthMax
        if let read { complete.permissions.read = read }
        if let write { complete.permissions.write = write }
        return complete
    }
}

extension Place {
    /// Whether this is a map with the key.
    fileprivate func has(_ key: String) -> Bool {
        guard case .mapping(let pairs) = node.content else { return false }
        return pairs.contains { $0.key == key }
    }
}

extension Form where Value == PresentationFormat {
    /// What is left out is as the characteristic's own format has it.
    static func presentationFormat(of own: ValueFormat) -> Form {
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
