// Standard descriptors in their short forms, as octets.
import Profiles
import Testing
import Wire

@Suite struct DescriptorTests {
    /// UUID and octets of the descriptors behind a value of `sint16` in hundredths.
    static func octets(_ descriptors: String) throws -> [String] {
        let profile = try load(
            "peripheral-emu: 1\ndevice: {name: T}\nservices: [{service: 0x1234, characteristics: "
                + "[{characteristic: 0x5678, format: sint16, scale: 0.01, unit: °C, read: open, "
                + "descriptors: \(descriptors)}]}]\n")
        let table = AttributePlan(profile).table
        let first = table.attributes.firstIndex { $0.type == BluetoothUUID(0x5678) } ?? 0
        return table.attributes.indices.dropFirst(first + 1).map {
            "\(table.attributes[$0].type) \(Hex.string(table.value(at: $0)))"
        }
    }

    @Test(
        "each short form has the octets that its specification says",
        arguments: [
            ("{user-description: Air}", "0x2901 416972"),
            ("{extended-properties: [reliable-write]}", "0x2900 0100"),
            ("{server-characteristic-configuration: broadcast}", "0x2903 0100"),
            ("{presentation-format: {}}", "0x2904 0EFE2F27010000"),
            ("{presentation-format: {description: 0x0106}}", "0x2904 0EFE2F27010601"),
            ("{valid-range: {min: -40, max: 85}}", "0x2906 60F03421"),
            ("{external-report-reference: battery-level}", "0x2907 192A"),
            ("{report-reference: {id: 2, type: output}}", "0x2908 0202"),
            ("{number-of-digitals: 3}", "0x2909 03"),
            ("{value-trigger-setting: {condition: changed}}", "0x290A 00"),
            ("{value-trigger-setting: {condition: crossed, value: 1}}", "0x290A 016400"),
            (
                "{value-trigger-setting: {condition: outside, bounds: [-1, 1]}}",
                "0x290A 059CFF6400"
            ),
            ("{value-trigger-setting: {condition: masked, mask: \"0F\"}}", "0x290A 040F"),
            ("{environmental-sensing-configuration: any-trigger}", "0x290B 01"),
            (
                "{environmental-sensing-measurement: {sampling: arithmetic-mean, "
                    + "measurement-period: 10 s, update-interval: 60 s, application: 1, "
                    + "uncertainty: 2.5 %}}",
                "0x290C 0000020A00003C00000105"
            ),
            (
                "{environmental-sensing-trigger-setting: {condition: fixed-interval, "
                    + "interval: 300 s}}", "0x290D 012C0100"
            ),
            (
                "{environmental-sensing-trigger-setting: {condition: greater-than, value: 20}}",
                "0x290D 06D007"
            ),
            ("{time-trigger-setting: {every: 10 s}}", "0x290E 010A0000"),
            ("{time-trigger-setting: {after-changes: 3}}", "0x290E 030300"),
        ] as [(String, String)])
    func short(descriptor: String, octets: String) throws {
        #expect(try Self.octets("[\(descriptor)]") == [octets])
    }

    @Test("an aggregate format has the handles of the presentation formats before it")
    func aggregate() throws {
        let found = try Self.octets(
            "[{presentation-format: {}}, {presentation-format: {format: uint8}}, "
                + "{aggregate-format: all}]")
        #expect(found.last == "0x2905 13001400")
    }
}
