// AES-CMAC against RFC 4493, and the Database Hash of the specification's example.
import GATT
import OpenSSLCrypto
import Profiles
import Testing
import Wire

@Suite struct MessageAuthenticationTests {
    @Test(
        "the codes are those of RFC 4493, section 4",
        arguments: [
            ("", "BB1D6929E95937287FA37D129B756746"),
            ("6BC1BEE22E409F96E93D7E117393172A", "070A16B46B4D4144F79BDD9DD04A287C"),
            (
                "6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E5130C81C46A35CE411",
                "DFA66747DE9AE63030CA32611497C827"
            ),
            (
                "6BC1BEE22E409F96E93D7E117393172AAE2D8A571E03AC9C9EB76FAC45AF8E51"
                    + "30C81C46A35CE411E5FBC1191A0A52EFF69F2445DF4F9B17AD2B417BE66C3710",
                "51F0BEBF7E3B9D92FC49741779363CFE"
            ),
        ])
    func codes(message: String, code: String) throws {
        let key = try #require(Hex.bytes("2B7E151628AED2A6ABF7158809CF4F3C"))
        let octets = try #require(Hex.bytes(message))
        #expect(Hex.string(OpenSSLAuthenticator().cmac(key: key, message: octets)) == code)
    }

    @Test("a key of another length has no code")
    func keyLength() {
        #expect(OpenSSLAuthenticator().cmac(key: [1, 2], message: []) == [])
    }

    // Core 6.0, Vol 3, Part G, Appendix B.
    @Test("the Database Hash of the specification's example, as computed")
    func databaseHash() throws {
        let profile = """
            peripheral-emu: 1
            device: {name: T}
            server: {implicit-services: false, database-hash: as-computed}
            services:
              - service: 0x1800
                characteristics:
                  - {characteristic: 0x2A00, read: open, write: open, value: T}
                  - {characteristic: 0x2A01, read: open, value: {hex: "0000"}}
              - service: 0x1801
                characteristics:
                  - {characteristic: 0x2A05, indicate: open}
                  - {characteristic: 0x2B29, read: open, write: open}
                  - {characteristic: 0x2B2A, read: open}
              - service: 0x1808
                includes: [0x180F]
                characteristics:
                  - characteristic: 0x2A18
                    properties: [read, indicate, extended-properties]
                    read: open
                    indicate: open
                    descriptors:
                      - {descriptor: 0x2902}
                      - {extended-properties: []}
              - service: 0x180F
                type: secondary
                characteristics: [{characteristic: 0x2A19, read: open, value: 100}]
            """
        let loaded = try ProfileLoader.load(path: "p.yaml", bytes: Array(profile.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        let plan = AttributePlan(loaded)
        let hash = plan.table.databaseHash(by: OpenSSLAuthenticator(), order: .asComputed)
        #expect(Hex.string(hash) == "F1CA2D48ECF58BAC8A8830BBB9FBA990")
    }
}
