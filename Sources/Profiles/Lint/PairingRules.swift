// What pairing and permissions must have in common.
import Advertising
import GATT
import SMP

extension LintRule {
    static let unpairable = LintRule(
        id: "unpairable",
        reason: "no central can pair with it, so what asks for encryption is out of reach"
    ) { profile in
        guard !profile.isPairable else { return [] }
        return profile.eachPermissions.compactMap { path, permissions in
            let secured = permissions.all.first {
                $0.access.level != .refused && $0.access.level != .open || $0.access.authorization
            }
            return secured.map {
                (
                    path + "." + $0.key, "it asks for security, and nobody can pair",
                    "add 'security: {io: none}', or write 'open'"
                )
            }
        }
    }

    static let ioNone = LintRule(
        id: "io-none",
        reason: "without input and output every central pairs by Just Works, which authenticates "
            + "nobody"
    ) { profile in
        guard profile.isPairable, let security = profile.security,
            security.io == .noInputNoOutput, security.outOfBand == nil
        else { return [] }
        return profile.eachPermissions.compactMap { path, permissions in
            let secured = permissions.all.first {
                $0.access.level == .authenticated || $0.access.level == .secure
            }
            return secured.map {
                (
                    path + "." + $0.key, "with 'io: none' nobody is ever authenticated",
                    "write 'encrypted', or 'io: display' in 'security'"
                )
            }
        }
    }

    static let iosPairing = LintRule(
        id: "ios-pairing",
        reason: "iOS has no button to pair: it does so when a read, a write or a subscription is "
            + "refused for want of encryption, or when the accessory asks for it"
    ) { profile in
        let isSecured = profile.eachPermissions.contains { $0.permissions.refusesAloud }
        // Of a beacon security makes the addresses resolvable, and nobody connects.
        let sets = profile.advertising
        let isBeacon = !sets.isEmpty && !sets.contains(where: \.kind.isConnectable)
        guard profile.isPairable, !isSecured, !isBeacon,
            profile.security?.requestsSecurity == false
        else { return [] }
        return [
            (
                "security", "no iPhone will ever pair with it",
                "write 'read: encrypted' at a characteristic, or 'security-request: true'"
            )
        ]
    }
}

extension DeviceProfile {
    /// Whether there is a way to pair with it.
    fileprivate var isPairable: Bool {
        security.map { $0.policy != .refused } ?? false
    }

    /// The permissions of each characteristic and descriptor, with their places.
    fileprivate var eachPermissions: [(path: String, permissions: Permissions)] {
        eachCharacteristic.flatMap { path, spec, _ in
            [(path, spec.permissions)]
                + spec.descriptors.enumerated().map { index, descriptor in
                    (path + ".descriptors[\(index)]", descriptor.permissions)
                }
        }
    }
}

extension DeviceProfile {
    /// Whether a central that does not pair finds something closed.
    public var hasSecuredAccess: Bool {
        eachPermissions.contains { _, permissions in
            permissions.all.contains { $0.access.level != .refused && $0.access.level != .open }
        }
    }
}

extension Permissions {
    /// Whether a link without encryption hears of it: a write without response is just dropped.
    fileprivate var refusesAloud: Bool {
        [read, write, notify, indicate].contains { $0.level != .refused && $0.level != .open }
    }

    fileprivate var all: [(key: String, access: Access)] {
        [
            ("read", read), ("write", write), ("write-without-response", writeCommand),
            // Nobody signs without a key.
            ("signed-write", signedWrite.level == .open ? .encrypted : signedWrite),
            ("notify", notify), ("indicate", indicate),
        ]
    }
}
