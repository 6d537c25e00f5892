// The captured sessions in which a phone pairs, on a whole device, with real keys and encryption.
import Emulator
import Harness
import OpenSSLCrypto
import Profiles
import SMP
import SansIO
import TestFiles
import Testing
import Wire

/// What a file of Tests/Vectors/phones/pairing says.
struct PhonePairing {
    let name: String
    var security = ""
    var frames: [(cid: UInt16, pdu: [UInt8])] = []
    var request: [UInt8] = []
    var response: [UInt8] = []
    var says = ""
    var isInterleaved = false
    var indication: [UInt8]?

    init(_ file: String) throws {
        name = String(file.dropLast(4))
        let text = SourceTree.text("Tests/Vectors/phones/pairing/" + file)
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let rest = words.count > 1 ? words[1] : ""
            switch words[0] {
            case "security": security = rest
            case "frame":
                let parts = rest.split(separator: " ")
                frames.append(
                    (
                        try #require(UInt16(parts[0], radix: 16)),
                        try #require(Hex.bytes(parts[1]))
                    ))
            case ">": request = try #require(Hex.bytes(rest))
            case "<": response = try #require(Hex.bytes(rest))
            case "says": says = rest
            case "interleaved": isInterleaved = true
            case "indication": indication = Hex.bytes(rest)
            default: Issue.record("no such line: \(line)")
            }
        }
    }
}

/// A captured session at work.
private struct SessionRun {
    let pairing: PhonePairing
    var world: PhoneWorld
    /// CCCDs as the phone has written them, oldest first.
    var subscriptions: [(handle: UInt16, bits: UInt8)] = []
    private var asked: [UInt8] = []

    init(_ pairing: PhonePairing) throws {
        self.pairing = pairing
        let text =
            SourceTree.text("Tests/Vectors/phones/\(pairing.name)/profile.yaml")
            + "\nsecurity: \(pairing.security)\n"
            + "advertising: [{type: connectable, interval: 20 ms}]\n"
        let octets = Array(text.utf8)
        let profile = try ProfileLoader.load(path: "phone.yaml", bytes: octets) { _ in
            .failure(FileFailure(reason: "there are no files"))
        }
        world = PhoneWorld(
            EmulatedDevice(
                profile: profile, seed: 1, authenticator: OpenSSLAuthenticator(),
                cipher: OpenSSLCipher()))
        #expect(world.powerOn() && world.connect())
    }

    mutating func run() throws {
        for frame in pairing.frames { world.send(frame.pdu, cid: frame.cid) }
        if pairing.isInterleaved {
            world.holdsCommands = true
            try begin()
            world.releaseCommand()
        }
        let text = SourceTree.text("Tests/Vectors/phones/\(pairing.name)/session.txt")
        for (number, line) in text.split(separator: "\n").enumerated() where line.first != "#" {
            try perform(line.split(separator: " ").map(String.init), "line \(number + 1)")
        }
        #expect(world.received == [] && world.others == [])
    }

    private mutating func perform(_ words: [String], _ place: String) throws {
        switch words[0] {
        case ">":
            asked = try #require(Hex.bytes(words[1]))
            world.send(asked)
            // The pairing goes on between requests.
            if pairing.isInterleaved { world.releaseCommand() }
        case "<":
            let pdu = world.takePDU() ?? []
            #expect(Hex.string(pdu) == words[1], "\(place)")
            if pdu == [0x13], asked.count == 5, asked[4] == 0, asked[3] > 0 {
                let handle = asked.span.uint16(at: 1)
                subscriptions.removeAll { $0.handle == handle }
                subscriptions.append((handle, asked[3]))
            }
        case "link":
            #expect(words.contains("encrypted"), "\(place)")
            if !pairing.isInterleaved { try begin() }
            #expect(world.finishPairing() == true, "\(place)")
        case "silence": #expect(world.received == [], "\(place)")
        case "notify": try set(words[1], try #require(Hex.bytes(words[2])))
        default: Issue.record("\(place): no such step: \(words)")
        }
    }

    private mutating func begin() throws {
        var features = PairingFeatures()
        let body = Array(pairing.request.dropFirst())
        features = try PairingFeatures(decoding: body.span)
        world.beginPairing(features)
    }

    private mutating func set(_ handle: String, _ value: [UInt8]) throws {
        let handle = try #require(UInt16(handle.dropFirst(2), radix: 16))
        world.set(value, of: handle)
    }

    /// Reads a descriptor.
    mutating func value(of handle: UInt16) -> [UInt8]? {
        let answer = world.ask(
            [0x0A, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)])
        return answer?.first == 0x0B ? answer.map { Array($0.dropFirst()) } : nil
    }
}

@Suite struct PhoneSessionTests {
    static let names = SourceTree.files("Tests/Vectors/phones/pairing")

    @Test("each session that pairs is there")
    func count() { #expect(Self.names.count == 3) }

    @Test("the session runs through, with the pairing in it", arguments: names)
    func session(_ file: String) throws {
        let pairing = try PhonePairing(file)
        var run = try SessionRun(pairing)
        try run.run()
        // All but which keys are distributed, where each accessory has its own mind.
        let response = try #require(run.world.responses.first)
        #expect(response.dropLast(2) == pairing.response.dropLast(2))
        #expect(run.world.lines.contains { $0.contains("pairs: \(pairing.says)") })
        #expect(run.world.isEncrypted && run.world.bond != nil)
        #expect(run.world.device.host.security.bonds.count == 1)
    }

    @Test(
        "coming back, it has its CCCDs once the link is encrypted, and its indication is confirmed",
        arguments: names)
    func comesBack(_ file: String) throws {
        let pairing = try PhonePairing(file)
        var run = try SessionRun(pairing)
        try run.run()
        let subscriptions = run.subscriptions
        #expect(subscriptions.isEmpty == (pairing.indication == nil))
        run.world.disconnect()
        #expect(run.world.connect() == true)
        for subscription in subscriptions {
            #expect(run.value(of: subscription.handle) == [0, 0])
        }
        #expect(run.world.encrypt() == true)
        if let indication = pairing.indication {
            #expect(run.world.ask(indication) == [0x1E])
        }
        #expect(run.world.received == [])
        for subscription in subscriptions {
            #expect(run.value(of: subscription.handle) == [subscription.bits, 0])
        }
        #expect(!run.world.lines.suffix(6).contains { $0.contains("pairs:") })
        // They are live: nothing is written again.
        let device = run.world.device
        for subscription in subscriptions where subscription.bits == 1 {
            let binding = try #require(
                device.plan.bindings.first { $0.cccdHandle == subscription.handle })
            let value = [UInt8](repeating: 7, count: 1)
            run.world.set(value, of: binding.valueHandle)
            let low = UInt8(truncatingIfNeeded: binding.valueHandle)
            #expect(run.world.takePDU() == [0x1B, low, UInt8(binding.valueHandle >> 8)] + value)
        }
    }
}
