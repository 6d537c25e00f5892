// LE legacy pairing: confirm values, the short term key.
import SansIO

extension SecurityManager {
    /// The temporary key (Core 6.0, Vol 3, Part H, 2.3.5.2 to 2.3.5.4).
    private func temporaryKey(of pairing: Pairing) -> [UInt8]? {
        switch pairing.method {
        case .justWorks, .numericComparison: Pairing.octets(0)
        case .passkeyShown, .passkeyEntered: pairing.passkey.map { Pairing.octets($0) }
        case .outOfBand: configuration.outOfBand?.temporaryKey
        }
    }

    private func confirm(of pairing: Pairing, _ random: [UInt8]) -> [UInt8]? {
        temporaryKey(of: pairing).flatMap {
            toolbox.c1(
                $0, random, request: pairing.requestPDU, response: pairing.responsePDU,
                initiator: pairing.initiator, responder: pairing.responder)
        }
    }

    func legacyConfirm(of pairing: Pairing) -> [UInt8]? { confirm(of: pairing, pairing.ownRandom) }

    /// Checks the initiator's random value against its confirm value (2.3.5.5).
    mutating func take(
        legacyRandom random: [UInt8], _ link: Int, _ emit: inout Outputs<SecurityEvent>
    ) throws(SMPReason) {
        guard var pairing = links[link].pairing else { return }
        guard let confirm = confirm(of: pairing, random),
            Toolbox.isEqual(confirm, pairing.peerConfirm)
        else { throw .confirmValueFailed }
        guard let key = temporaryKey(of: pairing),
            let shortTermKey = toolbox.s1(key, pairing.ownRandom, random)
        else { throw .unspecifiedReason }
        pairing.key = pairing.shortened(shortTermKey)
        pairing.phase = .encryption
        links[link].pairing = pairing
        emit.append(.send(link: link, [SMPCode.pairingRandom.rawValue] + pairing.ownRandom))
    }
}
