// A whole session's octets from the controller, cut short and damaged at every place.
import Emulator
import GATT
import HCI
import Harness
import SansIO
import Testing
import Wire

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct SessionTests {
    /// A packet of the session and the device as it was when that came.
    struct Place {
        var run: DeviceRun
        var packet: CapturedPacket
    }

    /// `Tools/test --long` feeds all that followed a damaged packet, else the next few packets are.
    static let followingMax = getenv("PERIPHERAL_EMU_LONG") != nil ? Int.max : 12

    /// The packets from the controller in a whole session, and the device before each.
    static func places() throws -> [Place] {
        let device = try SampleProfile.device()
        var world = GuestWorld.session(of: device)
        var run = DeviceRun(device: device)
        return world.takePackets().filter(\.isReceived).map { packet in
            run.advance(to: packet.time)
            defer { run.receive(packet.octets) }
            return Place(run: run, packet: packet)
        }
    }

    @Test("replayed, the session leads to the same values")
    func replay() throws {
        let places = try Self.places()
        let last = try #require(places.last)
        let host = last.run.port.device.host
        #expect(host.hasEverAdvertised)
        let setting = last.run.port.device.valueHandle("setting")
        #expect(host.server.value(of: setting) == Array(repeating: 0xA5, count: 300))
    }

    @Test("every prefix leaves a device that a new controller brings up again")
    func prefixes() throws {
        for place in try Self.places() {
            for count in place.packet.octets.indices {
                var run = place.run
                run.receive(Array(place.packet.octets[..<count]))
                run.passDeadlines(3)
                run.recover()
            }
        }
    }

    @Test("eight flipped bits, 00 and FF at every octet leave a device that works")
    func mutations() throws {
        let places = try Self.places()
        for (index, place) in places.enumerated() {
            let following = places[(index + 1)...].prefix(Self.followingMax).map(\.packet)
            for offset in place.packet.octets.indices {
                for octet in Self.mutations(of: place.packet.octets[offset]) {
                    var run = place.run
                    var octets = place.packet.octets
                    octets[offset] = octet
                    run.receive(octets)
                    for packet in following {
                        run.advance(to: packet.time)
                        run.receive(packet.octets)
                    }
                    run.passDeadlines(3)
                    // Bringing up takes longest, so once for each octet.
                    if octet == 0xFF { run.recover() }
                }
            }
        }
    }

    static func mutations(of octet: UInt8) -> [UInt8] {
        (0..<8).map { octet ^ 1 << UInt8($0) } + [0x00, 0xFF]
    }

    @Test("the recorded session has all that a session has")
    func content() throws {
        let device = try SampleProfile.device()
        var world = GuestWorld.session(of: device)
        let packets = world.takePackets()
        #expect(packets.count { $0.isReceived } > 80)
        let text = world.lines.joined(separator: "\n")
        for part in [
            "controller ready", "advertising connectable", "connected", "MTU 247",
            "read temperature", "wrote setting", "subscribed to temperature",
            "subscribed to humidity", "disconnected",
        ] {
            #expect(text.contains(part), "\(part) is missing in\n\(text)")
        }
        let sent = world.heard.compactMap { event -> String? in
            switch event {
            case .client(.notification): "notification"
            case .client(.indication): "indication"
            default: nil
            }
        }
        #expect(sent.count { $0 == "notification" } >= 8)
        #expect(sent.count { $0 == "indication" } >= 2)
        let setting = device.valueHandle("setting")
        #expect(
            world.port.device.host.server.value(of: setting)
                == Array(repeating: 0xA5, count: 300))
    }
}
