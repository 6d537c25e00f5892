// What the Security Manager tells its host.
public import SansIO

/// A question to the person at the device.
public enum SecurityQuestion: Hashable, Sendable {
    /// Nothing to answer: the number of six digits is to be entered at the peer.
    case showPasskey(UInt32)
    /// The peer shows it; where it cannot, the same one is to be entered at both sides.
    case enterPasskey(isShown: Bool)
    /// Whether the peer shows the same number of six digits.
    case compare(UInt32)
}

/// What a person has not answered yet.
public struct OpenQuestion: Hashable, Sendable {
    public let question: SecurityQuestion
    /// When the pairing fails for want of an answer.
    public let deadline: Instant
}

/// Why a pairing ended without keys.
public enum PairingEnd: Hashable, Sendable {
    /// This side refused or found something wrong.
    case failed(SMPReason)
    /// The person at the device was asked and said nothing for that long.
    case unanswered(SMPReason, TimeSpan)
    /// The peer said so.
    case failedByPeer(SMPReason)
    /// 30 s passed without the peer's next command; it must connect anew (Core 6.0, Vol 3, Part H,
    /// 3.4).
    case timedOut
    /// The link ended meanwhile.
    case disconnected
    /// The controller could not encrypt the link.
    case notEncrypted
}

extension PairingEnd: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let reason): "\(reason)"
        case .unanswered(let reason, let limit): "nobody answered within \(limit), \(reason)"
        case .failedByPeer(let reason): "\(reason), says the central"
        case .timedOut: "the central did not go on within 30 s"
        case .disconnected: "the link ended"
        case .notEncrypted: "the link could not be encrypted"
        }
    }
}

/// What the Security Manager tells its host, at most eight at a time.
public enum SecurityEvent: Hashable, Sendable {
    /// A command for the Security Manager's channel.
    case send(link: Int, [UInt8])
    /// The answer to the controller's request for a key; nil where there is none.
    case key(link: Int, [UInt8]?)
    case started(link: Int, PairingMethod, isSecureConnections: Bool)
    /// `isAnswered`: by the configuration, nobody is asked.
    case question(link: Int, SecurityQuestion, isAnswered: Bool)
    /// The link's encryption has changed; nil: it is not encrypted.
    case encryption(link: Int, KeyQuality?)
    /// Every key is exchanged. Without a bond nothing is kept.
    case paired(link: Int, Bond?)
    case ended(link: Int, PairingEnd)
    /// A bond gave way to a newer one.
    case forgotten(LinkAddress)

    /// The link that it is about; nil where it is about none.
    public var link: Int? {
        switch self {
        case .send(let link, _), .key(let link, _), .started(let link, _, _),
            .question(let link, _, _), .encryption(let link, _), .paired(let link, _),
            .ended(let link, _):
            link
        case .forgotten: nil
        }
    }
}
