// Encryption on the air: the hosts' commands, equal and different keys, refresh.
import HCI
import OpenSSLCrypto
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct EncryptionTests {
    static let key = [UInt8](1...16)

    private func linked(_ timing: Air.Timing) -> (Bench, ConnectionHandle, ConnectionHandle) {
        var (bench, peripheral, central) = Bench.linked(timing: timing)
        for port in 0...1 { bench.send(port, SetEventMask()) { $0.eventMask = .max } }
        bench.forget()
        return (bench, peripheral, central)
    }

    private func start(_ bench: inout Bench, _ central: ConnectionHandle, _ key: [UInt8]) {
        let status = bench.status(1, LEEnableEncryption()) {
            $0.connectionHandle = central
            $0.randomNumber = 0x1122_3344_5566_7788
            $0.encryptedDiversifier = 0xABCD
            $0.longTermKey = key
        }
        #expect(status == .success)
        bench.run(for: .milliseconds(200))
    }

    private func reply(_ bench: inout Bench, _ handle: ConnectionHandle, _ key: [UInt8]?) {
        if let key {
            let status = bench.status(0, LELongTermKeyRequestReply()) {
                $0.connectionHandle = handle
                $0.longTermKey = key
            }
            #expect(status == .success)
        } else {
            let status = bench.status(0, LELongTermKeyRequestNegativeReply()) {
                $0.connectionHandle = handle
            }
            #expect(status == .success)
        }
        bench.run(for: .milliseconds(200))
    }

    @Test("LE Encrypt is AES-128 with the least significant octet first")
    func encrypt() throws {
        var bench = Bench(controllers: 1)
        bench.air.cipher = OpenSSLCipher()
        // FIPS-197, appendix C.1.
        let answer = bench.answer(0, LEEncrypt()) {
            $0.key = [UInt8](0...15).reversed()
            $0.plaintext = (0...15).reversed().map { UInt8($0 * 0x11) }
        }
        let data = try #require(answer).encryptedData
        #expect(Hex.string(data.reversed()) == "69C4E0D86A7B0430D8CDB78070B4C55A")
    }

    @Test(
        "the peripheral's host is asked for the key, and both are told",
        arguments: ProcedureTests.timings)
    func equalKeys(timing: Air.Timing) throws {
        var (bench, peripheral, central) = linked(timing)
        start(&bench, central, Self.key)
        let request = try #require(bench.events(0, LELongTermKeyRequest.self).first?.event)
        #expect(request.connectionHandle == peripheral)
        #expect(request.randomNumber == 0x1122_3344_5566_7788)
        #expect(request.encryptedDiversifier == 0xABCD)
        #expect(bench.events(1, EncryptionChange.self).isEmpty)
        reply(&bench, peripheral, Self.key)
        for port in 0...1 {
            let changes = bench.events(port, EncryptionChange.self).map(\.event)
            #expect(changes.map(\.status) == [.success])
            #expect(changes.map(\.encryptionEnabled) == [1])
        }
        // A second time the key is refreshed.
        bench.forget()
        start(&bench, central, Self.key)
        reply(&bench, peripheral, Self.key)
        for port in 0...1 {
            #expect(bench.events(port, EncryptionChange.self).isEmpty)
            let events = bench.events(port, EncryptionKeyRefreshComplete.self)
            #expect(events.map(\.event.status) == [.success])
        }
        bench.sendACL(0, peripheral, [1])
        bench.sendACL(1, central, [2])
        bench.run(for: .seconds(1))
        #expect(bench.acl(0).count == 1 && bench.acl(1).count == 1)
    }

    @Test(
        "without a key the central is told so and the link stays", arguments: ProcedureTests.timings
    )
    func noKey(timing: Air.Timing) {
        var (bench, peripheral, central) = linked(timing)
        start(&bench, central, Self.key)
        reply(&bench, peripheral, nil)
        let changes = bench.events(1, EncryptionChange.self).map(\.event)
        #expect(changes.map(\.status) == [.pinOrKeyMissing])
        #expect(changes.map(\.encryptionEnabled) == [0])
        #expect(bench.events(0, EncryptionChange.self).isEmpty)
        bench.sendACL(1, central, [2])
        bench.run(for: .seconds(1))
        #expect(bench.acl(0).count == 1)
    }

    @Test("without a key for the refresh an encrypted link ends")
    func noKeyForRefresh() {
        var (bench, peripheral, central) = linked(.radio)
        start(&bench, central, Self.key)
        reply(&bench, peripheral, Self.key)
        start(&bench, central, Self.key)
        reply(&bench, peripheral, nil)
        let reasons = (0...1).map {
            bench.events($0, DisconnectionComplete.self).map(\.event.reason)
        }
        #expect(reasons == [[.terminatedByLocalHost], [.pinOrKeyMissing]])
    }

    @Test(
        "different keys: one side is off at once, the other hears nothing more",
        arguments: ProcedureTests.timings)
    func differentKeys(timing: Air.Timing) {
        var (bench, peripheral, central) = linked(timing)
        start(&bench, central, Self.key)
        reply(&bench, peripheral, [UInt8](2...17))
        #expect(
            bench.events(0, DisconnectionComplete.self).map(\.event.reason) == [.micFailure])
        #expect(bench.events(1, DisconnectionComplete.self).isEmpty)
        bench.run(for: .seconds(2))
        #expect(
            bench.events(1, DisconnectionComplete.self).map(\.event.reason)
                == [.connectionTimeout])
        #expect(bench.events(1, EncryptionChange.self).isEmpty)
    }

    @Test(
        "a refresh with different keys ends the link likewise", arguments: ProcedureTests.timings)
    func differentKeysForRefresh(timing: Air.Timing) {
        var (bench, peripheral, central) = linked(timing)
        start(&bench, central, Self.key)
        reply(&bench, peripheral, Self.key)
        bench.forget()
        start(&bench, central, [UInt8](3...18))
        reply(&bench, peripheral, Self.key)
        bench.run(for: .seconds(2))
        let reasons = (0...1).map {
            bench.events($0, DisconnectionComplete.self).map(\.event.reason)
        }
        #expect(reasons == [[.micFailure], [.connectionTimeout]])
        for port in 0...1 { #expect(bench.events(port, EncryptionKeyRefreshComplete.self).isEmpty) }
    }

    @Test("only a central begins, one at a time, and only what was asked is answered")
    func outOfTurn() {
        var (bench, peripheral, central) = linked(.radio)
        let wrong = bench.status(0, LEEnableEncryption()) { $0.connectionHandle = peripheral }
        #expect(wrong == .commandDisallowed)
        let early = bench.status(0, LELongTermKeyRequestReply()) {
            $0.connectionHandle = peripheral
        }
        #expect(early == .commandDisallowed)
        let nobody = bench.status(1, LEEnableEncryption()) { $0.connectionHandle = .maximum }
        #expect(nobody == .unknownConnectionIdentifier)
        start(&bench, central, Self.key)
        let second = bench.status(1, LEEnableEncryption()) { $0.connectionHandle = central }
        #expect(second == .commandDisallowed)
    }
}
