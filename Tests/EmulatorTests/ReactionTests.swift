// What follows a write: refusals, actions, echoes and records, over a virtual air.
import Emulator
import GATT
import Harness
import Profiles
import SansIO
import Testing
import Wire

@Suite struct ReactionTests {
    static func world(_ services: String) throws -> GuestWorld {
        let text =
            "peripheral-emu: 1\ndevice: {name: T}\n"
            + "advertising: [{type: connectable, interval: 100 ms}]\nservices:\n" + services
        let profile = try ProfileLoader.load(path: "t.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        var world = GuestWorld(EmulatedDevice(profile: profile, seed: 1))
        #expect(world.powerOn() && world.connect())
        world.perform(.discover)
        return world
    }

    static func error(_ events: [GATTClientEvent]) -> UInt8? {
        for case .failed(_, .error(let error, _)) in events { return error.rawValue }
        return nil
    }

    static func sent(_ world: GuestWorld) -> [[UInt8]] {
        world.heard.compactMap { event in
            switch event {
            case .client(.notification(_, let octets)), .client(.indication(_, let octets)): octets
            default: nil
            }
        }
    }

    static let drop = """
          - service: 0x1234
            characteristics:
              - characteristic: 0x0001
                label: notice
                write: open
                format: utf8
                on-write:
                  - {when: {longer-than: 4}, do: {reject: value-not-allowed}}
                  - {when: {begins-with: {text: no}}, do: {reject: 0x80}}
                  - do: [{log: from central}, {set: {receipt: written}}, {notify: receipt}]
              - {characteristic: 0x0002, label: receipt, read: open, notify: open, format: utf8}
        """

    @Test("a rule refuses with its code and stores nothing; another sets, notifies and logs")
    func drop() throws {
        var world = try Self.world(Self.drop)
        let device = world.port.device
        let (notice, receipt) = (device.valueHandle("notice"), device.valueHandle("receipt"))
        world.perform(
            .subscribe(cccd: device.cccdHandle("receipt"), notify: true, indicate: false))
        #expect(Self.error(world.perform(.write(handle: notice, value: [1, 2, 3, 4, 5]))) == 0x13)
        #expect(Self.error(world.perform(.write(handle: notice, value: Array("no".utf8)))) == 0x80)
        #expect(world.port.device.host.server.value(of: notice) == [])
        #expect(Self.sent(world) == [])
        #expect(Self.error(world.perform(.write(handle: notice, value: [0x41]))) == nil)
        world.run(for: .seconds(1))
        #expect(world.port.device.host.server.value(of: notice) == [0x41])
        #expect(world.port.device.host.server.value(of: receipt) == Array("written".utf8))
        #expect(Self.sent(world) == [Array("written".utf8)])
        #expect(world.lines.contains("notice: from central"))
    }

    @Test("a long write is refused by its whole value")
    func long() throws {
        var world = try Self.world(
            Self.drop.replacing("longer-than: 4", with: "longer-than: 100"))
        let notice = world.port.device.valueHandle("notice")
        let value = Array(repeating: UInt8(0x41), count: 300)
        #expect(Self.error(world.perform(.write(handle: notice, value: value))) == 0x13)
        #expect(world.port.device.host.server.value(of: notice) == [])
    }

    @Test("numbers, subscriptions and stores")
    func conditions() throws {
        var world = try Self.world(
            """
              - service: 0x1234
                characteristics:
                  - characteristic: 0x0001
                    label: level
                    write: open
                    indicate: open
                    format: sint16
                    scale: 0.5
                    on-write:
                      - {when: {subscribed: false}, do: {reject: cccd-improperly-configured}}
                      - {when: {above: 10}, do: {reject: out-of-range}}
                      - {when: {is: -3}, do: [{store: copy}, {indicate: level}]}
                      - {do: {set: {head.low: 5}}}
                  - {characteristic: 0x0002, label: copy, read: open}
                  - characteristic: 0x0003
                    label: head
                    read: open
                    fields:
                      - {name: a, format: uint8, bits: [{name: low, bit: 2, width: 3, value: 1}, \
            {name: top, bit: 7, value: true}]}
            """)
        let device = world.port.device
        let level = device.valueHandle("level")
        #expect(Self.error(world.perform(.write(handle: level, value: [0, 0]))) == 0xFD)
        world.perform(.subscribe(cccd: device.cccdHandle("level"), notify: false, indicate: true))
        #expect(Self.error(world.perform(.write(handle: level, value: [21, 0]))) == 0xFF)
        #expect(Self.error(world.perform(.write(handle: level, value: [20, 0]))) == nil)
        #expect(world.port.device.host.server.value(of: device.valueHandle("head")) == [0x94])
        #expect(Self.error(world.perform(.write(handle: level, value: [0xFA, 0xFF]))) == nil)
        world.run(for: .seconds(1))
        #expect(
            world.port.device.host.server.value(of: device.valueHandle("copy")) == [0xFA, 0xFF])
        #expect(Self.sent(world) == [[0xFA, 0xFF]])
    }

