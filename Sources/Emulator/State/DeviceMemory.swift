// A device and its kept state: taken up at power-on, told where it changes.
import Advertising
import BLEHost
import GATT
import HCI
import Profiles
import SMP
import SansIO
import Wire

/// What a device knows of its kept state.
struct DeviceMemory: Sendable {
    /// As it was told last.
    var state: DeviceState
    let places: AttributePlaces
    /// The values that are kept.
    let values: [(handle: UInt16, place: String)]

    init(_ state: DeviceState, _ plan: AttributePlan) {
        self.state = state
        let places = AttributePlaces(plan.table)
        self.places = places
        values = plan.bindings.compactMap { binding in
            guard binding.persists, let place = places.place(ofValue: binding.valueHandle) else {
                return nil
            }
            return (binding.valueHandle, place)
        }
    }

    func value(of handle: UInt16) -> [UInt8]? {
        guard let place = values.first(where: { $0.handle == handle })?.place else { return nil }
        return state.values.first { $0.place == place }?.octets
    }
}

extension EmulatedDevice {
    /// Whether anything is kept over a restart.
    public var keepsState: Bool { memory != nil }

    /// Puts back bonds and clients. Clients of another attribute table than this one learn that it
    /// has changed (Core 6.0, Vol 3, Part G, 2.5.2).
    mutating func restoreBonds() {
        guard let memory else { return }
        host.restore(
            bonds: memory.state.bonds,
            clients: memory.state.clients.map { memory.places.restored($0) },
            counters: memory.state.signCounters)
        let known = memory.state.databaseHash
        if !known.isEmpty, known != databaseHash {
            host.server.databaseChanged(1...UInt16.max)
        }
    }

    private var databaseHash: [UInt8] {
        host.server.authenticator.map {
            host.server.table.databaseHash(by: $0, order: .asComputed)
        } ?? []
    }

    /// What has changed since the last call, to be stored before what the device has sent since
    /// then goes out. Nothing before power-on, and where no state is kept.
    public mutating func takeStateChanges() -> [StateChange] {
        guard isOn, var memory else { return [] }
        // Taken out while it changes: a copy would be made otherwise.
        self.memory = nil
        var changes: [StateChange] = []
        if !hasToldIdentity {
            hasToldIdentity = true
            if memory.state.address != randomAddress { changes.append(.address(randomAddress)) }
            let key = host.security.configuration.identityKey
            if profile.security != nil, memory.state.identityKey != key {
                changes.append(.identityKey(key))
            }
            let hash = databaseHash
            if memory.state.databaseHash != hash { changes.append(.databaseHash(hash)) }
        }
        if let state = detector?.state, state != memory.state.activity {
            changes.append(.activity(state))
        }
        if host.security.bonds != memory.state.bonds { changes.append(.bonds(host.security.bonds)) }
        if host.server.signCounters != memory.state.signCounters {
            changes.append(.signCounters(host.server.signCounters))
        }
        if host.server.hasNewsOfClients {
            host.server.hasNewsOfClients = false
            changes += clientChanges(memory)
        }
        for (handle, place) in memory.values {
            guard let octets = host.server.value(of: handle),
                memory.state.values.first(where: { $0.place == place })?.octets != octets
            else { continue }
            changes.append(.value(KeptValue(place: place, octets: octets)))
        }
        for change in changes { memory.state.apply(change) }
        self.memory = memory
        return changes
    }

    private func clientChanges(_ memory: DeviceMemory) -> [StateChange] {
        let clients = host.server.keptClients.map { memory.places.kept($0) }
        var changes: [StateChange] = []
        for old in memory.state.clients where !clients.contains(where: { $0.peer == old.peer }) {
            changes.append(.clientForgotten(old.peer))
        }
        for client in clients where !memory.state.clients.contains(client) {
            changes.append(.client(client))
        }
        return changes
    }
}
