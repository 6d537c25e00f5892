// Structured values: what `fields:` and the assigned layouts make, and how they are read back.
import Behaviours
import Profiles
import Testing
import Wire

@Suite struct FieldTests {
    /// The only characteristic of a service, whose lines are `body`.
    static func characteristic(_ name: String, _ body: String) throws -> CharacteristicSpec {
        let lines = body.split(separator: "\n").map { "        \($0)\n" }.joined()
        let profile = try load(
            "peripheral-emu: 1\ndevice: {name: T}\nservices:\n  - service: 0x1234\n"
                + "    characteristics:\n      - characteristic: \(name)\n" + lines)
        return try #require(profile.services.first?.characteristics.first)
    }

    static func octets(_ name: String, _ body: String) throws -> [UInt8] {
        let spec = try characteristic(name, body)
        return ValueMachine(
            spec.value, update: nil, send: .manual, start: .init(microseconds: 0), seed: 1,
            stream: "t"
        ).value
    }

    @Test("the fields of the format's page: optional by flag, repeated, generated")
    func page() throws {
        let body = """
            notify: open
            update: every 1 s
            fields:
              - {name: flags, format: uint8, flags-of: fields}
              - {name: rate, format: uint8, unit: bpm, value: 72}
              - {name: energy, format: uint16, unit: kJ, present: {flag: 3}, \
            value: {counter: {start: 5, step: 1}}}
              - {name: rr, format: uint16, scale: 1/1024 s, present: {flag: 4}, repeat: to-end}
            """
        let spec = try Self.characteristic("heart-rate-measurement", body)
        #expect(try Self.octets("heart-rate-measurement", body) == [0x08, 72, 5, 0])
        #expect(
            spec.format.describe([0x18, 72, 5, 0, 0, 4, 0, 2])
                == "rate 72 bpm, energy 5 kJ, rr 1.0000 s 0.5000 s")
    }

    @Test("a repeated field takes a list")
    func repeated() throws {
        #expect(
            try Self.octets(
                "heart-rate-measurement",
                "notify: open\nvalue: {rate: 60, rr-interval: [1, 0.5], sensor-contact: detected}")
                == [0x16, 60, 0, 4, 0, 2])
    }

    @Test("of alternatives that the flags leave, the first is taken that the value fits")
    func fitting() throws {
        let octets = try Self.octets("heart-rate-measurement", "read: open\nvalue: {rate: 300}")
        #expect(octets == [0x01, 0x2C, 0x01])
        #expect(
            errors(
                "peripheral-emu: 1\ndevice: {name: T}\nservices: [{service: 0x1234, "
                    + "characteristics: [{characteristic: heart-rate-measurement, "
                    + "value: {flags: 1, rate: 70000}}]}]\n"
            ).count == 1)
    }

    @Test("of alternatives the flags that are said choose, else the first")
    func alternatives() throws {
        let name = "weight-measurement"
        #expect(try Self.octets(name, "value: {weight: 70}") == [0, 0xB0, 0x36])
        #expect(try Self.octets(name, "value: {unit: imperial, weight: 150}") == [1, 0x98, 0x3A])
        #expect(
            try Self.octets(name, "value: {weight: 70, bmi: 22, height: 1.8}")
                == [0x08, 0xB0, 0x36, 220, 0, 8, 7])
    }

    @Test("a date is filled by the clock, here in virtual time's first second")
    func clock() throws {
        let body = "read: open\nupdate: every 1 s\nvalue: {clock: utc}"
        #expect(
            try Self.octets("current-time", body) == [0xD0, 7, 1, 1, 0, 0, 0, 6, 0, 0])
        let spec = try Self.characteristic("current-time", body)
        #expect(
            spec.format.describe([0xD0, 7, 1, 1, 9, 0, 0, 6, 0, 1])
                == "2000-01-01T09:00:00, day-of-week saturday, fractions-256 0, manual-time-update")
    }

    @Test(
        "assigned layouts decode what real devices send",
        arguments: [
            ("2A37", "1658A603", "sensor-contact detected, rate 88 bpm, rr-interval 0.9121 s"),
            ("2A1C", "006C0100FF", "unit celsius, temperature 36.4 °C"),
            (
                "2A35", "0072005000000000",
                "rest"
            ),
            ("2A5B", "0264000A00", "crank-revolutions 100, crank-event-time 0.0098 s"),
            (
                "2A50", "015D000100 0100",
                "vendor-source bluetooth-sig, vendor 93, product 1, version 1"
            ),
            ("2A53", "000080010A", ""),
        ] as [(String, String, String)])
    func decoded(uuid: String, hex: String, text: String) throws {
        let number = try #require(UInt16(uuid, radix: 16))
        let bytes = try #require(Hex.bytes(hex.replacing(" ", with: "")))
        let format = try #require(AssignedNames.format(BluetoothUUID(number)))
        let found = format.describe(bytes)
        #expect(text.isEmpty || found == text || (text == "rest" && found.contains("rest")))
    }

    @Test("a glucose measurement has its flags made of its fields")
    func glucose() throws {
        let octets = try Self.octets(
            "glucose-measurement",
            """
            notify: open
            value:
              sequence-number: 1
              base-time: {year: 2024, month: 5, day: 6, hours: 7, minutes: 8, seconds: 9}
              concentration: 0.00105
              type: capillary-whole-blood
              sample-location: finger
            """)
        #expect(
            Hex.string(octets) == "02" + "0100" + "E807050607080969B0" + "11")
        let format = try #require(AssignedNames.format(BluetoothUUID(0x2A18)))
        #expect(
            format.describe(octets)
                == "concentration-unit kilogram-per-litre, sequence-number 1, "
                + "base-time (2024-05-06T07:08:09), concentration 0.00105 kg/L, "
                + "type capillary-whole-blood, sample-location finger")
    }

    @Test("nested fields and bit fields with values of their own")
    func nested() throws {
        let body = """
            read: open
            fields:
              - name: head
                format: uint8
                bits: [{name: kind, bit: 4, width: 2, words: [a, b, c], value: c}, \
            {name: on, bit: 0, value: true}]
              - name: pair
                repeat: 2
                fields: [{name: x, format: sint8}, {name: y, format: uint8, value: 9}]
            """
        let spec = try Self.characteristic("0x5678", body)
        #expect(try Self.octets("0x5678", body) == [0x21, 0, 9, 0, 9])
        #expect(
            spec.format.describe([0x21, 0xFF, 9, 1, 8])
                == "kind c, on, pair x -1, y 9 x 1, y 8")
    }

    @Test("every assigned layout can be read, and decodes any octets without a trap")
    func all() {
        var count = 0
        for number in UInt16(0x2A00)...0x2C00 {
            guard let format = AssignedNames.format(BluetoothUUID(number)),
                case .fields(let layout) = format
            else { continue }
            count += 1
            #expect(!layout.fields.isEmpty)
            for length in 0..<24 {
                for octet in [UInt8(0), 0x55, 0xFF] {
                    _ = format.describe(Array(repeating: octet, count: length))
                }
            }
        }
        #expect(count == 41)
    }

    @Test(
        "wrong fields are errors",
        arguments: [
            ("[{name: a, format: uint8, present: {flag: 0}}]", "no flags before it have"),
            ("[{name: a, format: utf8}, {name: b, format: uint8}]", "reaches to the end"),
            ("[{name: a, format: uint8}, {name: a, format: uint8}]", "stands twice"),
            ("[{name: a, format: sint8, flags-of: fields}]", "unsigned whole number"),
            ("[{name: a, format: uint8, bits: [{name: b, bit: 8}]}]", "beyond the 8 bits"),
            ("[{name: a}]", "no format"), ("[{name: 'a b', format: uint8}]", "is no name"),
            ("[{name: a, format: uint8, value: 256}]", "does not fit"),
            ("[{name: a, format: uint8, repeat: 2, value: [1]}]", "repeats 2 times"),
            ("[{name: a, format: uint8, value: {counter: {}}}]", "when a sample is taken"),
            ("[{name: a, format: bytes}, {name: b, format: uint8}]", "reaches to the end"),
        ] as [(String, String)])
    func mistakes(fields: String, error: String) {
        let found = errors(
            "peripheral-emu: 1\ndevice: {name: T}\nservices:\n  - service: 0x1234\n"
                + "    characteristics:\n      - {characteristic: 0x5678, fields: \(fields)}\n")
        #expect(found.count == 1 && found[0].contains(error), "\(found)")
    }

    @Test("flags that contradict a field are an error")
    func contradiction() {
        let found = errors(
            "peripheral-emu: 1\ndevice: {name: T}\nservices:\n  - service: 0x1234\n"
                + "    characteristics:\n      - {characteristic: weight-measurement, "
                + "value: {unit: imperial, weight: 70, size: 1}}\n")
        #expect(found.count == 1 && found[0].contains("unknown key 'size'"), "\(found)")
    }
}
