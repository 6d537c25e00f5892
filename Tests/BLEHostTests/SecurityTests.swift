// The link's real security at the GATT server: what a central gets before, with and without a key.
import BLEHost
import GATT
import HCI
import Harness
import OpenSSLCrypto
import SMP
import SansIO
import Testing
import Wire

/// A host with a bonded central's ways: SMP by `PairingInitiator`, encryption by the controller.
struct SecurityRig {
    static let central = LinkAddress(
        DeviceAddress(littleEndian: 0xC0_1122_3344_55), isRandom: true)

    var rig: PeripheralRig
    private var read = 0

    /// Values that ask for more and more: handles 3, 5, 7 and 9; 11 takes signed writes.
    init(_ configuration: SecurityConfiguration, bonds: [Bond] = []) throws {
        rig = try PeripheralRig()
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1234))
        let levels: [Access] = [
            .encrypted, .authenticated, .secure, Access(.encrypted, keySizeMin: 16),
        ]
        for access in levels {
            try builder.addCharacteristic(
                BluetoothUUID(0x5678), properties: [.read],
                permissions: Permissions(read: access), value: [1])
        }
        try builder.addCharacteristic(
            BluetoothUUID(0x5679), properties: [.read, .authenticatedSignedWrites],
            permissions: Permissions(read: .open, signedWrite: .open), value: [0],
            maximumLength: 4)
        var security = configuration
        security.identityKey = [UInt8](repeating: 3, count: 16)
        var host = PeripheralConfiguration(
            plan: AdvertisingPlan(
                type: .connectable, ownAddressType: .randomDevice, data: [2, 1, 6],
                scanResponse: []),
            interval: AdvertisingInterval(steps: 160), randomAddress: PairingRig.own.address)
        host.security = security
        host.cipher = OpenSSLCipher()
        host.keys = GeneratorRandom(SeededRandom(seed: 9))
        var server = GATTServer(table: try builder.build())
        server.authenticator = OpenSSLAuthenticator()
        rig.host = PeripheralHost(host, server: server)
        rig.host.restore(bonds)
        rig.controller.leBuffers = (251, 200)
        rig.start()
        connect()
    }

    mutating func connect() {
        rig.receive(ScriptedController.connected(handle: 0x40))
    }

    mutating func disconnect() {
        rig.receive(ScriptedController.disconnected(handle: 0x40, .remoteUserTerminated))
    }

    /// Sends a PDU and gives what came back on its channel.
    mutating func exchange(_ pdu: [UInt8], cid: UInt16 = 4) -> [[UInt8]] {
        read = rig.controller.data.count
        for packet in ScriptedController.acl(handle: 0x40, cid: cid, pdu) { rig.receive(packet) }
        return new(cid)
    }

    private func new(_ cid: UInt16) -> [[UInt8]] {
        rig.controller.data[read...].compactMap { Hex.bytes($0) }
            .filter { $0.count > 9 && $0.span.uint16(at: 7) == cid }.map { Array($0[9...]) }
    }

    /// The error of reading `handle`; nil where it is served.
    mutating func error(_ handle: UInt8) -> UInt8? {
        let answer = exchange([0x0A, handle, 0]).first ?? []
        return answer.first == 1 ? answer.last : nil
    }

    /// The controller asks for a key, and says that the link is encrypted.
    mutating func encrypt(ediv: UInt16, rand: UInt64) -> [[UInt8]] {
        var request = LELongTermKeyRequest()
        request.connectionHandle = ConnectionHandle(rawValue: 0x40)
        request.encryptedDiversifier = ediv
        request.randomNumber = rand
        rig.receive(ScriptedController.packet(request))
        guard rig.controller.received.last == "\(Opcode.leLongTermKeyRequestReply)" else {
            return []
        }
        read = rig.controller.data.count
        var change = EncryptionChange()
        change.connectionHandle = request.connectionHandle
        change.encryptionEnabled = 1
        rig.receive(ScriptedController.packet(change))
        return new(6)
    }

    /// Pairs by Just Works; the initiator's bond.
    mutating func pair(_ features: PairingFeatures) throws -> Bond {
        var initiator = PairingInitiator(
            features, own: Self.central, peer: PairingRig.own, cipher: OpenSSLCipher(),
            random: GeneratorRandom(SeededRandom(seed: 4)))
        var outputs = initiator.start()
        while !outputs.isEmpty {
            var next: [PairingInitiator.Output] = []
            for output in outputs {
                var answers: [[UInt8]] = []
                switch output {
                case .send(let pdu): answers = exchange(pdu, cid: 6)
                case .encrypt(let ediv, let rand, _):
                    answers = encrypt(ediv: ediv, rand: rand)
                    next += initiator.encrypted(true)
                case .paired(let bond): return bond
                case .needsPasskey, .shows, .compares, .failed: break
                }
                for answer in answers { next += initiator.receive(answer) }
            }
            outputs = next
        }
        throw CancellationError()
    }
}

@Suite struct SecurityTests {
    private func configuration() -> SecurityConfiguration {
        var configuration = SecurityConfiguration()
        configuration.policy = .any
        return configuration
    }

    private func features(size: UInt8 = 16) -> PairingFeatures {
        var features = PairingFeatures()
        features.ioCapability = IOCapability.noInputNoOutput.rawValue
        features.authReq = [.bonding, .secureConnections]
        features.maximumEncryptionKeySize = size
        features.initiatorKeyDistribution = [.identity, .signing]
        features.responderKeyDistribution = [.identity]
        return features
    }

