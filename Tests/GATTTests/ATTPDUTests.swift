// PDUs are read in place; what does not fit its opcode is no PDU.
import GATT
import Testing
import Wire

struct ATTPDUTests {
    static func decode(_ text: String) throws -> ATTPDU {
        let octets = Hex.bytes(text) ?? []
        return try ATTPDU(decoding: octets.span)
    }

    static let whole: [(String, ATTPDU)] = [
        (
            "01 0A 0300 02",
            .errorResponse(request: .readRequest, handle: 3, error: .readNotPermitted)
        ),
        ("02 1700", .exchangeMTURequest(clientRxMTU: 23)),
        ("03 F700", .exchangeMTUResponse(serverRxMTU: 247)),
        ("04 0100 FFFF", .findInformationRequest(start: 1, end: 0xFFFF)),
        (
            "05 01 0100 0028",
            .findInformationResponse(format: 1, entries: OctetRange(offset: 2, count: 4))
        ),
        (
            "06 0100 FFFF 0028 0118",
            .findByTypeValueRequest(
                start: 1, end: 0xFFFF, type: 0x2800, value: OctetRange(offset: 7, count: 2))
        ),
        ("07 0100 0500", .findByTypeValueResponse(entries: OctetRange(offset: 1, count: 4))),
        (
            "08 0100 FFFF 0328",
            .readByTypeRequest(start: 1, end: 0xFFFF, type: BluetoothUUID(0x2803))
        ),
        (
            "09 03 0100 AA 0200 BB",
            .readByTypeResponse(entryLength: 3, entries: OctetRange(offset: 2, count: 6))
        ),
        ("0A 0300", .readRequest(handle: 3)),
        ("0B", .readResponse(value: OctetRange(offset: 1, count: 0))),
        ("0C 0300 1600", .readBlobRequest(handle: 3, offset: 22)),
        ("0D AA", .readBlobResponse(value: OctetRange(offset: 1, count: 1))),
        ("0E 0300 0400", .readMultipleRequest(handles: OctetRange(offset: 1, count: 4))),
        ("0F AA", .readMultipleResponse(values: OctetRange(offset: 1, count: 1))),
        (
            "10 0100 FFFF 107A9B0C2F3E569D1B4C1E0E01001D5A",
            .readByGroupTypeRequest(
                start: 1, end: 0xFFFF,
                type: BluetoothUUID(high: 0x5A1D_0001_0E1E_4C1B, low: 0x9D56_3E2F_0C9B_7A10))
        ),
        (
            "11 06 0100 0500 0118",
            .readByGroupTypeResponse(entryLength: 6, entries: OctetRange(offset: 2, count: 6))
        ),
        ("12 0300 AABB", .writeRequest(handle: 3, value: OctetRange(offset: 3, count: 2))),
        ("13", .writeResponse),
        (
            "16 0300 0100 AA",
            .prepareWriteRequest(handle: 3, offset: 1, value: OctetRange(offset: 5, count: 1))
        ),
        (
            "17 0300 0100",
            .prepareWriteResponse(handle: 3, offset: 1, value: OctetRange(offset: 5, count: 0))
        ),
        ("18 01", .executeWriteRequest(flags: 1)),
        ("19", .executeWriteResponse),
        (
            "1B 0300 AA",
            .handleValueNotification(handle: 3, value: OctetRange(offset: 3, count: 1))
        ),
        ("1D 0300", .handleValueIndication(handle: 3, value: OctetRange(offset: 3, count: 0))),
        ("1E", .handleValueConfirmation),
        ("20 0300 0400", .readMultipleVariableRequest(handles: OctetRange(offset: 1, count: 4))),
        ("21 0100 AA", .readMultipleVariableResponse(entries: OctetRange(offset: 1, count: 3))),
        (
            "23 0300 0000 0400 0000",
            .multipleHandleValueNotification(entries: OctetRange(offset: 1, count: 8))
        ),
        ("52 0300", .writeCommand(handle: 3, value: OctetRange(offset: 3, count: 0))),
        (
            "D2 0300 AA 000102030405060708090A0B",
            .signedWriteCommand(
                handle: 3, value: OctetRange(offset: 3, count: 1),
                signature: OctetRange(offset: 4, count: 12))
        ),
    ]

