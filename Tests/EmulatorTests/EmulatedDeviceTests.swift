// The accessory over its controller's loss and return, and the equality of equal runs.
import BLEHost
import Emulator
import GATT
import Harness
import SansIO
import Testing
import VirtualController
import Wire

@Suite struct EmulatedDeviceTests {
    /// A device with a virtual controller of its own, which can be lost.
    struct Bench {
        var device: EmulatedDevice
        var now = Instant.zero
        var air = Air(seed: 1, timing: .ideal)
        var controller = 0
        var lines: [String] = []
        var addresses: [DeviceAddress] = []
        var isLost = true
        private var out = ByteBlock()
        private var events = Outputs<DeviceEvent>()

        init(_ device: EmulatedDevice) { self.device = device }

        mutating func powerOn() {
            controller = air.addController()
            isLost = false
            device.powerOn(at: now, sending: &out, emit: &events)
            settle()
        }

        mutating func lose() {
            air.removeController(controller, at: now)
            isLost = true
            device.controllerIsGone(at: now, emit: &events)
            settle()
        }

        mutating func run(for span: TimeSpan) {
            let end = now + span
            while let deadline = earliest(device.deadline, isLost ? nil : air.deadline),
                deadline <= end
            {
                now = max(now, deadline)
                if !isLost { air.expire(at: now) }
                if let deadline = device.deadline, deadline <= now {
                    device.expire(at: now, sending: &out, emit: &events)
                }
                settle()
            }
            now = end
        }

        private mutating func settle() {
            repeat {
                for packet in h4Packets(out) {
                    // LE Set Random Address.
                    if packet.starts(with: [0x01, 0x05, 0x20, 0x06]) {
                        let reversed = packet[4...].reversed().map { Hex.string($0) }
                        if let address = DeviceAddress(reversed.joined(separator: ":")) {
                            addresses.append(address)
                        }
                    }
                    if !isLost { air.receive(packet.span, from: controller, at: now) }
                }
                out.removeAll()
                for event in events.elements {
                    if let line = device.line(for: event, upTo: .info) { lines.append(line.text) }
                }
                events.removeAll()
                guard !isLost else { return }
                var down = ByteBlock()
                air.drain(controller, into: &down)
                for packet in h4Packets(down) {
                    device.receive(packet.span, at: now, sending: &out, emit: &events)
                }
            } while !out.isEmpty
        }
    }

    @Test("values, activity and address outlive the controller")
    func lossAndReturn() throws {
        // Two benches: one loses its controller from second 4 to second 20, the other never does.
        var steady = Bench(try SampleProfile.device())
        var lossy = Bench(try SampleProfile.device())
        steady.powerOn()
        lossy.powerOn()
        steady.run(for: .seconds(4))
        lossy.run(for: .seconds(4))
        #expect(lossy.device.host.hasEverAdvertised)
        #expect(lossy.lines.last?.hasSuffix(": activity 0.4 g above 0.12 g") == true)
        lossy.lose()
        let count = lossy.lines.count
        lossy.run(for: .seconds(16))
        #expect(lossy.addresses.count == 1)
        // At 13 s the hold is over: the device became idle while it had no controller.
        #expect(
            lossy.lines[count...].contains { $0.contains("500 ms: idle: below 0.05 g for 5 s") })
        lossy.powerOn()
        lossy.run(for: .seconds(1))
        steady.run(for: .seconds(17))
        #expect(
            lossy.lines.last == "advertising connectable every 500 ms: idle: below 0.05 g for 5 s")
        // The other one had only a gap.
        #expect(
            lossy.lines.last
                == steady.lines.last?.replacing(", after 0 us off the air", with: ""))
        #expect(lossy.addresses == [lossy.addresses[0], lossy.addresses[0]])
        #expect(lossy.addresses[0] == lossy.device.randomAddress)
        for name in ["temperature", "humidity", "count"] {
            let handle = lossy.device.valueHandle(name)
            #expect(
                lossy.device.host.server.value(of: handle)
                    == steady.device.host.server.value(of: handle), "\(name)")
        }
        let counter = lossy.device.valueHandle("count")
        #expect(lossy.device.host.server.value(of: counter) == [42, 0, 0, 0])
    }

    @Test("what a client wrote outlives the controller, its subscription does not")
    func written() throws {
        var world = GuestWorld(try SampleProfile.device())
        world.powerOn()
        world.connect()
        let device = world.port.device
        let setting = device.valueHandle("setting")
        let cccd = device.cccdHandle("count")
        world.perform(.write(handle: setting, value: [7]))
        world.perform(.subscribe(cccd: cccd, notify: true, indicate: false))
        var run = DeviceRun(port: world.port, now: world.now)
        #expect(run.port.device.host.server.cccd(of: cccd, client: 0) == 1)
        run.lose()
        run.recover()
        #expect(run.port.device.host.server.value(of: setting) == [7])
        #expect(run.port.device.host.server.cccd(of: cccd, client: 0) == 0)
    }

    @Test("the address follows from seed and name, and the profile's own one from nothing")
    func address() throws {
        let first = try SampleProfile.device(seed: 1).randomAddress
        #expect(first == (try SampleProfile.device(seed: 1).randomAddress))
        #expect(first != (try SampleProfile.device(seed: 2).randomAddress))
        #expect(first?.isRandomStatic == true)
        // Pinned: machines of equal seeds keep their identity over versions of this program.
        #expect(first?.description == "FD:04:96:94:5B:A1")
        let text = SampleProfile.text.replacing(
            "name: Sample,",
            with: "name: Sample, address: {type: random-static, value: \"C0:11:22:33:44:55\"},")
        for seed in [UInt64(1), 2] {
            let device = EmulatedDevice(profile: try SampleProfile.load(text), seed: seed)
            #expect(device.randomAddress?.description == "C0:11:22:33:44:55")
        }
    }

    @Test("a device that is off has no deadline and does nothing")
    func off() throws {
        var device = try SampleProfile.device()
        var out = ByteBlock()
        var events = Outputs<DeviceEvent>()
        #expect(device.deadline == nil)
        device.expire(at: .zero + .seconds(99), sending: &out, emit: &events)
        device.controllerIsGone(at: .zero, emit: &events)
        device.powerOff(at: .zero, sending: &out, emit: &events)
        #expect(out.isEmpty)
        #expect(events.isEmpty)
    }
}
