// Several devices on one air: the central visits one after the other, and each has its capture.
import Emulator
import Harness
import Profiles
import SansIO
import Simulation
import Testing
import Wire

@Suite struct SeveralDevicesTests {
    private static func profile(_ name: String, _ address: String) -> String {
        """
        peripheral-emu: 1
        device: {name: \(name), address: \(address)}
        advertising:
          - {type: connectable, interval: 20 ms, data: [{name: complete}]}
        services: []
        """
    }
    private static let beacon = """
        peripheral-emu: 1
        device: {name: Beacon}
        advertising:
          - {type: non-connectable, interval: 100 ms, data: [{name: complete}]}
        """

    /// What the central has found, by the devices' numbers, and the devices' captures.
    private struct Visits: Equatable {
        var lines: [[String]]
        var captures: [[UInt8]]
        var endings: [CentralFinding] = []
        var last = 0

        init(_ texts: [String], seed: UInt64 = 1) throws {
            lines = texts.map { _ in [] }
            captures = texts.map { _ in [] }
            let ports = try texts.map { text in
                DevicePort(
                    device: EmulatedDevice(
                        profile: try SampleProfile.load(text), seed: seed))
            }
            let central = ScriptedCentral(
                targets: [], address: DeviceAddress(littleEndian: 0xC0FF_EE00_0001))
            var world = World(
                port: ports[0], others: Array(ports.dropFirst()), seed: seed, timing: .radio,
                central: central)
            world.capture(epoch: BtsnoopWriter.virtualEpoch)
            world.powerOn(at: .zero)
            take(&world)
            while endings.isEmpty, let deadline = world.deadline {
                world.run(at: deadline)
                take(&world)
            }
        }

        private mutating func take(_ world: inout World) {
            for case .central(let finding, let number) in world.events.elements {
                #expect(number >= last)
                last = number
                if case .line(let line) = finding {
                    lines[number].append(line)
                } else {
                    endings.append(finding)
                }
            }
            world.events.removeAll()
            for number in captures.indices { captures[number] += world.takeCapture(of: number) }
        }
    }

    @Test("the central sees each device by its own address, whatever its kind, and ends once")
    func visits() throws {
        let visits = try Visits([
            Self.profile("First", "random-static"), Self.beacon, Self.profile("Third", "public"),
            Self.profile("Fourth", "public"),
        ])
        #expect(visits.endings == [.finished] && visits.last == 3)
        for (number, name) in ["First", "Beacon", "Third", "Fourth"].enumerated() {
            #expect(visits.lines[number].contains("  complete local name \"\(name)\""))
            #expect(visits.lines[number].contains("connected") == (number != 1))
        }
    }

    @Test("a device that does not advertise ends the visits, and is the one that is named")
    func missing() throws {
        let silent = "peripheral-emu: 1\ndevice: {name: Silent}\nservices: []\n"
        let visits = try Visits([
            Self.profile("First", "random-static"), silent, Self.profile("Third", "public"),
        ])
        #expect(visits.last == 1 && visits.lines[2].isEmpty)
        guard case .incomplete(let missing) = visits.endings.first else {
            Issue.record("\(visits.endings)")
            return
        }
        #expect(missing.hasPrefix("an advertisement of "))
    }

    @Test("equal seeds give equal visits, and a capture of each device by itself")
    func captures() throws {
        let texts = [Self.profile("First", "random-static"), Self.profile("Second", "public")]
        let visits = try Visits(texts)
        #expect(try Visits(texts) == visits)
        #expect(try Visits(texts, seed: 2) != visits)
        for (number, capture) in visits.captures.enumerated() {
            #expect(capture.starts(with: "btsnoop\0".utf8))
            let texts = ["First", "Second"].map { Array($0.utf8) }
            #expect(capture.firstRange(of: texts[number]) != nil)
            #expect(capture.firstRange(of: texts[1 - number]) == nil)
        }
    }
}
