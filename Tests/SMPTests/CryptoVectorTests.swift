// The toolbox and its kin against Tests/Vectors/crypto.txt.
import GATT
import OpenSSLCrypto
import SMP
import SansIO
import TestFiles
import Testing
import Wire

/// One line of the file.
struct CryptoVector: CustomTestStringConvertible {
    let function: String
    let name: String
    private let words: [String: String]
    var testDescription: String { name }

    static let all: [CryptoVector] = SourceTree.text("Tests/Vectors/crypto.txt")
        .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { CryptoVector(String($0)) }

    init(_ line: String) {
        let parts = line.split(separator: " ").map(String.init)
        (function, name) = (parts[0], parts[1])
        var words: [String: String] = [:]
        for part in parts[2...] where part != "=>" {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            words[String(pair[0])] = String(pair[1])
        }
        self.words = words
    }

    func text(_ key: String) throws -> String { try #require(words[key], "\(name) has no \(key)") }

    /// Most significant octet first, as in the file.
    func octets(_ key: String) throws -> [UInt8] { try #require(Hex.bytes(try text(key))) }

    /// Least significant octet first, as the toolbox takes it.
    func wire(_ key: String) throws -> [UInt8] { try octets(key).reversed() }

    func has(_ key: String) -> Bool { words[key] != nil }

    /// A type octet and six address octets.
    func address(_ key: String) throws -> LinkAddress {
        let octets = try octets(key)
        return LinkAddress(
            Self.address(octets.suffix(6)), isRandom: octets.count > 6 && octets[0] == 1)
    }

    static func address(_ octets: ArraySlice<UInt8>) -> DeviceAddress {
        DeviceAddress(littleEndian: octets.reduce(0) { $0 << 8 | UInt64($1) })
    }
}

@Suite struct CryptoVectorTests {
    let cipher = OpenSSLCipher()
    var toolbox: Toolbox { Toolbox(cipher) }

    @Test("every function gives the values others agree on", arguments: CryptoVector.all)
    func vector(_ vector: CryptoVector) throws {
        switch vector.function {
        case "AES-CMAC":
            let code = cipher.code(of: try vector.octets("message"), key: try vector.octets("key"))
            #expect(code == (try vector.octets("mac")))
        case "c1": try c1(vector)
        case "s1":
            let key = toolbox.s1(
                try vector.wire("k"), try vector.wire("r1"), try vector.wire("r2"))
            #expect(key == (try vector.wire("stk")))
        case "f4":
            let z = try vector.octets("z")[0]
            let value = toolbox.f4(
                try vector.wire("u"), try vector.wire("v"), try vector.wire("x"), z)
            #expect(value == (try vector.wire("value")))
        case "f5":
            let keys = try #require(
                toolbox.f5(
                    try vector.wire("w"), try vector.wire("n1"), try vector.wire("n2"),
                    try vector.address("a1"), try vector.address("a2")))
            #expect(keys.macKey == (try vector.wire("mac_key")))
            #expect(keys.ltk == (try vector.wire("ltk")))
        case "f6":
            let value = toolbox.f6(
                try vector.wire("w"), try vector.wire("n1"), try vector.wire("n2"),
                try vector.wire("r"), ioCap: try vector.wire("io_cap"),
                try vector.address("a1"), try vector.address("a2"))
            #expect(value == (try vector.wire("value")))
        case "g2":
            let number = toolbox.g2(
                try vector.wire("u"), try vector.wire("v"), try vector.wire("x"),
                try vector.wire("y"))
            #expect(number == UInt32(try vector.text("displayed")))
        case "ah": try ah(vector)
        case "P-256": try curve(vector)
        default: try kin(vector)
        }
    }

    private func c1(_ vector: CryptoVector) throws {
        let value = toolbox.c1(
            try vector.wire("k"), try vector.wire("r"), request: try vector.wire("preq"),
            response: try vector.wire("pres"),
            initiator: LinkAddress(
                try vector.address("ia").address, isRandom: try vector.text("iat") == "1"),
            responder: LinkAddress(
                try vector.address("ra").address, isRandom: try vector.text("rat") == "1"))
        #expect(value == (try vector.wire("confirm")))
    }

    private func ah(_ vector: CryptoVector) throws {
        let irk = try vector.wire("irk")
        #expect(toolbox.ah(irk, try vector.wire("prand")) == (try vector.wire("hash")))
        let octets = try vector.octets("rpa")
        #expect(try vector.octets("rpa_on_air") == octets.reversed())
        var address = LinkAddress(CryptoVector.address(octets[...]), isRandom: true)
        #expect(toolbox.resolves(address, with: irk) == address.isResolvable)
        address = LinkAddress(
            DeviceAddress(littleEndian: address.address.littleEndian ^ 1), isRandom: true)
        #expect(!toolbox.resolves(address, with: irk))
    }

    private func curve(_ vector: CryptoVector) throws {
        guard vector.has("private_a") else {
            let key = PublicKey(x: try vector.octets("public_x"), y: try vector.octets("public_y"))
            #expect(try vector.text("valid") == "no")
            let one = [UInt8](repeating: 0, count: 31) + [1]
            #expect(cipher.sharedSecret(one, with: key) == nil)
            return
        }
        let (a, b) = (try vector.octets("private_a"), try vector.octets("private_b"))
        let publicA = PublicKey(
            x: try vector.octets("public_a_x"), y: try vector.octets("public_a_y"))
        let publicB = PublicKey(
            x: try vector.octets("public_b_x"), y: try vector.octets("public_b_y"))
        #expect(cipher.publicKey(of: a) == publicA)
        #expect(cipher.publicKey(of: b) == publicB)
        let secret = try vector.octets("dhkey")
        #expect(cipher.sharedSecret(a, with: publicB) == secret)
        #expect(cipher.sharedSecret(b, with: publicA) == secret)
    }

    /// Functions that the device does not use, made of the cipher that it does use.
    private func kin(_ vector: CryptoVector) throws {
        func code(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
            cipher.code(of: message, key: key) ?? []
        }
        switch vector.function {
        case "h6":
            let value = toolbox.h6(try vector.wire("w"), keyID: try vector.wire("key_id"))
            #expect(value == (try vector.wire("value")))
        case "h7":
            let value = toolbox.h7(salt: try vector.wire("salt"), try vector.wire("w"))
            #expect(value == (try vector.wire("value")))
        case "h8":
            let inner = code(try vector.octets("s"), try vector.octets("k"))
            #expect(code(inner, try vector.octets("key_id")) == (try vector.octets("value")))
        case "ltk_to_link_key", "link_key_to_ltk":
            let isToLink = vector.function == "ltk_to_link_key"
            let key = try vector.wire(isToLink ? "ltk" : "link_key")
            // "tmp1", "tmp2", "lebr" and "brle" (Core 6.0, Vol 3, Part H, 2.4.2.4 and 2.4.2.5).
            let salt: [UInt8] = [isToLink ? 0x31 : 0x32, 0x70, 0x6D, 0x74]
            let keyID: [UInt8] = isToLink ? [0x72, 0x62, 0x65, 0x6C] : [0x65, 0x6C, 0x72, 0x62]
            let inner =
                try vector.text("ct2") == "yes"
                ? toolbox.h7(salt: salt + [UInt8](repeating: 0, count: 12), key)
                : toolbox.h6(key, keyID: salt)
            let value = toolbox.h6(try #require(inner), keyID: keyID)
            #expect(value == (try vector.wire(isToLink ? "link_key" : "ltk")))
        case "csis_s1":
            let zero = [UInt8](repeating: 0, count: 16)
            #expect(
                code(zero, Array(try vector.text("message_ascii").utf8))
                    == (try vector.octets("salt")))
        case "csis_k1":
            let inner = code(try vector.octets("salt"), try vector.octets("n"))
            #expect(
                code(inner, Array(try vector.text("p_ascii").utf8))
                    == (try vector.octets("value")))
        case "csis_sef":
            let zero = [UInt8](repeating: 0, count: 16)
            let key = try vector.octets("k")
            let inner = code(code(zero, Array("SIRKenc".utf8)), key)
            let mask = code(inner, Array("csis".utf8))
            let value = zip(mask, try vector.octets("sirk")).map { $0 ^ $1 }
            #expect(value == (try vector.octets("value")))
        case "database_hash":
            let zero = [UInt8](repeating: 0, count: 16)
            #expect(code(zero, try vector.octets("message")) == (try vector.octets("hash")))
        case "att_signature": try signature(vector)
        case "att_signature_verify": try signedWrite(vector)
        default: Issue.record("\(vector.function) has no test")
        }
    }

