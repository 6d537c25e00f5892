// A beacon as an entry of a profile: what was heard can be advertised.
public import Advertising
public import Profiles
import Wire

/// Profiles that make beacons.
public enum BeaconProfile {
    /// The entry of `data:` in flow style; nil where no profile can say it.
    public static func entry(of beacon: Beacon) -> String? {
        guard beacon.format.isWritten, beacon.key == nil else { return nil }
        var fields: [String] = []
        var objects: [String] = []
        for item in beacon.items where !item.field.name.isEmpty {
            if item.value == .absent { continue }
            guard let value = value(of: item) else { return nil }
            if let tag = item.field.tag {
                objects.append("{object: \(Hex.code(tag)), value: \(value)}")
            } else {
                fields.append("\(item.field.name): \(value)")
            }
        }
        if !objects.isEmpty { fields.append("objects: [\(objects.joined(separator: ", "))]") }
        return "{\(beacon.format.name): {\(fields.joined(separator: ", "))}}"
    }

    /// The beacon that a profile with this entry makes.
    public static func load(_ entry: String) throws(ProfileErrors) -> Beacon? {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            advertising: [{type: non-connectable, interval: 1 s, data: [\(entry)]}]

            """
        let profile = try ProfileLoader.load(path: "beacon.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "there are no other files"))
        }
        return profile.advertising.first?.data.first?.beacon
    }

    private static func value(of item: BeaconItem) -> String? {
        switch (item.field.kind, item.value) {
        case (.octets, .octets(let octets)), (.typed, .octets(let octets)),
            (.counted(isText: false), .octets(let octets)):
            item.field.name == "unread" ? nil : "\"\(Hex.string(octets))\""
        case (_, .octets(let octets)):
            // Text that is no text in UTF-8 cannot be said.
            String(validating: octets, as: UTF8.self).flatMap { _ in
                // A combining mark behind the quote makes it no other quote.
                item.text.map {
                    yamlText($0.utf8.first == UInt8(ascii: "\"") ? octets : Array($0.utf8))
                }
            }
        case (_, .boolean(let value)): "\(value)"
        case (_, .uuid(let uuid)): "\"\(uuid)\""
        case (_, .address(let address)): "\"\(address)\""
        case (_, .absent), (_, .number), (_, .word), (_, .company): item.text
        }
    }

    /// Double-quoted: every character but plain ones by its number.
    private static func yamlText(_ octets: [UInt8]) -> String {
        let text = String(decoding: octets, as: UTF8.self).unicodeScalars.map { scalar in
            if scalar.isASCII, scalar.value >= 0x20, scalar != "\"", scalar != "\\",
                scalar.value != 0x7F
            {
                return String(scalar)
            }
            let digits = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
        }
        return "\"\(text.joined())\""
    }
}
