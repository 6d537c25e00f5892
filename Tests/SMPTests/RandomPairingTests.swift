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
            var rig = Self.rig(seed)
            rig.pair()
            Self.check(rig, seed)
            if rig.bond != nil { paired += 1 } else { failed += 1 }
        }
        #expect(paired > failed / 4 && failed > 0)
        print("\(Self.count) pairings: \(paired) with a bond, \(failed) without")
    }

    private static func rig(_ seed: UInt64) -> PairingRig {
        let plan = RandomPairing(seed: seed)
        var rig = PairingRig(plan.configuration, plan.features, seed: seed)
        rig.initiator.outOfBand = plan.outOfBand
        rig.faults = plan.faults
        rig.wrongPasskey = plan.isPasskeyWrong
        rig.disagrees = plan.disagrees
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
