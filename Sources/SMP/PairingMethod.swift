// Which method a pairing uses, as the specification's table says.

/// How both sides make sure of each other (Core 6.0, Vol 3, Part H, 2.3.5.1).
public enum PairingMethod: Sendable, Hashable {
    case justWorks
    /// The responder, which is this side, shows a passkey; the initiator's user enters it.
    case passkeyShown
    /// The responder's user enters a passkey: the initiator's, or one that both enter.
    case passkeyEntered
    case numericComparison
    case outOfBand

    /// Whether it protects against a man in the middle.
    public var isAuthenticated: Bool { self != .justWorks }

    /// - Parameters:
    ///   - request: the initiator's features.
    ///   - response: the responder's.
    public init(request: PairingFeatures, response: PairingFeatures) {
        let isSecure =
            request.authReq.contains(.secureConnections)
            && response.authReq.contains(.secureConnections)
        let (mine, peers) = (response.oobDataFlag == 1, request.oobDataFlag == 1)
        if isSecure ? mine || peers : mine && peers {
            self = .outOfBand
            return
        }
        guard request.authReq.contains(.mitm) || response.authReq.contains(.mitm),
            let initiator = IOCapability(rawValue: request.ioCapability),
            let responder = IOCapability(rawValue: response.ioCapability)
        else {
            self = .justWorks
            return
        }
        self = Self.byCapabilities(initiator, responder, isSecure: isSecure)
    }

    /// Table 2.8 of 2.3.5.1.
    static func byCapabilities(
        _ initiator: IOCapability, _ responder: IOCapability, isSecure: Bool
    ) -> PairingMethod {
        switch (responder, initiator) {
        case (.noInputNoOutput, _), (_, .noInputNoOutput): .justWorks
        case (.displayOnly, .displayOnly), (.displayOnly, .displayYesNo): .justWorks
        case (.displayOnly, .keyboardOnly), (.displayOnly, .keyboardDisplay): .passkeyShown
        case (.displayYesNo, .displayOnly): .justWorks
        case (.displayYesNo, .displayYesNo): isSecure ? .numericComparison : .justWorks
        case (.displayYesNo, .keyboardOnly): .passkeyShown
        case (.displayYesNo, .keyboardDisplay): isSecure ? .numericComparison : .passkeyShown
        case (.keyboardOnly, _): .passkeyEntered
        case (.keyboardDisplay, .displayOnly): .passkeyEntered
        case (.keyboardDisplay, .displayYesNo): isSecure ? .numericComparison : .passkeyEntered
        case (.keyboardDisplay, .keyboardOnly): .passkeyShown
        case (.keyboardDisplay, .keyboardDisplay):
            isSecure ? .numericComparison : .passkeyEntered
        }
    }
}

extension PairingMethod: CustomStringConvertible {
    public var description: String {
        switch self {
        case .justWorks: "Just Works"
        case .passkeyShown, .passkeyEntered: "Passkey Entry"
        case .numericComparison: "Numeric Comparison"
        case .outOfBand: "Out of Band"
        }
    }
}
