// RuuviTag, data format 5 (RAWv2).

extension BeaconFormat {
    /// Ruuvi Sensor Protocols, data format 5: what is not said is not available.
    static let ruuvi = manufacturer(
        "ruuvi", 0x0499, prefix: [0x05], preamble: [usualFlags],
        [
            .optional(
                "temperature",
                BeaconNumber(
                    octets: 2, isSigned: true, scale: 0.005, absent: 0x8000, unit: "°C")),
            .optional(
                "humidity",
                BeaconNumber(
                    octets: 2, scale: 0.0025, absent: 0xFFFF, unit: "%", limits: 0...100)),
            .optional(
                "pressure",
                BeaconNumber(octets: 2, scale: 0.01, offset: 500, absent: 0xFFFF, unit: "hPa")),
            acceleration("acceleration-x"), acceleration("acceleration-y"),
            acceleration("acceleration-z"),
            .optional(
                "voltage",
                BeaconNumber(
                    octets: 2, scale: 0.001, offset: 1.6, lowest: 5, bits: 11, absent: 2047,
                    unit: "V")),
            .optional(
                "tx-power",
                BeaconNumber(
                    octets: 2, scale: 2, offset: -40, bits: 5, isShared: true, absent: 31,
                    unit: "dBm")),
            .optional("movements", BeaconNumber(octets: 1, absent: 0xFF)),
            .optional("sequence", BeaconNumber(octets: 2, absent: 0xFFFF)),
            BeaconField("address", .address(isBigEndian: true), own: .address),
        ])

    private static func acceleration(_ name: String) -> BeaconField {
        .optional(
            name,
            BeaconNumber(octets: 2, isSigned: true, scale: 0.001, absent: 0x8000, unit: "g"))
    }
}
