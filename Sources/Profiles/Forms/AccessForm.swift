// Permissions: `read: open`, or the long form with authorization and key size.
import GATT
import YAML

extension Form where Value == Access {
    /// The one switch: false refuses all that asks more of a link than that it is there.
    private static var servesSecurity: Bool { false }

    /// A level of LE security mode 1, or `{security: authenticated, authorization: true, key-size: 16}`.
    static var access: Form {
        let level = Form<SecurityLevel>.level
        let short = level.map { Access($0) }
        let long = map(says: "a map of security, authorization and key-size") { keys in
            let level = keys.required("security", level)
            let authorization = keys.optional("authorization", .boolean)
            let keySize = keys.optional("key-size", .integer(7...16, says: "7 to 16 octets"))
            if !servesSecurity {
                for key in ["authorization", "key-size"] where keys.has(key) {
                    keys.report(at: key, "'\(key)' is not supported yet", "remove it")
                }
            }
            guard let level else { return nil }
            return Access(
                level, authorization: authorization ?? false, keySizeMin: UInt8(keySize ?? 0))
        }
        return Form(says: level.says) { place, context in
            guard let access = either(scalar: short, map: long).read(place, context) else { return nil }
            guard servesSecurity || access.level == .open else {
                context.report(
                    place, "a level other than 'open' is not supported yet", "write 'open'")
                return nil
            }
            return access
        }
    }
}

extension Form where Value == SecurityLevel {
    fileprivate static var level: Form {
        word([
            ("open", .open), ("encrypted", .encrypted), ("authenticated", .authenticated),
            ("secure", .secure),
        ])
    }
}
