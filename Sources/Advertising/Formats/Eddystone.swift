// Eddystone: Google's beacon frames in the service data of 0xFEAA.
import Wire

extension BeaconFormat {
    /// Eddystone-UID: a beacon's namespace and instance.
    static let eddystoneUID = eddystone(
        "eddystone-uid", frame: [0x00],
        [
            .power("tx-power"), BeaconField("namespace", .octets(10...10)),
            BeaconField("instance", .octets(6...6)),
            BeaconField("reserved", .octets(0...2), initial: .octets([0, 0])),
        ])

    /// Eddystone-URL: a short web address.
    static let eddystoneURL = eddystone(
        "eddystone-url", frame: [0x10], [.power("tx-power"), BeaconField("url", .url)])

    /// Eddystone-TLM in the clear: how the beacon is.
    static let eddystoneTLM = eddystone(
        "eddystone-tlm", frame: [0x20, 0x00],
        [
            .optional(
                "battery",
                BeaconNumber(
                    octets: 2, scale: 0.001, absent: 0, unit: "V", limits: 0.001...65.535)),
            .optional(
                "temperature",
                BeaconNumber(
                    octets: 2, isSigned: true, scale: 1 / 256, absent: 0x8000, unit: "°C")),
            .count("advertisements", octets: 4, own: .advertisingEvents),
            BeaconField(
                "uptime", .number(BeaconNumber(octets: 4, scale: 0.1, unit: "s")), own: .uptime),
        ])

    /// Eddystone-EID: an identifier that only its owner can tell; here one that does not change.
    static let eddystoneEID = eddystone(
        "eddystone-eid", frame: [0x30],
        [.power("tx-power"), BeaconField("identifier", .octets(8...8))])

    private static func eddystone(
        _ name: String, frame: [UInt8], _ fields: [BeaconField]
    ) -> BeaconFormat {
        service(
            name, 0xFEAA, prefix: frame,
            preamble: [usualFlags, .serviceUUIDs([BluetoothUUID(0xFEAA)], complete: true)], fields)
    }
}

/// Web addresses in few octets (Eddystone-URL, HTTP URL encoding).
public enum EddystoneURLCode {
    private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
    private static let endings = [
        ".com/", ".org/", ".edu/", ".net/", ".info/", ".biz/", ".gov/", ".com", ".org", ".edu",
        ".net", ".info", ".biz", ".gov",
    ]
    /// Octets behind the transmit power; one of them is the scheme's.
    public static let octetsMax = 18

    /// The shortest octets of a URL; nil where its scheme is none of the four, or where it has
    /// other characters than visible ASCII.
    public static func octets(of url: String) -> [UInt8]? {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let scheme = schemes.firstIndex(where: { url.hasPrefix($0) })
        else { return nil }
        var octets = [UInt8(scheme)]
        var rest = url.dropFirst(schemes[scheme].count)
        while let first = rest.utf8.first {
            if let ending = endings.firstIndex(where: { rest.hasPrefix($0) }) {
                octets.append(UInt8(ending))
                rest = rest.dropFirst(endings[ending].count)
            } else {
                octets.append(first)
                rest = rest.dropFirst()
            }
        }
        return octets
    }

    /// The URL of octets; what has no meaning there is shown as `\u{0E}`.
    static func text(_ octets: [UInt8]) -> String {
        guard let first = octets.first else { return "" }
        let scheme = Int(first) < schemes.count ? schemes[Int(first)] : "\\u{\(first)}"
        return octets.dropFirst().reduce(scheme) { url, octet in
            switch octet {
            case 0..<14: url + endings[Int(octet)]
            case 0x21...0x7E: url + String(UnicodeScalar(octet))
            default: url + "\\u{\(String(octet, radix: 16, uppercase: true))}"
            }
        }
    }
}