    @Test("0x05 without a key, 0x0C with a short one, 0x0F with one that is not in use")
    func errors() throws {
        var rig = try SecurityRig(configuration())
        #expect([3, 5, 7, 9].map { rig.error($0) } == [5, 5, 5, 5])
        let bond = try rig.pair(features(size: 10))
        #expect([3, 5, 7, 9].map { rig.error($0) } == [nil, 5, 5, 0x0C])
        let kept = rig.rig.host.security.bonds
        #expect(kept.map(\.longTermKey) == [bond.longTermKey])
        #expect(bond.longTermKey[10...].allSatisfy { $0 == 0 })
        rig.disconnect()
        // Values are not served to a known address without its key (BLESA).
        rig.connect()
        #expect([3, 5, 7, 9].map { rig.error($0) } == [0x0F, 0x0F, 0x0F, 0x0F])
        _ = rig.encrypt(ediv: 0, rand: 0)
        #expect([3, 5, 7, 9].map { rig.error($0) } == [nil, 5, 5, 0x0C])
        // After a restart the stored bond does the same.
        var again = try SecurityRig(configuration(), bonds: kept)
        #expect(again.error(3) == 0x0F)
        _ = again.encrypt(ediv: 0, rand: 0)
        #expect(again.error(3) == nil)
    }

    @Test("the strongest level is served with an authenticated key of 16 octets")
    func strongest() throws {
        var bond = Bond(
            peer: SecurityRig.central, longTermKey: [UInt8](1...16),
            quality: KeyQuality(isAuthenticated: true, isSecureConnections: true, size: 16))
        var rig = try SecurityRig(configuration(), bonds: [bond])
        _ = rig.encrypt(ediv: 0, rand: 0)
        #expect([3, 5, 7, 9].map { rig.error($0) } == [nil, nil, nil, nil])
        bond.quality.isSecureConnections = false
        (bond.ediv, bond.rand) = (7, 8)
        rig = try SecurityRig(configuration(), bonds: [bond])
        _ = rig.encrypt(ediv: 0, rand: 0)
        #expect(rig.error(3) == 0x0F)
        _ = rig.encrypt(ediv: 7, rand: 8)
        #expect([3, 5, 7, 9].map { rig.error($0) } == [nil, nil, 5, nil])
    }

    @Test("a key request without a bond is answered by no key, and for no link too")
    func noKey() throws {
        var rig = try SecurityRig(configuration())
        _ = rig.encrypt(ediv: 0, rand: 0)
        let negative = "\(Opcode.leLongTermKeyRequestNegativeReply)"
        #expect(rig.rig.controller.received.last == negative)
        #expect(rig.error(3) == 5)
        var request = LELongTermKeyRequest()
        request.connectionHandle = ConnectionHandle(rawValue: 0x77)
        let count = rig.rig.controller.received.count
        rig.rig.receive(ScriptedController.packet(request))
        #expect(rig.rig.controller.received[count...] == [negative])
    }

    @Test("encryption that ends, and encryption that nobody gave a key for, opens nothing")
    func encryptionEnds() throws {
        var rig = try SecurityRig(configuration())
        var change = EncryptionChange()
        change.connectionHandle = ConnectionHandle(rawValue: 0x40)
        change.encryptionEnabled = 1
        rig.rig.receive(ScriptedController.packet(change))
        #expect(rig.error(3) == 5)
        _ = try rig.pair(features())
        #expect(rig.error(3) == nil)
        change.encryptionEnabled = 0
        rig.rig.receive(ScriptedController.packet(change))
        #expect(rig.error(3) == 0x0F)
    }

    @Test("a signed write is taken once, with a rising counter, and nothing else of that kind is")
    func signedWrites() throws {
        var rig = try SecurityRig(configuration())
        let bond = try rig.pair(features())
        let key = try #require(bond.ownSignatureKey)
        rig.disconnect()
        rig.connect()
        func signed(_ value: UInt8, _ counter: UInt8, wrong: Bool = false) -> [UInt8] {
            let message: [UInt8] = [0xD2, 11, 0, value, counter, 0, 0, 0]
            let code = OpenSSLAuthenticator().cmac(
                key: key.reversed(), message: message.reversed())
            var pdu = message + code[..<8].reversed()
            if wrong { pdu[pdu.count - 1] ^= 1 }
            return pdu
        }
        var value: UInt8? { rig.rig.host.server.value(of: 11)?.first }
        #expect(rig.exchange(signed(7, 3)).isEmpty)
        #expect(value == 7)
        for pdu in [signed(8, 3), signed(8, 2), signed(8, 4, wrong: true), [0xD2, 11, 0, 8]] {
            #expect(rig.exchange(pdu).isEmpty)
            #expect(value == 7)
        }
        _ = rig.exchange(signed(9, 4))
        #expect(value == 9)
        #expect(rig.rig.host.server.signCounters.map(\.next) == [5])
        // A stranger's are dropped, and values without the property take none.
        var other = try SecurityRig(configuration())
        #expect(other.exchange(signed(1, 0)).isEmpty)
        #expect(other.rig.host.server.value(of: 11) == [0])
    }
}