    /// The signature over a message and its counter, as the GATT server checks it.
    private func signature(_ vector: CryptoVector) throws {
        let counter = try #require(UInt32(try vector.text("sign_counter")))
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: counter >> UInt32(8 * $0)) }
        let message = try vector.octets("message_wire_order") + octets
        let code = cipher.code(of: message.reversed(), key: try vector.octets("csrk"))
        let signature = octets + (code ?? [])[..<8].reversed()
        #expect(signature == (try vector.octets("signature_wire_order")))
        guard vector.has("pdu") else { return }
        #expect(message.dropLast(4) + signature == (try vector.octets("pdu")))
        #expect(try isStored(try vector.octets("pdu"), vector))
    }

    private func signedWrite(_ vector: CryptoVector) throws {
        let isValid = try vector.text("valid") == "yes"
        #expect(try isStored(try vector.octets("pdu"), vector) == isValid)
    }

    /// Whether a server stores the value of a Signed Write Command.
    private func isStored(_ pdu: [UInt8], _ vector: CryptoVector) throws -> Bool {
        var builder = AttributeTableBuilder()
        try builder.addService(BluetoothUUID(0x1234))
        for _ in 0..<9 {
            try builder.addCharacteristic(
                BluetoothUUID(0x5678), properties: [.authenticatedSignedWrites],
                permissions: Permissions(signedWrite: .open), value: [], maximumLength: 8)
            try builder.addDescriptor(
                BluetoothUUID(0x2901), permissions: Permissions(signedWrite: .open), value: [],
                maximumLength: 8)
        }
        var server = GATTServer(table: try builder.build())
        server.authenticator = OpenSSLAuthenticator()
        server.connect(0)
        server.setSignatureKey(
            SignatureKey(try vector.octets("csrk_wire_order"), isAuthenticated: false), of: 0)
        var reply = ByteBlock()
        var events = Outputs<ServerEvent>()
        server.receive(pdu.span, from: 0, at: .zero, reply: &reply, emit: &events)
        #expect(reply.isEmpty)
        return events.elements.contains { if case .written = $0 { true } else { false } }
    }

    @Test("keys outside the curve's order or of another length have no public key")
    func badPrivateKeys() {
        #expect(cipher.publicKey(of: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(cipher.publicKey(of: [UInt8](repeating: 0xFF, count: 32)) == nil)
        #expect(cipher.publicKey(of: [1]) == nil)
        #expect(cipher.encrypt([1], key: [UInt8](repeating: 0, count: 16)) == nil)
    }
}
