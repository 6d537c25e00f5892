// Codes and commands of the Security Manager Protocol, octet by octet.
import SMP
import Testing
import Wire

@Suite struct SMPPDUTests {
    @Test("codes and reasons have the specification's numbers")
    func numbers() {
        let codes: [SMPCode] = [
            .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .pairingFailed,
            .encryptionInformation, .centralIdentification, .identityInformation,
            .identityAddressInformation, .signingInformation, .securityRequest, .pairingPublicKey,
            .pairingDHKeyCheck, .keypressNotification,
        ]
        #expect(codes.map(\.rawValue) == Array(0x01...0x0E))
        let reasons: [SMPReason] = [
            .passkeyEntryFailed, .oobNotAvailable, .authenticationRequirements,
            .confirmValueFailed, .pairingNotSupported, .encryptionKeySize, .commandNotSupported,
            .unspecifiedReason, .repeatedAttempts, .invalidParameters, .dhKeyCheckFailed,
            .numericComparisonFailed,
        ]
        #expect(reasons.map(\.rawValue) == Array(0x01...0x0C))
        #expect(SMPReason.keyRejected.rawValue == 0x0F)
        #expect("\(SMPReason.repeatedAttempts)" == "Repeated Attempts (0x09)")
        #expect("\(SMPReason(rawValue: 0x77))" == "reason 0x77")
        #expect(IOCapability.allCases.map(\.rawValue) == [0, 1, 2, 3, 4])
    }

    @Test("each command has its octets, and they read back as the same")
    func octets() throws {
        func check<PDU: SMPPDU>(_ pdu: PDU, _ text: String) throws {
            #expect(Hex.string(pdu.pdu) == text)
            let body = Array(pdu.pdu.dropFirst())
            #expect(try PDU(decoding: body.span) == pdu)
            for count in 0..<body.count {
                #expect(throws: WireError.self) { try PDU(decoding: Array(body[..<count]).span) }
            }
            #expect(throws: WireError.self) { try PDU(decoding: (body + [0]).span) }
        }
        try check(PairingFailed(.confirmValueFailed), "0504")
        try check(SecurityRequest([.bonding, .mitm, .secureConnections]), "0B0D")
        try check(
            CentralIdentification(ediv: 0x0102, rand: 0x0304_0506_0708_090A),
            "0702010A09080706050403")
        let address = LinkAddress(DeviceAddress(littleEndian: 0xC011_2233_4455), isRandom: true)
        try check(IdentityAddressInformation(address), "090155443322" + "11C0")
        try check(
            PairingPublicKey(x: [UInt8](0..<32), y: [UInt8](32..<64)),
            "0C" + Hex.string([UInt8](0..<64)))
    }

    @Test("the features of a pairing are six octets")
    func features() throws {
        let octets: [UInt8] = [0x04, 0x01, 0x2D, 0x10, 0x0F, 0x07]
        let features = try PairingFeatures(decoding: octets.span)
        #expect(features.encoded == octets)
        #expect(features.authReq == [.bonding, .mitm, .secureConnections, .ct2])
        #expect(features.initiatorKeyDistribution == [.encryption, .identity, .signing, .linkKey])
        #expect(features.maximumEncryptionKeySize == 16)
    }
}
