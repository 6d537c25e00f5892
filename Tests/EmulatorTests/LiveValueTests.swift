// Values of a device at work: counted writes, and samples for notifications as fast as possible.
import Emulator
import HCI
import Profiles
import SansIO
import Testing
import Wire

/// A device on a controller that does as it is told: four buffers, one link, every packet completed
/// when the test says so.
private struct Rig {
    var device: EmulatedDevice
    var sent: [String] = []
    private var out = ByteBlock()
    private var events = Outputs<DeviceEvent>()

    init(
        _ services: String, hasImplicitServices: Bool = false, head: String = "",
        presets: [(reference: String, value: String)] = []
    ) throws {
        let text = """
            peripheral-emu: 1
            device: {name: T}
            server: {implicit-services: \(hasImplicitServices)}
            \(head)
            services:
              - service: 0x1234
                characteristics:

            """ + services.split(separator: "\n").map { "      \($0)\n" }.joined()
        var profile = try ProfileLoader.load(path: "p.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        for preset in presets {
            profile.presets.append(
                try ProfileLoader.setting(
                    preset.value, of: preset.reference, in: profile, source: "test"))
        }
        device = EmulatedDevice(profile: profile, seed: 1)
        device.powerOn(at: .zero, sending: &out, emit: &events)
        answer()
        // LE Connection Complete, handle 0x0040, peripheral.
        receive("043E13010040000101563412EF00C018000000F40100")
    }

    /// What the device has told, of which some lines are for `debug` only.
    func lines(upTo level: LogLevel = .debug) -> [String] {
        events.elements.compactMap { device.line(for: $0, upTo: level)?.text }
    }

    /// The names of the events as JSON.
    var names: [String] {
        events.elements.compactMap {
            device.json(for: $0, at: .zero, upTo: .debug)?["event"]?.string
        }
    }

    mutating func receive(_ text: String) {
        let packet = Hex.bytes(text) ?? []
        device.receive(packet.span, at: .zero, sending: &out, emit: &events)
        answer()
    }

    /// An ATT PDU of the central.
    mutating func send(_ pdu: String) {
        let length = pdu.utf8.count / 2
        let header = [
            0x02, 0x40, 0x20, UInt8((length + 4) & 255), UInt8((length + 4) >> 8),
            UInt8(length & 255), UInt8(length >> 8), 4, 0,
        ]
        receive(Hex.string(header) + pdu)
    }

    mutating func expire(at now: Instant) {
        device.expire(at: now, sending: &out, emit: &events)
        answer()
    }

    mutating func complete(_ count: UInt8) {
        receive("041305014000" + Hex.string([count, 0]))
    }

    /// Notes the ATT PDUs that were sent, and answers commands as a controller that knows them all.
    private mutating func answer() {
        while !out.isEmpty {
            let bytes = out.bytes
            out.removeAll()
            var offset = 0
            while case .packet(let type, let end) = H4.frame(bytes.span, from: offset) {
                if type == .acl { sent.append(Hex.string(Array(bytes[(offset + 9)..<end]))) }
                if type == .command {
                    let opcode = [bytes[offset + 1], bytes[offset + 2]]
                    // LE Read Buffer Size: 251 octets, 4 packets; else zeros.
                    let parameters: [UInt8] = opcode == [0x02, 0x20] ? [0, 251, 0, 4] : []
                    let padded = parameters + Array(repeating: 0, count: 70 - parameters.count)
                    let event = [0x04, 0x0E, UInt8(3 + padded.count), 1] + opcode + padded
                    device.receive(event.span, at: .zero, sending: &out, emit: &events)
                }
                offset = end
            }
        }
    }
}

@Suite struct LiveValueTests {
    @Test(
        "values due at one instant go out in one PDU to a client that takes that, else one by one",
        arguments: ["04", "03"])
    func together(feature: String) throws {
        var rig = try Rig(
            """
            - {characteristic: 0x5671, format: uint8, notify: open, update: every 1 s,
               value: {counter: {start: 0, step: 1}}}
            - {characteristic: 0x5672, format: uint8, notify: open, update: every 1 s,
               value: {counter: {start: 7, step: 1}}}
            - {characteristic: 0x5673, format: uint8, indicate: open, update: every 1 s,
               value: {counter: {start: 7, step: 1}}}
            """, hasImplicitServices: true)
        // Client Supported Features is found and written.
        rig.send("080100FFFF292B")
        let found = try #require(rig.sent.last)
        rig.send("12" + found.dropFirst(4).prefix(4) + feature)
        let values = rig.device.plan.bindings.suffix(3).map(\.valueHandle)
        for handle in values.prefix(2) {
            rig.send("12" + Hex.string([UInt8(handle + 1), 0]) + "0100")
        }
        rig.send("12" + Hex.string([UInt8(values[2] + 1), 0]) + "0200")
        rig.complete(4)
        rig.complete(1)
        rig.sent = []
        rig.expire(at: .zero + .seconds(1))
        let names = values.map { Hex.string([UInt8($0)]) }
        let one = names[0] + "00"
        let other = names[1] + "00"
        let expected =
            feature == "04"
            ? ["23" + one + "010001" + other + "010008"] : ["1B" + one + "01", "1B" + other + "08"]
        #expect(rig.sent == expected + ["1D" + names[2] + "0008"])
    }

    @Test("writes of every kind are counted, each once, refused ones not")
    func counted() throws {
        var rig = try Rig(
            """
            - {characteristic: 0x5671, format: uint32, read: open, value: {writes-of: sink}}
            - {characteristic: 0x5672, label: sink, write: open, write-without-response: open}
            - {characteristic: 0x5673, write: open}
            """)
        func count() -> String {
            rig.sent = []
            rig.send("0A0300")
            rig.complete(1)
            return rig.sent.first ?? ""
        }
        #expect(count() == "0B00000000")
        rig.send("12050001")
        rig.send("52050001")
        rig.send("12070001")
        rig.send("16050000004142")
        rig.complete(3)
        #expect(count() == "0B02000000")
        rig.send("1801")
        rig.send("520500" + String(repeating: "00", count: 513))
        #expect(count() == "0B03000000")
    }

