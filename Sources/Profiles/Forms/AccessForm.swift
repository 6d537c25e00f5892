// Permissions: `read: open`, or the long form with authorization and key size.
import GATT
import YAML

extension Form where Value == Access {
    /// The one switch: false refuses all that asks more of a link than that it is there.
    private static var servesSecurity: Bool { false }

    /// A level of LE security mode 1, or a map such as
    /// `{security: authenticated, authorization: true, key-size: 16}`.
    static var access: Form {
        let level = Form<SecurityLevel>.level(isServed: servesSecurity)
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
        return either(scalar: short, map: long)
    }
}

extension Form where Value == SecurityLevel {
    fileprivate static func level(isServed: Bool) -> Form {
        let levels: [(String, SecurityLevel)] = [
            ("encrypted", .encrypted), ("authenticated", .authenticated), ("secure", .secure),
        ]
        return isServed
            ? word([("open", .open)] + levels) : word([("open", .open)], later: levels.map(\.0))
    }
}
