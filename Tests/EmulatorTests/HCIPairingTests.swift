// Thousands of pairings of whole hosts, with losses and duplicates between hosts and controllers.
import Emulator
import Glibc
import Harness
import Profiles
import SMP
import Testing
import Wire

@Suite struct HCIPairingTests {
    static let count: UInt64 = getenv("PERIPHERAL_EMU_LONG") != nil ? 10_000 : 200

    @Test("both hosts have equal keys, or a pairing failed with a reason: never half a bond")
    func random() throws {
        let profile = try ProfileLoader.load(path: "t.yaml", bytes: Array(HCIPairing.text.utf8)) {
            _ in .failure(FileFailure(reason: "none"))
        }
        var outcomes: [String: Int] = [:]
        var (lost, twice, bonds) = (0, 0, 0)
        for seed in 1...Self.count {
            let pairing = HCIPairing(profile, seed: seed)
            #expect(pairing.problems.isEmpty, "seed \(seed): \(pairing.outcome)")
            outcomes[pairing.outcome, default: 0] += 1
            lost += pairing.world.lost
            twice += pairing.world.twice
            if pairing.bond != nil { bonds += 1 }
        }
        #expect(bonds > Int(Self.count) / 5 && bonds < Int(Self.count))
        #expect(lost > Int(Self.count) / 10 && twice > Int(Self.count) / 10)
        let words = outcomes.sorted { $0.value > $1.value }.map { "  \($0.value) \($0.key)\n" }
        print(
            "\(Self.count) pairings at the HCI, \(lost) packets lost, \(twice) twice: \(bonds) "
                + "with a bond\n\(words.joined())")
    }
}
