// Between a byte stream and the device: framing wherever a read ends, and the capture of it all.
import Emulator
import HCI
import Harness
import SansIO
import Testing
import Wire

@Suite struct DevicePortTests {
    /// What a device does with a recorded session that comes in chunks of `size` octets at once.
    struct Replay {
        var sent: [UInt8] = []
        var lines: [String] = []
        var captured: [CapturedPacket] = []

        init(_ stream: [UInt8], inChunksOf size: Int) throws {
            let capture = BtsnoopWriter(epoch: BtsnoopWriter.virtualEpoch)
            var port = DevicePort(device: try SampleProfile.device(), capture: capture)
            var out = ByteBlock()
            var events = Outputs<DeviceEvent>()
            port.powerOn(at: .zero, sending: &out, emit: &events)
            for start in stride(from: 0, to: stream.count, by: size) {
                let chunk = Array(stream[start..<min(start + size, stream.count)])
                let rubbish = port.receive(chunk.span, at: .zero, sending: &out, emit: &events)
                #expect(rubbish == nil)
            }
            sent = out.bytes
            for event in events.elements {
                if let line = port.device.line(for: event, upTo: .debug) { lines.append(line.text) }
            }
            let bytes = port.takeCapture()
            let packets = BtsnoopFile.packets(bytes)
            captured = try #require(packets)
            #expect(port.takeCapture().isEmpty)
        }
    }

    static func stream() throws -> [UInt8] {
        var world = GuestWorld.session(of: try SampleProfile.device())
        return Array(world.takePackets().filter(\.isReceived).map(\.octets).joined())
    }

    @Test("a session in chunks of any size leads to the same octets and lines")
    func chunks() throws {
        let stream = try Self.stream()
        let whole = try Replay(stream, inChunksOf: stream.count)
        #expect(whole.lines.count > 20)
        for size in [1, 2, 3, 4, 5, 7, 16, 61, 250, 1_000] {
            let part = try Replay(stream, inChunksOf: size)
            #expect(part.sent == whole.sent, "chunks of \(size)")
            #expect(part.lines == whole.lines, "chunks of \(size)")
        }
    }

    @Test("the capture is the traffic, both ways and in order")
    func capture() throws {
        let stream = try Self.stream()
        for size in [1, stream.count] {
            let replay = try Replay(stream, inChunksOf: size)
            let received = replay.captured.filter(\.isReceived)
            #expect(Array(received.map(\.octets).joined()) == stream)
            let sent = replay.captured.filter { !$0.isReceived }
            #expect(Array(sent.map(\.octets).joined()) == replay.sent)
            #expect(replay.captured.first?.octets == [0x01, 0x03, 0x0C, 0x00])
            #expect(replay.captured.first?.isReceived == false)
        }
    }

    @Test("without a capture nothing is kept")
    func noCapture() throws {
        var port = DevicePort(device: try SampleProfile.device())
        var out = ByteBlock()
        var events = Outputs<DeviceEvent>()
        port.powerOn(at: .zero, sending: &out, emit: &events)
        #expect(port.takeCapture().isEmpty)
    }

    @Test("an octet that is no packet type is reported, and what stood before it is served")
    func rubbish() throws {
        let complete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
        for cut in 0...complete.count {
            var port = DevicePort(device: try SampleProfile.device())
            var out = ByteBlock()
            var events = Outputs<DeviceEvent>()
            port.powerOn(at: .zero, sending: &out, emit: &events)
            #expect(h4Packets(out) == [[0x01, 0x03, 0x0C, 0x00]])
            out.removeAll()
            let first = Array(complete[..<cut])
            let second = Array(complete[cut...]) + [0x47, 0x04]
            #expect(port.receive(first.span, at: .zero, sending: &out, emit: &events) == nil)
            #expect(port.receive(second.span, at: .zero, sending: &out, emit: &events) == 0x47)
            #expect(!out.isEmpty, "Reset is answered, so the next command goes out")
            // A new stream begins with a new packet.
            out.removeAll()
            port.powerOn(at: .zero, sending: &out, emit: &events)
            #expect(h4Packets(out) == [[0x01, 0x03, 0x0C, 0x00]])
            #expect(port.receive(complete.span, at: .zero, sending: &out, emit: &events) == nil)
        }
    }
}
