// What is odd about services and values although the specification allows it.
import Advertising
import Behaviours
import GATT
import Wire

extension LintRule {
    static let constantNotification = LintRule(
        id: "constant-notification",
        reason: "who subscribes to a value that never changes waits for nothing"
    ) { profile in
        profile.eachCharacteristic.compactMap { path, spec, isChanged in
            let sends =
                spec.permissions.notify.level != .refused
                || spec.permissions.indicate.level != .refused
            guard sends, !spec.value.isLive, !isChanged else { return nil }
            if case .echo = spec.value { return nil }
            return (
                path + ".value", "it is notified and never changes",
                "add a generator, or remove 'notify' and 'indicate'"
            )
        }
    }

    static let missingFlags = LintRule(
        id: "missing-flags",
        reason: "without flags scanners do not know that it is discoverable and has no BR/EDR"
    ) { profile in
        profile.advertising.enumerated().compactMap { index, set in
            guard set.kind.isConnectable, !set.data.isEmpty else { return nil }
            let has = set.data.contains { $0.parts.contains { $0.label == "flags" } }
            return has
                ? nil
                : (
                    "advertising[\(index)].data", "it has no flags",
                    "add '{flags: [general-discoverable, no-br-edr]}'"
                )
        }
    }

    static let serviceChanged = LintRule(
        id: "service-changed",
        reason: "a bonded phone keeps the old table unless Service Changed tells it of a new one"
    ) { profile in
        guard profile.advertising.contains(where: { $0.kind.isConnectable }) else { return [] }
        let own = profile.services.first { $0.uuid == GATTType.genericAttribute }
        let has =
            own.map { service in
                service.characteristics.contains { $0.uuid == GATTType.serviceChanged }
            } ?? profile.server.hasImplicitServices
        return has
            ? []
            : [
                (
                    "services", "the table has no Service Changed",
                    "add the characteristic service-changed to the service generic-attribute"
                )
            ]
    }

    static let sigBase = LintRule(
        id: "sig-base",
        reason: "UUIDs of 16 bits are the Bluetooth SIG's to assign"
    ) { profile in
        var found: [(path: String, problem: String, remedy: String)] = []
        for (index, service) in profile.services.enumerated()
        where AssignedNames.service(service.uuid) == nil && service.uuid.isUnassigned {
            found.append(
                (
                    "services[\(index)].service", "\(service.uuid) is not assigned",
                    "write a 128-bit UUID of your own"
                ))
        }
        for (path, spec, _) in profile.eachCharacteristic
        where AssignedNames.characteristic(spec.uuid) == nil && spec.uuid.isUnassigned {
            found.append(
                (
                    path + ".characteristic", "\(spec.uuid) is not assigned",
                    "write a 128-bit UUID of your own"
                ))
        }
        return found
    }
}

extension DeviceProfile {
    /// Each characteristic with its path, and whether something else changes or sends it.
    var eachCharacteristic: [(path: String, spec: CharacteristicSpec, Bool)] {
        var targets: [WriteAction.Target] = []
        for spec in services.flatMap(\.characteristics) {
            for action in spec.reactions.flatMap({ $0.actions + ($0.later?.actions ?? []) }) {
                switch action {
                case .store(let target), .set(let target, _, _), .send(let target):
                    targets.append(target)
                case .log, .authorize: break
                }
            }
            if let records = spec.records {
                targets.append(records.target)
                if let context = records.contextTarget { targets.append(context) }
            }
        }
        var all: [(path: String, spec: CharacteristicSpec, Bool)] = []
        for (service, declared) in services.enumerated() {
            for (index, spec) in declared.characteristics.enumerated() {
                let isWritten =
                    spec.permissions.write.level != .refused
                    || spec.permissions.writeCommand.level != .refused
                    || spec.permissions.signedWrite.level != .refused
                let isTarget = targets.contains {
                    $0.service == service && $0.characteristic == index
                }
                let isManaged = spec.kind(in: declared.uuid) != .value
                all.append(
                    (
                        "services[\(service)].characteristics[\(index)]", spec,
                        isWritten || isTarget || isManaged || spec.send == .manual
                    ))
            }
        }
        return all
    }
}

extension BluetoothUUID {
    /// A UUID of 16 bits that is no member's own.
    fileprivate var isUnassigned: Bool { short.map { $0 < 0xFC00 } ?? false }
}
