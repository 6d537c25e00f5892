// Mistakes in profiles: each with its place, what is wrong and what to write.
import Profiles
import Testing

@Suite struct MistakeTests {
    @Test("ten different mistakes in one file are ten errors")
    func ten() throws {
        let folder = "Tests/ProfilesTests/Mistakes/"
        let expected = try #require(SourceTree.read(SourceTree.root + "/" + folder + "ten.txt"))
        do {
            _ = try loadBundled(folder + "ten.yaml")
            Issue.record("it loads")
        } catch let errors as ProfileErrors {
            #expect(errors.list.count == 10)
            #expect(errors.description + "\n" == String(decoding: expected, as: UTF8.self))
        }
    }

    @Test("advertising data of 34 octets is refused with its octets itemised")
    func budget() {
        #expect(advertisingErrors(
            """
            type: connectable
            interval: 100 ms
            data:
              - flags: [general-discoverable, no-br-edr]
              - name: complete
              - service-uuids: [5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10]
            """, device: "{name: Money Drop!}"
        ) == [
            "7:5: advertising[0].data: advertising data is 34 of 31 bytes: flags 3, complete-name 13, service-uuid128 18; remove 3 bytes, or move a structure to 'scan-response'"
        ])
    }

    @Test(
        "a UUID without 0x is named with it, also where YAML takes it for a number",
        arguments: ["1812", "180D", "2E37", "0110", "\"180D\"", "face"])
    func bareUUID(text: String) {
        let digits = text.replacing("\"", with: "")
        #expect(errors("peripheral-emu: 1\ndevice: {name: T}\nservices: [{service: \(text)}]\n") == [
            "test.yaml:3:22: services[0].service: '\(digits)' is no UUID without 0x; write '0x\(digits.uppercased())'"
        ])
    }

    @Test(
        "a UUID in a wrong form is refused with the right one",
        arguments: [
            ("0x180", "'0x180' is not a 16-bit UUID of four hexadecimal digits; write a name such as 'heart-rate', a number such as '0x180F' or a 128-bit UUID"),
            ("0x0000180D", "'0x0000180D' is not a 16-bit UUID of four hexadecimal digits; write a name such as 'heart-rate', a number such as '0x180F' or a 128-bit UUID"),
            ("5A1D00010E1E4C1B9D563E2F0C9B7A10", "a 128-bit UUID is written with hyphens; write '5A1D0001-0E1E-4C1B-9D56-3E2F0C9B7A10'"),
            ("haert-rate", "unknown service 'haert-rate'; write 'heart-rate'"),
            ("heart-rat", "unknown service 'heart-rat'; write 'heart-rate'"),
            ("[heart-rate]", "a list cannot stand here; write a name such as 'heart-rate', a number such as '0x180F' or a 128-bit UUID"),
            ("", "the value is missing; write a name such as 'heart-rate', a number such as '0x180F' or a 128-bit UUID"),
        ])
    func wrongUUID(text: String, expected: String) {
        #expect(errors("peripheral-emu: 1\ndevice: {name: T}\nservices: [{service: \(text)}]\n")
            .map { $0.replacing("test.yaml:3:22: services[0].service: ", with: "")
                .replacing("test.yaml:3:21: services[0].service: ", with: "") } == [expected])
    }

    @Test(
        "a time without its unit, or with another, is refused with what to write",
        arguments: [
            ("100", "100 has no unit; write '100 ms' (units: ms, s, us, min, h, d)"),
            ("0.5", "0.5 has no unit; write '0.5 ms' (units: ms, s, us, min, h, d)"),
            ("100ms", "the space before the unit is missing; write '100 ms'"),
            ("1.5s", "the space before the unit is missing; write '1.5 s'"),
            ("100 msec", "unknown unit 'msec'; write '100 ms' (units: ms, s, us, min, h, d)"),
            ("1 sec", "unknown unit 'sec'; write '1 s' (units: ms, s, us, min, h, d)"),
            ("100  ms", "unknown unit ' ms'; write '100 ms' (units: ms, s, us, min, h, d)"),
            ("fast", "'fast' cannot stand here; write a time such as '152.5 ms'"),
            ("22:11", "'22:11' cannot stand here; write a time such as '152.5 ms'"),
            ("10 ms", "'10 ms' is not within 20 ms to 10.24 s; write a time such as '152.5 ms'"),
            ("10.241 s", "'10.241 s' is not within 20 ms to 10.24 s; write a time such as '152.5 ms'"),
            ("99999999999999999999 d", "'99999999999999999999 d' is not within 20 ms to 10.24 s; write a time such as '152.5 ms'"),
            ("-100 ms", "'-100 ms' is not within 20 ms to 10.24 s; write a time such as '152.5 ms'"),
            ("[20 ms]", "a list cannot stand here; write a time such as '152.5 ms'"),
        ])
    func time(text: String, expected: String) {
        #expect(advertisingErrors("type: connectable\ninterval: \(text)") == [
            "6:15: advertising[0].interval: \(expected)"
        ])
    }

    @Test(
        "a value that the format cannot hold is refused with the range",
        arguments: [
            ("uint8", "256", "256 does not fit: the range is 0 to 255; write a number within it"),
            ("uint8", "-1", "-1 does not fit: the range is 0 to 255; write a number within it"),
            ("sint16", "40000", "40000 does not fit: the range is -32768 to 32767; write a number within it"),
            ("uint8", "yes", "'yes' cannot stand here; write a number from 0 to 255"),
            ("uint8", ".nan", "'.nan' cannot stand here; write a number from 0 to 255"),
            ("boolean", "yes", "'yes' cannot stand here; write true or false"),
            ("utf8", "12", "'12' is not text in YAML; write '\"12\"'"),
            ("utf8", "true", "'true' is not text in YAML; write '\"true\"'"),
            ("bytes", "0102", "'0102' cannot stand here; write octets such as '{hex: \"01FF\"}', or say the 'format'"),
            ("bytes", "{hex: 0102}", "hexadecimal text stands without quotes; write '\"0102\"'"),
            ("bytes", "{hex: \"012\"}", "'012' cannot stand here; write pairs of hexadecimal digits in quotes such as '\"01FF\"'"),
            ("uint8", "{sine: {min: 5, max: 5, period: 1 s}}\nupdate: every 1 s", "'min' is 5, not below 'max', which is 5; write a lower 'min'"),
            ("uint8", "{sine: {min: 0, max: 300, period: 1 s}}\nupdate: every 1 s", "300 does not fit: the range is 0 to 255; write a number within it"),
            ("utf8", "{counter: {step: 1}}\nupdate: every 1 s", "a generator makes numbers, and the characteristic's format is none; add 'format: uint16' or another number format"),
            ("uint8", "{counter: {step: 1}}", "a generated value needs to know when a sample is taken; add 'update: every 10 s'"),
            ("uint8", "{counter: {}, ramp: {from: 1, to: 2, over: 1 s}}\nupdate: every 1 s", "only one key can stand here; keep one of them"),
            ("uint8", "{drain: {from: 100, to: 0, over: 1 d}}", "'drain' is not supported yet; remove it"),
        ])
    func value(format: String, value: String, expected: String) {
        let found = characteristicErrors("format: \(format)\nread: open\nvalue: \(value)")
        #expect(found.map { $0.split(separator: ": ", maxSplits: 2).last.map(String.init) } == [expected])
    }

    @Test("a value of an assigned format is refused with its unit and range")
    func assignedRange() {
        #expect(errors("""
            peripheral-emu: 1
            device: {name: T}
            services:
              - service: environmental-sensing
                characteristics: [{characteristic: temperature, read: open, value: 400}]
            """) == [
            "test.yaml:5:72: services[0].characteristics[0].value: 400 °C does not fit: the range is -273.15 to 327.67 °C; write a number within it"
        ])
    }

    @Test("a value is at most 512 octets")
    func longValue() {
        let hex = String(repeating: "00", count: 512)
        #expect(characteristicErrors("read: open\nvalue: {hex: \"\(hex)\"}") == [])
        #expect(characteristicErrors("read: open\nvalue: {hex: \"\(hex)00\"}") == [
            "8:22: services[0].characteristics[0].value.hex: the value has 513 octets, the limit is 512; write fewer"
        ])
        let text = String(repeating: "x", count: 513)
        #expect(characteristicErrors("read: open\nformat: utf8\nvalue: \(text)") == [
            "9:16: services[0].characteristics[0].value: the text has 513 octets, the limit is 512; write a shorter one"
        ])
    }

    @Test(
        "keys that later versions serve are refused as such",
        arguments: [
            ("fields: []", "fields"), ("on-write: []", "on-write"), ("handle: 0x0001", "handle"),
            ("value-handle: 0x0002", "value-handle"), ("properties: [read]", "properties"),
            ("length: {max: 4}", "length"),
        ])
    func later(line: String, key: String) {
        #expect(characteristicErrors("read: open\n\(line)") == [
            "8:9: services[0].characteristics[0].\(key): '\(key)' is not supported yet; remove it"
        ])
    }

    @Test(
        "top-level keys that later versions serve are refused as such",
        arguments: ["security", "l2cap", "faults", "scenario", "expect"])
    func laterAtTop(key: String) {
        #expect(errors("peripheral-emu: 1\ndevice: {name: T}\n\(key): {}\n") == [
            "test.yaml:3:1: \(key): '\(key)' is not supported yet; remove it"
        ])
    }

    @Test("permissions other than open are refused as not supported yet, in both forms")
    func permissions() {
        #expect(characteristicErrors("read: encrypted") == [
            "7:15: services[0].characteristics[0].read: 'encrypted' is not supported yet; write 'open'"
        ])
        #expect(characteristicErrors("write: {security: open, authorization: true, key-size: 16}") == [
            "7:33: services[0].characteristics[0].write.authorization: 'authorization' is not supported yet; remove it",
            "7:54: services[0].characteristics[0].write.key-size: 'key-size' is not supported yet; remove it",
        ])
        #expect(characteristicErrors("read: opne") == [
            "7:15: services[0].characteristics[0].read: unknown word 'opne'; write 'open'"
        ])
    }

    @Test("the version, the name and the type are asked for")
    func missing() {
        #expect(errors("{}") == [
            "test.yaml:1:1: the key 'peripheral-emu' is missing; write 'peripheral-emu:' with the format's version, 1",
            "test.yaml:1:1: the key 'device' is missing; write 'device:' with a map with the device's name",
        ])
        #expect(errors("peripheral-emu: 2\ndevice: {}\n") == [
            "test.yaml:1:17: peripheral-emu: the format's version 2 is not known; write 1",
            "test.yaml:2:9: device: the key 'name' is missing; write 'name:' with the name that centrals see",
        ])
        #expect(errors("- 1\n") == [
            "test.yaml:1:1: a list cannot stand here; write a profile, beginning with 'peripheral-emu: 1'"
        ])
        #expect(errors("") == [
            "test.yaml:1:1: the file is empty; write a profile, beginning with 'peripheral-emu: 1'"
        ])
    }

    @Test("an address is quoted and of its type")
    func address() {
        func found(_ address: String) -> [String] {
            errors("peripheral-emu: 1\ndevice: {name: T, address: \(address)}\n")
                .map { $0.replacing("test.yaml:2:", with: "") }
        }
        #expect(found("{type: random-static, value: \"C0:11:22:33:44:55\"}") == [])
        #expect(found("public") == [])
        #expect(found("{type: random-static, value: C0:11:22:33:44:55}") == [
            "57: device.address.value: the address stands without quotes; write '\"C0:11:22:33:44:55\"'"
        ])
        #expect(found("{type: random-static, value: \"00:11:22:33:44:55\"}") == [
            "50: device.address.value: 00:11:22:33:44:55 is no random static address: its two top bits must be 1; begin it with C0 to FF"
        ])
        #expect(found("resolvable-private") == [
            "28: device.address: 'resolvable-private' is not supported yet; write 'random-static' or 'public'"
        ])
    }

    @Test("numbers that YAML versions read differently are refused")
    func leadingZero() {
        #expect(errors("peripheral-emu: 1\ndevice: {name: T}\nserver: {mtu: 0247}\n") == [
            "test.yaml:3:15: server.mtu: a number that begins with 0 is read differently by different programs; write '247', or '0o247' if it is octal"
        ])
    }

    @Test("problems of YAML and of the profile come in one list, by place")
    func together() {
        #expect(errors("peripheral-emu: 1\ndevice: {name: T}\nservices: !x []\ndevice: {name: U}\nsevrer: {}\n") == [
            "test.yaml:3:11: tags ('!…') are not used in profiles; remove the tag",
            "test.yaml:4:1: the key 'device' stands already in line 2; keep one of the two",
            "test.yaml:5:1: sevrer: unknown key 'sevrer'; write 'server'",
        ])
    }

    @Test("of very many errors the first hundred are shown")
    func many() {
        let found = errors("peripheral-emu: 1\ndevice: {name: T}\n" + (0..<500).map { "k\($0): 1\n" }.joined())
        #expect(found.count == 101)
        #expect(found.last?.hasSuffix("there are more errors than the 100 shown; correct these first") == true)
    }

    @Test("advertising rules are checked")
    func advertising() {
        let head = "type: connectable\ninterval: 100 ms\n"
        #expect(advertisingErrors(head + "data: [{flags: [no-br-edr]}, {ibeacon: {uuid: \"F7826DA6-4FA2-4E98-8024-BC5B71E0893E\", major: 1, minor: 7, measured-power: -59 dBm}}]") == [
            "7:5: advertising[0].data: advertising data is 33 of 31 bytes: flags 3, flags 3, ibeacon 27; remove 2 bytes, or move a structure to 'scan-response'",
            "7:5: advertising[0].data: the flags stand twice; remove 'flags': 'ibeacon' writes them itself",
        ])
        #expect(advertisingErrors(head + "scan-response: [{flags: [no-br-edr]}]") == [
            "7:5: advertising[0].scan-response: flags cannot stand in a scan response; move them to 'data'"
        ])
        #expect(advertisingErrors("type: non-connectable\ninterval: 1 s\nscan-response: [{name: complete}]") == [
            "7:5: advertising[0].scan-response: a non-connectable set sends no scan response; remove it, or write 'type: scannable'"
        ])
        #expect(advertisingErrors("type: connectable\ninterval: {policy: activity, active: 100 ms, idle: 1 s}") == [
            "6:16: advertising[0].interval.policy: the policy 'activity' needs to know what the device feels; add 'activity:' to the profile"
        ])
        #expect(advertisingErrors(head + "data: [{tx-power: -4}]") == [
            "7:23: advertising[0].data[0].tx-power: -4 has no unit; write '-4 dBm'"
        ])
        #expect(advertisingErrors(head + "data: [{manufacturer: {company: FFFF}}]") == [
            "7:37: advertising[0].data[0].manufacturer.company: 'FFFF' is no number of a company without 0x; write '0xFFFF'"
        ])
        #expect(advertisingErrors(head + "data: [{eddystone-url: {url: x}}]\nupdate: every 10 s\npdu: legacy") == [
            "7:13: advertising[0].data[0].eddystone-url: 'eddystone-url' is not supported yet; remove it",
            "8:5: advertising[0].update: 'update' is not supported yet; remove it",
            "9:5: advertising[0].pdu: 'pdu' is not supported yet; remove it",
        ])
    }
}
