// --set, --activity and --passkey with one accessory and with several.
import Testing

@testable import peripheral_emu

@Suite struct SubstitutesTests {
    private func substitutes(_ line: String) throws -> [Substitutes] {
        let parsed = try Options.parse(line.split(separator: " ").map(String.init)).get()
        guard case .run(let options) = parsed else { throw UsageError("not run: \(parsed)") }
        return options.substitutes
    }

    private func error(_ line: String) -> String {
        do {
            _ = try substitutes(line)
            return "none"
        } catch { return "\(error)" }
    }

    @Test("what one accessory is given needs no name")
    func one() throws {
        let one = try substitutes(
            "--set x=1 --profile a.yaml --set s/y=2 --passkey 000007 --activity stdin")
        #expect(one.count == 1 && one[0].settings == ["x=1", "s/y=2"] && one[0].passkey == 7)
        #expect(one[0].activity != nil)
    }

    @Test("of several accessories NAME/ says whose it is, wherever it stands")
    func several() throws {
        let all = try substitutes(
            "--set b/x=1 --passkey a/000007 --profile a.yaml --profile p/b.yaml --set b-2/s/y=a/2 "
                + "--profile b --activity a/csv:t/x.csv --passkey b/123456 --set b/z=3")
        #expect(all.map(\.settings) == [[], ["x=1", "z=3"], ["s/y=a/2"]])
        #expect(all.map(\.passkey) == [7, 123_456, nil])
        #expect(all.map { $0.activity != nil } == [true, false, false])
    }

    @Test(
        "what does not say whose it is, or is wrong, is refused with what to write",
        arguments: [
            (
                "--set x=1",
                "--set: 'x=1' does not say whose it is; write NAME/x=1, where NAME is one of "
                    + "left, right"
            ),
            ("--set letf/x=1", "--set: there is no accessory 'letf'; did you mean 'left'?"),
            ("--set left/x", "--set left/x has no value; write --set left/x=VALUE"),
            ("--passkey 123456", "--passkey: '123456' does not say whose it is; write NAME/123456"),
            ("--passkey left/12345", "--passkey: a passkey has six digits, and 12345 has 5"),
            ("--activity csv:t.csv", "--activity: 'csv:t.csv' does not say whose it is"),
            ("--activity left/nothing", "--activity: \"nothing\" is no activity source"),
        ])
    func mistakes(_ option: String, _ said: String) {
        let error = error("--profile left.yaml --profile right.yaml " + option)
        #expect(error.hasPrefix(said), "\(error)")
    }
}
