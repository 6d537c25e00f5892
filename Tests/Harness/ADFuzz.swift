// Advertising data of any origin through the decoder.
import Advertising

enum ADFuzz {
    static func run(_ bytes: [UInt8]) {
        var encoded: [UInt8] = []
        for structure in ADStructures.decode(bytes.span) {
            let text = structure.description
            precondition(!text.isEmpty, "a structure has a line")
            precondition(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a line is one line")
            if case .truncated(let announced) = structure.content {
                encoded.append(UInt8(announced))
                if announced > 0, encoded.count < bytes.count { encoded.append(structure.type.rawValue) }
                encoded += structure.bytes
                precondition(encoded == bytes, "a truncated structure is the last one")
            } else {
                encoded.append(UInt8(structure.bytes.count + 1))
                encoded.append(structure.type.rawValue)
                encoded += structure.bytes
            }
        }
        precondition(bytes.starts(with: encoded), "structures encode to the octets they came from")
        let rest = bytes.dropFirst(encoded.count)
        precondition(rest.isEmpty || rest.first == 0, "only a zero length ends the data early")
    }
}
