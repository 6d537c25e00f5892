// Reads the advertisements of real products that decoders are tested with.
import Advertising
import Foundation
import Wire

/// One block of Tests/Vectors/advertisements.txt.
struct AdvertisementVector {
    /// Advertising data or a scan response, and a line for each AD structure.
    struct Part {
        var octets: [UInt8]
        var lines: [String] = []
    }

    var product = ""
    var parts: [Part] = []
    /// What opens an encrypted beacon.
    var address: DeviceAddress?
    var key: [UInt8]?
    /// Fields of the beacon, as another decoder reads them.
    var fields: [(name: String, value: String)] = []

    /// All blocks; what is not a block of the format ends the test run with an error.
    static func all() throws -> [AdvertisementVector] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors/advertisements.txt")
        var vectors: [AdvertisementVector] = []
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            let text = parts.count > 1 ? String(parts[1]) : ""
            if parts[0] == "product" {
                vectors.append(AdvertisementVector(product: text))
            } else if parts[0] != "#", parts[0] != "source" {
                guard !vectors.isEmpty, vectors[vectors.count - 1].take(parts[0], text) else {
                    throw VectorError(line: String(line))
                }
            }
        }
        return vectors
    }

    private mutating func take(_ word: Substring, _ text: String) -> Bool {
        switch word {
        case "advertising", "scan-response":
            guard let octets = Hex.bytes(text) else { return false }
            parts.append(Part(octets: octets))
        case ">":
            guard !parts.isEmpty else { return false }
            parts[parts.count - 1].lines.append(text)
        case "address": address = DeviceAddress(text)
        case "key": key = Hex.bytes(text)
        case "field":
            let words = text.split(separator: " ", maxSplits: 1)
            guard words.count == 2 else { return false }
            fields.append((String(words[0]), String(words[1])))
        default: return false
        }
        return true
    }
}

struct VectorError: Error { var line: String }

extension ADStructure {
    /// Its line, with what is in service or manufacturer data as octets.
    var plainLine: String {
        guard case .beacon = content else { return description }
        let number = Hex.code(bytes.span.uint16(at: 0))
        let word = type == .manufacturerSpecificData ? "manufacturer" : "service data"
        return "\(word) \(number) \(Hex.string(Array(bytes[2...])))"
    }
}

extension Beacon {
    /// A beacon of a format with these values, one for each field that has a name; objects by tag.
    static func named(
        _ name: String, _ values: [BeaconValue], objects: [(UInt8, BeaconValue)] = []
    ) throws -> Beacon {
        guard let format = BeaconFormat.named(name) else { throw VectorError(line: name) }
        var beacon = Beacon(format)
        let indices = beacon.items.indices.filter { !beacon.items[$0].field.name.isEmpty }
        for (index, value) in zip(indices, values) { beacon.items[index].value = value }
        for (tag, value) in objects {
            guard let field = format.objects.first(where: { $0.tag == tag }) else {
                throw VectorError(line: "object \(tag)")
            }
            beacon.items.append(BeaconItem(field, value))
        }
        return beacon
    }
}
