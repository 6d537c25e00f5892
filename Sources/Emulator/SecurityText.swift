// Pairing and encryption, in lines for people and as JSON for programs. Keys are never among them.
import BLEHost
import SMP
import SansIO
import Wire

extension EmulatedDevice {
    /// - Parameter peer: whose link it is about.
    func text(for event: SecurityEvent, _ peer: String) -> String? {
        switch event {
        case .send, .key: nil
        case .started(_, let method, let isSecureConnections):
            "\(peer) pairs: \(method), "
                + (isSecureConnections ? "LE Secure Connections" : "LE legacy pairing")
        case .question(_, let question, let isAnswered):
            Self.text(for: question, peer, isAnswered)
                + (isAnswered ? "" : ", within \(host.security.configuration.questionLimit)")
        case .encryption(_, let quality?): "\(peer) encrypted: \(Self.words(quality))"
        case .encryption(_, nil): "\(peer) is not encrypted any more"
        case .paired(_, let bond?): "\(peer) paired, bonded as \(bond.peer)"
        case .paired(_, nil): "\(peer) paired, without a bond"
        case .ended(_, let end): "\(peer) did not pair: \(end)"
        case .forgotten(let peer): "the bond with \(peer) gave way to a newer one"
        }
    }

    private static func text(
        for question: SecurityQuestion, _ peer: String, _ isAnswered: Bool
    ) -> String {
        switch question {
        case .showPasskey(let passkey):
            "passkey \(Passkey.digits(passkey)): enter it at \(peer) within 30 s"
        case .enterPasskey(let isShown):
            isAnswered
                ? "the passkey given before is entered for \(peer)"
                : isShown
                    ? "enter the passkey that \(peer) shows"
                    : "enter the same passkey here and at \(peer)"
        case .compare(let number):
            isAnswered
                ? "\(Passkey.digits(number)) compared with \(peer) by the profile"
                : "does \(peer) show \(Passkey.digits(number))? Answer yes or no"
        }
    }

    private static func words(_ quality: KeyQuality) -> String {
        (quality.isAuthenticated ? "authenticated" : "not authenticated") + ", "
            + (quality.isSecureConnections ? "LE Secure Connections" : "LE legacy pairing")
            + ", key of \(quality.size) octets"
    }

    static func name(of event: SecurityEvent) -> String {
        switch event {
        case .send: "security-command"
        case .key: "key"
        case .started: "pairing"
        case .question(_, let question, _): question.name
        case .encryption: "encryption"
        case .paired: "paired"
        case .ended: "pairing-failed"
        case .forgotten: "bond-forgotten"
        }
    }

    func members(of event: SecurityEvent, _ peer: DeviceAddress?) -> [JSONMember] {
        switch event {
        case .send(let link, _), .key(let link, _): [Self.link(link)]
        case .started(let link, let method, let isSecureConnections):
            [
                Self.link(link), JSONMember("method", .string("\(method)")),
                JSONMember("secure-connections", .boolean(isSecureConnections)),
            ]
        case .question(let link, let question, let isAnswered):
            [
                Self.link(link), JSONMember("peer", .string(peer.map { "\($0)" } ?? "")),
                JSONMember("answered", .boolean(isAnswered)),
            ] + question.members
                + (isAnswered
                    ? []
                    : [
                        JSONMember(
                            "seconds", .real(host.security.configuration.questionLimit.seconds))
                    ])
        case .encryption(let link, let quality):
            [Self.link(link), JSONMember("encrypted", .boolean(quality != nil))]
                + (quality.map { Self.members(of: $0) } ?? [])
        case .paired(let link, let bond):
            [Self.link(link), JSONMember("bonded", .boolean(bond != nil))]
                + (bond.map { [JSONMember("peer", .string("\($0.peer.address)"))] } ?? [])
        case .ended(let link, let end):
            [Self.link(link), JSONMember("reason", .string("\(end)"))]
        case .forgotten(let peer): [JSONMember("peer", .string("\(peer.address)"))]
        }
    }

    private static func link(_ link: Int) -> JSONMember {
        JSONMember("link", .integer(Int64(link)))
    }

    func text(for answer: PairingAnswer, _ peer: DeviceAddress) -> String {
        switch answer {
        case .passkey: "passkey entered for \(peer)"
        case .yes: "\(peer) shows the same number: yes"
        case .no: "answered no to \(peer)"
        }
    }

    private static func members(of quality: KeyQuality) -> [JSONMember] {
        [
            JSONMember("authenticated", .boolean(quality.isAuthenticated)),
            JSONMember("secure-connections", .boolean(quality.isSecureConnections)),
            JSONMember("key-size", .integer(Int64(quality.size))),
        ]
    }
}

extension SecurityQuestion {
    /// The event's name.
    var name: String {
        switch self {
        case .showPasskey: "show-passkey"
        case .enterPasskey: "enter-passkey"
        case .compare: "compare"
        }
    }

    /// The six digits that it is about.
    var members: [JSONMember] {
        switch self {
        case .showPasskey(let passkey): [JSONMember("passkey", .string(Passkey.digits(passkey)))]
        case .compare(let number): [JSONMember("number", .string(Passkey.digits(number)))]
        case .enterPasskey: []
        }
    }
}
