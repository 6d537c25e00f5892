// The `server:` part: where the specification or the test suites leave a server a choice.
import GATT
import YAML

extension Form where Value == ServerSpec {
    static var server: Form {
        map(says: "a map of server settings such as '{mtu: 247}'") { keys in
            var server = ServerSpec()
            let mtu = Form<Int>.integer(23...517, says: "23 to 517 octets")
            keys.read("mtu", into: &server.settings.mtu, mtu.map { UInt16($0) })
            keys.read("implicit-services", into: &server.hasImplicitServices, .boolean)
            keys.read(
                "database-hash", into: &server.settings.databaseHash,
                .word([("little-endian", .littleEndian), ("as-computed", .asComputed)]))
            keys.read("growth", into: &server.settings.growth, .boolean)
            keys.read(
                "reliable-writes", into: &server.settings.reliableWrites,
                .word([("any", .any), ("extended-property", .extendedProperty)]))
            keys.read(
                "unencrypted-error", into: &server.settings.unencryptedError,
                .word([("by-key", .byKey), ("by-requirement", .byRequirement)]))
            keys.read("cccd-error", into: &server.settings.cccdError, .cccdError)
            keys.read(
                "notification-overflow", into: &server.settings.oversize,
                .word([("truncate", .truncate), ("refuse", .refuse)]))
            return server
        }
    }
}

extension Form where Value == ATTError {
    /// 0xFD as common stacks answer, or 0x13 as one suite asks.
    fileprivate static var cccdError: Form {
        let says = "0xFD or 0x13"
        let number = Form<Int>.integer(0...255, says: says)
        return Form(says: says, schema: number.schema) { place, context in
            guard let code = number.read(place, context) else { return nil }
            let error = ATTError(rawValue: UInt8(code))
            guard error == .cccdImproperlyConfigured || error == .valueNotAllowed else {
                return mismatch(place, context, says: says)
            }
            return error
        }
    }
}
