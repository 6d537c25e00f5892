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
    /// The value whose writes this one counts; nil where it counts none.
    public var countedHandle: UInt16?
    /// The handle whose value this one repeats; nil where it repeats none.
    public var echoedHandle: UInt16?
    public var format: ValueFormat
    public var source: ValueSource
    /// The time between two samples; nil where the first one stays.
    public var update: TimeSpan?
    public var send: SendRule
    /// Whether the value outlives a restart.
    public var persists = false
    /// What follows a write.
    public var reactions: [WriteReaction] = []
    /// The records behind a control point; nil for every other value.
    public var records: RecordsSpec?
}

/// A profile's attribute table, and which value each of its handles belongs to.
public struct AttributePlan: Sendable {
    /// As it is at power-on.
    public let table: AttributeTable
    /// One for each characteristic, by rising value handle.
    public let bindings: [ValueBinding]
    /// A name for each binding, which stays when handles move: `battery/battery-level 2` is the
    /// second of its kind.
    public let bindingNames: [String]
    /// The value handles of the profile's characteristics.
    private let values: [(service: Int, characteristic: Int, handle: UInt16)]

    /// For each service of the profile the handle of its declaration.
    private let declarations: [UInt16?]

    /// Plans the attributes of a loaded profile.
    ///
    /// Handles that the profile does not say follow one another. The services every device has come
    /// first unless the profile has its own; where it says handles of services, they come last.
    public init(_ profile: DeviceProfile) {
        var layout = AttributeLayout(profile)
        guard let table = layout.build() else {
            preconditionFailure(
                "The loader lets no profile pass that has no table: \(layout.problems)")
        }
        self.table = table
        bindings = layout.bindings
        var met: [String: Int] = [:]
        bindingNames = layout.bindings.map { binding in
            let name = "\(binding.serviceName)/\(binding.name)"
            let count = met[name, default: 0] + 1
            met[name] = count
            return count == 1 ? name : "\(name) \(count)"
        }
        values = layout.values
        declarations = layout.declarations
    }

    /// The index in the profile of the service whose declaration has this handle; nil for one
    /// that is added automatically.
    public func service(declaredAt handle: UInt16) -> Int? { declarations.firstIndex(of: handle) }

    /// The value handle of what an action names.
    public func handle(of target: WriteAction.Target) -> UInt16? {
        values.first {
            $0.service == target.service && $0.characteristic == target.characteristic
        }?.handle
    }

    // MARK: What the plan is for

    /// A server of this plan.
    /// - Parameter authenticator: computes the Database Hash; without one it has no value.
    public func makeServer(
        _ spec: ServerSpec, authenticator: (any MessageAuthenticator)? = nil
    ) -> GATTServer {
        var server = GATTServer(table: table, settings: spec.settings)
        server.authenticator = authenticator
        setWriteRules(of: &server)
        return server
    }

    /// Says to a server of this plan what the profile refuses of writes.
    public func setWriteRules(of server: inout GATTServer) {
        for binding in bindings where !binding.reactions.isEmpty {
            server.setWriteRules(
                binding.reactions.map { WriteRule($0.condition, rejection: $0.rejection) },
                of: binding.valueHandle)
        }
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
        let value = table.value(at: index)
        switch attribute.kind {
        case .service:
            return "\(Self.serviceName(value)) declaration"
        case .include:
            let service = table.index(of: value.span.uint16(at: 0))
            return "include of " + (service.map { Self.serviceName(table.value(at: $0)) } ?? "none")
        case .characteristic:
            return binding(valueHandle: value.span.uint16(at: 1)).map { "\($0.name) declaration" }
        case .value, .clientConfiguration, .serverConfiguration, .clientSupportedFeatures,
            .databaseHash, .serviceChanged:
            guard let binding = binding(owning: handle) else { return nil }
            if binding.valueHandle == handle { return binding.name }
            let type = attribute.type
            return "\(binding.name) \(AssignedNames.descriptor(type) ?? type.description)"
        }
    }

    /// The name of the service whose declaration has this value.
    static func serviceName(_ value: [UInt8]) -> String {
        let uuid = BluetoothUUID(littleEndian: value.span)
        return uuid.map { AssignedNames.service($0) ?? $0.description } ?? "unknown"
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
