// What Apple's devices tell each other and HomeKit accessories tell them; it is only read.

extension BeaconFormat {
    /// Apple's Continuity: records of a type and a length. Their names are those of research
    /// (Martin and others, "Handoff All Your Privacy", 2019); Apple has published none.
    static let apple = BeaconFormat(
        "apple", .manufacturerSpecificData, prefix: [0x4C, 0x00], [],
        objects: [
            record(0x03, "airprint"), record(0x05, "airdrop"), record(0x07, "proximity-pairing"),
            record(0x08, "hey-siri"), record(0x09, "airplay-target"),
            record(0x0A, "airplay-source"), record(0x0B, "magic-switch"), record(0x0C, "handoff"),
            record(0x0D, "tethering-target"), record(0x0E, "tethering-source"),
            record(0x0F, "nearby-action"), record(0x10, "nearby-info"), record(0x12, "find-my"),
            record(0x16, "type-0x16"),
        ], isWritten: false)

    private static func record(_ type: UInt8, _ name: String) -> BeaconField {
        BeaconField(name, .counted(isText: false), tag: type)
    }

    /// HomeKit Accessory Protocol, 7.4.2.1: the second octet holds the length in its low five bits.
    static let homeKit = manufacturer(
        "homekit", 0x004C, prefix: [0x06],
        [
            BeaconField("length", .octets(1...1)), .count("status-flags", octets: 1),
            BeaconField("device-id", .address(isBigEndian: true)),
            .count("category", octets: 2, isBigEndian: false),
            .count("state-number", octets: 2, isBigEndian: false),
            .count("configuration", octets: 1), .count("compatible-version", octets: 1),
            BeaconField("setup-hash", .octets(0...4)),
        ], isWritten: false)
}
