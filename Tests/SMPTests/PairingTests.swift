// Whole pairings of both kinds with every method, and what they leave.
import Harness
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import Wire

/// What an initiator says; everything it can.
func features(
    _ io: IOCapability, secure: Bool = true, mitm: Bool = true, bonding: Bool = true,
    size: UInt8 = 16, initiatorKeys: UInt8 = 7, responderKeys: UInt8 = 7
) -> PairingFeatures {
    var features = PairingFeatures()
    features.ioCapability = io.rawValue
    if bonding { features.authReq.insert(.bonding) }
    if mitm { features.authReq.insert(.mitm) }
    if secure { features.authReq.insert(.secureConnections) }
    features.maximumEncryptionKeySize = size
    features.initiatorKeyDistribution = KeyDistribution(rawValue: initiatorKeys)
    features.responderKeyDistribution = KeyDistribution(rawValue: responderKeys)
    return features
}

func configuration(
    _ io: IOCapability, _ policy: SecurityConfiguration.Policy = .any
) -> SecurityConfiguration {
    var configuration = SecurityConfiguration()
    configuration.policy = policy
    configuration.io = io
    configuration.identityKey = [UInt8](repeating: 0x11, count: 16)
    return configuration
}

@Suite struct MethodTests {
    /// Table 2.8 of Core 6.0, Vol 3, Part H, 2.3.5.1: a row for each responder, a column for each
    /// initiator. J Just Works, S shown here, E entered here, N compared.
    @Test(
        "the method is the table's",
        arguments: [
            (IOCapability.displayOnly, "JJSJS", "JJSJS"),
            (.displayYesNo, "JJSJS", "JNSJN"),
            (.keyboardOnly, "EEEJE", "EEEJE"),
            (.noInputNoOutput, "JJJJJ", "JJJJJ"),
            (.keyboardDisplay, "EESJE", "ENSJN"),
        ])
    func table(responder: IOCapability, legacy: String, secure: String) {
        for (isSecure, row) in [(false, legacy), (true, secure)] {
            for (initiator, letter) in zip(IOCapability.allCases, row) {
                let expected: PairingMethod =
                    switch letter {
                    case "J": .justWorks
                    case "S": .passkeyShown
                    case "E": .passkeyEntered
                    default: .numericComparison
                    }
                let method = PairingMethod(
                    request: features(initiator, secure: isSecure),
                    response: features(responder, secure: true))
                #expect(method == expected, "\(responder) \(initiator) \(isSecure)")
            }
        }
    }

    @Test("nobody asking for protection means Just Works; out of band data come first")
    func flags() {
        var request = features(.keyboardDisplay, mitm: false)
        var response = features(.keyboardDisplay, mitm: false)
        #expect(PairingMethod(request: request, response: response) == .justWorks)
        request.oobDataFlag = 1
        #expect(PairingMethod(request: request, response: response) == .outOfBand)
        request.authReq.remove(.secureConnections)
        #expect(PairingMethod(request: request, response: response) == .justWorks)
        response.oobDataFlag = 1
        #expect(PairingMethod(request: request, response: response) == .outOfBand)
    }
}

@Suite struct PairingTests {
    @Test(
        "both sides come to the same keys, with every pair of capabilities",
        arguments: IOCapability.allCases, IOCapability.allCases)
    func all(responder: IOCapability, initiator: IOCapability) throws {
        for isSecure in [true, false] {
            var configuration = configuration(responder)
            configuration.asksAuthentication = true
            var rig = PairingRig(configuration, features(initiator, secure: isSecure))
            rig.pair()
            let bond = try #require(rig.bond, "\(responder) \(initiator): \(rig.events)")
            let other = try #require(rig.initiatorBond)
            #expect(bond.longTermKey == other.longTermKey)
            #expect((bond.ediv, bond.rand) == (other.ediv, other.rand))
            #expect(bond.quality == other.quality)
            #expect(bond.quality.isAuthenticated == rig.initiator.method.isAuthenticated)
            #expect(bond.quality.isSecureConnections == isSecure)
            #expect(bond.ownSignatureKey == other.peerSignatureKey)
            #expect(bond.peerSignatureKey == other.ownSignatureKey)
            #expect(bond.peerIdentityKey == [UInt8](repeating: 0x77, count: 16))
            #expect(other.peerIdentityKey == [UInt8](repeating: 0x11, count: 16))
            #expect(rig.manager.bonds == [bond])
            #expect(rig.manager.encryption(of: 0) == bond.quality)
        }
    }

