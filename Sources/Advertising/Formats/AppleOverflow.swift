// The overflow area: how an iPhone advertises services of apps that are in the background.
extension BeaconFormat {
    /// Apple's type 0x01. Each service UUID sets one of 128 bits; which one, Apple does not say.
    /// The flags are those of a phone: general discoverable, LE and BR/EDR at once.
    static let appleOverflow = manufacturer(
        "apple-overflow", 0x004C, prefix: [0x01],
        preamble: [.flags(AdvertisingFlags(rawValue: 0x1A))],
        [BeaconField("mask", .octets(16...16))])
}
