// BTHome v2: measurements and events, each behind the number of its kind.

extension BeaconFormat {
    /// BTHome v2 in the clear (bthome.io/format).
    static let bthome = service(
        "bthome", 0xFCD2, preamble: [usualFlags],
        [
            BeaconField(
                "trigger-based", .boolean(no: 0x40, yes: 0x44), initial: .boolean(false))
        ], objects: BTHome.objects)

    /// The same, encrypted, as it is on the air: whoever has the key opens it.
    static let bthomeEncrypted = service(
        "bthome-encrypted", 0xFCD2,
        [
            BeaconField(
                "trigger-based", .boolean(no: 0x41, yes: 0x45), initial: .boolean(false)),
            BeaconField("encrypted", .octets(0...AdvertisingDataLimits.structureDataOctets)),
            .count("counter", octets: 4, isBigEndian: false),
            BeaconField("code", .octets(4...4)),
        ], isWritten: false)
}

/// The objects of BTHome v2.
public enum BTHome {
    static let objects: [BeaconField] =
        measurements + events
        + [
            BeaconField("text", .counted(isText: true), tag: 0x53),
            BeaconField("raw", .counted(isText: false), tag: 0x54),
        ]

    /// Of several objects of one name the first is the usual one.
    private static let measurements: [BeaconField] = [
        number(0x00, "packet-id", 1), number(0x01, "battery", 1, unit: "%", limits: 0...100),
        number(0x02, "temperature", -2, 0.01, "°C"),
        number(0x03, "humidity", 2, 0.01, "%", limits: 0...100),
        number(0x04, "pressure", 3, 0.01, "hPa"), number(0x05, "illuminance", 3, 0.01, "lx"),
        number(0x06, "mass", 2, 0.01, "kg"), number(0x07, "mass", 2, 0.01, "lb"),
        number(0x08, "dewpoint", -2, 0.01, "°C"), number(0x09, "count", 1),
        number(0x0A, "energy", 3, 0.001, "kWh"), number(0x0B, "power", 3, 0.01, "W"),
        number(0x0C, "voltage", 2, 0.001, "V"), number(0x0D, "pm2.5", 2, 1, "µg/m³"),
        number(0x0E, "pm10", 2, 1, "µg/m³"), number(0x12, "co2", 2, 1, "ppm"),
        number(0x13, "tvoc", 2, 1, "µg/m³"),
        number(0x14, "moisture", 2, 0.01, "%", limits: 0...100),
        number(0x2E, "humidity", 1, unit: "%", limits: 0...100),
        number(0x2F, "moisture", 1, unit: "%", limits: 0...100), number(0x3D, "count", 2),
        number(0x3E, "count", 4), number(0x3F, "rotation", -2, 0.1, "°"),
        number(0x40, "distance", 2, 1, "mm"), number(0x41, "distance", 2, 0.1, "m"),
        number(0x42, "duration", 3, 0.001, "s"), number(0x43, "current", 2, 0.001, "A"),
        number(0x44, "speed", 2, 0.01, "m/s"), number(0x45, "temperature", -2, 0.1, "°C"),
        number(0x46, "uv-index", 1, 0.1), number(0x47, "volume", 2, 0.1, "L"),
        number(0x48, "volume", 2, 1, "mL"), number(0x49, "volume-flow-rate", 2, 0.001, "m³/h"),
        number(0x4A, "voltage", 2, 0.1, "V"), number(0x4B, "gas", 3, 0.001, "m³"),
        number(0x4C, "gas", 4, 0.001, "m³"), number(0x4D, "energy", 4, 0.001, "kWh"),
        number(0x4E, "volume", 4, 0.001, "L"), number(0x4F, "water", 4, 0.001, "L"),
        number(0x50, "timestamp", 4), number(0x51, "acceleration", 2, 0.001, "m/s²"),
        number(0x52, "gyroscope", 2, 0.001, "°/s"),
        number(0x55, "volume-storage", 4, 0.001, "L"),
        number(0x56, "conductivity", 2, 1, "µS/cm"), number(0x57, "temperature", -1, 1, "°C"),
        number(0x58, "temperature", -1, 0.35, "°C"), number(0x59, "count", -1),
        number(0x5A, "count", -2), number(0x5B, "count", -4), number(0x5C, "power", -4, 0.01, "W"),
        number(0x5D, "current", -2, 0.001, "A"), number(0x5E, "direction", 2, 0.01, "°"),
        number(0x5F, "precipitation", 2, 0.1, "mm"), number(0x60, "channel", 1),
        number(0x61, "rotational-speed", 2, 1, "rpm"), number(0x62, "speed", -4, 0.000001, "m/s"),
        number(0x63, "acceleration", -4, 0.000001, "m/s²"), number(0x64, "light-level", 1),
        number(0x65, "settings-revision", 1), number(0xF0, "device-type", 2),
        number(0xF1, "firmware", 4), number(0xF2, "firmware", 3),
    ]

    private static let events: [BeaconField] =
        [
            flag(0x0F, "generic-boolean"), flag(0x10, "power-on"), flag(0x11, "opening"),
            flag(0x15, "battery-low"), flag(0x16, "battery-charging"),
            flag(0x17, "carbon-monoxide"), flag(0x18, "cold"), flag(0x19, "connectivity"),
            flag(0x1A, "door"), flag(0x1B, "garage-door"), flag(0x1C, "gas-detected"),
            flag(0x1D, "heat"), flag(0x1E, "light"), flag(0x1F, "lock"), flag(0x20, "wet"),
            flag(0x21, "motion"), flag(0x22, "moving"), flag(0x23, "occupancy"),
            flag(0x24, "plug"), flag(0x25, "presence"), flag(0x26, "problem"),
            flag(0x27, "running"), flag(0x28, "safety"), flag(0x29, "smoke"),
            flag(0x2A, "sound"), flag(0x2B, "tamper"), flag(0x2C, "vibration"),
            flag(0x2D, "window"),
            BeaconField(
                "button",
                .words(
                    [
                        "none", "press", "double-press", "triple-press", "long-press",
                        "long-double-press", "long-triple-press",
                    ].enumerated().map { BeaconWord(UInt8(clamping: $0.offset), $0.element) }
                        + [BeaconWord(0x80, "hold-press")]), tag: 0x3A),
            BeaconField("dimmer", .octets(2...2), tag: 0x3C),
        ]

    /// - Parameter octets: below zero of a signed number.
    private static func number(
        _ tag: UInt8, _ name: String, _ octets: Int, _ scale: Double = 1, _ unit: String = "",
        limits: ClosedRange<Double>? = nil
    ) -> BeaconField {
        BeaconField(
            name,
            .number(
                BeaconNumber(
                    octets: abs(octets), isSigned: octets < 0, isBigEndian: false, scale: scale,
                    unit: unit, limits: limits)), tag: tag)
    }

    private static func number(
        _ tag: UInt8, _ name: String, _ octets: Int, unit: String, limits: ClosedRange<Double>
    ) -> BeaconField {
        number(tag, name, octets, 1, unit, limits: limits)
    }

    private static func flag(_ tag: UInt8, _ name: String) -> BeaconField {
        BeaconField(name, .boolean(no: 0, yes: 1), tag: tag)
    }
}
