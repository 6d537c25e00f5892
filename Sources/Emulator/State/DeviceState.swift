// What a device keeps over a restart, and the changes of it that are to be stored.
public import Advertising
public import GATT
public import SMP
public import Wire

/// What outlives the loss of power: identity, bonds, what bonded clients configured, values.
public struct DeviceState: Equatable, Sendable {
    /// The device's own random static address; nil where it has had none.
    public var address: DeviceAddress?
    /// The device's own identity resolving key, 16 octets; empty where there is none yet.
    public var identityKey: [UInt8] = []
    /// Of the attribute table that bonded clients know; empty where there is none yet.
    public var databaseHash: [UInt8] = []
    /// nil where the device feels nothing.
    public var activity: ActivityState?
    /// The one used last at the end.
    public var bonds: [Bond] = []
    /// The one used last at the end.
    public var clients: [KeptClient] = []
    /// What signed writes of bonded clients have to count from.
    public var signCounters: [SignCounter] = []
    public var values: [KeptValue] = []

    public init() {}
}

/// What a bonded client has configured. Characteristics are told by place, since handles move when
/// the profile changes.
public struct KeptClient: Equatable, Sendable {
    /// One CCCD's value.
    public struct Subscription: Equatable, Sendable {
        public var place: String
        /// Bit 0: notifications, bit 1: indications.
        public var bits: UInt8

        public init(place: String, bits: UInt8) {
            self.place = place
            self.bits = bits
        }
    }

    /// The client's identity address.
    public var peer: DeviceAddress
    /// The value of Client Supported Features.
    public var features: UInt8 = 0
    /// In the order of their CCCDs' handles.
    public var subscriptions: [Subscription] = []
    /// Whether the client knows all changes of the table.
    public var isChangeAware = true
    /// The Service Changed indication that it has not confirmed yet.
    public var serviceChanged: ClosedRange<UInt16>?

    public init(peer: DeviceAddress) { self.peer = peer }
}

/// A value of the profile with `persist: true`.
public struct KeptValue: Equatable, Sendable {
    public var place: String
    public var octets: [UInt8]

    public init(place: String, octets: [UInt8]) {
        self.place = place
        self.octets = octets
    }
}

/// One thing to store. Whoever stores does so before what acknowledges it to a central is sent.
public enum StateChange: Equatable, Sendable {
    case address(DeviceAddress?)
    case identityKey([UInt8])
    case databaseHash([UInt8])
    case activity(ActivityState?)
    /// All bonds, in their order.
    case bonds([Bond])
    /// A client's whole configuration; it is the one used last.
    case client(KeptClient)
    case clientForgotten(DeviceAddress)
    /// All counters.
    case signCounters([SignCounter])
    case value(KeptValue)
}

extension DeviceState {
    /// Does what a change says.
    public mutating func apply(_ change: StateChange) {
        switch change {
        case .address(let address): self.address = address
        case .identityKey(let key): identityKey = key
        case .databaseHash(let hash): databaseHash = hash
        case .activity(let state): activity = state
        case .bonds(let bonds): self.bonds = bonds
        case .client(let client):
            clients.removeAll { $0.peer == client.peer }
            clients.append(client)
        case .clientForgotten(let peer): clients.removeAll { $0.peer == peer }
        case .signCounters(let counters): signCounters = counters
        case .value(let value):
            if let index = values.firstIndex(where: { $0.place == value.place }) {
                values[index] = value
            } else {
                values.append(value)
            }
        }
    }

    /// Forgets a peer: its bond and what it had configured.
    /// - Returns: the changes that say so.
    public mutating func forget(_ peer: LinkAddress) -> [StateChange] {
        bonds.removeAll { $0.peer == peer }
        signCounters.removeAll { $0.peer == peer.address }
        apply(.clientForgotten(peer.address))
        return [.bonds(bonds), .clientForgotten(peer.address), .signCounters(signCounters)]
    }
}
