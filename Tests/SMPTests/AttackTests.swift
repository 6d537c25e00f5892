// Attacks on pairing, each by its name: none gets a key.
import Harness
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import Wire

@Suite struct AttackTests {
    /// Runs a pairing whose commands to the responder are tampered with; nothing may be kept.
    private func attack(
        _ configuration: SecurityConfiguration, _ features: PairingFeatures,
        _ tamper: @escaping ([UInt8]) -> [[UInt8]]
    ) -> PairingRig {
        let rig = attackAllowingEncryption(configuration, features, tamper)
        #expect(rig.manager.encryption(of: 0) == nil)
        return rig
    }

    private func publicKeyAttack(_ change: @escaping ([UInt8]) -> [UInt8]) -> PairingRig {
        attack(configuration(.displayYesNo), features(.displayYesNo)) {
            $0[0] == 0x0C ? [change($0)] : [$0]
        }
    }

    @Test("CVE-2018-5383: a public key off the curve")
    func offCurve() {
        let changes: [([UInt8]) -> [UInt8]] = [
            { $0.dropLast() + [$0[64] ^ 1] },
            // The original attack: Y is zero, on another curve.
            { Array($0[..<33]) + [UInt8](repeating: 0, count: 32) },
            { _ in [0x0C] + [UInt8](repeating: 0, count: 64) },
            { _ in [0x0C] + [UInt8](repeating: 0xFF, count: 64) },
        ]
        for change in changes {
            let rig = publicKeyAttack(change)
            #expect(rig.end == .failed(.dhKeyCheckFailed))
            #expect(rig.sent == [rig.sent[0], [0x05, 0x0B]])
        }
    }

    @Test("a coordinate above the field's prime is no second name of a point")
    func unreducedCoordinate() {
        let cipher = OpenSSLCipher()
        // The point with X = 5 is on the curve; X + p fits into 32 octets.
        var y = [UInt8](repeating: 0, count: 32)
        y = Hex.bytes("459243B9AA581806FE913BCE99817ADE11CA503C64D9A3C533415C083248FBCC") ?? y
        var x = [UInt8](repeating: 0, count: 32)
        x[31] = 5
        let one = [UInt8](repeating: 0, count: 31) + [2]
        #expect(cipher.sharedSecret(one, with: PublicKey(x: x, y: y)) != nil)
        let above = Hex.bytes("FFFFFFFF00000001000000000000000000000001000000000000000000000004")
        #expect(cipher.sharedSecret(one, with: PublicKey(x: above ?? [], y: y)) == nil)
    }

