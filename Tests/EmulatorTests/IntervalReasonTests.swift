// The reasons of intervals on a controller that answers late.
import Emulator
import HCI
import Profiles
import SansIO
import Testing
import Wire

/// A device on a controller that answers when the test says so.
private struct Rig {
    var device: EmulatedDevice
    var lines: [String] = []
    private var waiting: [[UInt8]] = []
    private var out = ByteBlock()
    private var events = Outputs<DeviceEvent>()

    init() throws {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            advertising:
              - type: connectable
                interval:
                  policy: loop
                  phases:
                    - {interval: 100 ms, for: 1 s}
                    - {interval: 200 ms, for: 1 s}
                    - {interval: 300 ms, for: 1 s}
            """
        let profile = try ProfileLoader.load(path: "p.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        device = EmulatedDevice(profile: profile, seed: 1)
        device.powerOn(at: .zero, sending: &out, emit: &events)
        settle()
        answer(at: .zero)
    }

    mutating func expire(at now: Instant) {
        device.expire(at: now, sending: &out, emit: &events)
        settle()
    }

    /// Another controller takes the place of the one that is there.
    mutating func replaceController(at now: Instant) {
        device.controllerIsGone(at: now, emit: &events)
        waiting.removeAll()
        device.powerOn(at: now, sending: &out, emit: &events)
        settle()
    }

    /// Answers commands until there are none.
    mutating func answer(at now: Instant) {
        while !waiting.isEmpty {
            let opcode = waiting.removeFirst()
            // LE Read Buffer Size: 251 octets, 4 packets; else zeros.
            let parameters: [UInt8] = opcode == [0x02, 0x20] ? [0, 251, 0, 4] : []
            let padded = parameters + Array(repeating: 0, count: 70 - parameters.count)
            let event = [0x04, 0x0E, UInt8(3 + padded.count), 1] + opcode + padded
            device.receive(event.span, at: now, sending: &out, emit: &events)
            settle()
        }
    }

    private mutating func settle() {
        let bytes = out.bytes
        out.removeAll()
        var offset = 0
        while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
            waiting.append([bytes[offset + 1], bytes[offset + 2]])
            offset = end
        }
        for event in events.elements {
            if let line = device.line(for: event, upTo: .info) { lines.append(line.text) }
        }
        events.removeAll()
    }
}

@Suite struct IntervalReasonTests {
    @Test("what a late controller confirms has its own reason, and each decision one line")
    func late() throws {
        var rig = try Rig()
        rig.lines = []
        rig.expire(at: .zero + .seconds(1))
        rig.expire(at: .zero + .seconds(2))
        rig.answer(at: .zero + .milliseconds(2500))
        let gap = ", after 0 us off the air"
        #expect(
            rig.lines == [
                "interval 100 ms -> 200 ms: loop, 2 of 3",
                "interval 200 ms -> 300 ms: loop, 3 of 3",
                "advertising connectable every 200 ms\(gap): loop, 2 of 3",
                "advertising connectable every 300 ms\(gap): loop, 3 of 3",
            ])
        let changes = rig.device.history?.changes ?? []
        #expect(changes.map(\.reason) == ["loop, 2 of 3", "loop, 3 of 3"])
    }

    @Test("on another controller the interval in force still has its reason")
    func replaced() throws {
        var rig = try Rig()
        let first = "advertising connectable every 100 ms: loop, 1 of 3"
        #expect(rig.lines.last == first)
        rig.lines = []
        rig.replaceController(at: .zero + .milliseconds(500))
        rig.answer(at: .zero + .milliseconds(500))
        #expect(rig.lines.last == first)
        rig.expire(at: .zero + .seconds(1))
        rig.replaceController(at: .zero + .milliseconds(1500))
        rig.answer(at: .zero + .milliseconds(1500))
        #expect(rig.lines.last == "advertising connectable every 200 ms: loop, 2 of 3")
    }
}
