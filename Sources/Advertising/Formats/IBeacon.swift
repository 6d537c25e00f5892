// iBeacon: Apple's proximity beacon.

extension BeaconFormat {
    /// Proximity Beacon Specification, Release R1.
    static let iBeacon = manufacturer(
        "ibeacon", 0x004C, prefix: [0x02, 0x15], preamble: [usualFlags],
        [
            BeaconField("uuid", .uuid), .count("major", octets: 2), .count("minor", octets: 2),
            .power("measured-power"),
            // Some beacons tell their battery in an octet of their own.
            BeaconField("extra", .octets(0...4), initial: .octets([])),
        ])
}
