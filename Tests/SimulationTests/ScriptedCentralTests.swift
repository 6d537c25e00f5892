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
            target: nil, address: DeviceAddress(littleEndian: 0xC0FF_EE00_0001))
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
