// The `security:` part: how the accessory pairs, and what its person would answer.
import SMP
import SansIO
import YAML

extension Form where Value == SecurityConfiguration {
    static var security: Form {
        map(says: "a map such as '{io: display, pairing: any}'") { keys in
            var security = SecurityConfiguration()
            security.policy = .any
            keys.read("io", into: &security.io, .ioCapability)
            keys.read("pairing", into: &security.policy, .pairing)
            keys.read("bonding", into: &security.bonding, .boolean)
            security.asksAuthentication = security.io != .noInputNoOutput
            let authentication = keys.optional("authentication", .authentication)
            if let authentication {
                security.asksAuthentication = authentication != .none
                security.requiresAuthentication = authentication == .required
            }
            let size = Form<Int>.integer(7...16, says: "7 to 16 octets")
            keys.read("key-size", into: &security.keySizeMin, size.map { UInt8($0) })
            security.passkey = keys.optional("passkey", .passkey)
            security.confirm = keys.optional("confirm", .boolean)
            security.window = keys.optional(
                "window",
                .time(
                    .seconds(1)...(.seconds(86_400)), limits: "1 s to 1 d", example: "60 s"))
            keys.read(
                "bonds", into: &security.bondsMax,
                .integer(1...64, says: "how many bonds are kept, such as 8"))
            keys.read("security-request", into: &security.requestsSecurity, .boolean)
            security.outOfBand = keys.optional("out-of-band", .outOfBand)
            check(security, keys)
            return security
        }
    }

    private static func check(_ security: SecurityConfiguration, _ keys: Keys) {
        guard !keys.isDeclaring else { return }
        let hasOutOfBand = security.outOfBand != nil
        if security.requiresAuthentication, security.io == .noInputNoOutput, !hasOutOfBand {
            keys.report(
                at: "authentication", "without input and output no central can be authenticated",
                "write another 'io' such as 'display'")
        }
        if security.confirm != nil, security.io != .displayYesNo, security.io != .keyboardDisplay {
            keys.report(
                at: "confirm", "with this 'io' no numbers are compared",
                "write 'io: display-yes-no'")
        }
        if security.passkey != nil, security.io == .noInputNoOutput {
            keys.report(
                at: "passkey", "with 'io: none' there is no passkey",
                "write 'io: display' or 'io: keyboard'")
        }
    }
}

/// Whether protection against a man in the middle is asked for.
private enum Authentication { case none, preferred, required }

extension Form where Value == Authentication {
    fileprivate static var authentication: Form {
        word([("none", .none), ("preferred", .preferred), ("required", .required)])
    }
}

extension Form where Value == IOCapability {
    fileprivate static var ioCapability: Form {
        let all: [IOCapability] = [
            .noInputNoOutput, .displayOnly, .keyboardOnly, .displayYesNo, .keyboardDisplay,
        ]
        return word(all.map { ($0.word, $0) })
    }
}

extension Form where Value == SecurityConfiguration.Policy {
    fileprivate static var pairing: Form {
        let all: [SecurityConfiguration.Policy] = [.any, .secureConnections, .legacy, .refused]
        return word(all.map { ($0.word, $0) })
    }
}

extension Form where Value == UInt32 {
    fileprivate static var passkey: Form {
        let says = "six digits such as 123456, in quotes where the first one is 0"
        let schema = Schema.anyOf([
            .integer(100_000...999_999), .text(pattern: "^[0-9]{6}$"),
        ])
        return Form(says: says, schema: { schema }) { place, context in
            guard let scalar = place.scalar, scalar.value != .null else {
                return mismatch(place, context, says: says)
            }
            guard let passkey = Passkey.number(scalar.text) else {
                context.report(place, Passkey.mistake(scalar.text), "write \(says)")
                return nil
            }
            guard !scalar.isPlain || passkey >= 100_000 else {
                context.report(
                    place, "a number that begins with 0 is read differently by different programs",
                    "write '\"\(scalar.text)\"'")
                return nil
            }
            return passkey
        }
    }
}

extension Form where Value == OutOfBandData {
    /// Keys as they are printed, most significant octet first.
    fileprivate static var outOfBand: Form {
        map(says: "a map such as '{temporary-key: \"00…0F\"}'") { keys in
            var data = OutOfBandData()
            data.temporaryKey = octets("temporary-key", 16, &keys)
            data.ownRandom = octets("random", 16, &keys)
            data.ownPrivateKey = octets("private-key", 32, &keys).map { $0.reversed() }
            let peerRandom = octets("peer-random", 16, &keys)
            let peerConfirm = octets("peer-confirm", 16, &keys)
            if let peerRandom, let peerConfirm { data.peer = (peerRandom, peerConfirm) }
            for (key, other) in [("random", "private-key"), ("peer-random", "peer-confirm")] {
                guard !keys.isDeclaring, keys.has(key) != keys.has(other) else { continue }
                let (here, missing) = keys.has(key) ? (key, other) : (other, key)
                keys.report(at: here, "'\(missing)' is missing beside it", "add it")
            }
            return data
        }
    }

    /// In wire order.
    private static func octets(_ key: String, _ count: Int, _ keys: inout Keys) -> [UInt8]? {
        guard let octets = keys.optional(key, .hex(octetsMax: count)) else { return nil }
        guard octets.count == count else {
            keys.report(
                at: key, "it has \(octets.count) \(octets.count == 1 ? "octet" : "octets")",
                "write \(count) octets")
            return nil
        }
        return octets.reversed()
    }
}
