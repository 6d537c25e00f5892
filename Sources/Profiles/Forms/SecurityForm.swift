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
        word([
            ("none", .noInputNoOutput), ("display", .displayOnly), ("keyboard", .keyboardOnly),
            ("display-yes-no", .displayYesNo), ("keyboard-display", .keyboardDisplay),
        ])
    }
}

extension Form where Value == SecurityConfiguration.Policy {
    fileprivate static var pairing: Form {
        word([
            ("any", .any), ("secure-connections", .secureConnections), ("legacy", .legacy),
            ("refused", .refused),
        ])
    }
}

extension Form where Value == UInt32 {
    fileprivate static var passkey: Form {
        Form<Int>.integer(0...999_999, says: "a passkey of up to six digits").map { UInt32($0) }
    }
}

extension Form where Value == OutOfBandData {
    /// The data of LE legacy pairing: the temporary key that both sides have.
    fileprivate static var outOfBand: Form {
        map(says: "a map with the temporary key") { keys in
            let key = keys.required("temporary-key", .hex(octetsMax: 16))
            if let key, key.count != 16 {
                keys.report(
                    at: "temporary-key", "the key has \(key.count) octets", "write 16 octets")
            }
            var data = OutOfBandData()
            // Most significant octet first, as keys are printed.
            data.temporaryKey = key.map { $0.reversed() }
            return data
        }
    }
}
