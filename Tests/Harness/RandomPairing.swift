// A pairing with everything drawn at random: both sides' features, answers, and what is lost.
import OpenSSLCrypto
public import SMP
import SansIO

/// What both sides are and do in one pairing.
public struct RandomPairing: Sendable {
    public private(set) var configuration = SecurityConfiguration()
    public private(set) var features = PairingFeatures()
    /// The initiator's.
    public private(set) var outOfBand = OutOfBandData()
    public private(set) var faults = PairingRig.Faults()
    /// The passkey that is entered is another one than the one shown.
    public let isPasskeyWrong: Bool
    /// The numbers are said to differ.
    public let disagrees: Bool

    public init(seed: UInt64) {
        var chance = SeededRandom(seed: seed, stream: "plan")
        isPasskeyWrong = chance.below(12) == 0
        disagrees = chance.below(12) == 0
        if chance.below(3) != 0 {
            faults = PairingRig.Faults(lost: chance.below(40), twice: chance.below(40))
        }
        configure(&chance)
        initiate(&chance)
        if chance.below(6) == 0 { exchange(&chance) }
    }

    /// Out of band data of the responder's for the initiator.
    private mutating func exchange(_ chance: inout SeededRandom) {
        var own = OutOfBandData()
        let random = (0..<16).map { _ in UInt8(chance.below(256)) }
        own.temporaryKey = random
        own.ownRandom = random
        own.ownPrivateKey = (1...32).map { UInt8($0) }
        configuration.outOfBand = own
        features.oobDataFlag = 1
        outOfBand.temporaryKey = random
        let cipher = OpenSSLCipher()
        guard let key = own.ownPrivateKey.flatMap({ cipher.publicKey(of: $0) }) else { return }
        let x = [UInt8](key.x.reversed())
        if let confirm = Toolbox(cipher).f4(x, x, random, 0) { outOfBand.peer = (random, confirm) }
    }

    private mutating func configure(_ chance: inout SeededRandom) {
        let policies: [SecurityConfiguration.Policy] = [.any, .any, .legacy, .secureConnections]
        configuration.policy = policies[Int(chance.below(4))]
        configuration.io = IOCapability.allCases[Int(chance.below(5))]
        configuration.asksAuthentication = chance.below(2) == 0
        configuration.requiresAuthentication = chance.below(8) == 0
        configuration.bonding = chance.below(8) != 0
        configuration.keySizeMin = UInt8(7 + chance.below(3))
        configuration.responderKeys = KeyDistribution(rawValue: UInt8(chance.below(8)) | 1)
        configuration.initiatorKeys = KeyDistribution(rawValue: UInt8(chance.below(8)))
        if chance.below(2) == 0 { configuration.passkey = UInt32(chance.below(1_000_000)) }
        if chance.below(2) == 0 { configuration.confirm = true }
        configuration.identityKey = [UInt8](repeating: 0x22, count: 16)
    }

    private mutating func initiate(_ chance: inout SeededRandom) {
        features.ioCapability = IOCapability.allCases[Int(chance.below(5))].rawValue
        if chance.below(2) == 0 { features.authReq.insert(.secureConnections) }
        if chance.below(2) == 0 { features.authReq.insert(.mitm) }
        if chance.below(8) != 0 { features.authReq.insert(.bonding) }
        let size = UInt8(7 + chance.below(10))
        features.maximumEncryptionKeySize = chance.below(4) == 0 ? size : 16
        features.initiatorKeyDistribution = KeyDistribution(rawValue: UInt8(chance.below(16)))
        features.responderKeyDistribution = KeyDistribution(
            rawValue: UInt8(chance.below(16)) | 1)
    }
}
