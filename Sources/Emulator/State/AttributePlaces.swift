// Where characteristics are in a profile, in words that outlive a change of handles.
import GATT
import Wire

/// The characteristics of a table by place: service, characteristic, and which of those with equal
/// UUIDs, such as `180F.0/2A19.0`.
struct AttributePlaces: Sendable {
    private struct Entry: Sendable {
        let place: String
        let value: UInt16
        var configuration: UInt16?
    }

    private var entries: [Entry] = []

    init(_ table: AttributeTable) {
        var services: [BluetoothUUID: Int] = [:]
        var characteristics: [BluetoothUUID: Int] = [:]
        var service = ""
        for (index, attribute) in table.attributes.enumerated() {
            switch attribute.kind {
            case .service:
                let uuid = BluetoothUUID(littleEndian: table.value(at: index).span)
                service = Self.numbered(uuid ?? attribute.type, &services)
                characteristics = [:]
            case .characteristic:
                let declaration = table.value(at: index)
                guard declaration.count > 3 else { continue }
                let octets = Array(declaration[3...])
                let uuid = BluetoothUUID(littleEndian: octets.span) ?? attribute.type
                entries.append(
                    Entry(
                        place: "\(service)/\(Self.numbered(uuid, &characteristics))",
                        value: declaration.span.uint16(at: 1)))
            case .clientConfiguration:
                if !entries.isEmpty {
                    entries[entries.count - 1].configuration = attribute.handle
                }
            case .value, .include, .serverConfiguration, .clientSupportedFeatures, .databaseHash,
                .serviceChanged:
                break
            }
        }
    }

    private static func numbered(
        _ uuid: BluetoothUUID, _ counts: inout [BluetoothUUID: Int]
    ) -> String {
        let number = counts[uuid, default: 0]
        counts[uuid] = number + 1
        return "\(uuid).\(number)"
    }

    func place(ofValue handle: UInt16) -> String? {
        entries.first { $0.value == handle }?.place
    }

    // MARK: clients

    func kept(_ client: BondedClient) -> KeptClient {
        var kept = KeptClient(peer: client.peer)
        kept.features = client.features
        kept.isChangeAware = client.isChangeAware
        kept.serviceChanged = client.serviceChanged
        kept.subscriptions = client.configurations.compactMap { configuration in
            entries.first { $0.configuration == configuration.handle }.map {
                KeptClient.Subscription(place: $0.place, bits: configuration.bits)
            }
        }
        return kept
    }

    /// What is no longer in the table is left out.
    func restored(_ kept: KeptClient) -> BondedClient {
        var client = BondedClient(peer: kept.peer)
        client.features = kept.features
        client.isChangeAware = kept.isChangeAware
        client.serviceChanged = kept.serviceChanged
        client.configurations = kept.subscriptions.compactMap { subscription in
            entries.first { $0.place == subscription.place }?.configuration.map {
                BondedClient.Configuration(handle: $0, bits: subscription.bits & 3)
            }
        }.sorted { $0.handle < $1.handle }
        return client
    }
}