    @Test("the shorter key size wins, and the keys are cut to it", arguments: [7, 10, 16])
    func keySize(_ size: UInt8) throws {
        for isSecure in [true, false] {
            var rig = PairingRig(
                configuration(.noInputNoOutput),
                features(.noInputNoOutput, secure: isSecure, size: size))
            rig.pair()
            let bond = try #require(rig.bond)
            #expect(bond.quality.size == size)
            #expect(bond.longTermKey[Int(size)...].allSatisfy { $0 == 0 })
            #expect(bond.longTermKey == rig.initiatorBond?.longTermKey)
        }
    }

    @Test("without bonding on one side nothing is given and nothing is kept")
    func withoutBonding() {
        for isSecure in [true, false] {
            var rig = PairingRig(
                configuration(.displayOnly),
                features(.keyboardOnly, secure: isSecure, bonding: false))
            rig.pair()
            #expect(rig.events.last == .paired(link: 0, nil))
            #expect(rig.manager.bonds.isEmpty)
            #expect(!rig.sent.contains { (6...10).contains($0[0]) })
        }
    }

    @Test("only the keys that both sides name are distributed")
    func distribution() throws {
        for isSecure in [true, false] {
            var rig = PairingRig(
                configuration(.noInputNoOutput),
                features(
                    .noInputNoOutput, secure: isSecure, initiatorKeys: 0x0A, responderKeys: 0x05))
            rig.pair()
            let bond = try #require(rig.bond)
            #expect(
                rig.sent.map { $0[0] }.filter { (6...10).contains($0) }
                    == (isSecure ? [10] : [6, 7, 10]))
            #expect(bond.peerIdentityKey != nil)
            #expect(bond.peerSignatureKey == nil)
        }
    }

    @Test("LE legacy pairing without a distributed LTK leaves no bond")
    func withoutKey() {
        var rig = PairingRig(
            configuration(.noInputNoOutput),
            features(.noInputNoOutput, secure: false, responderKeys: 0x02))
        rig.pair()
        #expect(rig.events.last == .paired(link: 0, nil))
        #expect(rig.manager.bonds.isEmpty)
    }

    @Test("a person who enters another passkey, or finds the numbers different, ends it")
    func wrongAnswers() {
        for isSecure in [true, false] {
            for (mine, peers) in [
                (IOCapability.displayOnly, IOCapability.keyboardOnly),
                (.keyboardOnly, .displayOnly),
            ] {
                var rig = PairingRig(configuration(mine), features(peers, secure: isSecure))
                rig.wrongPasskey = true
                rig.pair()
                #expect(rig.end == .failed(.confirmValueFailed))
                #expect(rig.hasInitiatorFailed)
            }
        }
        var rig = PairingRig(configuration(.displayYesNo), features(.displayYesNo))
        rig.disagrees = true
        rig.pair()
        #expect(rig.end == .failed(.numericComparisonFailed))
        var no = configuration(.displayYesNo)
        no.confirm = false
        var other = PairingRig(no, features(.displayYesNo))
        other.pair()
        #expect(other.end == .failed(.numericComparisonFailed))
    }

    @Test("the profile answers for a person")
    func answered() throws {
        for io in [IOCapability.displayOnly, .keyboardOnly] {
            var configuration = configuration(io)
            configuration.passkey = 123_456
            var rig = PairingRig(configuration, features(.keyboardDisplay))
            rig.pair()
            #expect(rig.bond?.quality.isAuthenticated == true)
        }
        var yes = configuration(.displayYesNo)
        yes.confirm = true
        var rig = PairingRig(yes, features(.displayYesNo))
        rig.pair()
        #expect(rig.bond?.quality.isAuthenticated == true)
    }

    @Test("out of band data prove who the peer is, in both kinds")
    func outOfBand() throws {
        let cipher = OpenSSLCipher()
        var data = OutOfBandData()
        data.temporaryKey = [UInt8](0..<16)
        var configuration = configuration(.noInputNoOutput)
        configuration.outOfBand = data
        var request = features(.noInputNoOutput, secure: false)
        request.oobDataFlag = 1
        var rig = PairingRig(configuration, request)
        rig.initiator.outOfBand = data
        rig.pair()
        #expect(rig.bond?.quality.isAuthenticated == true)
        rig = PairingRig(configuration, request)
        rig.initiator.outOfBand.temporaryKey = [UInt8](1...16)
        rig.pair()
        #expect(rig.end == .failed(.confirmValueFailed))

        // LE Secure Connections: each side has the other's random value and commitment.
        let (a, b) = ([UInt8](repeating: 0xA1, count: 32), [UInt8](repeating: 0xB2, count: 32))
        let (ra, rb) = ([UInt8](repeating: 3, count: 16), [UInt8](repeating: 4, count: 16))
        func commitment(_ key: [UInt8], _ random: [UInt8]) throws -> [UInt8] {
            let x: [UInt8] = try #require(cipher.publicKey(of: key)).x.reversed()
            return try #require(Toolbox(cipher).f4(x, x, random, 0))
        }
        var mine = OutOfBandData()
        (mine.ownPrivateKey, mine.ownRandom) = (b, rb)
        mine.peer = (ra, try commitment(a, ra))
        var peers = OutOfBandData()
        (peers.ownPrivateKey, peers.ownRandom) = (a, ra)
        peers.peer = (rb, try commitment(b, rb))
        configuration.outOfBand = mine
        request = features(.noInputNoOutput)
        request.oobDataFlag = 1
        rig = PairingRig(configuration, request)
        rig.initiator.outOfBand = peers
        rig.pair()
        #expect(
            rig.bond?.quality
                == KeyQuality(
                    isAuthenticated: true, isSecureConnections: true, size: 16))
        rig = PairingRig(configuration, request)
        rig.initiator.outOfBand = peers
        rig.initiator.outOfBand.ownPrivateKey = [UInt8](repeating: 9, count: 32)
        rig.pair()
        #expect(rig.end == .failed(.confirmValueFailed))
    }

    @Test("the central comes back with its bond; without one, or after forgetting, it has no key")
    func comingBack() throws {
        for isSecure in [true, false] {
            var rig = PairingRig(
                configuration(.displayOnly), features(.keyboardOnly, secure: isSecure))
            rig.pair()
            let bond = try #require(rig.bond)
            rig.disconnect()
            #expect(rig.manager.encryption(of: 0) == nil)
            var manager = SecurityManager(
                configuration(.displayOnly), cipher: OpenSSLCipher(),
                random: GeneratorRandom(SeededRandom(seed: 5)))
            manager.restore([bond])
            manager.connect(3, own: PairingRig.own, peer: PairingRig.peer)
            var emit = Outputs<SecurityEvent>()
            manager.keyRequested(on: 3, ediv: bond.ediv, rand: bond.rand, at: .zero, emit: &emit)
            manager.encryptionChanged(
                on: 3, isSuccess: true, isEnabled: true, at: .zero, emit: &emit)
            #expect(
                emit.elements == [
                    .key(link: 3, bond.longTermKey), .encryption(link: 3, bond.quality),
                ])
            emit.removeAll()
            manager.keyRequested(on: 3, ediv: 1, rand: bond.rand, at: .zero, emit: &emit)
            manager.forget(PairingRig.peer)
            manager.keyRequested(on: 3, ediv: bond.ediv, rand: bond.rand, at: .zero, emit: &emit)
            #expect(emit.elements == [.key(link: 3, nil), .key(link: 3, nil)])
        }
    }

    @Test("a peer with a new resolvable private address is known by its identity key")
    func resolving() throws {
        var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
        rig.pair()
        let irk = [UInt8](repeating: 0x77, count: 16)
        let toolbox = Toolbox(OpenSSLCipher())
        let hash = try #require(toolbox.ah(irk, [1, 2, 0x43]))
        let octets = hash + [1, 2, 0x43]
        let address = octets.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rig.manager.connect(
            1, own: PairingRig.own,
            peer: LinkAddress(DeviceAddress(littleEndian: address), isRandom: true))
        #expect(rig.manager.bond(of: 1) == rig.bond)
        rig.manager.connect(
            2, own: PairingRig.own,
            peer: LinkAddress(DeviceAddress(littleEndian: address ^ 1), isRandom: true))
        #expect(rig.manager.bond(of: 2) == nil)
    }

    @Test("the bond unused longest gives way when there are too many")
    func bondLimit() {
        var configuration = configuration(.noInputNoOutput)
        configuration.bondsMax = 2
        var rig = PairingRig(configuration, features(.noInputNoOutput))
        rig.pair()
        let bonds = rig.manager.bonds
        var others: [Bond] = []
        for number in 1...2 {
            var bond = bonds[0]
            bond.peer.address = DeviceAddress(littleEndian: UInt64(number))
            others.append(bond)
        }
        rig.manager.restore(others + bonds)
        #expect(rig.manager.bonds.map(\.peer) == [others[1].peer, bonds[0].peer])
        var next = PairingRig(configuration, features(.noInputNoOutput))
        next.manager.restore(others)
        next.pair()
        #expect(next.events.contains(.forgotten(others[0].peer)))
        #expect(next.manager.bonds.map(\.peer) == [others[1].peer, PairingRig.peer])
    }

    @Test("30 s without the next command end it, and the link stays silent")
    func timeOut() {
        var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
        rig.tamper = { $0[0] == 0x0C ? [] : [$0] }
        rig.pair()
        #expect(rig.end == .timedOut)
        #expect(rig.now >= .zero + .seconds(30) && rig.now < .zero + .seconds(31))
        let count = rig.sent.count
        rig.inject(features(.noInputNoOutput).pairingRequest)
        #expect(rig.sent.count == count)
    }

    @Test("a person who does not answer within the limit ends it")
    func silentPerson() {
        var rig = PairingRig(configuration(.keyboardOnly), features(.displayOnly))
        rig.inject(features(.displayOnly, secure: false).pairingRequest)
        rig.manager.connect(1, own: PairingRig.own, peer: PairingRig.peer)
        var emit = Outputs<SecurityEvent>()
        let request = features(.displayOnly, secure: false).pairingRequest
        rig.manager.receive(request.span, from: 1, at: .zero, emit: &emit)
        #expect(rig.manager.awaitsAnswer(on: 1))
        let question = rig.manager.question(on: 1)
        #expect(question?.question == .enterPasskey(isShown: true))
        #expect(question?.deadline == .zero + .seconds(25))
        #expect(rig.manager.deadline == .zero + .seconds(25))
        emit.removeAll()
        rig.manager.expire(at: .zero + .seconds(25), emit: &emit)
        #expect(
            emit.elements.contains(
                .ended(link: 1, .unanswered(.passkeyEntryFailed, .seconds(25)))))
        #expect(rig.manager.question(on: 1) == nil)
    }

    @Test("a central that failed has to wait, each time longer")
    func waiting() {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        rig.wrongPasskey = true
        rig.pair()
        let request = features(.keyboardOnly).pairingRequest
        func answer(_ manager: inout SecurityManager, at now: Instant) -> [UInt8] {
            var emit = Outputs<SecurityEvent>()
            manager.receive(request.span, from: 0, at: now, emit: &emit)
            for case .send(_, let pdu) in emit.elements { return pdu }
            return []
        }
        var manager = rig.manager
        let failed = rig.now
        #expect(answer(&manager, at: failed + .milliseconds(900)) == [5, 9])
        let now = failed + .milliseconds(1_100)
        #expect(answer(&manager, at: now).first == 2)
        var emit = Outputs<SecurityEvent>()
        manager.receive([5, 8].span, from: 0, at: now, emit: &emit)
        #expect(answer(&manager, at: now + .milliseconds(1_900)) == [5, 9])
        #expect(answer(&manager, at: now + .milliseconds(2_100)).first == 2)
    }

    @Test("outside its window a device does not pair")
    func window() {
        var configuration = configuration(.noInputNoOutput)
        configuration.window = .seconds(60)
        let request = features(.noInputNoOutput).pairingRequest
        var manager = SecurityManager(
            configuration, cipher: OpenSSLCipher(), random: GeneratorRandom(SeededRandom(seed: 1)))
        func answer(at now: Instant) -> [UInt8] {
            manager.connect(0, own: PairingRig.own, peer: PairingRig.peer)
            var emit = Outputs<SecurityEvent>()
            manager.receive(request.span, from: 0, at: now, emit: &emit)
            for case .send(_, let pdu) in emit.elements { return pdu }
            return []
        }
        let on = Instant.zero + .seconds(100)
        manager.start(at: on)
        #expect(answer(at: on + .seconds(59)).first == 2)
        #expect(answer(at: on + .seconds(60)) == [5, 5])
        manager.openWindow(for: .seconds(10), at: on + .seconds(70))
        #expect(answer(at: on + .seconds(79)).first == 2)
        #expect(answer(at: on + .seconds(80)) == [5, 5])
    }

    @Test("the security of a link is asked for once it is not encrypted")
    func securityRequest() {
        var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
        var emit = Outputs<SecurityEvent>()
        rig.manager.requestSecurity(of: 0, emit: &emit)
        #expect(emit.elements == [.send(link: 0, [0x0B, 0x09])])
        rig.pair()
        emit.removeAll()
        rig.manager.requestSecurity(of: 0, emit: &emit)
        #expect(emit.isEmpty)
    }
}

extension PairingFeatures {
    var pairingRequest: [UInt8] { [1] + encoded }
}
