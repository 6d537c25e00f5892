// The attributes a profile makes, with their handles, and what is bound to them.
public import Behaviours
public import GATT
public import SansIO
public import Wire

/// A characteristic of the plan and what moves its value.
public struct ValueBinding: Equatable, Sendable {
    /// The label, the assigned name or the UUID, for messages and references.
    public var name: String
    public var serviceName: String
    public var uuid: BluetoothUUID
    public var valueHandle: UInt16
    /// nil where the characteristic neither notifies nor indicates.
    public var cccdHandle: UInt16?
    public var format: ValueFormat
    public var source: ValueSource
    /// The time between two samples; nil where the first one stays.
    public var update: TimeSpan?
    public var send: SendRule
}

/// A profile's attribute table, and which value each of its handles belongs to.
public struct AttributePlan: Sendable {
    /// As it is at power-on.
    public let table: AttributeTable
    /// One for each characteristic, by rising value handle.
    public let bindings: [ValueBinding]

    /// Plans the attributes of a loaded profile: GAP and GATT first, unless it has its own.
    ///
    /// Handles run from 0x0001 without gaps. A CCCD follows the value it configures, then come the
    /// descriptors of the profile in its order.
    public init(_ profile: DeviceProfile) {
        do throws(AttributeTableError) {
            try self.init(checking: profile)
        } catch {
            preconditionFailure("The loader lets no profile pass that has no table: \(error)")
        }
    }

    /// The same for a profile that may be too large.
    init(checking profile: DeviceProfile) throws(AttributeTableError) {
        var builder = AttributeTableBuilder()
        var bindings: [ValueBinding] = []
        for service in Self.implicitServices(profile) + profile.services {
            try builder.addService(service.uuid)
            for characteristic in service.characteristics {
                bindings.append(try Self.add(characteristic, of: service, to: &builder))
            }
        }
        table = try builder.build()
        self.bindings = bindings
    }

    private static func add(
        _ spec: CharacteristicSpec, of service: ServiceSpec, to builder: inout AttributeTableBuilder
    ) throws(AttributeTableError) -> ValueBinding {
        let properties = spec.properties
        let isServiceChanged =
            spec.uuid == GATTType.serviceChanged && service.uuid == gattService
        let value = try builder.addCharacteristic(
            spec.uuid, properties: properties, permissions: spec.permissions,
            value: initialValue(spec.value), maximumLength: spec.lengthMax,
            kind: isServiceChanged ? .serviceChanged : .value)
        var binding = ValueBinding(
            name: spec.name, serviceName: service.name, uuid: spec.uuid, valueHandle: value,
            format: spec.format, source: spec.value, update: spec.update, send: spec.send)
        if properties.contains(.notify) || properties.contains(.indicate) {
            // The server guards it by the levels of notify and indicate.
            binding.cccdHandle = try builder.addDescriptor(
                GATTType.clientConfiguration, permissions: Permissions(read: .open, write: .open),
                value: [0, 0], kind: .clientConfiguration)
        }
        for descriptor in spec.descriptors {
            let (type, octets): (BluetoothUUID, [UInt8]) =
                switch descriptor {
                case .userDescription(let text): (GATTType.userDescription, Array(text.utf8))
                case .presentationFormat(let format): (GATTType.presentationFormat, format.bytes)
                }
            try builder.addDescriptor(
                type, permissions: Permissions(read: .open), value: octets,
                maximumLength: octets.count)
        }
        return binding
    }

    /// A generated value is zero until its first sample, which power-on takes.
    private static func initialValue(_ source: ValueSource) -> [UInt8] {
        switch source {
        case .constant(let octets): octets
        case .generated(_, let encoding): [UInt8](repeating: 0, count: encoding.octets)
        }
    }

    // MARK: The services every device has

    static let gapService = BluetoothUUID(0x1800)
    static let gattService = BluetoothUUID(0x1801)

