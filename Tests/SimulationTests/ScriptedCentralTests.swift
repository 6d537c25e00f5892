// How the built-in central ends, and what it says is missing.
import Emulator
import Harness
import SansIO
import Simulation
import TestFiles
import Testing
import VirtualController
import Wire

private let bundledFiles = SourceTree.files("Profiles").filter { $0.hasSuffix(".yaml") }

@Suite struct ScriptedCentralTests {
    static let limit = Instant.zero + ScriptedCentral.limit

    /// The sample with one kind of advertising and one temperature.
    static func profile(type: String, temperature: String = "notify: open\n") -> String {
        let indented = temperature.split(separator: "\n").map { "        \($0)\n" }.joined()
        return """
            peripheral-emu: 1
            device: {name: Sample}
            advertising:
              - type: \(type)
                interval: 100 ms
                data:
                  - flags: [general-discoverable, no-br-edr]
            services:
              - service: environmental-sensing
                characteristics:
                  - characteristic: temperature
                    read: open
                    value: {ramp: {from: 20, to: 30, over: 10 min}}
                    update: every 1 s

            """.replacing(
                "        update: every 1 s\n", with: "        update: every 1 s\n" + indented)
    }

    @Test("after three notifications it is finished")
    func notifications() throws {
        let run = try WorldRun(Self.profile(type: "connectable"))
        #expect(run.outcome == .finished)
        #expect(run.lines.count { $0.contains("central: temperature notified") } == 3)
        #expect(run.end < Self.limit)
    }

    @Test("three indications do as well")
    func indications() throws {
        let run = try WorldRun(Self.profile(type: "connectable", temperature: "indicate: open\n"))
        #expect(run.outcome == .finished)
        #expect(run.lines.count { $0.contains("central: temperature indicated") } == 3)
    }

    @Test("a device without notifications is finished once everything was shown")
    func noNotifications() throws {
        let run = try WorldRun(Self.profile(type: "connectable", temperature: ""))
        #expect(run.outcome == .finished)
        #expect(run.lines.contains { $0.contains("central:   temperature = ") })
        #expect(!run.lines.contains { $0.contains("subscribed") })
        #expect(run.lines.contains { $0.contains("disconnected") })
    }

    @Test(
        "what cannot be connected to is finished without",
        arguments: [
            ("scannable", "scannable"), ("non-connectable", "non-connectable"),
        ])
    func unconnectable(type: String, said: String) throws {
        let text = Self.profile(type: type, temperature: "").split(separator: "services:")[0]
        let run = try WorldRun(String(text))
        #expect(run.outcome == .finished)
        #expect(run.lines.contains { $0.contains("central: found") && $0.contains(said) })
        #expect(!run.lines.contains { $0.contains("connected:") })
    }

    @Test(
        "extended advertising is heard, shown whole and connected to, on every PHY",
        arguments: [
            ("extended", "extended on 1M and 1M, SID 0"),
            ("{extended: {secondary: 2M}}", "extended on 1M and 2M, SID 0"),
            (
                "{extended: {primary: coded, secondary: coded}}",
                "extended on coded and coded, SID 0"
            ),
        ], [Air.Timing.radio, .ideal])
    func extended(_ kind: (pdu: String, told: String), _ timing: Air.Timing) throws {
        func run(_ type: String, _ more: String) throws -> WorldRun {
            let name = String(repeating: "n", count: 200)
            return try WorldRun(
                """
                peripheral-emu: 1
                device: {name: "\(name)"}
                advertising:
                  - {type: \(type), interval: 100 ms, pdu: \(kind.pdu), \(more): [{name: complete}]}
                services:
                  - service: battery
                    characteristics: [{characteristic: battery-level, read: open, value: 77 %}]
                """, timing: timing)
        }
        for (type, more) in [
            ("connectable", "data"), ("non-connectable", "data"), ("scannable", "scan-response"),
        ] {
            let run = try run(type, more)
            #expect(run.outcome == .finished)
            #expect(run.text.contains(", \(type), \(kind.told), -"))
            #expect(run.text.contains(String(repeating: "n", count: 200)))
            #expect(run.text.contains("battery-level = 77 %") == (type == "connectable"))
        }
    }

    /// A beacon, a set with a scan response and one that takes connections, by their data.
    private static let threeSets = """
        peripheral-emu: 1
        device: {name: Shelf}
        advertising:
          - {set: beacon, type: non-connectable, interval: 2 s, data: [{tx-power: 3 dBm}]}
          - {set: menu, type: scannable, interval: 1 s, data: [{tx-power: 4 dBm}],
             scan-response: [{tx-power: 5 dBm}]}
          - {set: door, type: connectable, interval: 1 s, data: [{tx-power: 6 dBm}]}
        services:
          - service: battery
            characteristics: [{characteristic: battery-level, read: open, value: 77}]

        """

