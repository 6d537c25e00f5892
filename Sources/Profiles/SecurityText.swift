// How a device pairs, in one line of `check`.
import SMP
import SansIO

extension SecurityConfiguration {
    /// Without passkeys and keys.
    var line: String {
        guard policy != .refused else { return "pairing refused" }
        var parts = ["pairing \(policyName)", "io \(ioName)"]
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

    private var policyName: String {
        switch policy {
        case .refused: "refused"
        case .any: "any"
        case .legacy: "legacy"
        case .secureConnections: "secure-connections"
        }
    }

    private var ioName: String {
        switch io {
        case .noInputNoOutput: "none"
        case .displayOnly: "display"
        case .keyboardOnly: "keyboard"
        case .displayYesNo: "display-yes-no"
        case .keyboardDisplay: "keyboard-display"
        }
    }
}
