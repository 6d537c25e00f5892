// Exposure Notification: what phones told each other in the pandemic.
import Wire

extension BeaconFormat {
    /// Exposure Notification Bluetooth Specification 1.2, with the flags of a phone. Identifier and
    /// metadata look random, and change together every ten to twenty minutes.
    static let exposureNotification = service(
        "exposure-notification", 0xFD6F,
        preamble: [
            .flags(AdvertisingFlags(rawValue: 0x1A)),
            .serviceUUIDs([BluetoothUUID(0xFD6F)], complete: true),
        ],
        [BeaconField("identifier", .octets(16...16)), BeaconField("metadata", .octets(4...4))])
}
