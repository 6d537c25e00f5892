// Limits: at each of them a profile loads, one above it is refused, and the limit is named.
import Testing
import YAML

@testable import Profiles

/// One limit: what is counted, how much of it may be, and a profile with a given number of it.
struct Limit: CustomTestStringConvertible, Sendable {
    var name: String
    var most: Int
    /// What the refusal says of the limit.
    var says: String
    var profile: @Sendable (Int) -> String

    var testDescription: String { name }

    private static let head = "peripheral-emu: 1\ndevice: {name: T}\n"

    private static func characteristic(_ body: String) -> String {
        head
            + "services: [{service: 0x1234, characteristics: [{characteristic: 0x5678, "
            + body + "}]}]\n"
    }

    private static func letters(_ count: Int) -> String { String(repeating: "a", count: count) }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[" + (0..<count).map(element).joined(separator: ", ") + "]"
    }

    static let all: [Limit] = file + device + advertising + values + structures + activity

    private static let file = [
        Limit(name: "octets of the file", most: YAMLDocument.octetsMax, says: "the limit is 4 MiB")
        {
            let rest = $0 - head.utf8.count - 1
            return head + "#" + letters(rest)
        },
        Limit(
            name: "levels of nesting", most: YAMLDocument.depthMax,
            says: "deeper than 32 levels"
        ) { count in
            // The map is one level, the value of its last key the rest.
            head + "x: " + String(repeating: "[", count: count - 1)
                + String(repeating: "]", count: count - 1) + "\n"
        },
        Limit(
            name: "nodes", most: YAMLDocument.nodesMax, says: "more than 200000 nodes"
        ) { count in
            // Eight: the map, its three keys, the version, the device's map of one pair; the list.
            head + "x: " + list(count - 9) { _ in "1" } + "\n"
        },
    ]

    private static let device = [
        Limit(name: "octets of the name", most: 248, says: "the limit is 248") {
            "peripheral-emu: 1\ndevice: {name: \(letters($0))}\n"
        },
        Limit(name: "centrals at once", most: 16, says: "not within 1 to 16") {
            "peripheral-emu: 1\ndevice: {name: T, connections: \($0)}\n"
        },
        Limit(name: "skipped connection events", most: 499, says: "not within 0 to 499") {
            "peripheral-emu: 1\ndevice: {name: T, connection: {interval: 7.5 ms, latency: \($0), "
                + "timeout: 32 s}}\n"
        },
        Limit(name: "supervision timeout", most: 32_000, says: "not within 100 ms to 32 s") {
            "peripheral-emu: 1\ndevice: {name: T, connection: {interval: 30 ms, "
                + "timeout: \($0) ms}}\n"
        },
        Limit(name: "connection interval", most: 4000, says: "not within 7.5 ms to 4 s") {
            "peripheral-emu: 1\ndevice: {name: T, connection: {interval: \($0) ms, "
                + "timeout: 32 s}}\n"
        },
        Limit(name: "MTU", most: 517, says: "not within 23 to 517") {
            head + "server: {mtu: \($0)}\n"
        },
    ]

    private static let advertising = [
        Limit(name: "advertising interval", most: 10_240, says: "not within 20 ms to 10.24 s") {
            head + "advertising: [{type: connectable, interval: \($0) ms}]\n"
        },
        Limit(name: "advertising data", most: 31, says: "of 31 bytes: manufacturer") { count in
            let data = String(repeating: "00", count: count - 4)
            return head + "advertising: [{type: connectable, interval: 1 s, data: "
                + "[{manufacturer: {company: 0xFFFF, data: {hex: \"\(data)\"}}}]}]\n"
        },
        Limit(name: "scan response", most: 31, says: "of 31 bytes: service-data16") { count in
            let data = String(repeating: "00", count: count - 4)
            return head + "advertising: [{type: connectable, interval: 1 s, scan-response: "
                + "[{service-data: {service: battery, data: {hex: \"\(data)\"}}}]}]\n"
        },
        Limit(name: "power", most: 20, says: "not within -127 dBm to 20 dBm") {
            head
                + "advertising: [{type: connectable, interval: 1 s, "
                + "data: [{tx-power: \($0) dBm}]}]\n"
        },
        Limit(name: "advertising sets", most: 64, says: "65 advertising sets") { count in
            head + "advertising: "
                + list(count) { "{set: s\($0), type: connectable, interval: 1 s}" } + "\n"
        },
    ]

    private static let values = [
        Limit(name: "octets of a value in hexadecimal", most: 512, says: "the limit is 512") {
            characteristic("value: {hex: \"\(String(repeating: "00", count: $0))\"}")
        },
        Limit(name: "octets of a text", most: 512, says: "the limit is 512") {
            characteristic("format: utf8, value: \(letters($0))")
        },
        Limit(name: "octets of a text in UTF-16", most: 512, says: "the limit is 512") {
            // Two octets each, so that the limit falls between two texts.
            characteristic("format: utf16, value: \(letters(($0 + 1) / 2))")
        },
        Limit(name: "octets of a value of fields", most: 512, says: "the limit is 512") { count in
            characteristic(
                "fields: [{name: a, format: uint8, repeat: to-end, value: "
                    + list(count) { _ in "0" } + "}]")
        },
        Limit(name: "length", most: 512, says: "not within 0 to 512") {
            characteristic("length: {max: \($0)}")
        },
        Limit(name: "octets of a label", most: 64, says: "the limit is 64") {
            characteristic("label: \(letters($0))")
        },
        Limit(name: "octets of a user description", most: 512, says: "the limit is 512") {
            characteristic("descriptors: [{user-description: \(letters($0))}]")
        },
        Limit(name: "key size", most: 16, says: "not within 7 to 16") {
            characteristic("read: {security: encrypted, key-size: \($0)}")
        },
        Limit(name: "days between two samples", most: 366, says: "not within 1 ms to 366 d") {
            characteristic("format: uint8, value: {counter: {}}, update: every \($0) d")
        },
        Limit(name: "a number of its format", most: 255, says: "the range is 0 to 255") {
            characteristic("format: uint8, value: \($0)")
        },
        Limit(name: "handle", most: 65_535, says: "not within 1 to 65535") {
            head
                + "services: [{service: battery, handle: \($0)}]\n"
                + "server: {implicit-services: false}\n"
        },
    ]

    private static let structures = [
        Limit(name: "fields", most: FieldLayout.fieldsMax, says: "the limit is 64") { count in
            characteristic("fields: " + list(count) { "{name: f\($0), format: uint8}" })
        },
        Limit(
            name: "levels of fields", most: FieldLayout.depthMax, says: "more than 4 deep"
        ) { count in
            var field = "{name: f, format: uint8}"
            for _ in 1..<count { field = "{name: f, fields: [\(field)]}" }
            return characteristic("fields: [\(field)]")
        },
        Limit(name: "repetitions", most: 512, says: "not within 1 to 512") {
            characteristic("fields: [{name: f, format: uint8, repeat: \($0)}]")
        },
        Limit(name: "octets of a field's name", most: 64, says: "the limit is 64") {
            characteristic("fields: [{name: \(letters($0)), format: uint8}]")
        },
        Limit(name: "bits of a bit field", most: 32, says: "not within 1 to 32") {
            characteristic(
                "fields: [{name: f, format: uint64, bits: [{name: b, bit: 0, width: \($0)}]}]")
        },
        Limit(name: "bit of a flag", most: 63, says: "not within 0 to 63") {
            characteristic(
                "fields: [{name: f, format: uint64, flags-of: fields}, "
                    + "{name: g, format: uint8, present: {flag: \($0)}}]")
        },
        Limit(name: "rules", most: ReactionForm.rulesMax, says: "the limit is 64") { count in
            characteristic("write: open, on-write: " + list(count) { _ in "{do: {log: a}}" })
        },
        Limit(name: "octets of a log's text", most: 200, says: "the limit is 200") {
            characteristic("write: open, on-write: [{do: {log: \(letters($0))}}]")
        },
    ]

    private static let activity = [
        Limit(name: "sources of activity", most: 16, says: "at most 16") { count in
            head + "activity: {hold: 1 s, source: " + list(count) { _ in "gatt" } + "}\n"
        },
        Limit(name: "samples that wake", most: 1000, says: "not within 1 to 1000") {
            head + "activity: {hold: 1 s, source: gatt, asleep-after: 1 min, wake-samples: \($0)}\n"
        },
        Limit(name: "changes of a rate", most: 1000, says: "not within 1 to 1000") {
            head + "advertising: [{type: connectable, interval: {policy: fixed, interval: 1 s, "
                + "rate-limit: {changes: \($0), per: 1 min}}}]\n"
        },
        Limit(name: "acceleration", most: 1000, says: "not within 0 g to 1000 g") {
            head + "activity: {hold: 1 s, source: stdin, active-above: \($0) g, idle-below: 0 g}\n"
        },
    ]
}

