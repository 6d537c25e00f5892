// One random pairing between whole hosts, with losses and duplicates at their HCIs, and what holds.
import BLEHost
import Emulator
import HCI
import OpenSSLCrypto
public import Profiles
public import SMP
import SansIO
import Wire

/// A device and a central pair while packets between hosts and controllers are lost or come twice;
/// then the device's power is cut, and the central comes back with the key that it has.
public struct HCIPairing: Sendable {
    public static let text = """
        peripheral-emu: 1
        device: {name: T, address: {type: random-static, value: "C0:11:22:33:44:55"}}
        advertising: [{type: connectable, interval: 20 ms}]
        services:
          - service: 0x1234
            characteristics:
              - {characteristic: 0x5678, label: secret, read: encrypted, value: {hex: "4711"}}
        """
    static let own = LinkAddress(DeviceAddress(littleEndian: 0x0200_0000_0002), isRandom: false)
    static let peer = LinkAddress(DeviceAddress(littleEndian: 0xC011_2233_4455), isRandom: true)

    public private(set) var world: PairingWorld
    public let plan: RandomPairing
    /// What was not as it must be, in words.
    public private(set) var problems: [String] = []
    /// The device's bond as it was stored, and the central's.
    public private(set) var bond: Bond?
    public private(set) var centralBond: Bond?
    /// How it went, in words.
    public private(set) var outcome = ""
    private let secret: UInt16
    private var configuration: SecurityConfiguration

    public init(_ profile: DeviceProfile, seed: UInt64) {
        plan = RandomPairing(seed: seed)
        var profile = profile
        configuration = plan.configuration
        // Nobody is asked: the profile has the answers.
        configuration.confirm = configuration.confirm ?? !plan.disagrees
        if configuration.io == .keyboardOnly || configuration.io == .keyboardDisplay {
            configuration.passkey = configuration.passkey ?? 471_100
        }
        profile.security = configuration
        world = PairingWorld(profile, seed: seed, hasPrivacy: seed % 2 == 0)
        secret = world.device.valueHandle("secret")
        pair(seed)
        check()
        comeBack()
    }

    private mutating func pair(_ seed: UInt64) {
        world.powerOn()
        guard world.find() == Self.peer, world.connect(to: Self.peer) else {
            return problems.append("no link comes about")
        }
        world.misreads = plan.isPasskeyWrong
        world.agrees = !plan.disagrees
        world.faults = plan.faults
        var initiator = PairingInitiator(
            plan.features, own: Self.own, peer: Self.peer, cipher: OpenSSLCipher(),
            random: GeneratorRandom(SeededRandom(seed: seed, stream: "initiator")))
        initiator.outOfBand = plan.outOfBand
        if let passkey = configuration.passkey, configuration.io != .displayOnly {
            initiator.passkey = plan.isPasskeyWrong ? (passkey + 1) % 1_000_000 : passkey
        }
        world.pair(initiator)
        world.faults = PairingRig.Faults()
    }

    private mutating func check() {
        bond = world.state.bonds.first
        centralBond = world.central.bond
        if world.state.bonds.count > 1 { problems.append("one pairing gave several bonds") }
        if world.state.bonds != world.device.host.security.bonds {
            problems.append("what is stored is not what is used")
        }
        var ends: [String] = []
        var isUnbonded = false
        var isRefused = false
        for event in world.events {
            if case .pairingRefused = event { isRefused = true }
            guard case .security(let event) = event else { continue }
            switch event {
            case .ended(_, let end): ends.append("\(end)")
            case .paired(_, nil): isUnbonded = true
            case .paired, .send, .key, .started, .question, .encryption, .forgotten: break
            }
        }
        if let bond {
            compare(bond)
            outcome = method
        } else if isUnbonded {
            outcome = "paired without a bond"
        } else if let end = ends.first {
            outcome = "failed: \(end)"
        } else if world.hasFailed {
            outcome = "failed: the controller was lost"
        } else if isRefused {
            outcome = "failed: refused"
        } else {
            // The device never knew of it, or its link was lost without a word.
            outcome = "failed: the central's alone"
            let reason = world.central.outputs.contains {
                if case .failed = $0 { true } else { false }
            }
            if !reason { problems.append("nobody knows how it ended") }
        }
        let isClean = plan.faults.lost + plan.faults.twice == 0
        if isClean, centralBond != nil, bond == nil, !isUnbonded {
            problems.append("without a fault the central alone is through")
        }
        if isClean, world.hasFailed { problems.append("without a fault the controller was lost") }
    }

    private var method: String {
        for event in world.events {
            guard case .security(.started(_, let method, let isSecure)) = event else { continue }
            return "\(method), \(isSecure ? "LE Secure Connections" : "LE legacy pairing")"
        }
        return "paired without a beginning"
    }

    /// A bond is whole: either the central has the same keys, or it had none to give and has
    /// missed the device's last ones.
    private mutating func compare(_ bond: Bond) {
        guard bond.longTermKey.count == 16, bond.longTermKey.contains(where: { $0 != 0 }) else {
            return problems.append("a bond without a key")
        }
        guard let other = centralBond else {
            if bond.peerIdentityKey != nil || bond.peerSignatureKey != nil {
                problems.append("keys of a central that is not through")
            }
            if plan.faults.lost + plan.faults.twice == 0 {
                problems.append("without a fault the device alone is through")
            }
            return
        }
        let isEqual =
            bond.longTermKey == other.longTermKey && bond.ediv == other.ediv
            && bond.rand == other.rand && bond.quality == other.quality
            && bond.ownSignatureKey == other.peerSignatureKey
            && bond.peerSignatureKey == other.ownSignatureKey
        if !isEqual { problems.append("the keys differ") }
        if let key = bond.peerIdentityKey, key != world.central.initiator?.identityKey {
            problems.append("the central's IRK differs")
        }
        if let key = other.peerIdentityKey, key != world.state.identityKey {
            problems.append("the device's IRK differs")
        }
    }

    /// After a power cut the central encrypts with its key, or cannot.
    private mutating func comeBack() {
        let (known, other) = (bond, centralBond)
        world.restart()
        guard world.find() == Self.peer, world.connect(to: Self.peer) else {
            return problems.append("no link comes about again")
        }
        let request: [UInt8] = [0x0A, UInt8(secret & 0xFF), UInt8(secret >> 8)]
        let before = world.request(request)
        if before.first != 0x01 { problems.append("a secret is told without a key") }
        guard let other else { return }
        let status = world.encrypt(other)
        let after = world.request(request)
        if known == nil {
            if status != .pinOrKeyMissing { problems.append("\(status as Any) without a bond") }
            if after.first != 0x01 { problems.append("a secret is told without a bond") }
        } else {
            if status != .success { problems.append("\(status as Any) with a bond") }
            if after != [0x0B, 0x47, 0x11] { problems.append("the secret is not told: \(after)") }
        }
    }
}
