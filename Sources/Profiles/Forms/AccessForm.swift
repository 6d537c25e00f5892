// Permissions: `read: open`, or the long form with authorization and key size.
import GATT
import YAML

extension Form where Value == Access {
    /// What is asked of the key that a write is signed with.
    static var signature: Form {
        levels([.open, .authenticated]).map { Access($0) }
    }

    private static func levels(_ levels: [SecurityLevel]) -> Form<SecurityLevel> {
        Form<SecurityLevel>.word(levels.map { ($0.word, $0) })
    }

    /// A level of LE security mode 1, or a map such as
    /// `{security: authenticated, authorization: true, key-size: 16}`.
    static var access: Form {
        let level = levels([.open, .encrypted, .authenticated, .secure])
        let long = map(says: "a map of security, authorization and key-size") { keys in
            let level = keys.required("security", level)
            let authorization = keys.optional("authorization", .boolean)
            let keySize = keys.optional("key-size", .integer(7...16, says: "7 to 16 octets"))
            guard let level else { return nil }
            if keySize != nil, level == .open {
                keys.report(
                    at: "key-size", "an open link has no key",
                    "write 'security: encrypted', or remove it")
            }
            return Access(
                level, authorization: authorization ?? false, keySizeMin: UInt8(keySize ?? 0))
        }
        return either(scalar: level.map { Access($0) }, map: long)
    }
}
