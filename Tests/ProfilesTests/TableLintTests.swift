// Rules about services and values, each with a profile that breaks it and how it is silenced.
import Profiles
import Testing

@Suite struct TableLintTests {
    static func rules(_ body: String, top: String = "") throws -> [String] {
        let profile = try load("peripheral-emu: 1\ndevice: {name: T}\n\(top)\(body)\n")
        return Lint.findings(in: profile).map(\.rule)
    }

    static let set =
        "advertising: [{type: connectable, interval: 152.5 ms, data: [{name: complete}]}]\n"

    static let pairable =
        "security: {io: none}\nservices: [{service: battery, characteristics: "

    static let cases: [(String, String)] = [
        (
            "constant-notification",
            "services: [{service: battery, characteristics: "
                + "[{characteristic: battery-level, read: open, notify: open, value: 5}]}]"
        ),
        ("missing-flags", set),
        ("service-changed", set + "server: {implicit-services: false}"),
        ("sig-base", "services: [{service: 0x1234}]"),
        (
            "io-none",
            pairable + "[{characteristic: battery-level, read: authenticated, value: 5}]}]"
        ),
        (
            "ios-pairing",
            pairable + "[{characteristic: battery-level, read: open, value: 5}]}]"
        ),
        (
            "ios-pairing",
            pairable + "[{characteristic: battery-level, write-without-response: encrypted}]}]"
        ),
        (
            "unpairable",
            "services: [{service: battery, characteristics: "
                + "[{characteristic: battery-level, read: encrypted, value: 5}]}]"
        ),
        (
            "unpairable",
            "services: [{service: battery, characteristics: [{characteristic: battery-level, "
                + "read: open, value: 5, descriptors: [{descriptor: 0x2999, read: encrypted}]}]}]"
        ),
        (
            "io-none",
            pairable + "[{characteristic: battery-level, read: encrypted, value: 5, "
                + "descriptors: [{descriptor: 0x2999, write: authenticated}]}]}]"
        ),
    ]

    @Test(
        "each rule finds what it is for",
        arguments: cases)
    func found(rule: String, body: String) throws {
        #expect(try Self.rules(body).contains(rule))
        #expect(try !Self.rules(body, top: "lint: {silent: [\(rule)]}\n").contains(rule))
    }

    @Test(
        "an iPhone pairs where it is refused aloud, or asked",
        arguments: [
            ("read: open, notify: encrypted", "io: none"), ("write: encrypted", "io: none"),
            ("read: open, descriptors: [{descriptor: 0x2999, read: encrypted}]", "io: none"),
            ("read: open", "io: none, security-request: true"),
        ])
    func iosPairing(permissions: String, security: String) throws {
        let found = try Self.rules(
            "security: {\(security)}\nservices: [{service: battery, characteristics: "
                + "[{characteristic: battery-level, \(permissions)}]}]")
        #expect(!found.contains("ios-pairing"))
    }

    @Test("nobody pairs with a beacon, whose security makes its addresses resolvable")
    func beaconPairing() throws {
        for (type, isTold) in [("non-connectable", false), ("connectable", true)] {
            let found = try Self.rules(
                "security: {io: none}\nadvertising: [{type: \(type), interval: 1 s, "
                    + "address: resolvable-private, data: [{name: complete}]}]")
            #expect(found.contains("ios-pairing") == isTold)
        }
    }

    @Test("what changes, is written or echoes is no constant")
    func live() throws {
        let found = try Self.rules(
            """
            services:
              - service: 6E400001-B5A3-F393-E0A9-E50E24DCCA9E
                characteristics:
                  - {characteristic: 6E400002-B5A3-F393-E0A9-E50E24DCCA9E, label: a, write: open, \
            notify: open}
                  - {characteristic: 6E400003-B5A3-F393-E0A9-E50E24DCCA9E, notify: open, \
            value: {echo: a}}
            """)
        #expect(!found.contains("constant-notification"))
    }

    @Test("every rule has a reason, and the registry is sorted by id")
    func registry() {
        let ids = Lint.rules.map(\.id)
        #expect(ids == ids.sorted())
        #expect(Lint.rules.allSatisfy { !$0.reason.isEmpty })
    }
}
