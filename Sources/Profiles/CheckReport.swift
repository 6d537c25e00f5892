// The text that `peripheral-emu check` prints: what a profile becomes.
public import Advertising
import Behaviours
public import GATT
import HCI
import SansIO
import Wire

/// The device, its advertising bytes decoded with the budget used, and its attributes by handle.
public enum CheckReport {
    /// The report, lines ended by newlines; equal for equal profiles.
    public static func text(of profile: DeviceProfile) -> String {
        let lines =
            device(profile) + profile.advertising.flatMap(advertising) + profile.liveFieldLines
            + attributes(profile)
        return lines.map { $0 + "\n" }.joined()
    }

    private static func device(_ profile: DeviceProfile) -> [String] {
        let device = profile.device
        var lines = ["device \(ValueFormat.quoted(device.name))"]
        if device.appearance != 0 { lines.append("  appearance \(appearance(device.appearance))") }
        lines.append("  address \(address(device.address))")
        lines.append("  connections \(device.connections)")
        if let connection = device.connection {
            let low = TimeSpan(microseconds: connection.minimum.microseconds)
            let high = TimeSpan(microseconds: connection.maximum.microseconds)
            lines.append(
                "  connection interval \(low) to \(high), latency \(connection.latency), "
                    + "timeout \(connection.timeout)")
        }
        if let security = profile.security { lines.append("  " + security.line) }
        lines += server(profile.server)
        if let rule = profile.activity { lines += rule.lines.map { "  " + $0 } }
        return lines
    }

    private static func address(_ address: AddressSpec) -> String {
        switch address {
        case .randomStatic(let address?): "random-static \(address)"
        case .randomStatic(nil): "random-static, from the seed"
        case .publicDevice: "public"
        case .resolvablePrivate(let identity, let renewal):
            "resolvable-private, a new one every \(renewal); identity "
                + "random-static\(identity.map { " \($0)" } ?? ", from the seed")"
        case .nonResolvablePrivate(let renewal):
            "non-resolvable-private, a new one every \(renewal)"
        }
    }

    /// The MTU, and what is not as usual.
    private static func server(_ server: ServerSpec) -> [String] {
        let (settings, usual) = (server.settings, ServerSettings())
        var lines = ["  mtu \(settings.mtu)"]
        if !server.hasImplicitServices { lines.append("  implicit-services false") }
        if settings.growth != usual.growth { lines.append("  growth \(settings.growth)") }
        if settings.databaseHash == .asComputed { lines.append("  database-hash as-computed") }
        if settings.reliableWrites == .extendedProperty {
            lines.append("  reliable-writes extended-property")
        }
        if settings.unencryptedError == .byRequirement {
            lines.append("  unencrypted-error by-requirement")
        }
        if settings.cccdError != usual.cccdError {
            lines.append("  cccd-error \(Hex.code(settings.cccdError.rawValue))")
        }
        if settings.oversize == .refuse { lines.append("  notification-overflow refuse") }
        return lines
    }

    // MARK: Advertising

    private static func advertising(_ set: AdvertisingSet) -> [String] {
        let kind =
            switch set.kind {
            case .connectable: "connectable"
            case .scannable: "scannable"
            case .nonConnectable: "non-connectable"
            }
        // The policy's rule, then what holds besides.
        let policy = set.policy.parts
        var lines = ["", "advertising \(set.name), \(kind), interval \(policy[0])"]
        lines += policy.dropFirst().map { "  " + $0 }
        lines += structures(set.data, of: "data")
        if !set.scanResponse.isEmpty { lines += structures(set.scanResponse, of: "scan-response") }
        return lines
    }

    private static func structures(_ entries: [AdvertisingStructure], of part: String) -> [String] {
        let octets = advertisingBytes(entries)
        let limit = AdvertisingLimits.legacyDataOctets
        var lines = ["  \(part) \(octets.count) of \(limit) bytes"]
        for structure in ADStructures.decode(octets.span) {
            let raw = [UInt8(structure.bytes.count + 1), structure.type.rawValue] + structure.bytes
            lines.append("    \(Hex.string(raw, separator: " "))")
            lines.append("      \(text(of: structure))")
        }
        return lines
    }

    /// The structure in words, with the names that the advertising layer does not know.
    public static func text(of structure: ADStructure) -> String {
        switch structure.content {
        case .serviceUUIDs(let uuids, _) where !uuids.isEmpty:
            let names = uuids.map { named(AssignedNames.service($0), $0.description) }
            return "\(structure.type) \(names.joined(separator: ", "))"
        case .manufacturer(let company, let data):
            let name = named(AssignedNames.company(company), Hex.code(company))
            return "manufacturer \(name) \(ValueFormat.plain(data))"
        case .serviceData(let uuid, let data):
            let name = named(AssignedNames.service(uuid), uuid.description)
            return "service data \(name) \(ValueFormat.plain(data))"
        case .appearance(let value): return "appearance \(appearance(value))"
        case .flags, .serviceUUIDs, .name, .txPower, .beacon, .connectionIntervalRange, .other,
            .malformed, .truncated:
            return structure.description
        }
    }

    private static func appearance(_ value: UInt16) -> String {
        named(AssignedNames.appearance(value), Hex.code(value))
    }

    /// `battery (0x180F)`, or the number alone.
    private static func named(_ name: String?, _ number: String) -> String {
        name.map { "\($0) (\(number))" } ?? number
    }

    // MARK: Attributes

