// Reads the advertisements of real products that decoders are tested with.
import Foundation
import Wire

/// One block of Tests/Vectors/advertisements.txt.
struct AdvertisementVector {
    var product = ""
    var octets: [UInt8] = []
    var lines: [String] = []

    /// All blocks; what is not a block of the format ends the test run with an error.
    static func all() throws -> [AdvertisementVector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/advertisements.txt")
        var vectors: [AdvertisementVector] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            let text = parts.count > 1 ? String(parts[1]) : ""
            switch parts[0] {
            case "#", "source": break
            case "product": vectors.append(AdvertisementVector(product: text))
            case "advertising", "scan-response":
                guard let octets = Hex.bytes(text), !vectors.isEmpty else {
                    throw VectorError(line: String(line))
                }
                vectors[vectors.count - 1].octets = octets
            case ">": vectors[vectors.count - 1].lines.append(text)
            default: throw VectorError(line: String(line))
            }
        }
        return vectors
    }
}

struct VectorError: Error { var line: String }
