// The log's lines: decoded, and by whom.
import Advertising
import BLEHost
import Emulator
import GATT
import HCI
import Harness
import SansIO
import TestFiles
import Testing
import Wire

@Suite struct EventTextTests {
    @Test("the lines of a whole session are as committed")
    func session() throws {
        let world = GuestWorld.session(of: try SampleProfile.device())
        let text = world.lines.map { $0 + "\n" }.joined()
        let difference = SourceTree.difference(
            of: text, from: "Tests/EmulatorTests/Snapshots/session.txt")
        #expect(difference == nil)
    }

    @Test(
        "failures, notes and refusals say what happened and to what",
        arguments: [
            (
                .failed(.commandTimeout(.reset)), .error,
                "the controller did not answer Reset within 2 s"
            ),
            (
                .failed(.commandRefused(.leSetAdvertisingEnable, .controllerBusy)), .error,
                "the controller refused LE Set Advertising Enable: Controller Busy (0x3A)"
            ),
            (.failed(.hardwareError(0x42)), .error, "the controller reports hardware error 0x42"),
            (.failed(.unexpectedReset), .error, "the controller was reset"),
            (
                .note(.notListed(.leRand)), .warning,
                "the controller does not list LE Rand: done without"
            ),
            (
                .note(.refused(.leRand, .unknownCommand)), .warning,
                "the controller refused LE Rand with Unknown HCI Command (0x01): done without"
            ),
            (
                .note(.unanswered(.leRand)), .warning,
                "the controller did not answer LE Rand: done without"
            ),
            (
                .note(.malformedEvent(.commandStatus, "3 octets too many")), .warning,
                "the controller sent a malformed event 0x0F (3 octets too many): ignored"
            ),
            (
                .note(.unknownConnection(0x0040)), .warning,
                "the controller names connection 0x0040, which does not exist: ignored"
            ),
            (
                .note(.linkOverflow(ConnectionHandle(rawValue: 1))), .warning,
                "connection 0x0001 takes no data and keeps asking: disconnected"
            ),
            (.advertisingPaused(set: 0), .debug, "advertising paused for a change"),
            (.advertisingStopped(set: 0), .info, "advertising stopped"),
            (
                .advertisingRefused(.commandDisallowed, set: 0), .warning,
                "the controller refuses to advertise now: Command Disallowed (0x0C); tried again "
                    + "every minute, and when a connection changes"
            ),
            (
                .disconnected(
                    link: 3, peer: DeviceAddress(littleEndian: 0xC0_1122_3344_55),
                    .connectionTimeout), .info,
                "C0:11:22:33:44:55 disconnected: Connection Timeout (0x08)"
            ),
            (
                .server(.timeout(client: 0)), .warning,
                "link 0 did not confirm an indication within 30 s"
            ),
        ] as [(PeripheralEvent, LogLevel, String)])
    func host(event: PeripheralEvent, level: LogLevel, text: String) throws {
        let device = try SampleProfile.device()
        #expect(device.line(for: .host(event, peer: nil), upTo: .debug) == LogLine(level, text))
        #expect(device.line(for: .host(event, peer: nil), upTo: level) == LogLine(level, text))
        for lower in LogLevel.allCases where lower < level {
            #expect(device.line(for: .host(event, peer: nil), upTo: lower) == nil)
        }
    }

    @Test("what a client did is named as the profile names it")
    func server() throws {
        let device = try SampleProfile.device()
        let temperature = device.valueHandle("temperature")
        let code = Hex.code(temperature)
        let lines: [(ServerEvent, String?)] = [
            (
                .subscribed(client: 0, valueHandle: temperature, notify: true, indicate: true),
                "link 0 subscribed to temperature (\(code)) (notifications and indications)"
            ),
            (
                .subscribed(client: 0, valueHandle: temperature, notify: false, indicate: true),
                "link 0 subscribed to temperature (\(code)) (indications)"
            ),
            (
                .subscribed(client: 0, valueHandle: temperature, notify: false, indicate: false),
                "link 0 unsubscribed from temperature (\(code))"
            ),
            (.mtu(client: 2, mtu: 247), "link 2 MTU 247"),
        ]
        for (event, text) in lines {
            #expect(device.line(for: .host(.server(event), peer: nil), upTo: .debug)?.text == text)
        }
    }

    @Test("a change of interval says from what, to what and why")
    func interval() throws {
        let device = try SampleProfile.device()
        let decision = IntervalDecision(
            at: .zero, from: .maximum, to: .minimum, reason: "activity 0.4 g above 0.12 g")
        #expect(
            device.line(for: .interval(decision), upTo: .info)
                == LogLine(.info, "interval 10240 ms -> 20 ms: activity 0.4 g above 0.12 g"))
        let change = ActivityChange(
            at: .zero, state: .active, reason: .above(value: 1, threshold: 0.5))
        #expect(device.line(for: .activity(.changed(change)), upTo: .debug) == nil)
    }

    @Test("advertising says how, how often, after what gap, and why")
    func advertising() throws {
        let device = try SampleProfile.device()
        for (gap, said) in [(nil, ""), (TimeSpan.microseconds(312), ", after 312 us off the air")] {
            let event = DeviceEvent.advertising(.minimum, gap: gap, reason: "why")
            let text = "advertising connectable every 20 ms\(said): why"
            #expect(device.line(for: event, upTo: .info) == LogLine(.info, text))
            #expect(device.line(for: event, upTo: .warning) == nil)
        }
    }

    @Test("as JSON a change of interval has from, to and reason, and what follows its own")
    func intervalJSON() throws {
        let device = try SampleProfile.device()
        let decision = IntervalDecision(
            at: .zero, from: .maximum, to: .minimum, reason: "activity 0.4 g above 0.12 g")
        let object = device.json(for: .interval(decision), at: .seconds(2), upTo: .info)
        #expect(object?["event"] == .string("interval") && object?["time"] == .real(2))
        #expect(object?["from"] == .real(10_240) && object?["to"] == .real(20))
        #expect(object?["reason"] == .string("activity 0.4 g above 0.12 g"))
        let event = DeviceEvent.advertising(.minimum, gap: .milliseconds(3), reason: "why")
        let on = device.json(for: event, at: .zero, upTo: .info)
        #expect(on?["interval"] == .real(20) && on?["reason"] == .string("why"))
        #expect(
            on?["text"]
                == .string("advertising connectable every 20 ms, after 3000 us off the air: why"))
    }

    @Test("a source that is lost is a warning, a level is for those who look closely")
    func activity() throws {
        let device = try SampleProfile.device()
        let lines: [(ActivityEvent, LogLevel, String)] = [
            (
                .sourceLost(source: 0, reason: "gone", at: .zero), .warning,
                "activity source 1 is lost: gone"
            ),
            (.sourceReturned(source: 0, at: .zero), .info, "activity source 1 is back"),
            (.signalLost(reason: "gone", at: .zero), .debug, "the activity signal is lost: gone"),
            (.signalReturned(at: .zero), .debug, "the activity signal is back"),
            (.level(0.35, at: .zero), .debug, "activity level 35 %"),
        ]
        for (event, level, text) in lines {
            #expect(
                device.line(for: .activity(event), upTo: .debug) == LogLine(level, text))
        }
    }
}
