// A person's answers to a phone that pairs, and the smart lock, which asks for authorization.
import Emulator
import Harness
import OpenSSLCrypto
import Profiles
import SMP
import SansIO
import TestFiles
import Testing
import Wire

/// A phone beside the device of a profile.
func phone(of text: String) throws -> PhoneWorld {
    let octets = Array(text.utf8)
    let profile = try ProfileLoader.load(path: "test.yaml", bytes: octets) { _ in
        .failure(FileFailure(reason: "there are no files"))
    }
    var world = PhoneWorld(
        EmulatedDevice(
            profile: profile, seed: 1, authenticator: OpenSSLAuthenticator(),
            cipher: OpenSSLCipher()))
    world.powerOn()
    world.connect()
    return world
}

func phoneFeatures(_ io: IOCapability) -> PairingFeatures {
    var features = PairingFeatures()
    features.ioCapability = io.rawValue
    features.authReq = [.bonding, .mitm, .secureConnections]
    features.maximumEncryptionKeySize = 16
    features.initiatorKeyDistribution = [.encryption, .identity]
    features.responderKeyDistribution = [.encryption, .identity]
    return features
}

@Suite struct PairingAnswerTests {
    private static func profile(_ security: String) -> String {
        """
        peripheral-emu: 1
        device: {name: Lock}
        security: {\(security)}
        advertising: [{type: connectable, interval: 20 ms}]
        services:
          - service: 0x1234
            characteristics:
              - {characteristic: 0x5678, handle: 0x0020, read: authenticated, value: {hex: "47"}}
        """
    }
    private static let read: [UInt8] = [0x0A, 0x21, 0x00]

    @Test(
        "the method is the table's, and people at both sides come to a key",
        arguments: [
            ("io: display", IOCapability.keyboardOnly, "Passkey Entry"),
            ("io: display", .keyboardDisplay, "Passkey Entry"),
            ("io: keyboard", .displayOnly, "Passkey Entry"),
            ("io: keyboard-display", .displayOnly, "Passkey Entry"),
            ("io: keyboard-display", .keyboardDisplay, "Numeric Comparison"),
            ("io: display-yes-no", .displayYesNo, "Numeric Comparison"),
            ("io: display-yes-no", .keyboardOnly, "Passkey Entry"),
        ])
    func methods(_ security: String, _ io: IOCapability, _ method: String) throws {
        var world = try phone(of: Self.profile(security))
        #expect(world.ask(Self.read) == [1, 0x0A, 0x21, 0, 5])
        #expect(world.pair(phoneFeatures(io)) == true)
        #expect(world.lines.contains { $0.contains("pairs: \(method), LE Secure Connections") })
        #expect(world.ask(Self.read) == [0x0B, 0x47])
        #expect(world.device.pairingQuestions.isEmpty && !world.device.awaitsAnswer)
    }

    @Test("a question is said with its time, and what came of it when that ran out")
    func timeOut() throws {
        var world = try phone(of: Self.profile("io: keyboard"))
        world.holdsCommands = false
        var features = phoneFeatures(.displayOnly)
        features.authReq = [.bonding, .mitm]
        world.silence()
        world.beginPairing(features)
        world.run(within: .seconds(1))
        let question = try #require(world.device.pairingQuestions.first)
        #expect(question.asked == .enterPasskey(isShown: true) && question.link == 0)
        #expect(world.lines.contains { $0.hasSuffix("shows, within 25 s") })
        world.run(within: .seconds(26))
        #expect(
            world.lines.contains {
                $0.hasSuffix("nobody answered within 25 s, Passkey Entry Failed (0x01)")
            })
        #expect(world.failure == .passkeyEntryFailed)
        #expect(throws: AnswerError.self) { try world.answer("123456") }
    }

    @Test(
        "what is no answer is refused with a sentence, and the question stays",
        arguments: [
            ("12345", "a passkey has six digits, and 12345 has 5"), ("yes", "is no answer to this"),
            ("1 2 3", "write 123456, yes or no"), ("12345６", "is no passkey"),
            ("123456 7", "'7' does not wait for an answer"), ("", "write 123456, yes or no"),
        ])
    func mistakes(_ line: String, _ problem: String) throws {
        var world = try phone(of: Self.profile("io: keyboard"))
        world.silence()
        world.beginPairing(phoneFeatures(.displayOnly))
        world.run(within: .seconds(1))
        #expect(world.device.awaitsAnswer)
        do throws(AnswerError) {
            try world.answer(line)
            Issue.record("'\(line)' was taken")
        } catch { #expect(error.description.contains(problem), "\(error)") }
        #expect(world.device.awaitsAnswer)
        // The right one by the link's number, whatever the case of words.
        try world.answer("NO 0")
        world.run(within: .seconds(1))
        #expect(world.failure == .passkeyEntryFailed)
    }
}

