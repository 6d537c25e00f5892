// Thousands of pairings with everything drawn at random, and with losses and duplicates.
import Glibc
import Harness
import SMP
import SansIO
import Testing
import Wire

@Suite struct RandomPairingTests {
    static let count: UInt64 = getenv("PERIPHERAL_EMU_LONG") != nil ? 10_000 : 400

    @Test("both sides have equal keys, or a pairing failed with a reason: never half a bond")
    func random() {
        var (paired, failed) = (0, 0)
        for seed in 1...Self.count {
            var chance = SeededRandom(seed: seed, stream: "plan")
            var rig = Self.rig(seed, &chance)
            let isClean = chance.below(3) == 0
            if !isClean {
                rig.faults = .init(lost: chance.below(40), twice: chance.below(40))
            }
            rig.wrongPasskey = chance.below(12) == 0
            rig.disagrees = chance.below(12) == 0
            rig.pair()
            Self.check(rig, seed)
            if rig.bond != nil { paired += 1 } else { failed += 1 }
        }
        #expect(paired > failed / 4 && failed > 0)
        print("\(Self.count) pairings: \(paired) with a bond, \(failed) without")
    }

    private static func rig(_ seed: UInt64, _ chance: inout SeededRandom) -> PairingRig {
        func flip(_ chance: inout SeededRandom) -> Bool { chance.below(2) == 0 }
        let capabilities = IOCapability.allCases
        var configuration = SecurityConfiguration()
        let policies: [SecurityConfiguration.Policy] = [.any, .any, .legacy, .secureConnections]
        configuration.policy = policies[Int(chance.below(4))]
        configuration.io = capabilities[Int(chance.below(5))]
        configuration.asksAuthentication = flip(&chance)
        configuration.requiresAuthentication = chance.below(8) == 0
        configuration.bonding = chance.below(8) != 0
        configuration.keySizeMin = UInt8(7 + chance.below(3))
        configuration.responderKeys = KeyDistribution(rawValue: UInt8(chance.below(8)) | 1)
        configuration.initiatorKeys = KeyDistribution(rawValue: UInt8(chance.below(8)))
        if flip(&chance) { configuration.passkey = UInt32(chance.below(1_000_000)) }
        if flip(&chance) { configuration.confirm = true }
        configuration.identityKey = [UInt8](repeating: 0x22, count: 16)
        var request = features(
            capabilities[Int(chance.below(5))], secure: flip(&chance), mitm: flip(&chance),
            bonding: chance.below(8) != 0, size: UInt8(7 + chance.below(10)),
            initiatorKeys: UInt8(chance.below(16)), responderKeys: UInt8(chance.below(16)) | 1)
        var data = OutOfBandData()
        let hasData = chance.below(8) == 0
        if hasData {
            data.temporaryKey = [UInt8](repeating: UInt8(chance.below(256)), count: 16)
            data.ownRandom = [UInt8](repeating: 7, count: 16)
            configuration.outOfBand = data
            // The initiator has no data of the responder's in LE Secure Connections.
            if !request.authReq.contains(.secureConnections) { request.oobDataFlag = 1 }
        }
        var rig = PairingRig(configuration, request, seed: seed)
        rig.initiator.outOfBand = data
        return rig
    }

    private static func check(_ rig: PairingRig, _ seed: UInt64) {
        var results = 0
        for event in rig.events {
            switch event {
            case .paired, .ended: results += 1
            case .send, .key, .started, .question, .encryption, .forgotten: break
            }
        }
        // A loss can keep the request from the responder; a repeated one is refused besides.
        #expect(results > 0 || rig.hasInitiatorFailed, "seed \(seed): nobody knows how it ended")
        #expect(rig.initiator.isOver, "seed \(seed)")
        #expect(!rig.manager.awaitsAnswer(on: 0) && rig.manager.deadline == nil, "seed \(seed)")
        #expect(rig.manager.bonds == (rig.bond.map { [$0] } ?? []), "seed \(seed)")
        if let bond = rig.bond {
            #expect(bond.longTermKey.count == 16 && bond.longTermKey.contains { $0 != 0 })
            // The last to speak cannot know whether it was heard: only an initiator that had no
            // keys to give can have missed some, and then it has failed.
            guard let other = rig.initiatorBond else {
                #expect(rig.hasInitiatorFailed && rig.faults.lost + rig.faults.twice > 0)
                #expect(bond.peerSignatureKey == nil && bond.peerIdentityKey == nil)
                return
            }
            #expect(bond.longTermKey == other.longTermKey, "seed \(seed)")
            #expect(bond.ediv == other.ediv && bond.rand == other.rand, "seed \(seed)")
            #expect(bond.quality == other.quality, "seed \(seed)")
            #expect(bond.ownSignatureKey == other.peerSignatureKey, "seed \(seed)")
            #expect(bond.peerSignatureKey == other.ownSignatureKey, "seed \(seed)")
        } else if rig.initiatorBond != nil, rig.faults.lost == 0, rig.faults.twice == 0 {
            let isUnbonded = rig.events.contains(.paired(link: 0, nil))
            #expect(isUnbonded, "seed \(seed): only the initiator is through")
        }
        // Without faults and mistakes it fails only where the two do not fit.
        if rig.faults.lost == 0, rig.faults.twice == 0, !rig.wrongPasskey, !rig.disagrees,
            case .failed(let reason) = rig.end
        {
            let refusals: [SMPReason] = [
                .authenticationRequirements, .encryptionKeySize, .oobNotAvailable,
            ]
            #expect(refusals.contains(reason), "seed \(seed): \(reason)")
        }
    }
}