    /// Generic Access (Core 6.0, Vol 3, Part C, 12) and Generic Attribute (Part G, 7), where the
    /// profile does not bring its own.
    private static func implicitServices(_ profile: DeviceProfile) -> [ServiceSpec] {
        var services: [ServiceSpec] = []
        if !profile.services.contains(where: { $0.uuid == gapService }) {
            let appearance = profile.device.appearance
            services.append(
                ServiceSpec(
                    uuid: gapService,
                    characteristics: [
                        fixed(0x2A00, .utf8, Array(profile.device.name.utf8)),
                        fixed(
                            0x2A01, .appearance,
                            [
                                UInt8(truncatingIfNeeded: appearance),
                                UInt8(truncatingIfNeeded: appearance >> 8),
                            ]),
                    ]))
        }
        if !profile.services.contains(where: { $0.uuid == gattService }) {
            var changed = CharacteristicSpec(
                uuid: GATTType.serviceChanged, format: .bytes,
                value: .constant([0, 0, 0, 0]), lengthMax: 4)
            changed.permissions = Permissions(indicate: .open)
            changed.send = .manual
            services.append(ServiceSpec(uuid: gattService, characteristics: [changed]))
        }
        return services
    }

    private static func fixed(
        _ uuid: UInt16, _ format: ValueFormat, _ value: [UInt8]
    ) -> CharacteristicSpec {
        var spec = CharacteristicSpec(
            uuid: BluetoothUUID(uuid), format: format, value: .constant(value),
            lengthMax: value.count)
        spec.permissions = Permissions(read: .open)
        return spec
    }

    // MARK: What the plan is for

    /// A server of this plan.
    public func makeServer(_ spec: ServerSpec) -> GATTServer {
        var settings = ServerSettings()
        settings.mtu = spec.mtu
        return GATTServer(table: table, settings: settings)
    }

    /// The binding of a value's handle; nil where there is none.
    public func binding(valueHandle: UInt16) -> ValueBinding? {
        binding(owning: valueHandle).flatMap { $0.valueHandle == valueHandle ? $0 : nil }
    }

    /// The binding of a CCCD's handle; nil where there is none.
    public func binding(cccdHandle: UInt16) -> ValueBinding? {
        binding(owning: cccdHandle).flatMap { $0.cccdHandle == cccdHandle ? $0 : nil }
    }

    /// The binding whose value is the last at or before `handle`. A binary search: bindings rise.
    private func binding(owning handle: UInt16) -> ValueBinding? {
        var (low, high) = (0, bindings.count)
        while low < high {
            let middle = (low + high) / 2
            if bindings[middle].valueHandle <= handle { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? bindings[low - 1] : nil
    }

    // MARK: For messages

    /// What stands at `handle`: `temperature`, `temperature user-description`,
    /// `battery declaration`; nil where nothing does.
    public func name(of handle: UInt16) -> String? {
        guard let index = table.index(of: handle) else { return nil }
        let attribute = table.attributes[index]
        switch attribute.kind {
        case .service, .include:
            let uuid = BluetoothUUID(littleEndian: table.value(at: index).span)
            return uuid.map { "\(AssignedNames.service($0) ?? $0.description) declaration" }
        case .characteristic:
            return binding(valueHandle: handle &+ 1).map { "\($0.name) declaration" }
        case .value, .clientConfiguration, .serverConfiguration, .clientSupportedFeatures,
            .databaseHash, .serviceChanged:
            guard let binding = binding(owning: handle) else { return nil }
            if binding.valueHandle == handle { return binding.name }
            let type = attribute.type
            return "\(binding.name) \(AssignedNames.descriptor(type) ?? type.description)"
        }
    }

    /// Octets of the attribute at `handle` as people read them: `21.57 °C`, `"Desk sensor"`.
    public func describe(_ bytes: [UInt8], of handle: UInt16) -> String {
        if let binding = binding(valueHandle: handle) { return binding.format.describe(bytes) }
        guard let index = table.index(of: handle) else { return ValueFormat.bytes.describe(bytes) }
        return DescriptorText.describe(bytes, type: table.attributes[index].type)
    }
}

/// Descriptors' octets as people read them.
public enum DescriptorText {
    /// - Parameter type: the descriptor's UUID; one that is not known is shown in octets.
    public static func describe(_ bytes: [UInt8], type: BluetoothUUID) -> String {
        switch type {
        case GATTType.userDescription: ValueFormat.utf8.describe(bytes)
        case GATTType.presentationFormat: PresentationFormat.describe(bytes)
        case GATTType.clientConfiguration where bytes.count == 2:
            switch bytes[0] & 3 {
            case 0: "off"
            case 1: "notifications"
            case 2: "indications"
            default: "notifications and indications"
            }
        default: ValueFormat.plain(bytes)
        }
    }
}
