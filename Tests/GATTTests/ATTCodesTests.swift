// Every opcode and error code is pinned to its literal number.
import GATT
import Testing

struct ATTCodesTests {
    @Test("Opcodes have the specification's numbers")
    func opcodes() {
        let pinned: [(ATTOpcode, UInt8)] = [
            (.errorResponse, 0x01), (.exchangeMTURequest, 0x02), (.exchangeMTUResponse, 0x03),
            (.findInformationRequest, 0x04), (.findInformationResponse, 0x05),
            (.findByTypeValueRequest, 0x06), (.findByTypeValueResponse, 0x07),
            (.readByTypeRequest, 0x08), (.readByTypeResponse, 0x09), (.readRequest, 0x0A),
            (.readResponse, 0x0B), (.readBlobRequest, 0x0C), (.readBlobResponse, 0x0D),
            (.readMultipleRequest, 0x0E), (.readMultipleResponse, 0x0F),
            (.readByGroupTypeRequest, 0x10), (.readByGroupTypeResponse, 0x11),
            (.writeRequest, 0x12), (.writeResponse, 0x13), (.prepareWriteRequest, 0x16),
            (.prepareWriteResponse, 0x17), (.executeWriteRequest, 0x18),
            (.executeWriteResponse, 0x19), (.handleValueNotification, 0x1B),
            (.handleValueIndication, 0x1D), (.handleValueConfirmation, 0x1E),
            (.readMultipleVariableRequest, 0x20), (.readMultipleVariableResponse, 0x21),
            (.multipleHandleValueNotification, 0x23), (.writeCommand, 0x52),
            (.signedWriteCommand, 0xD2),
        ]
        for (opcode, number) in pinned {
            #expect(opcode.rawValue == number)
            #expect(!opcode.description.contains("0x"))
        }
        #expect(ATTOpcode(rawValue: 0x7E).description == "ATT opcode 0x7E")
        let requests: [UInt8] = [2, 4, 6, 8, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20]
        for number in UInt8.min...UInt8.max {
            let opcode = ATTOpcode(rawValue: number)
            #expect(opcode.isRequest == requests.contains(number))
            #expect(opcode.isCommand == (number & 0x40 != 0))
        }
    }

    @Test("Error codes have the specification's numbers and words")
    func errors() {
        let pinned: [(ATTError, UInt8, String)] = [
            (.invalidHandle, 0x01, "Invalid Handle (0x01)"),
            (.readNotPermitted, 0x02, "Read Not Permitted (0x02)"),
            (.writeNotPermitted, 0x03, "Write Not Permitted (0x03)"),
            (.invalidPDU, 0x04, "Invalid PDU (0x04)"),
            (.insufficientAuthentication, 0x05, "Insufficient Authentication (0x05)"),
            (.requestNotSupported, 0x06, "Request Not Supported (0x06)"),
            (.invalidOffset, 0x07, "Invalid Offset (0x07)"),
            (.insufficientAuthorization, 0x08, "Insufficient Authorization (0x08)"),
            (.prepareQueueFull, 0x09, "Prepare Queue Full (0x09)"),
            (.attributeNotFound, 0x0A, "Attribute Not Found (0x0A)"),
            (.attributeNotLong, 0x0B, "Attribute Not Long (0x0B)"),
            (.encryptionKeySizeTooShort, 0x0C, "Encryption Key Size Too Short (0x0C)"),
            (.invalidAttributeValueLength, 0x0D, "Invalid Attribute Value Length (0x0D)"),
            (.unlikelyError, 0x0E, "Unlikely Error (0x0E)"),
            (.insufficientEncryption, 0x0F, "Insufficient Encryption (0x0F)"),
            (.unsupportedGroupType, 0x10, "Unsupported Group Type (0x10)"),
            (.insufficientResources, 0x11, "Insufficient Resources (0x11)"),
            (.databaseOutOfSync, 0x12, "Database Out Of Sync (0x12)"),
            (.valueNotAllowed, 0x13, "Value Not Allowed (0x13)"),
            (.writeRequestRejected, 0xFC, "Write Request Rejected (0xFC)"),
            (.cccdImproperlyConfigured, 0xFD, ""),
            (.procedureAlreadyInProgress, 0xFE, "Procedure Already in Progress (0xFE)"),
            (.outOfRange, 0xFF, "Out of Range (0xFF)"),
        ]
        for (error, number, words) in pinned {
            #expect(error.rawValue == number)
            if !words.isEmpty { #expect(error.description == words) }
        }
        #expect(ATTError(rawValue: 0x80).description == "application error 0x80")
        #expect(ATTError(rawValue: 0x20).description == "error 0x20")
    }

    @Test("Properties have the specification's bits")
    func properties() {
        let bits: [CharacteristicProperties] = [
            .broadcast, .read, .writeWithoutResponse, .write, .notify, .indicate,
            .authenticatedSignedWrites, .extendedProperties,
        ]
        for (place, property) in bits.enumerated() { #expect(property.rawValue == 1 << place) }
    }
}
