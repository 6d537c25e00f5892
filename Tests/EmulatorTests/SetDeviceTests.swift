// Profiles with several advertising sets, and with scanners near, on a controller that has sets.
import Emulator
import HCI
import OpenSSLCrypto
import Profiles
import SansIO
import Testing
import Wire

/// A device on a controller that takes all it is told.
private struct SetDeviceRig {
    var device: EmulatedDevice
    var lines: [String] = []
    /// Opcodes of the commands, with their parameters.
    var commands: [(opcode: Opcode, body: [UInt8])] = []
    private var now = Instant.zero
    private var out = ByteBlock()
    private var events = Outputs<DeviceEvent>()

    /// - Parameter epoch: microseconds since 1970 at power-on.
    init(_ rest: String, epoch: Int64 = BtsnoopWriter.virtualEpoch) throws {
        let text = "peripheral-emu: 1\ndevice: {name: T}\n" + rest
        let profile = try ProfileLoader.load(path: "p.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        device = EmulatedDevice(profile: profile, seed: 1, cipher: OpenSSLCipher())
        device.setClock(epoch: epoch)
        device.powerOn(at: now, sending: &out, emit: &events)
        settle()
    }

    mutating func wait(_ span: TimeSpan) {
        let end = now + span
        while let deadline = device.deadline, deadline <= end {
            now = max(now, deadline)
            device.expire(at: now, sending: &out, emit: &events)
            settle()
        }
        now = end
    }

    mutating func flash(_ profile: DeviceProfile) {
        device.replace(profile: profile, at: now, sending: &out, emit: &events)
        settle()
    }

    mutating func receive(_ packet: [UInt8]) {
        device.receive(packet.span, at: now, sending: &out, emit: &events)
        settle()
    }

    /// A scanner asks a set.
    mutating func scan(set: UInt8) {
        receive([0x04, 0x3E, 9, 0x13, set, 1, 1, 2, 3, 4, 5, 0xC6])
    }

    /// The data that a set was given last.
    func data(of set: UInt8) -> [UInt8]? {
        commands.last { $0.opcode == .leSetExtendedAdvertisingData && $0.body[0] == set }
            .map { Array($0.body[4...]) }
    }

    /// All data that a set was given, the first at power-on.
    func allData(of set: UInt8) -> [[UInt8]] {
        commands.filter { $0.opcode == .leSetExtendedAdvertisingData && $0.body[0] == set }
            .map { Array($0.body[4...]) }
    }

    private mutating func settle() {
        for event in events.elements {
            if let line = device.line(for: event, upTo: .info) { lines.append(line.text) }
        }
        events.removeAll()
        let bytes = out.bytes
        out.removeAll()
        var offset = 0
        while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
            let opcode = Opcode(rawValue: bytes.span.uint16(at: offset + 1))
            commands.append((opcode, Array(bytes[offset + 4..<end])))
            var parameters: [UInt8] =
                switch opcode {
                // LE Extended Advertising.
                case .leReadLocalSupportedFeatures: [0, 0, 0x10]
                case .leReadBufferSize: [0, 251, 0, 4]
                case .leReadNumberOfSupportedAdvertisingSets: [0, 16]
                case .leReadMaximumAdvertisingDataLength: [0, 0x72, 0x06]
                default: []
                }
            parameters += [UInt8](repeating: 0, count: 70 - parameters.count)
            let code = opcode.rawValue
            receive(
                [
                    0x04, 0x0E, 73, 1, UInt8(truncatingIfNeeded: code),
                    UInt8(truncatingIfNeeded: code >> 8),
                ] + parameters)
            offset = end
        }
    }
}