@Suite struct LimitTests {
    private static func refusals(_ text: String) -> [String] { Fixture.errors(text) }

    @Test("a profile at a limit loads, and one above it is refused by name", arguments: Limit.all)
    func limit(one: Limit) {
        let isUnknownKey = { (line: String) in line.contains("unknown key 'x'") }
        let atLimit = Self.refusals(one.profile(one.most)).filter { !isUnknownKey($0) }
        #expect(atLimit == [])
        let above = Self.refusals(one.profile(one.most + 1))
        #expect(above.contains { $0.contains(one.says) }, "\(above.prefix(3))")
    }

    @Test("the services of a profile may take all handles, and not one more")
    func handles() {
        func profile(_ count: Int) -> String {
            let own = (0..<count).map { _ in "{characteristic: 0x5678, read: open}" }
            return "peripheral-emu: 1\ndevice: {name: T}\nserver: {implicit-services: false}\n"
                + "services: [{service: 0x1234, characteristics: ["
                + own.joined(separator: ", ") + "]}]\n"
        }
        // Two attributes each, and the service's own.
        #expect(Self.refusals(profile(32_767)) == [])
        #expect(
            Self.refusals(profile(32_768)).first?.contains("than there are handles, 65535") == true)
    }

    @Test("a hundred errors are shown, and that there are more")
    func errors() {
        func profile(_ count: Int) -> String {
            "peripheral-emu: 1\ndevice: {name: T}\n" + (0..<count).map { "x\($0): 1\n" }.joined()
        }
        #expect(Self.refusals(profile(100)).count == 100)
        #expect(
            Self.refusals(profile(101)).last?.contains("more errors than the 100 shown") == true)
    }
}