@Suite struct SmartLockTests {
    private static let state: [UInt8] = [0x12, 0]
    private static let code: [UInt8] = [0x15, 0]
    private static let command: [UInt8] = [0x17, 0]

    private func write(_ handle: [UInt8], _ value: String) -> [UInt8] {
        [0x12] + handle + Array(value.utf8)
    }

    private func paired() throws -> PhoneWorld {
        let text = SourceTree.text("Profiles/smart-lock.yaml")
        var world = try phone(of: text)
        #expect(world.ask([0x12] + Self.command + [1])?.last == 0x05)
        #expect(world.pair(phoneFeatures(.keyboardDisplay)) == true)
        return world
    }

    @Test("its code authorizes, what is unlocked locks itself again, and 30 s later it asks anew")
    func lock() throws {
        var world = try paired()
        #expect(world.ask([0x12] + Self.command + [1])?.last == 0x08)
        #expect(world.ask(write(Self.code, "0000"))?.last == 0x08)
        #expect(world.ask(write(Self.code, "2580")) == [0x13])
        #expect(world.ask([0x12, 0x13, 0, 1, 0]) == [0x13])
        world.send([0x12] + Self.command + [1])
        #expect(
            Set(world.received) == [[0x13], [0x1B] + Self.state + Array("unlocked".utf8)])
        while world.takePDU() != nil {}
        #expect(world.ask([0x0A] + Self.state) == [0x0B] + Array("unlocked".utf8))
        // The second time begins the five seconds anew.
        world.run(within: .seconds(4))
        world.send([0x12] + Self.command + [1])
        while world.takePDU() != nil {}
        world.run(within: .seconds(4))
        #expect(world.ask([0x0A] + Self.state) == [0x0B] + Array("unlocked".utf8))
        world.run(within: .seconds(1))
        #expect(world.takePDU() == [0x1B] + Self.state + Array("locked".utf8))
        #expect(world.ask([0x0A] + Self.state) == [0x0B] + Array("locked".utf8))
        world.run(within: .seconds(30))
        #expect(world.lines.contains { $0.contains("is no longer authorized") })
        #expect(world.ask([0x12] + Self.command + [1])?.last == 0x08)
    }

    @Test("a link that ends takes the authorization with it, and a bond does not bring it back")
    func comesBack() throws {
        var world = try paired()
        #expect(world.ask(write(Self.code, "2580")) == [0x13])
        #expect(world.ask([0x12] + Self.command + [0]) == [0x13])
        world.disconnect()
        world.connect()
        #expect(world.ask([0x12] + Self.command + [0])?.last == 0x0F)
        #expect(world.encrypt() == true)
        #expect(world.ask([0x12] + Self.command + [0])?.last == 0x08)
        world.run(within: .seconds(31))
        #expect(!world.lines.contains { $0.contains("no longer") })
    }

    @Test("the person at the lock authorizes too, by the control socket")
    func byHand() throws {
        var world = try paired()
        var session = ControlSession()
        let answer = world.control(
            &session, #"{"jsonrpc":"2.0","id":1,"method":"authorize","params":[]}"#)
        #expect(answer?.contains(#""link":0"#) == true)
        let words = #""security":["encrypted","authenticated","secure-connections","bonded","#
        #expect(answer?.contains(words + #""authorized"]"#) == true)
        #expect(world.ask([0x12] + Self.command + [0]) == [0x13])
        world.run(within: .seconds(60))
        #expect(world.ask([0x12] + Self.command + [0]) == [0x13])
    }

    @Test("a new version of the profile locks what was unlocked")
    func flash() throws {
        var world = try paired()
        #expect(world.ask(write(Self.code, "2580")) == [0x13])
        #expect(world.ask([0x12] + Self.command + [1]) == [0x13])
        let text = SourceTree.text("Profiles/smart-lock.yaml").replacing("Front", with: "Back")
        let octets = Array(text.utf8)
        world.flash(
            try ProfileLoader.load(path: "test.yaml", bytes: octets) { _ in
                .failure(FileFailure(reason: ""))
            })
        #expect(world.ask([0x0A] + Self.state) == [0x0B] + Array("locked".utf8))
    }
}
