// AltBeacon: an open proximity beacon in the manufacturer data of any company.

extension BeaconFormat {
    /// AltBeacon Protocol Specification 1.0. The identifier's 20 octets are told as most receivers
    /// take them: a UUID and two numbers.
    static let altBeacon = BeaconFormat(
        "altbeacon", .manufacturerSpecificData, prefix: [], preamble: [usualFlags],
        [
            BeaconField("company", .company), .fixed(0xBE, 0xAC), BeaconField("uuid", .uuid),
            .count("major", octets: 2), .count("minor", octets: 2), .power("reference-rssi"),
            BeaconField("reserved", .octets(1...1), initial: .octets([0])),
        ])
}