    @Test("a counted value is notified at each write")
    func notified() throws {
        var rig = try Rig(
            """
            - {characteristic: 0x5671, format: uint8, notify: open, value: {writes-of: sink}}
            - {characteristic: 0x5672, label: sink, write-without-response: open}
            """)
        rig.send("1204000100")
        rig.sent = []
        rig.send("52060001")
        rig.send("52060001")
        #expect(rig.sent == ["1B030001", "1B030002"])
    }

    @Test("the echo of a counted value follows it")
    func echoed() throws {
        var rig = try Rig(
            """
            - {characteristic: 0x5671, label: count, format: uint8, notify: open,
               value: {writes-of: sink}}
            - {characteristic: 0x5672, label: sink, write-without-response: open}
            - {characteristic: 0x5673, format: uint8, notify: open, value: {echo: count}}
            """)
        rig.send("1204000100")
        rig.send("1209000100")
        rig.complete(2)
        rig.sent = []
        rig.send("52060001")
        rig.send("52060001")
        #expect(Set(rig.sent) == ["1B030001", "1B080001", "1B030002", "1B080002"])
    }

    @Test("the activity's level is in each sample, whenever it is taken")
    func level() throws {
        var rig = try Rig(
            """
            - {characteristic: 0x5671, format: uint8, notify: open, send: as-fast-as-possible,
               value: {activity: level}}
            - {characteristic: 0x5672, format: uint8, read: open, update: every 1 s,
               value: {activity: level}}
            """, head: "activity: {source: gatt, hold: 10 s}")
        rig.send("1204000100")
        // The first is the sample of power-on.
        #expect(rig.sent == ["13", "1B030000", "1B030001", "1B030001"])
        rig.complete(4)
        rig.send("0A0600")
        rig.expire(at: .zero + .seconds(1))
        rig.complete(4)
        rig.send("0A0600")
        rig.complete(4)
        #expect(rig.sent.filter { $0.hasPrefix("0B") } == ["0B00", "0B01"])
    }

    @Test("a value given in place of the profile's that does not fit is told")
    func preset() throws {
        let rig = try Rig(
            "- {characteristic: 0x5671, format: uint8, read: open, value: 7}",
            presets: [("0x5671", "hex:0102")])
        #expect(
            rig.lines(upTo: .warning) == [
                "the value given for '0x5671' does not fit and the profile's stays: it is too "
                    + "long, or the field is not in the value"
            ])
        #expect(rig.names.first == "preset-refused")
    }

    @Test("what is sent is told where that is asked for, as it was sent")
    func told() throws {
        let value = "value: {writes-of: sink}"
        var rig = try Rig(
            """
            - {characteristic: 0x5671, label: count, format: uint8, notify: open, \(value)}
            - {characteristic: 0x5672, label: sink, write-without-response: open}
            - {characteristic: 0x5673, label: alarm, format: uint8, indicate: open, \(value)}
            """)
        rig.send("1204000100")
        rig.send("1209000200")
        rig.send("52060001")
        #expect(!rig.names.contains("notified"))
        rig.device.reportsSending = true
        rig.complete(4)
        rig.send("1E")
        rig.send("52060001")
        #expect(
            rig.lines().suffix(2) == [
                "C0:00:EF:12:34:56 was sent a notification of count (0x0003) = 2",
                "C0:00:EF:12:34:56 was sent an indication of alarm (0x0008) = 2",
            ])
        #expect(rig.names.suffix(2) == ["notified", "indicated"])
        #expect(rig.lines(upTo: .info).allSatisfy { !$0.contains("was sent") })
    }

    @Test("events name the peer of their time, whoever has the link since")
    func peer() throws {
        var rig = try Rig("- {characteristic: 0x5671, format: uint8, notify: open}")
        rig.send("020202")
        rig.send("1204000100")
        rig.receive("04050400400013")
        rig.receive("043E1301004000010166554433221118000000F40100")
        #expect(
            rig.lines().filter { $0.contains("MTU") || $0.contains("subscribed") } == [
                "C0:00:EF:12:34:56 MTU 247", "C0:00:EF:12:34:56 subscribed to 0x5671 (0x0003)",
            ])
    }

    @Test("as fast as possible, each notification has a sample of its own while subscribed")
    func streamed() throws {
        var rig = try Rig(
            """
            - characteristic: 0x5671
              format: uint8
              notify: open
              send: as-fast-as-possible
              value: {counter: {start: 5}}
            """)
        #expect(rig.sent == [])
        rig.send("1204000100")
        #expect(rig.sent == ["13", "1B030005", "1B030006", "1B030007"])
        rig.complete(2)
        #expect(rig.sent.suffix(2) == ["1B030008", "1B030009"])
        rig.send("1204000000")
        rig.complete(4)
        #expect(rig.sent.suffix(2) == ["1B030009", "13"])
    }

    @Test("a constant is streamed as it is, as a central has written it")
    func constant() throws {
        var rig = try Rig(
            """
            - characteristic: 0x5671
              notify: open
              write: open
              send: as-fast-as-possible
              value: {hex: "0102"}
            """)
        rig.send("1204000100")
        #expect(rig.sent == ["13", "1B03000102", "1B03000102", "1B03000102"])
        rig.send("12030009")
        rig.complete(3)
        #expect(rig.sent.suffix(3) == ["13", "1B030009", "1B030009"])
    }
}