    private static func attributes(_ profile: DeviceProfile) -> [String] {
        let plan = AttributePlan(profile)
        let table = plan.table
        var lines = ["", "attributes"]
        var binding: ValueBinding?
        for (index, attribute) in table.attributes.enumerated() {
            let value = table.value(at: index)
            let text: String
            switch attribute.kind {
            case .service:
                let kind = attribute.type == GATTType.primaryService ? "" : "secondary "
                text = "\(kind)service \(service(value)), to \(Hex.code(attribute.groupEnd))"
            case .include:
                let (first, last) = (value.span.uint16(at: 0), value.span.uint16(at: 2))
                let included = table.index(of: first).map { service(table.value(at: $0)) } ?? ""
                text = "  include \(included), \(Hex.code(first)) to \(Hex.code(last))"
            case .characteristic:
                binding = plan.binding(valueHandle: value.span.uint16(at: 1))
                text = "  " + declaration(value, label: binding)
            case .value, .clientConfiguration, .serverConfiguration, .clientSupportedFeatures,
                .databaseHash, .serviceChanged:
                if let binding, binding.valueHandle == attribute.handle {
                    text = "    value" + live(attribute, binding)
                } else {
                    text = "    " + descriptor(attribute, value, binding.flatMap { table[$0] })
                }
            }
            lines.append("  \(Hex.code(attribute.handle))  \(text)")
        }
        return lines
    }

    private static func service(_ value: [UInt8]) -> String {
        guard let uuid = BluetoothUUID(littleEndian: value.span) else { return "unknown" }
        return named(AssignedNames.service(uuid), uuid.description)
    }

    private static func live(_ attribute: Attribute, _ binding: ValueBinding) -> String {
        let isComputed = attribute.kind == .databaseHash && binding.source == .constant([])
        return permissions(attribute.permissions) + " = "
            + (isComputed ? "computed when it is read" : source(binding))
    }

    /// `characteristic temperature (0x2A6E), read, notify`.
    private static func declaration(_ value: [UInt8], label binding: ValueBinding?) -> String {
        let uuid = BluetoothUUID(
            littleEndian: value.span.extracting(min(3, value.count)..<value.count))
        let number = uuid?.description ?? "unknown"
        let name = named(uuid.flatMap { AssignedNames.characteristic($0) }, number)
        let properties = CharacteristicProperties(rawValue: value.first ?? 0).names
        let label =
            binding.flatMap {
                [name, number].contains($0.name) || name.hasPrefix($0.name)
                    ? nil : " '\($0.name)'"
            } ?? ""
        return (["characteristic \(name)\(label)"] + properties).joined(separator: ", ")
    }

    private static func permissions(_ permissions: Permissions) -> String {
        let lines: [(String, Access)] = [
            ("read", permissions.read), ("write", permissions.write),
            ("write-without-response", permissions.writeCommand),
            ("signed-write", permissions.signedWrite), ("notify", permissions.notify),
            ("indicate", permissions.indicate),
        ]
        return lines.filter { $0.1.level != .refused }.map { ", \($0.0): \(access($0.1))" }.joined()
    }

    private static func access(_ access: Access) -> String {
        access.level.word + (access.authorization ? ", authorization" : "")
            + (access.keySizeMin > 0 ? ", key-size \(access.keySizeMin)" : "")
    }

    /// - Parameter owner: the value's own permissions.
    private static func descriptor(
        _ attribute: Attribute, _ value: [UInt8], _ owner: Permissions?
    ) -> String {
        let name = named(AssignedNames.descriptor(attribute.type), attribute.type.description)
        let shown = DescriptorText.describe(value, type: attribute.type)
        var enforced = attribute.permissions
        // Who may not be told may not subscribe either.
        if attribute.kind == .clientConfiguration, let owner {
            let isNotifyWeaker = owner.notify.level < owner.indicate.level
            let offered = isNotifyWeaker ? owner.notify : owner.indicate
            if offered.level != .refused,
                offered.level > enforced.write.level
                    || (offered.level == enforced.write.level && enforced.write == .open)
            {
                enforced.write = offered
            }
        }
        return name + permissions(enforced) + " = " + shown
    }

    private static func source(_ binding: ValueBinding) -> String {
        var text = binding.source.text(in: binding.format)
        if let update = binding.update { text += ", update every \(update)" }
        switch binding.send {
        case .onUpdate: break
        case .onChange: text += ", send on-change"
        case .every(let period): text += ", send every \(period)"
        case .manual: text += ", send manual"
        case .asFastAsPossible: text += ", send as-fast-as-possible"
        }
        return text
    }
}

extension AttributeTable {
    /// The permissions of the value that a binding is about.
    fileprivate subscript(_ binding: ValueBinding) -> Permissions? {
        index(of: binding.valueHandle).map { attributes[$0].permissions }
    }
}

extension CharacteristicProperties {
    /// The profile's words, in the order of the bits.
    static let words: [(String, CharacteristicProperties)] = [
        ("broadcast", .broadcast), ("read", .read),
        ("write-without-response", .writeWithoutResponse), ("write", .write),
        ("notify", .notify), ("indicate", .indicate),
        ("authenticated-signed-writes", .authenticatedSignedWrites),
        ("extended-properties", .extendedProperties),
    ]

    /// The words of the bits that are set.
    public var names: [String] { Self.words.filter { contains($0.1) }.map(\.0) }
}

extension PresentationFormat {
    /// The descriptor's octets in words: `sint16, exponent -2, degree-celsius`.
    public static func describe(_ bytes: [UInt8]) -> String {
        guard bytes.count == 7 else { return ValueFormat.plain(bytes) }
        let format = WireFormat.all.first { $0.number == bytes[0] }?.name ?? Hex.code(bytes[0])
        let number = bytes.span.uint16(at: 2)
        let unit = AssignedNames.unit(number)?.name ?? Hex.code(number)
        let exponent = Int8(bitPattern: bytes[1])
        return "\(format)" + (exponent == 0 ? "" : ", exponent \(exponent)") + ", \(unit)"
    }
}