    @Test("an echo is sent whenever what it repeats is written")
    func echo() throws {
        var world = try Self.world(
            """
              - service: 0x1234
                characteristics:
                  - {characteristic: 0x0001, label: rx, write-without-response: open}
                  - {characteristic: 0x0002, label: tx, notify: open, value: {echo: rx}}
            """)
        let device = world.port.device
        world.perform(.subscribe(cccd: device.cccdHandle("tx"), notify: true, indicate: false))
        for octet in UInt8(1)...3 {
            world.perform(.writeCommand(handle: device.valueHandle("rx"), value: [octet, 9]))
        }
        world.run(for: .seconds(1))
        #expect(Self.sent(world) == [[1, 9], [2, 9], [3, 9]])
    }

    @Test("an echo that was set from outside repeats nothing any more")
    func endedEcho() throws {
        var world = try Self.world(
            """
              - service: 0x1234
                characteristics:
                  - {characteristic: 0x0001, label: rx, write-without-response: open}
                  - {characteristic: 0x0002, label: tx, notify: open, value: {echo: rx}}
            """)
        let device = world.port.device
        var session = ControlSession()
        let answer = world.ask(
            &session,
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":["tx","hex:07"]}"#)
        #expect(answer?.contains("result") == true)
        world.perform(.writeCommand(handle: device.valueHandle("rx"), value: [1]))
        world.run(for: .seconds(1))
        #expect(world.port.device.host.server.value(of: device.valueHandle("tx")) == [7])
    }

    static let glucose = """
          - service: glucose
            characteristics:
              - {characteristic: glucose-measurement, notify: open}
              - characteristic: record-access-control-point
                write: open
                indicate: open
                on-write: [{when: {subscribed: false}, do: {reject: cccd-improperly-configured}}]
                records:
                  of: glucose-measurement
                  values:
                    - {sequence-number: 1}
                    - {sequence-number: 2}
                    - {sequence-number: 7}
        """

    @Test(
        "a record access control point answers as the Glucose Service says",
        arguments: [
            // Report all: three records, then success.
            ([1, 1], [1, 2, 7], [6, 0, 1, 1]),
            // The first, the last, at most 2, at least 2, within 2 to 6.
            ([1, 5], [1], [6, 0, 1, 1]), ([1, 6], [7], [6, 0, 1, 1]),
            ([1, 2, 1, 2, 0], [1, 2], [6, 0, 1, 1]), ([1, 3, 1, 2, 0], [2, 7], [6, 0, 1, 1]),
            ([1, 4, 1, 2, 0, 6, 0], [2], [6, 0, 1, 1]),
            // Their number.
            ([4, 1], [], [5, 0, 3, 0]),
            // No records, and what is wrong with the request.
            ([1, 4, 1, 3, 0, 6, 0], [], [6, 0, 1, 6]), ([1, 0], [], [6, 0, 1, 3]),
            ([1, 9], [], [6, 0, 1, 4]), ([1, 4, 1, 6, 0, 3, 0], [], [6, 0, 1, 5]),
            ([1, 2, 2, 0, 0], [], [6, 0, 1, 9]), ([9, 1], [], [6, 0, 9, 2]),
            ([1], [], [6, 0, 1, 3]), ([3, 0], [], [6, 0, 3, 1]), ([2, 5], [], [6, 0, 2, 1]),
        ] as [([UInt8], [UInt8], [UInt8])])
    func records(request: [UInt8], numbers: [UInt8], answer: [UInt8]) throws {
        var world = try Self.world(Self.glucose)
        let device = world.port.device
        let point = device.valueHandle("record-access-control-point")
        #expect(Self.error(world.perform(.write(handle: point, value: [1, 1]))) == 0xFD)
        world.perform(
            .subscribe(
                cccd: device.cccdHandle("record-access-control-point"), notify: false,
                indicate: true))
        world.perform(
            .subscribe(
                cccd: device.cccdHandle("glucose-measurement"), notify: true, indicate: false))
        #expect(Self.error(world.perform(.write(handle: point, value: request))) == nil)
        world.run(for: .seconds(2))
        let sent = Self.sent(world)
        #expect(sent.dropLast().map { $0[1] } == numbers)
        #expect(sent.last == answer)
    }

    @Test(
        "wrong rules are errors",
        arguments: [
            ("[{do: {set: {nobody: 1}}}]", "no characteristic is called 'nobody'"),
            ("[{do: {reject: nothing}}]", "unknown word 'nothing'"),
            ("[{do: {explode: true}}]", "unknown key 'explode'"),
            ("[{when: {longer-then: 3}, do: store}]", "write 'longer-than'"),
            ("[{when: {above: 300}, do: store}]", "does not fit"),
            ("[{when: {}}]", "the key 'do' is missing"),
            ("[{do: [{reject: 0x80}, {log: x}]}]", "has no other effect"),
            ("[{do: {set: {own.x: 1}}}]", "has no fields; write 'own'"),
        ])
    func mistakes(rules: String, problem: String) {
        let text =
            "peripheral-emu: 1\ndevice: {name: T}\nservices: [{service: 0x1234, "
            + "characteristics: [{characteristic: 0x5678, label: own, format: uint8, write: open, "
            + "on-write: \(rules)}]}]\n"
        do throws(ProfileErrors) {
            _ = try ProfileLoader.load(path: "t.yaml", bytes: Array(text.utf8)) { _ in
                .failure(FileFailure(reason: "none"))
            }
            Issue.record("it loads")
        } catch {
            #expect(error.description.contains(problem), "\(error)")
        }
    }
}