    @Test("Every PDU is read", arguments: whole)
    func reading(_ text: String, _ expected: ATTPDU) throws {
        #expect(try Self.decode(text) == expected)
    }

    @Test(
        "What does not fit its opcode is invalid, with that opcode",
        arguments: [
            "01 0A 0300", "02", "02 17", "02 170000", "04 0100 FF", "05 01", "05 01 0100 00",
            "05 03 0100 0028", "06 0100 FFFF 00", "07", "07 0100 05", "08 0100 FFFF 03",
            "08 0100 FFFF 032800", "09 01 0100", "09 04 0100 AA 0200 BB", "0A 03", "0A 030000",
            "0C 0300 16", "0E 0300", "0E 0300 04", "10 0100 FFFF 00 28 00 00", "11 03 0100 05",
            "12 03", "13 00", "16 0300 01", "18", "18 0100", "19 00", "1B 03", "1D", "1E 00",
            "20 0300", "20 0300 0400 05", "23 0300", "52 03", "D2 0300 000102030405060708090A",
        ])
    func invalid(_ text: String) throws {
        let opcode = ATTOpcode(rawValue: (Hex.bytes(text) ?? [0])[0])
        #expect(throws: ATTPDUError.invalid(opcode)) { try Self.decode(text) }
    }

    @Test("Opcodes that the specification does not define are unknown")
    func unknown() {
        let known = Set(Self.whole.compactMap { Hex.bytes($0.0)?.first })
        for number in UInt8.min...UInt8.max where !known.contains(number) {
            for length in [1, 5, 21] {
                let octets = [number] + [UInt8](repeating: 0, count: length - 1)
                #expect(throws: ATTPDUError.unknown(ATTOpcode(rawValue: number))) {
                    try ATTPDU(decoding: octets.span)
                }
            }
        }
        #expect(throws: ATTPDUError.empty) { try Self.decode("") }
    }

    @Test("No prefix and no mutation of one octet ends the process; ranges stay within the PDU")
    func mutations() {
        for (text, _) in Self.whole {
            let octets = Hex.bytes(text) ?? []
            for length in 0...octets.count { Self.check(Array(octets[..<length])) }
            for place in octets.indices {
                for mask in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF] as [UInt8] {
                    var mutated = octets
                    mutated[place] ^= mask
                    Self.check(mutated)
                }
            }
        }
    }

    private static func check(_ octets: [UInt8]) {
        guard let pdu = try? ATTPDU(decoding: octets.span) else { return }
        let range: OctetRange? =
            switch pdu {
            case .findInformationResponse(_, let range),
                .findByTypeValueRequest(_, _, _, let range),
                .findByTypeValueResponse(let range), .readByTypeResponse(_, let range),
                .readResponse(let range), .readBlobResponse(let range),
                .readMultipleRequest(let range), .readMultipleResponse(let range),
                .readByGroupTypeResponse(_, let range), .writeRequest(_, let range),
                .writeCommand(_, let range), .signedWriteCommand(_, let range, _),
                .prepareWriteRequest(_, _, let range), .prepareWriteResponse(_, _, let range),
                .handleValueNotification(_, let range), .handleValueIndication(_, let range),
                .readMultipleVariableRequest(let range), .readMultipleVariableResponse(let range),
                .multipleHandleValueNotification(let range):
                range
            case .errorResponse, .exchangeMTURequest, .exchangeMTUResponse,
                .findInformationRequest, .readByTypeRequest, .readRequest, .readBlobRequest,
                .readByGroupTypeRequest, .writeResponse, .executeWriteRequest,
                .executeWriteResponse, .handleValueConfirmation:
                nil
            }
        guard let range else { return }
        #expect(range.offset >= 1 && range.count >= 0 && range.offset + range.count <= octets.count)
    }
}
