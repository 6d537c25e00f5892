// Microsoft Swift Pair: what makes Windows offer to pair.

extension BeaconFormat {
    /// Pairing over Bluetooth LE only; the octet of the received power is reserved. It stands
    /// beside the accessory's own flags and name.
    static let swiftPair = manufacturer(
        "swift-pair", 0x0006, prefix: [0x03, 0x00, 0x80],
        [BeaconField("name", .text, initial: .octets([]))])
}
