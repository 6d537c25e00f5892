// AES-CMAC against RFC 4493. The Database Hash has its transcripts among Tests/Vectors.
import OpenSSLCrypto
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
}
