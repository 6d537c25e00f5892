// The profile's words for security, and how a device pairs in one line of `check`.
import GATT
import SMP
import SansIO

extension SecurityConfiguration {
    /// Without passkeys and keys.
    var line: String {
        guard policy != .refused else { return "pairing refused" }
        var parts = ["pairing \(policy.word)", "io \(io.word)"]
        if requiresAuthentication {
            parts.append("authentication required")
        } else if !asksAuthentication {
            parts.append("authentication none")
        }
        if leastKeySize > 7 { parts.append("key-size \(leastKeySize)") }
        if let window { parts.append("for \(window) after power-on") }
        if outOfBand != nil { parts.append("out of band data") }
        parts.append(bonding ? "bonds \(bondsMax)" : "no bonds")
        return parts.joined(separator: ", ")
    }
}

extension SecurityConfiguration.Policy {
    /// As the profile says it.
    var word: String {
        switch self {
        case .refused: "refused"
        case .any: "any"
        case .legacy: "legacy"
        case .secureConnections: "secure-connections"
        }
    }
}

extension IOCapability {
    /// As the profile says it.
    var word: String {
        switch self {
        case .noInputNoOutput: "none"
        case .displayOnly: "display"
        case .keyboardOnly: "keyboard"
        case .displayYesNo: "display-yes-no"
        case .keyboardDisplay: "keyboard-display"
        }
    }
}

extension SecurityLevel {
    /// As the profile says it.
    var word: String {
        switch self {
        case .open: "open"
        case .encrypted: "encrypted"
        case .authenticated: "authenticated"
        case .secure: "secure"
        case .refused: "refused"
        }
    }
}
