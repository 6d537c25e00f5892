// Lays out a profile's services: implicit ones, handles said and not said, and what cannot be.
import Behaviours
import GATT
import Wire

/// One thing of the layout that cannot be, and where the profile says it.
struct LayoutProblem: Equatable {
    /// Counted from 0 in `services:`; nil for a service that the profile does not say.
    var service: Int?
    var characteristic: Int?
    var descriptor: Int?
    var include: Int?
    var error: AttributeTableError
}

/// A layout in the making. What cannot be laid out is noted and left out.
struct AttributeLayout {
    private let profile: DeviceProfile
    private var builder: AttributeTableBuilder
    private(set) var bindings: [ValueBinding] = []
    private(set) var problems: [LayoutProblem] = []
    /// Where the layout is now.
    private var place = LayoutProblem(error: .handlesExhausted)
    /// For each service of the profile the handle of its declaration.
    private(set) var declarations: [UInt16?]
    /// For each characteristic of the profile the handle of its value.
    private(set) var values: [(service: Int, characteristic: Int, handle: UInt16)] = []
    /// The presentation formats of the characteristic so far.
    private var formatHandles: [UInt16] = []
    /// What the includes name, in the order they were added.
    private var includes: [String] = []

    init(_ profile: DeviceProfile) {
        self.profile = profile
        builder = AttributeTableBuilder(growth: profile.server.settings.growth)
        declarations = Array(repeating: nil, count: profile.services.count)
    }

    /// The table; nil where there are problems.
    mutating func build() -> AttributeTable? {
        let implicit = ImplicitServices.missing(in: profile)
        // Handles that are said are kept, so what is added by itself makes room for them.
        let saysHandles = profile.services.contains { $0.handle != nil }
        if !saysHandles { for service in implicit { add(service, at: nil) } }
        for (index, service) in profile.services.enumerated() { add(service, at: index) }
        if saysHandles { for service in implicit { add(service, at: nil) } }
        guard problems.isEmpty else { return nil }
        resolveReferences()
        do throws(AttributeTableError) { return try builder.build() } catch {
            note(error)
            return nil
        }
    }

    private mutating func note(_ error: AttributeTableError) {
        place.error = error
        problems.append(place)
    }

    private mutating func add(_ service: ServiceSpec, at index: Int?) {
        place = LayoutProblem(service: index, error: .handlesExhausted)
        do throws(AttributeTableError) {
            let declared = try builder.addService(
                service.uuid, isSecondary: service.isSecondary, handle: service.handle,
                end: service.end)
            if let index { declarations[index] = declared }
        } catch { return note(error) }
        for (index, include) in service.includes.enumerated() {
            place.include = index
            do throws(AttributeTableError) {
                try builder.addInclude(of: 0, handle: include.handle)
                includes.append(include.reference)
            } catch { note(error) }
        }
        place.include = nil
        for (index, spec) in service.characteristics.enumerated() {
            place.characteristic = index
            place.descriptor = nil
            do throws(AttributeTableError) { try add(spec, of: service) } catch { note(error) }
        }
    }

    private mutating func add(
        _ spec: CharacteristicSpec, of service: ServiceSpec
    ) throws(AttributeTableError) {
        let kind = spec.kind(in: service.uuid)
        let value = try builder.addCharacteristic(
            spec.uuid, properties: spec.properties, handle: spec.handle,
            valueHandle: spec.valueHandle, permissions: spec.permissions,
            value: spec.value.initial, maximumLength: lengthMax(of: spec, kind), kind: kind)
        bindings.append(
            ValueBinding(
                name: spec.name, serviceName: service.name, uuid: spec.uuid, valueHandle: value,
                format: spec.format, source: spec.value, update: spec.update, send: spec.send,
                persists: spec.persists, reactions: spec.reactions, records: spec.records))
        if let service = place.service, let characteristic = place.characteristic {
            values.append((service, characteristic, value))
        }
        formatHandles.removeAll()
        for descriptor in Self.addedDescriptors(of: spec) { try add(descriptor) }
        for (index, descriptor) in spec.descriptors.enumerated() {
            place.descriptor = index
            do throws(AttributeTableError) { try add(descriptor) } catch { note(error) }
        }
        place.descriptor = nil
    }

