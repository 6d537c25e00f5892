// Pairing and encryption, in lines for people and as JSON for programs. Keys are never among them.
import BLEHost
import SMP
import Wire

extension EmulatedDevice {
    /// - Parameter peer: whose link it is about.
    static func text(for event: SecurityEvent, _ peer: String) -> String? {
        switch event {
        case .send, .key: nil
        case .started(_, let method, let isSecureConnections):
            "\(peer) pairs: \(method), "
                + (isSecureConnections ? "LE Secure Connections" : "LE legacy pairing")
        case .question(_, let question, let isAnswered):
            text(for: question, peer, isAnswered)
        case .encryption(_, let quality?): "\(peer) encrypted: \(words(quality))"
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
        case .showPasskey(let passkey): "passkey \(digits(passkey)): enter it at \(peer)"
        case .enterPasskey:
            isAnswered
                ? "the profile's passkey is entered for \(peer)"
                : "enter the passkey that \(peer) shows"
        case .compare(let number):
            isAnswered
                ? "\(digits(number)) compared with \(peer) by the profile"
                : "does \(peer) show \(digits(number))?"
        }
    }

    private static func words(_ quality: KeyQuality) -> String {
        (quality.isAuthenticated ? "authenticated" : "not authenticated") + ", "
            + (quality.isSecureConnections ? "LE Secure Connections" : "LE legacy pairing")
            + ", key of \(quality.size) octets"
    }

    /// Six digits, as they are shown.
    static func digits(_ number: UInt32) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(6 - text.count, 0)) + text
    }

    static func name(of event: SecurityEvent) -> String {
        switch event {
        case .send: "security-command"
        case .key: "key"
        case .started: "pairing"
        case .question(_, .showPasskey, _): "show-passkey"
        case .question(_, .enterPasskey, _): "enter-passkey"
        case .question(_, .compare, _): "compare"
        case .encryption: "encryption"
        case .paired: "paired"
        case .ended: "pairing-failed"
        case .forgotten: "bond-forgotten"
        }
    }

    static func members(of event: SecurityEvent) -> [JSONMember] {
        switch event {
        case .send(let link, _), .key(let link, _): [Self.link(link)]
        case .started(let link, let method, let isSecureConnections):
            [
                Self.link(link), JSONMember("method", .string("\(method)")),
                JSONMember("secure-connections", .boolean(isSecureConnections)),
            ]
        case .question(let link, let question, let isAnswered):
            [Self.link(link), JSONMember("answered", .boolean(isAnswered))]
                + (number(of: question).map { [JSONMember("passkey", .string(digits($0)))] } ?? [])
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

    private static func number(of question: SecurityQuestion) -> UInt32? {
        switch question {
        case .showPasskey(let number), .compare(let number): number
        case .enterPasskey: nil
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
