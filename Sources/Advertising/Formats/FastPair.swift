// Google Fast Pair: how an accessory says what it is to phones that are near.

extension BeaconFormat {
    /// Discoverable: the model's number at Google. It stands beside the accessory's own flags.
    static let fastPair = service(
        "fast-pair", 0xFE2C, [BeaconField("model-id", .octets(3...3))])

    /// Not discoverable: a filter that tells the owners' phones, and the batteries' levels.
    static let fastPairAccount = service(
        "fast-pair-account", 0xFE2C, prefix: [0x00],
        [
            typed("account-filter", 0), typed("hidden-account-filter", 2), typed("salt", 1),
            typed("battery", 3), typed("hidden-battery", 4), typed("resolvable-data", 5),
        ])

    private static func typed(_ name: String, _ type: UInt8) -> BeaconField {
        BeaconField(name, .typed(type), initial: .absent)
    }
}