@Suite struct SetDeviceTests {
    @Test("each set has its policy, its live data and its name in the log")
    func sets() throws {
        var rig = try SetDeviceRig(
            """
            advertising:
              - {set: main, type: connectable, interval: 100 ms}
              - set: beat
                type: non-connectable
                interval:
                  policy: loop
                  phases: [{interval: 200 ms, for: 1 s}, {interval: 1 s, for: 1 s}]
                update: every 3 s
                data:
                  - manufacturer:
                      company: 0xFFFF
                      fields: [{format: uint8, value: {counter: {}}}]
            """)
        #expect(
            rig.lines.contains("main: advertising connectable every 100 ms: fixed")
                && rig.lines.contains(
                    "beat: advertising non-connectable every 200 ms: loop, 1 of 2")
        )
        let first = rig.data(of: 1)
        rig.lines = []
        rig.wait(.milliseconds(1500))
        #expect(
            rig.lines == [
                "beat: interval 200 ms -> 1000 ms: loop, 2 of 2",
                "beat: advertising non-connectable every 1000 ms, after 0 us off the air: "
                    + "loop, 2 of 2",
            ])
        rig.wait(.seconds(2))
        #expect(first?.dropLast() == rig.data(of: 1)?.dropLast() && first != rig.data(of: 1))
        let report = rig.device.intervalReport(until: .zero + .seconds(4))
        #expect(report.contains("set main") && report.contains("set beat"))
    }

    @Test("fast while scan requests come in, slow again after the hold")
    func nearUser() throws {
        var rig = try SetDeviceRig(
            """
            activity: {source: scan-requests, hold: 10 s}
            advertising:
              - set: near
                type: scannable
                interval: {policy: activity, active: 100 ms, idle: 2 s}
                scan-response: [{name: complete}]
              - {set: far, type: non-connectable, interval: 5 s}
            """)
        let parameters = rig.commands.filter { $0.opcode == .leSetExtendedAdvertisingParameters }
        // Scan_Request_Notification_Enable is the last parameter; the beacon is asked by nobody.
        #expect(parameters.map { $0.body.last } == [1, 0])
        #expect(rig.lines.contains { $0.hasPrefix("near: advertising scannable every 2000 ms") })
        rig.wait(.seconds(5))
        rig.lines = []
        rig.scan(set: 0)
        #expect(rig.lines.first == "near: interval 2000 ms -> 100 ms: in use: scan request")
        for _ in 0..<3 {
            rig.wait(.seconds(8))
            rig.scan(set: 0)
        }
        #expect(rig.lines.count == 2)
        rig.wait(.seconds(11))
        #expect(rig.lines.contains("near: interval 100 ms -> 2000 ms: idle: not used for 10 s"))
    }

    @Test("a new version of the profile has one set more, then one less")
    func flash() throws {
        var rig = try SetDeviceRig(
            "advertising: [{type: connectable, interval: 100 ms}]\n")
        let two =
            "peripheral-emu: 1\ndevice: {name: T}\nadvertising:\n"
            + "  - {set: main, type: connectable, interval: 100 ms}\n"
            + "  - {set: more, type: non-connectable, interval: 500 ms}\n"
        let profile = try ProfileLoader.load(path: "p.yaml", bytes: Array(two.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        let one = rig.device.profile
        rig.flash(profile)
        #expect(rig.lines.contains { $0.hasPrefix("more: advertising non-connectable every 500") })
        rig.flash(one)
        let last = rig.commands.last { $0.opcode == .leSetExtendedAdvertisingEnable }
        #expect(last?.body.prefix(3) == [0, 1, 1])
    }

    @Test("what goes on the air is within the range of its field, whatever gives it")
    func ranges() throws {
        func last(_ data: String, after seconds: Int64) throws -> [UInt8] {
            var rig = try SetDeviceRig(
                """
                advertising:
                  - {type: non-connectable, interval: 1 s, update: every 1 s, data: [\(data)]}
                services:
                  - service: battery
                    characteristics:
                      - {characteristic: battery-level, read: open, format: uint8, value: 250}

                """)
            rig.wait(.seconds(seconds))
            return rig.data(of: 0) ?? []
        }
        func bthome(_ value: String, after seconds: Int64) throws -> UInt8? {
            try last("bthome: {objects: [{object: battery, value: \(value)}]}", after: seconds).last
        }
        let start = "{counter: {start: 99}}"
        #expect(try (0..<4).map { try bthome(start, after: $0) } == [99, 100, 0, 1])
        #expect(try bthome("{value-of: battery-level}", after: 0) == 100)
        let sequence = try (0..<4).map {
            Array(
                try last("ruuvi: {sequence: {counter: {start: 65533}}}", after: $0)
                    .suffix(8).prefix(2))
        }
        #expect(sequence == [[0xFF, 0xFD], [0xFF, 0xFE], [0, 0], [0, 1]])
    }

    @Test("the counter of encrypted data never goes back over restarts, and never runs ahead")
    func encryptionCounter() throws {
        func counters(every update: String, epoch: Int64, for span: TimeSpan) throws -> [UInt32] {
            var rig = try SetDeviceRig(
                """
                advertising:
                  - type: non-connectable
                    interval: 100 ms
                    update: every \(update)
                    data:
                      - bthome:
                          encryption-key: "231D39C1D7CC1AB1AEE224CD096DB932"
                          objects: [{object: packet-id, value: {counter: {}}}]
                """, epoch: epoch)
            rig.wait(span)
            return rig.allData(of: 0).map { data in
                data.suffix(8).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
        for update in ["250 ms", "333 ms", "1 s", "10 s"] {
            // 2026-12-01, and where the 32 bits end.
            for begin in [1_796_083_200_000_000, 2_809_431_423_000_000] as [Int64] {
                var last: UInt32?
                var epoch = begin
                for _ in 0..<5 {
                    let found = try counters(every: update, epoch: epoch, for: .seconds(60))
                    #expect(found.count > 5)
                    for counter in found {
                        if let last {
                            #expect(Int32(bitPattern: counter &- last) > 0, "\(update) \(found)")
                        }
                        last = counter
                    }
                    // As long as a restart takes at least.
                    epoch += 60_050_000
                }
                #expect(
                    try counters(every: update, epoch: begin, for: .seconds(20))
                        == counters(every: update, epoch: begin, for: .seconds(20)))
            }
        }
        // In virtual time it is the year 2000.
        let virtual = try counters(
            every: "1 s", epoch: BtsnoopWriter.virtualEpoch, for: .seconds(10))
        #expect(zip(virtual, virtual.dropFirst()).allSatisfy { $1 - $0 <= 4 && $1 > $0 })
        #expect(throws: ProfileErrors.self) {
            try counters(every: "100 ms", epoch: 0, for: .seconds(1))
        }
    }
}