    private mutating func add(_ descriptor: DescriptorSpec) throws(AttributeTableError) {
        var descriptor = descriptor
        if descriptor.aggregatesFormats {
            descriptor.value = formatHandles.flatMap {
                [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
            }
        }
        let handle = try builder.addDescriptor(
            descriptor.uuid, handle: descriptor.handle, permissions: descriptor.permissions,
            value: descriptor.value, maximumLength: descriptor.lengthMax, kind: descriptor.kind)
        if descriptor.uuid == GATTType.presentationFormat { formatHandles.append(handle) }
        if descriptor.uuid == GATTType.clientConfiguration {
            bindings[bindings.count - 1].cccdHandle = handle
        }
    }

    /// What a characteristic needs and the profile does not list.
    private static func addedDescriptors(of spec: CharacteristicSpec) -> [DescriptorSpec] {
        var added: [DescriptorSpec] = []
        let (type, cccd) = (GATTType.extendedProperties, GATTType.clientConfiguration)
        if spec.properties.contains(.extendedProperties), !spec.hasDescriptor(type) {
            let bits = spec.extendedProperties?.rawValue ?? 0
            added.append(DescriptorSpec(uuid: type, value: [bits, 0]))
        }
        let sends = spec.permissions.properties.intersection([.notify, .indicate])
        if !sends.isEmpty, !spec.hasDescriptor(cccd) {
            // The server guards it by the levels of notify and indicate.
            let open = Permissions(read: .open, write: .open)
            added.append(DescriptorSpec(uuid: cccd, permissions: open, value: [0, 0]))
        }
        return added
    }

    /// nil leaves it to the builder, which knows the kinds and whether values may grow.
    private func lengthMax(of spec: CharacteristicSpec, _ kind: AttributeKind) -> Int? {
        if let length = spec.lengthMax { return length }
        guard kind == .value, profile.server.settings.growth, let octets = spec.format.octets else {
            return nil
        }
        return max(octets, spec.value.octets)
    }

    /// What the loader has checked: each reference names one thing.
    private mutating func resolveReferences() {
        let services = References.services(profile.services)
        for (number, reference) in includes.enumerated() {
            guard let entry = services.one(reference), let handle = declarations[entry.service]
            else { continue }
            builder.setIncludedService(handle, of: number)
        }
        let characteristics = References.characteristics(profile.services)
        for index in bindings.indices {
            switch bindings[index].source {
            case .generated(.writes(let reference, _), _):
                bindings[index].countedHandle = handle(of: reference, in: characteristics)
            case .echo(let reference):
                bindings[index].echoedHandle = handle(of: reference, in: characteristics)
            case .constant, .generated, .composed, .packed: break
            }
        }
    }

    private func handle(of reference: String, in characteristics: References) -> UInt16? {
        guard let entry = characteristics.one(reference) else { return nil }
        return values.first {
            $0.service == entry.service && $0.characteristic == entry.characteristic
        }?.handle
    }
}

/// The services every device has: Generic Access (Core 6.0, Vol 3, Part C, 12) and Generic
/// Attribute (Part G, 7).
private enum ImplicitServices {
    /// Those that the profile does not bring itself.
    static func missing(in profile: DeviceProfile) -> [ServiceSpec] {
        guard profile.server.hasImplicitServices else { return [] }
        return [access(profile.device), attribute].filter { service in
            !profile.services.contains { $0.uuid == service.uuid }
        }
    }

    private static func access(_ device: DeviceSpec) -> ServiceSpec {
        ServiceSpec(
            uuid: GATTType.genericAccess,
            characteristics: [
                readable(BluetoothUUID(0x2A00), .utf8, Array(device.name.utf8)),
                readable(
                    BluetoothUUID(0x2A01), .appearance,
                    [
                        UInt8(truncatingIfNeeded: device.appearance),
                        UInt8(truncatingIfNeeded: device.appearance >> 8),
                    ]),
            ])
    }

    private static var attribute: ServiceSpec {
        var changed = CharacteristicSpec(
            uuid: GATTType.serviceChanged, format: .bytes, value: .constant([0, 0, 0, 0]))
        changed.permissions = Permissions(indicate: .open)
        changed.send = .manual
        var features = readable(GATTType.clientSupportedFeatures, .bytes, [0])
        features.permissions.write = .open
        return ServiceSpec(
            uuid: GATTType.genericAttribute,
            characteristics: [
                changed, features, readable(GATTType.databaseHash, .bytes, []),
                readable(GATTType.serverSupportedFeatures, .bytes, [0]),
            ])
    }

    private static func readable(
        _ uuid: BluetoothUUID, _ format: ValueFormat, _ value: [UInt8]
    ) -> CharacteristicSpec {
        var spec = CharacteristicSpec(uuid: uuid, format: format, value: .constant(value))
        spec.permissions = Permissions(read: .open)
        return spec
    }
}
