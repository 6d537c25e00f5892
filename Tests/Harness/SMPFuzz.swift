// Lists of operations on a Security Manager with two links: commands, keys, answers, time.
import OpenSSLCrypto
import SMP
import SansIO
import Wire

enum SMPFuzz {
    /// The commands of whole pairings, as an initiator sends them, for both kinds.
    static func seeds() -> [[UInt8]] {
        [
            (IOCapability.noInputNoOutput, true), (.keyboardOnly, true), (.displayYesNo, true),
            (.keyboardOnly, false),
        ]
        .map { io, isSecure in
            var features = PairingFeatures()
            features.ioCapability = io.rawValue
            features.authReq =
                isSecure ? [.bonding, .mitm, .secureConnections] : [.bonding, .mitm]
            features.initiatorKeyDistribution = [.identity, .signing]
            features.responderKeyDistribution = [.encryption, .identity, .signing]
            var rig = PairingRig(configuration(1), features)
            var bytes: [UInt8] = [1]
            rig.tamper = {
                bytes += [0, UInt8($0.count)] + $0
                return [$0]
            }
            rig.pair()
            return bytes
        }
    }

    private static func configuration(_ octet: UInt8) -> SecurityConfiguration {
        var configuration = SecurityConfiguration()
        let policies = SecurityConfiguration.Policy.allCases
        configuration.policy = policies[Int(octet) % policies.count]
        configuration.io = IOCapability(rawValue: octet >> 2 % 5) ?? .displayYesNo
        configuration.asksAuthentication = octet & 0x20 != 0
        configuration.passkey = octet & 0x40 != 0 ? 123_456 : nil
        configuration.bondsMax = 2
        if octet & 0x80 != 0 { configuration.outOfBand = OutOfBandData() }
        return configuration
    }

    /// An identity, one of its private addresses where it has told this key, and a stranger's.
    private static let peers: [LinkAddress] = {
        let toolbox = Toolbox(OpenSSLCipher())
        let key = (0..<16).map { UInt8($0) }
        return [LinkAddress(DeviceAddress(littleEndian: 1), isRandom: false)]
            + [key, key.reversed()].compactMap { toolbox.resolvableAddress($0, random: 1) }
            .map { LinkAddress($0, isRandom: true) }
    }()

    /// Octet 0 is the configuration. Then operations: the upper bit chooses the link, the others
    /// what is done.
    static func run(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        var manager = SecurityManager(
            configuration(input.octet()), cipher: OpenSSLCipher(),
            random: GeneratorRandom(SeededRandom(seed: 1)))
        let peer = peers[0]
        let own = LinkAddress(DeviceAddress(littleEndian: 0xC000_0000_0002), isRandom: true)
        for link in 0..<2 { manager.connect(link, own: own, peer: peer) }
        var now = Instant.zero
        var given: [Bool] = [false, false]
        while !input.isEmpty {
            let operation = input.octet()
            let link = Int(operation >> 7)
            var emit = Outputs<SecurityEvent>()
            switch operation & 0x0F {
            case 1:
                manager.keyRequested(on: link, ediv: 0, rand: 0, at: now, emit: &emit)
            case 2:
                let state = input.octet()
                manager.encryptionChanged(
                    on: link, isSuccess: state & 1 == 0, isEnabled: state & 2 == 0, at: now,
                    emit: &emit)
            case 3:
                manager.enter(passkey: UInt32(input.uint16()), on: link, at: now, emit: &emit)
            case 4:
                manager.compare(matches: input.octet() & 1 == 0, on: link, at: now, emit: &emit)
            case 5:
                now = now + .seconds(Int64(input.octet()))
                manager.expire(at: now, emit: &emit)
                if let deadline = manager.deadline { precondition(deadline > now, "none is past") }
            case 6:
                manager.disconnect(link, at: now, emit: &emit)
                let place = Int(operation >> 4 & 7) % peers.count
                manager.connect(
                    link, own: own, peer: peers[place],
                    identity: operation & 0x40 != 0 ? peer : nil)
                given[link] = false
            case 7: manager.requestSecurity(of: link, emit: &emit)
            case 8: manager.forget(peer)
            case 9:
                let kind = input.octet() & 1 == 0 ? PrivateAddressKind.resolvable : .nonResolvable
                precondition(manager.privateAddress(kind) != nil, "there is a cipher")
            default:
                let pdu = input.octets(Int(input.octet()))
                manager.receive(pdu.span, from: link, at: now, emit: &emit)
            }
            check(emit, manager, &given)
        }
    }

    private static func check(
        _ emit: Outputs<SecurityEvent>, _ manager: SecurityManager, _ given: inout [Bool]
    ) {
        precondition(emit.count <= 8, "at most eight events a call")
        for event in emit.elements {
            switch event {
            case .send(_, let pdu):
                precondition(!pdu.isEmpty && pdu.count <= 65, "a command fits the channel's MTU")
            case .key(let link, let key):
                guard let key else { continue }
                precondition(key.count == 16 && key.contains { $0 != 0 }, "no key is zero")
                given[link] = true
            case .encryption(let link, let quality):
                precondition(quality == nil || given[link], "a key was given before")
            case .paired(_, let bond):
                precondition(
                    bond.map { $0.longTermKey.count == 16 } ?? true, "a bond has its key")
            case .question, .started, .ended, .forgotten: break
            }
        }
        precondition(manager.bonds.count <= 2, "the limit of bonds is kept")
    }
}
