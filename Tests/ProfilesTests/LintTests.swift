// Lint: each rule with what it finds and what it lets pass.
import Profiles
import Testing

@Suite struct LintTests {
    private func found(_ set: String, device: String = "", top: String = "") throws -> [String] {
        let profile = try load(
            """
            peripheral-emu: 1
            device: {name: T\(device)}
            \(top)
            advertising:
              - \(set)
            """)
        return Lint.findings(in: profile).map(\.description)
    }

    private static let data =
        "data: [{flags: [general-discoverable, no-br-edr]}, "
        + "{tx-power: 0 dBm}, {name: complete}]"
    private static let wise =
        "{type: connectable, \(data), interval: {policy: two-phase, "
        + "boost: {interval: 20 ms, for: 30 s}, slow: 1022.5 ms}}"

    @Test("what Apple asks for is found wise, and so is a beacon whatever its interval")
    func wise() throws {
        #expect(try found(Self.wise) == [])
        #expect(try found("{type: non-connectable, interval: 100 ms}") == [])
    }

    @Test("each thing that iPhones dislike is said with its rule")
    func apple() throws {
        #expect(
            try found("{type: connectable, interval: 100 ms}") == [
                "test.yaml: advertising[0].data: it has no flags; "
                    + "add '{flags: [general-discoverable, no-br-edr]}' (apple-contents)",
                "test.yaml: advertising[0].data: it has no tx-power; "
                    + "add '{tx-power: 0 dBm}' with the power there is (apple-contents)",
                "test.yaml: advertising[0].interval: it does not begin with 20 ms for 30 s; "
                    + "write 'interval: {policy: fixed, interval: 152.5 ms, "
                    + "boost: {interval: 20 ms, for: 30 s}}' (apple-first)",
                "test.yaml: advertising[0].interval: 100 ms is not what Apple recommends; "
                    + "write 152.5 ms (apple-interval)",
                "test.yaml: advertising[0]: iOS shows no name for it; "
                    + "add '{name: complete}' to 'data' or 'scan-response' (ios-name)",
            ])
        #expect(
            try found(
                "{type: connectable, \(Self.data), interval: {policy: two-phase, "
                    + "boost: {interval: 30 ms, for: 30 s}, slow: 1 s, snap: apple}}") == [
                    "test.yaml: advertising[0].interval: it begins with 30 ms for 30 s; "
                        + "write 20 ms for 30 s or longer (apple-first)"
                ])
    }

    @Test("what is advised for one interval, written so, silences the advice")
    func cure() throws {
        let plain = "{type: connectable, interval: 211.25 ms, \(Self.data)}"
        let advice = try #require(try found(plain).first)
        let cure = try #require(advice.split(separator: "'").dropFirst().first)
        #expect(try found("{type: connectable, \(cure), \(Self.data)}") == [])
    }

    @Test("a finding says its line and column, those of the next thing around what is not there")
    func places() throws {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            advertising:
              - type: connectable
                interval: 100 ms
            lint: {silent: [apple-contents, apple-first]}
            """
        let findings = Lint.findings(in: try load(text), of: Array(text.utf8))
        #expect(findings.map { [$0.line, $0.column] } == [[5, 15], [4, 5]])
        #expect(findings.first?.description.hasPrefix("test.yaml:5:15: advertising[0].") == true)
    }

    @Test("rules that a profile silences say nothing")
    func silent() throws {
        let top = "lint: {silent: [apple-contents, apple-first, apple-interval, ios-name]}"
        #expect(try found("{type: connectable, interval: 100 ms}", top: top) == [])
    }

    @Test("a connectable set with a duration and nothing that brings it back is told")
    func foundOnce() throws {
        func found(_ times: String) throws -> [String] {
            try self.found("{type: connectable, interval: 1022.5 ms\(times)}").filter {
                $0.contains("(found-once)")
            }
        }
        #expect(
            try found(", duration: 10 s") == [
                "test.yaml: advertising[0].duration: whoever has not connected 10 s after "
                    + "power-on finds it no more; add a 'period', or a slow interval in place of "
                    + "'duration' (found-once)"
            ])
        #expect(try found(", duration: 10 s, period: 1 min") == [])
        #expect(try found("") == [])
    }

    @Test("Fast Pair's rate depends on whether the model id is advertised")
    func fastPair() throws {
        let rule = "(fast-pair-rate)"
        func set(_ hex: String, _ interval: String) -> String {
            "{type: non-connectable, interval: \(interval), "
                + "data: [{service-data: {service: 0xFE2C, data: {hex: \"\(hex)\"}}}]}"
        }
        #expect(try found(set("010203", "100 ms")) == [])
        #expect(
            try found(set("010203", "250 ms")) == [
                "test.yaml: advertising[0].interval: 250 ms is too slow for Fast Pair; "
                    + "write 100 ms or less \(rule)"
            ])
        #expect(try found(set("00010203", "250 ms")) == [])
        #expect(try found(set("00010203", "251.25 ms")).count == 1)
    }

    @Test("connection parameters are checked by the edition of Apple's rules that is named")
    func connection() throws {
        func found(_ connection: String, _ year: Int) throws -> [String] {
            try self.found(
                Self.wise, device: ", connection: \(connection)", top: "lint: {apple: \(year)}")
        }
        let short = "{interval: [15 ms, 30 ms], timeout: 4 s}"
        #expect(try found(short, 2018) == [])
        #expect(
            try found(short, 2025) == [
                "test.yaml: device.connection: the timeout is not within 6 s to 18 s, "
                    + "by Apple's rules of 2025; write one within it (apple-connection)"
            ])
        #expect(try found("{interval: 15 ms, latency: 30, timeout: 6 s}", 2018) == [])
        #expect(try found("{interval: [20 ms, 25 ms], timeout: 4 s}", 2018).count == 2)
        let late = "{interval: [90 ms, 105 ms], latency: 31, timeout: 18 s}"
        #expect(try found(late, 2025).count == 1)
        let long = "{interval: [300 ms, 315 ms], latency: 30, timeout: 32 s}"
        #expect(try found(long, 2025).count == 2)
    }

    @Test("every rule has an id and a reason, and the ids are sorted")
    func rules() {
        let ids = Lint.rules.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(Lint.rules.allSatisfy { $0.reason.count > 20 })
    }
}
