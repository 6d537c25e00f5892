// Thermometers with the open firmware of ATC_MiThermometer, in its two plain formats.

extension BeaconFormat {
    /// The format of atc1441: 13 octets of Environmental Sensing, big-endian.
    static let atc1441 = service(
        "atc1441", 0x181A, preamble: [usualFlags],
        [
            BeaconField("address", .address(isBigEndian: true), own: .address),
            thermometer("temperature", scale: 0.1, isSigned: true, "°C"),
            BeaconField("humidity", .number(.percent)), BeaconField("battery", .number(.percent)),
            thermometer("voltage", scale: 0.001, "V"),
            .count("counter", octets: 1, initial: .number(0)),
        ])

    /// The format of pvvx: 15 octets of Environmental Sensing, little-endian.
    static let pvvx = service(
        "pvvx", 0x181A, preamble: [usualFlags],
        [
            BeaconField("address", .address(isBigEndian: false), own: .address),
            thermometer("temperature", scale: 0.01, isSigned: true, isBigEndian: false, "°C"),
            thermometer("humidity", scale: 0.01, isBigEndian: false, "%", limits: 0...100),
            thermometer("voltage", scale: 0.001, isBigEndian: false, "V"),
            BeaconField("battery", .number(.percent)),
            .count("counter", octets: 1, initial: .number(0)),
            BeaconField("flags", .octets(1...1), initial: .octets([0])),
        ])

    private static func thermometer(
        _ name: String, scale: Double, isSigned: Bool = false, isBigEndian: Bool = true,
        _ unit: String, limits: ClosedRange<Double>? = nil
    ) -> BeaconField {
        BeaconField(
            name,
            .number(
                BeaconNumber(
                    octets: 2, isSigned: isSigned, isBigEndian: isBigEndian, scale: scale,
                    unit: unit, limits: limits)))
    }
}

extension BeaconNumber {
    /// One octet of 0 to 100 %.
    static let percent = BeaconNumber(octets: 1, unit: "%", limits: 0...100)
}
