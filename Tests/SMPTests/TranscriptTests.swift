// Pairings of another suite, PDU by PDU: Tests/Vectors/smp.
import OpenSSLCrypto
import SMP
import SansIO
import TestFiles
import Testing
import Wire

/// Random octets that a transcript tells, in order for each use.
struct ToldRandom: SecurityRandom {
    var told: [(use: RandomUse, octets: [UInt8])] = []

    mutating func octets(_ count: Int, for use: RandomUse) -> [UInt8] {
        guard let place = told.firstIndex(where: { $0.use == use }) else {
            return [UInt8](repeating: 0x5A, count: count)
        }
        return told.remove(at: place).octets
    }
}

/// One transcript at work.
struct TranscriptRun {
    var configuration = SecurityConfiguration()
    var random = ToldRandom()
    var own = LinkAddress(DeviceAddress(), isRandom: false)
    var peer = LinkAddress(DeviceAddress(), isRandom: false)
    var bond: Bond?
    var manager: SecurityManager?
    var events: [SecurityEvent] = []

    init() {
        configuration.policy = .any
        configuration.io = .keyboardDisplay
    }

    /// The manager, which begins with the first line that is no setting.
    mutating func begun() -> SecurityManager {
        if let manager { return manager }
        configuration.identity = own
        var manager = SecurityManager(configuration, cipher: OpenSSLCipher(), random: random)
        if var bond {
            bond.peer = peer
            manager.restore([bond])
        }
        manager.connect(0, own: own, peer: peer)
        return manager
    }

    mutating func act(_ body: (inout SecurityManager, inout Outputs<SecurityEvent>) -> Void) {
        var manager = begun()
        var emit = Outputs<SecurityEvent>()
        body(&manager, &emit)
        events += emit.elements
        self.manager = manager
    }

    /// Takes the next command or key out of what was emitted.
    mutating func next(_ isWanted: (SecurityEvent) -> Bool) -> SecurityEvent? {
        events.firstIndex(where: isWanted).map { events.remove(at: $0) }
    }

    mutating func run(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let word = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "initiator": peer = try address(words)
        case "responder": own = try address(words)
        case "features": try features(words.dropFirst())
        case "random":
            let uses: [String: RandomUse] = [
                "private-key": .privateKey, "pairing-random": .pairingRandom,
                "long-term-key": .longTermKey, "diversifier": .diversifier, "rand": .rand,
                "signature-key": .signatureKey,
            ]
            random.told.append((try #require(uses[word]), try #require(Hex.bytes(words[2]))))
        case "identity-key": configuration.identityKey = try #require(Hex.bytes(word))
        case "bond":
            bond = Bond(
                peer: peer, longTermKey: try #require(Hex.bytes(words[3])),
                ediv: try #require(UInt16(word, radix: 16)),
                rand: try #require(UInt64(words[2], radix: 16)),
                quality: KeyQuality(
                    isAuthenticated: words[4] == "authenticated",
                    isSecureConnections: words[5] == "secure", size: 16))
        default: try step(words[0], words)
        }
    }

    private mutating func step(_ kind: String, _ words: [String]) throws {
        let word = words.count > 1 ? words[1] : ""
        switch kind {
        case "security-request": act { $0.requestSecurity(of: 0, emit: &$1) }
        case ">":
            let pdu = try #require(Hex.bytes(word))
            act { $0.receive(pdu.span, from: 0, at: .zero, emit: &$1) }
        case "<":
            let event = next { if case .send = $0 { true } else { false } }
            #expect(event == .send(link: 0, try #require(Hex.bytes(word))))
        case "enter":
            let passkey = try #require(UInt32(word))
            act { #expect($0.enter(passkey: passkey, on: 0, at: .zero, emit: &$1)) }
        case "compare":
            act { #expect($0.compare(matches: word == "yes", on: 0, at: .zero, emit: &$1)) }
        case "show":
            let passkey = try #require(UInt32(word))
            #expect(
                events.contains(.question(link: 0, .showPasskey(passkey), isAnswered: true)))
        case "key-request":
            let (ediv, rand) = (UInt16(word, radix: 16) ?? 0, UInt64(words[2], radix: 16) ?? 0)
            act { $0.keyRequested(on: 0, ediv: ediv, rand: rand, at: .zero, emit: &$1) }
        case "key":
            let event = next { if case .key = $0 { true } else { false } }
            #expect(event == .key(link: 0, word == "none" ? nil : Hex.bytes(word)))
        case "encrypted":
            act {
                $0.encryptionChanged(on: 0, isSuccess: true, isEnabled: true, at: .zero, emit: &$1)
            }
            #expect(manager?.encryption(of: 0) != nil)
        default: Issue.record("no such line: \(kind)")
        }
    }

    private func address(_ words: [String]) throws -> LinkAddress {
        LinkAddress(try #require(DeviceAddress(words[2])), isRandom: words[1] == "random")
    }

    private mutating func features(_ words: ArraySlice<String>) throws {
        for word in words {
            let pair = word.split(separator: "=")
            let value = try #require(
                UInt8(pair[1], radix: ["io", "size"].contains(pair[0]) ? 10 : 16))
            switch pair[0] {
            case "io": configuration.io = try #require(IOCapability(rawValue: value))
            case "size": configuration.keySizeMax = value
            case "initiator": configuration.initiatorKeys = KeyDistribution(rawValue: value)
            case "responder": configuration.responderKeys = KeyDistribution(rawValue: value)
            case "auth":
                let authReq = AuthenticationRequirements(rawValue: value)
                configuration.policy = authReq.contains(.secureConnections) ? .any : .legacy
                configuration.asksAuthentication = authReq.contains(.mitm)
                configuration.bonding = authReq.contains(.bonding)
            default: Issue.record("no such feature: \(pair[0])")
            }
        }
    }
}

@Suite struct TranscriptTests {
    static let names = SourceTree.files("Tests/Vectors/smp/nimble")

    @Test("there are as many transcripts as the suite has cases")
    func count() { #expect(Self.names.count == 22) }

    @Test("a pairing goes PDU by PDU as in the transcript", arguments: names)
    func transcript(_ name: String) throws {
        let text = SourceTree.text("Tests/Vectors/smp/nimble/" + name)
        let lines = text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        var run = TranscriptRun()
        // What is shown is chosen here, not by a person.
        for line in lines where line.hasPrefix("show ") {
            run.configuration.passkey = UInt32(line.dropFirst(5))
        }
        for line in lines { try run.run(line) }
        #expect(!run.events.contains { if case .send = $0 { true } else { false } })
        let isWhole = lines.contains { $0.hasPrefix("> 0C") || $0.hasPrefix("> 03") }
        if isWhole {
            let isPaired = run.events.contains {
                if case .paired(_, .some) = $0 { true } else { false }
            }
            #expect(isPaired)
        }
    }
}
