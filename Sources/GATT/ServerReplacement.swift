// Another attribute table while clients are connected: what they must learn of it, and what stays.
import Wire

extension AttributeTable {
    /// The handles of the attributes that clients find to be others in `new`, with the services
    /// that they belong to in either table; nil where clients find the same. Values count only
    /// where they are declarations or Extended Properties (Core 6.0, Vol 3, Part G, 7.1, 7.3.1).
    public func changes(to new: AttributeTable) -> ClosedRange<UInt16>? {
        var (index, newIndex) = (0, 0)
        var range: ClosedRange<UInt16>?
        while index < attributes.count || newIndex < new.attributes.count {
            let before = index < attributes.count ? attributes[index].handle : nil
            let after = newIndex < new.attributes.count ? new.attributes[newIndex].handle : nil
            let handle = min(before ?? .max, after ?? .max)
            let isSame =
                before == after && isSeen(at: index, as: new, at: newIndex)
            if !isSame { range = (range?.lowerBound ?? handle)...handle }
            if before == handle { index += 1 }
            if after == handle { newIndex += 1 }
        }
        // Services that only one table has may reach from one into another.
        while let narrow = range {
            let wide = widened(new.widened(narrow))
            range = wide
            if wide == narrow { break }
        }
        return range
    }

    private func isSeen(at index: Int, as other: AttributeTable, at place: Int) -> Bool {
        let (one, two) = (attributes[index], other.attributes[place])
        guard one.type == two.type else { return false }
        switch one.kind {
        case .service:
            return one.groupEnd == two.groupEnd && value(at: index) == other.value(at: place)
        case .include, .characteristic: return value(at: index) == other.value(at: place)
        case .value, .clientConfiguration, .serverConfiguration, .clientSupportedFeatures,
            .databaseHash, .serviceChanged:
            return one.type != GATTType.extendedProperties
                || value(at: index) == other.value(at: place)
        }
    }

    /// The range with the whole services at its ends.
    private func widened(_ range: ClosedRange<UInt16>) -> ClosedRange<UInt16> {
        let first = service(owning: range.lowerBound).map { attributes[$0].handle }
        let last = service(owning: range.upperBound).map { attributes[$0].groupEnd }
        return min(first ?? .max, range.lowerBound)...max(last ?? 0, range.upperBound)
    }

    /// The index of the service to whose handles `handle` belongs.
    private func service(owning handle: UInt16) -> Int? {
        var index = firstIndex(from: handle)
        if index == attributes.count || attributes[index].handle > handle { index -= 1 }
        while index >= 0 {
            if attributes[index].kind == .service {
                return attributes[index].groupEnd >= handle ? index : nil
            }
            index -= 1
        }
        return nil
    }

    /// The index of the managed CCCD with `handle` where it belongs to the same characteristic, at
    /// the same handles and in the same service, as in `old`; with its index there.
    fileprivate func sameConfiguration(
        _ handle: UInt16, as old: AttributeTable
    ) -> (index: Int, old: Int)? {
        guard let index = index(of: handle), let before = old.index(of: handle),
            attributes[index].configuration >= 0, old.attributes[before].configuration >= 0
        else { return nil }
        let value = attributes[Int(attributes[index].partner)]
        let oldValue = old.attributes[Int(old.attributes[before].partner)]
        guard value.handle == oldValue.handle, value.type == oldValue.type,
            let service = service(owning: handle), let oldService = old.service(owning: handle),
            self.value(at: service) == old.value(at: oldService)
        else { return nil }
        return (index, before)
    }

    /// The bits of the CCCD at `index` that its characteristic offers.
    fileprivate func offer(at index: Int) -> UInt8 {
        let permissions = attributes[Int(attributes[index].partner)].permissions
        return (permissions.notify.level == .refused ? 0 : 1)
            | (permissions.indicate.level == .refused ? 0 : 2)
    }
}

/// What another table was to the clients.
public struct TableReplacement: Equatable, Sendable {
    /// What Service Changed says; nil where clients find the same attributes.
    public var changed: ClosedRange<UInt16>?
    /// How many subscriptions of connected clients are over.
    public var endedSubscriptions = 0

    public init(changed: ClosedRange<UInt16>? = nil, endedSubscriptions: Int = 0) {
        self.changed = changed
        self.endedSubscriptions = endedSubscriptions
    }
}

extension GATTServer {
    /// Puts a new table, with its values, in place of the old one. Rules for writes are to be said
    /// again.
    ///
    /// Where clients find other attributes, every client becomes change-unaware and is due a
    /// Service Changed indication (ask `pendingIndication`), and what is queued to be written is
    /// dropped. A client's configuration stays where its characteristic is what it was, at its
    /// handles; any other begins as off. The MTU of a link stays.
    public mutating func replaceTable(
        _ new: AttributeTable, settings: ServerSettings? = nil
    ) -> TableReplacement {
        if let settings { self.settings = settings.bounded }
        let (old, oldConfigurations) = (table, configurations)
        table = new
        writeRules.removeAll()
        busy.removeAll()
        var report = TableReplacement(changed: old.changes(to: new))
        configurations = Array(repeating: 0, count: Self.clientsMax * table.configurationCount)
        for before in old.attributes where before.configuration >= 0 {
            let same = table.sameConfiguration(before.handle, as: old)
            for client in links.indices where links[client].isConnected {
                let bits = oldConfigurations[
                    client * old.configurationCount + Int(before.configuration)]
                var kept: UInt8 = 0
                if let same {
                    kept = bits & (table.offer(at: same.index) | Self.writtenOnThisLink)
                    configurations[slot(of: same.index, client: client)] = kept
                }
                if bits & 3 != 0, kept & 3 == 0 { report.endedSubscriptions += 1 }
            }
        }
        keepBondedConfigurations(of: old)
        for client in links.indices where links[client].isConnected {
            let handles = waiting[client]
            waiting[client] = handles.filter { handle in
                guard let index = table.index(of: handle) else { return false }
                return subscription(of: index, client: client) & 2 != 0
            }
            if report.changed != nil { queues[client].removeAll() }
        }
        if let changed = report.changed { databaseChanged(changed) }
        return report
    }

    private mutating func keepBondedConfigurations(of old: AttributeTable) {
        for place in bondedClients.indices {
            bondedClients[place].configurations = bondedClients[place].configurations.compactMap {
                guard let same = table.sameConfiguration($0.handle, as: old) else { return nil }
                let bits = $0.bits & table.offer(at: same.index)
                return bits == 0 ? nil : .init(handle: $0.handle, bits: bits)
            }
        }
    }

    /// The handle of the Service Changed value; nil where there is none.
    public var serviceChangedHandle: UInt16? {
        serviceChangedIndex.map { table.attributes[$0].handle }
    }

    /// Whether the client has asked for Service Changed.
    public func followsServiceChanged(_ client: Int) -> Bool {
        serviceChangedIndex.map { subscription(of: $0, client: client) & 2 != 0 } ?? false
    }
}
