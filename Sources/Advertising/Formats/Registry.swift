// Every beacon and data format, by name.

extension BeaconFormat {
    /// All formats, by their names; the first one that fits reads a structure.
    public static let all: [BeaconFormat] = [
        .altBeacon,
        .appleOverflow,
        .atc1441,
        .bthome,
        .eddystoneEID,
        .eddystoneTLM,
        .eddystoneUID,
        .eddystoneURL,
        .exposureNotification,
        .fastPair,
        .fastPairAccount,
        .iBeacon,
        .pvvx,
        .ruuvi,
        .swiftPair,
        // Those that are only read, the less particular ones last.
        .bthomeEncrypted,
        .homeKit,
        .apple,
        .estimote,
        .findHub,
        .googleNearby,
        .kkm,
        .miBeacon,
        .microsoftCDP,
        .offlineFinding,
        .qingping,
        .smartTag,
        .switchBot,
        .tile,
    ]

    /// What is in an AD structure's data, where a format reads it.
    static func beacon(_ type: ADType, _ bytes: [UInt8]) -> Beacon? {
        for format in all where format.type == type {
            if let beacon = Beacon(format, bytes) { return beacon }
        }
        return nil
    }
}