    @Test("all sets are shown, each with its scan response, and then it connects to the one it can")
    func sets() throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let run = try WorldRun(Self.threeSets, seed: seed)
            #expect(run.outcome == .finished)
            let lines = run.lines.compactMap { $0.split(separator: "  central: ").last }
            #expect(lines.count { $0.hasPrefix("found ") } == 3)
            for power in 3...6 {
                #expect(lines.count { $0.hasSuffix("tx power \(power) dBm") } == 1, "\(lines)")
            }
            #expect(lines.contains { $0.hasSuffix("battery-level = 77 %") })
            let heard = try #require(lines.lastIndex { $0.hasPrefix("found ") })
            #expect(try #require(lines.firstIndex(of: "connected")) > heard)
        }
    }

    @Test("sets of one address are told apart by what they say")
    func oneAddress() throws {
        let run = try WorldRun(
            Self.threeSets.replacing("set: menu,", with: "set: menu, address: device,")
                .replacing("set: beacon,", with: "set: beacon, address: device,"))
        #expect(run.outcome == .finished)
        #expect(run.lines.count { $0.contains("central: found ") } == 3, "\(run.lines)")
        #expect(run.lines.contains { $0.hasSuffix("battery-level = 77 %") })
    }

    @Test("a set that stays away is not waited for long, and one for another central not at all")
    func absentSets() throws {
        let twins = try WorldRun(
            Self.threeSets.replacing(
                "{set: beacon,",
                with: "{set: twin, address: device, type: non-connectable, "
                    + "interval: 2 s, data: [{tx-power: 3 dBm}]}\n"
                    + "  - {set: beacon, address: device,"))
        #expect(twins.outcome == .finished)
        #expect(
            twins.lines.contains {
                $0.hasSuffix("central: no more is listened for: 3 of 4 sets within 5 s")
            }, "\(twins.lines)")
        let directed = try WorldRun(
            Self.threeSets.replacing(
                "{set: beacon, type: non-connectable, interval: 2 s, data: [{tx-power: 3 dBm}]}",
                with: "{set: beacon, type: {directed: {peer: \"C0:11:22:33:44:55\", duty: low}}, "
                    + "interval: 2 s}"))
        #expect(directed.outcome == .finished)
        #expect(!directed.lines.contains { $0.contains("no more is listened for") })
    }

    @Test("another device's advertisement is not the one that is missing")
    func otherAddress() throws {
        let target = try #require(DeviceAddress("C0:00:00:00:00:07"))
        let run = try WorldRun(Self.profile(type: "connectable"), target: target)
        #expect(run.outcome == .incomplete("an advertisement of C0:00:00:00:00:07"))
        #expect(run.end == Self.limit)
    }

    @Test("what is only sent later is not waited for, and said")
    func slow() throws {
        let text = Self.profile(type: "connectable").replacing("every 1 s", with: "every 6 s")
        let run = try WorldRun(text)
        #expect(run.outcome == .finished)
        #expect(
            run.lines.contains {
                $0.hasSuffix(
                    "central: no more is waited for: 2 notifications within 15 s, "
                        + "the rest is sent later, at a write or by hand")
            })
        #expect(run.end < Self.limit + .seconds(1))
    }

    @Test("every bundled profile is shown to its end", arguments: bundledFiles)
    func bundled(name: String) throws {
        let run = try WorldRun(SourceTree.text("Profiles/" + name))
        #expect(run.outcome == .finished, "\(run.lines.suffix(3))")
    }

    @Test("a device that is switched off on the way leaves the rest missing")
    func poweredOff() throws {
        let run = try WorldRun(
            Self.profile(type: "connectable"), stopAfter: "subscribed to temperature")
        guard case .incomplete(let missing) = run.outcome else {
            Issue.record("\(String(describing: run.outcome))")
            return
        }
        #expect(
            missing
                == "the rest: the device disconnected, "
                + "Remote Device Terminated Connection due to Power Off (0x15)")
    }

    @Test("a controller that never answers is what is missing")
    func noController() {
        var central = ScriptedCentral(
            targets: [], address: DeviceAddress(littleEndian: 0xC0FF_EE00_0001))
        var out = ByteBlock()
        var findings = Outputs<CentralFinding>()
        #expect(central.deadline == nil)
        central.powerOn(at: .zero, sending: &out)
        var steps = 0
        while let deadline = central.deadline, steps < 100 {
            steps += 1
            central.expire(at: deadline, sending: &out, emit: &findings)
        }
        #expect(central.deadline == nil)
        #expect(
            findings.elements == [
                .incomplete("a working controller: the controller did not answer Reset within 2 s")
            ])
    }
}
