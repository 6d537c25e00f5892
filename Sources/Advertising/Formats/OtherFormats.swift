// Formats of other products that are named, and read as far as they are simple.

extension BeaconFormat {
    /// KKM's K6 sensor: a frame of its own among Eddystone's.
    static let kkm = service(
        "kkm-sensor", 0xFEAA, prefix: [0x21, 0x01, 0x07],
        [
            number("voltage", 0.001, "V"), number("temperature", 1 / 256, isSigned: true, "°C"),
            number("humidity", 1 / 256, "%"),
            number("acceleration-x", 0.001, isSigned: true, "g"),
            number("acceleration-y", 0.001, isSigned: true, "g"),
            number("acceleration-z", 0.001, isSigned: true, "g"),
        ], isWritten: false)

    private static func number(
        _ name: String, _ scale: Double, isSigned: Bool = false, _ unit: String
    ) -> BeaconField {
        BeaconField(
            name,
            .number(BeaconNumber(octets: 2, isSigned: isSigned, scale: scale, unit: unit)))
    }

    /// Xiaomi's MiBeacon: whether an address and an encrypted object follow, its first octets say.
    static let miBeacon = service(
        "mibeacon", 0xFE95,
        [
            BeaconField("frame-control", .octets(2...2)),
            .count("product", octets: 2, isBigEndian: false), .count("counter", octets: 1),
            rest,
        ], isWritten: false)

    static let estimote = service("estimote", 0xFE9A, [rest], isWritten: false)
    static let findHub = service(
        "google-find-hub", 0xFEAA, prefix: [0x40], [rest], isWritten: false)
    static let googleNearby = service("google-nearby", 0xFEF3, [rest], isWritten: false)
    static let microsoftCDP = manufacturer(
        "microsoft-cdp", 0x0006, prefix: [0x01], [rest], isWritten: false)
    static let offlineFinding = service(
        "samsung-offline-finding", 0xFD69, [rest], isWritten: false)
    static let qingping = service("qingping", 0xFDCD, [rest], isWritten: false)
    static let smartTag = service("samsung-smarttag", 0xFD5A, [rest], isWritten: false)
    static let switchBot = service("switchbot", 0xFD3D, [rest], isWritten: false)
    static let tile = service("tile", 0xFEED, [rest], isWritten: false)

    /// All that is left, as it is on the air.
    private static var rest: BeaconField {
        BeaconField("data", .octets(0...AdvertisingDataLimits.structureDataOctets))
    }
}