    @Test("CVE-2020-26558: the own public key reflected, also with Y negated")
    func reflectedKey() throws {
        let prime = try #require(
            Hex.bytes("FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF"))
        for isNegated in [false, true] {
            var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
            // The responder's key is the first thing its seed gives.
            var random = GeneratorRandom(SeededRandom(seed: 1, stream: "responder"))
            let key = try #require(
                OpenSSLCipher().publicKey(of: random.octets(32, for: .privateKey)))
            var borrow = 0
            let negated = zip(prime.reversed(), key.y.reversed()).map { pair -> UInt8 in
                let difference = Int(pair.0) - Int(pair.1) - borrow
                borrow = difference < 0 ? 1 : 0
                return UInt8(difference & 0xFF)
            }
            let y = isNegated ? negated : key.y.reversed()
            rig.tamper = {
                $0[0] == 0x0C ? [[0x0C] + key.x.reversed() + y] : [$0]
            }
            rig.pair()
            #expect(rig.end == .failed(.dhKeyCheckFailed))
            #expect(rig.sent.last == [0x05, 0x0B])
            #expect(!rig.sent.contains { $0[0] == 0x0C })
            #expect(rig.manager.bonds.isEmpty)
        }
    }

    @Test("CVE-2020-26558: a confirm value that the responder has sent before")
    func reflectedConfirm() {
        for isSecure in [true, false] {
            var seen: [[UInt8]] = []
            var rig = PairingRig(
                configuration(.displayOnly), features(.keyboardOnly, secure: isSecure))
            rig.pair()
            seen = rig.sent.filter { $0[0] == 3 || $0[0] == 4 }
            let again = attack(
                configuration(.displayOnly), features(.keyboardOnly, secure: isSecure)
            ) { pdu in
                [seen.first { $0[0] == pdu[0] } ?? pdu]
            }
            // With an old passkey LE legacy pairing takes both values, but nobody has the key.
            #expect(again.end == (isSecure ? .failed(.confirmValueFailed) : .disconnected))
        }
    }

    @Test("a round's own confirm value and random value reflected in the next round")
    func reflectedRound() {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        var sent: [[UInt8]] = []
        rig.tamper = { pdu in
            sent.append(pdu)
            return [pdu]
        }
        rig.pair()
        #expect(rig.bond != nil)
        let reflected = rig.sent.filter { $0[0] == 3 || $0[0] == 4 }
        var turn = 0
        let again = attack(configuration(.displayOnly), features(.keyboardOnly)) { pdu in
            guard pdu[0] == 3 || pdu[0] == 4 else { return [pdu] }
            defer { turn += 1 }
            return [turn < 2 ? pdu : reflected[turn - 2]]
        }
        #expect(again.end == .failed(.confirmValueFailed))
    }

    @Test(
        "the key size forced down",
        arguments: [
            (1, 7, 0x06), (6, 7, 0x06), (7, 8, 0x06), (15, 16, 0x06), (17, 7, 0x0A),
            (0, 7, 0x06), (255, 7, 0x0A),
        ])
    func keySize(size: UInt8, least: UInt8, reason: UInt8) {
        for isSecure in [true, false] {
            var configuration = configuration(.noInputNoOutput)
            configuration.keySizeMin = least
            let rig = attack(
                configuration, features(.noInputNoOutput, secure: isSecure, size: size)
            ) { [$0] }
            #expect(rig.sent == [[0x05, reason]])
        }
    }

    @Test("KNOB under Secure Connections alone: a key size of 15")
    func keySizeOfSecureConnections() {
        let rig = attack(
            configuration(.noInputNoOutput, .secureConnections),
            features(.noInputNoOutput, size: 15)
        ) { [$0] }
        #expect(rig.sent == [[0x05, 0x06]])
    }

    @Test("a downgrade from Secure Connections to legacy pairing")
    func downgrade() {
        // Alone, it is refused.
        var rig = attack(
            configuration(.displayOnly, .secureConnections), features(.keyboardOnly)
        ) { pdu in
            pdu[0] == 1 ? [[1, pdu[1], pdu[2], pdu[3] & ~0x08, 16, 7, 7]] : [pdu]
        }
        #expect(rig.sent == [[0x05, 0x03]])
        // Where both kinds are allowed, the request as each side knows it enters the values.
        rig = attack(configuration(.displayOnly), features(.keyboardOnly)) { pdu in
            pdu[0] == 1 ? [[1, pdu[1], pdu[2], pdu[3] & ~0x08, 16, 7, 7]] : [pdu]
        }
        #expect(rig.end != nil)
    }

    @Test("the capabilities changed on their way, to get Just Works")
    func capabilities() {
        for isSecure in [true, false] {
            let rig = attack(
                configuration(.displayOnly), features(.keyboardOnly, secure: isSecure)
            ) { pdu in
                pdu[0] == 1 ? [[1, 3] + pdu[2...]] : [pdu]
            }
            #expect(rig.end != nil)
        }
    }

    @Test("CVE-2019-19194, the zero LTK: encryption is started before the check")
    func zeroKey() {
        for count in 1...3 {
            var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
            var seen = 0
            rig.tamper = { pdu in
                seen += 1
                return seen <= count ? [pdu] : []
            }
            rig.inject(features(.noInputNoOutput).pairingRequest)
            rig.requestKey()
            #expect(rig.events.contains(.key(link: 0, nil)))
            #expect(!rig.events.contains { if case .key(_, .some) = $0 { true } else { false } })
            #expect(rig.end == .failed(.unspecifiedReason))
        }
    }

    @Test("every command out of order ends a pairing, at every step")
    func outOfOrder() {
        let commands: [[UInt8]] = (1...13).map { code in
            let octets = [0, 6, 6, 16, 16, 1, 16, 10, 16, 7, 16, 1, 64, 16][Int(code)]
            return [UInt8(code)] + [UInt8](repeating: 1, count: octets)
        }
        for isSecure in [true, false] {
            // Before the first step there is nothing to end: it is ignored.
            for step in 2...45 {
                for command in commands where command[0] != 5 {
                    var count = 0
                    var rig = PairingRig(
                        configuration(.displayOnly), features(.keyboardOnly, secure: isSecure))
                    var isDone = false
                    rig.tamper = { pdu in
                        count += 1
                        guard count == step else { return [pdu] }
                        isDone = true
                        // Where it is this command's turn, its value is wrong.
                        return [command, pdu]
                    }
                    // Whole pairings take long; the first steps and the last ones are enough.
                    if step > 6, step < 43 { continue }
                    rig.pair()
                    guard isDone, rig.bond != nil else { continue }
                    // Keys of the last phase are values like any other.
                    #expect((6...10).contains(command[0]), "\(command[0]) at \(step)")
                }
            }
        }
    }

    @Test("every command twice ends a pairing")
    func repeated() {
        for isSecure in [true, false] {
            for step in 1...5 {
                var count = 0
                let rig = attackAllowingEncryption(
                    configuration(.displayOnly), features(.keyboardOnly, secure: isSecure)
                ) { pdu in
                    count += 1
                    return count == step ? [pdu, pdu] : [pdu]
                }
                #expect(rig.end != nil, "step \(step)")
            }
        }
    }

    private func attackAllowingEncryption(
        _ configuration: SecurityConfiguration, _ features: PairingFeatures,
        _ tamper: @escaping ([UInt8]) -> [[UInt8]]
    ) -> PairingRig {
        var rig = PairingRig(configuration, features)
        rig.tamper = tamper
        rig.pair()
        #expect(rig.bond == nil)
        #expect(rig.manager.bonds.isEmpty)
        return rig
    }

    @Test("a 21st passkey round")
    func extraRound() {
        var confirms = 0
        var last: [UInt8] = []
        let rig = attack(configuration(.displayOnly), features(.keyboardOnly)) { pdu in
            if pdu[0] == 3 {
                confirms += 1
                last = pdu
            }
            return pdu[0] == 13 ? [last, pdu] : [pdu]
        }
        #expect(confirms == 20)
        #expect(rig.end == .failed(.unspecifiedReason))
    }

    @Test("keys before the link is encrypted")
    func earlyKeys() {
        var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
        rig.inject(features(.noInputNoOutput).pairingRequest)
        rig.inject([8] + [UInt8](repeating: 1, count: 16))
        #expect(rig.end == .failed(.unspecifiedReason))
    }

    @Test("an encryption that nobody gave a key for proves nothing")
    func foreignEncryption() {
        var rig = PairingRig(configuration(.noInputNoOutput), features(.noInputNoOutput))
        var emit = Outputs<SecurityEvent>()
        rig.manager.encryptionChanged(
            on: 0, isSuccess: true, isEnabled: true, at: .zero, emit: &emit)
        #expect(emit.isEmpty)
        #expect(rig.manager.encryption(of: 0) == nil)
        rig.inject(features(.noInputNoOutput).pairingRequest)
        rig.manager.encryptionChanged(
            on: 0, isSuccess: true, isEnabled: true, at: .zero, emit: &emit)
        #expect(rig.manager.encryption(of: 0) == nil)
    }

    @Test("pairing again over an existing bond: a weaker key does not replace it")
    func weakerBond() throws {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        rig.pair()
        let bond = try #require(rig.bond)
        let weaker = [
            features(.noInputNoOutput), features(.keyboardOnly, secure: false),
            features(.keyboardOnly, size: 15),
        ]
        for request in weaker {
            var again = PairingRig(configuration(.displayOnly), request, seed: 2)
            again.manager.restore([bond])
            again.manager.connect(0, own: PairingRig.own, peer: PairingRig.peer)
            again.pair()
            #expect(again.sent == [[0x05, 0x03]])
            #expect(again.manager.bonds == [bond])
        }
        // A phone that has lost its bond pairs again as well as before.
        var again = PairingRig(configuration(.displayOnly), features(.keyboardOnly), seed: 3)
        again.manager.restore([bond])
        again.manager.connect(0, own: PairingRig.own, peer: PairingRig.peer)
        again.pair()
        #expect(again.manager.bonds == [try #require(again.bond)])
        #expect(again.bond?.longTermKey != bond.longTermKey)
    }

    @Test("address cloning: a stranger that claims a bonded peer's identity address")
    func clonedIdentity() throws {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        rig.pair()
        let bond = try #require(rig.bond)
        let stranger = LinkAddress(DeviceAddress(littleEndian: 0xC0DE_0000_0001), isRandom: true)
        var other = PairingRig(
            configuration(.displayOnly), features(.noInputNoOutput), seed: 2, peer: stranger)
        other.manager.restore([bond])
        other.tamper = {
            $0[0] == 9 ? [IdentityAddressInformation(PairingRig.peer).pdu] : [$0]
        }
        other.pair()
        #expect(other.end == .failed(.keyRejected))
        #expect(other.manager.bonds == [bond])
        // Its address alone is worth nothing: it has no key.
        other.manager.connect(5, own: PairingRig.own, peer: PairingRig.peer)
        #expect(other.manager.encryption(of: 5) == nil)
    }

    @Test("an identity address that identifies nobody")
    func badIdentity() {
        for address in [
            LinkAddress(DeviceAddress(littleEndian: 0x4000_0000_0001), isRandom: true),
            LinkAddress(DeviceAddress(littleEndian: 0), isRandom: true),
        ] {
            let rig = attackAllowingEncryption(
                configuration(.noInputNoOutput), features(.noInputNoOutput)
            ) {
                $0[0] == 9 ? [IdentityAddressInformation(address).pdu] : [$0]
            }
            #expect(rig.end == .failed(.invalidParameters))
        }
    }

    @Test("a pairing flood: a thousand requests cost a thousand short answers and no memory")
    func flood() {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        for _ in 0..<1_000 { rig.inject(features(.keyboardOnly).pairingRequest) }
        let responses = rig.sent.filter { $0[0] == 2 }.count
        #expect(responses == 1)
        #expect(rig.sent.dropFirst(2).allSatisfy { $0 == [0x05, 0x09] })
        #expect(rig.sent.count == 1_000)
    }

    @Test("no prefix and no changed octet of any command traps")
    func mutations() {
        var commands: [[UInt8]] = []
        for isSecure in [true, false] {
            var rig = PairingRig(
                configuration(.displayOnly), features(.keyboardOnly, secure: isSecure))
            rig.tamper = {
                commands.append($0)
                return [$0]
            }
            rig.pair()
        }
        for (place, command) in commands.enumerated() where place < 10 || place > 40 {
            for count in 0..<command.count {
                tryOut(Array(command[..<count]), after: commands, place)
            }
            for index in command.indices {
                var changed = command
                changed[index] ^= 0x81
                tryOut(changed, after: commands, place)
            }
            tryOut(command + [0], after: commands, place)
        }
    }

    private func tryOut(_ pdu: [UInt8], after commands: [[UInt8]], _ place: Int) {
        var rig = PairingRig(configuration(.displayOnly), features(.keyboardOnly))
        for command in commands[max(0, place - 3)..<place] { rig.inject(command) }
        rig.inject(pdu)
        rig.inject([])
        #expect(rig.bond == nil)
    }
}
