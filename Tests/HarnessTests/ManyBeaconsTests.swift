// A thousand beacons in one process, and a scanner that hears them all.
import Emulator
import HCI
import Harness
import Profiles
import SansIO
import Simulation
import TestFiles
import Testing
import Wire

@Suite(.serialized) struct ManyBeaconsTests {
    /// What a run of so many beacons has come to.
    private struct Run {
        var heard = Set<DeviceAddress>()
        var reports = 0
        var seconds = 0.0
        var kilobytes = 0
    }

    private static func beacon(_ number: Int) throws -> EmulatedDevice {
        let text = """
            peripheral-emu: 1
            device: {name: Beacon \(number)}
            advertising:
              - type: non-connectable
                interval: 1 s
                data: [{ibeacon: {uuid: "F7826DA6-4FA2-4E98-8024-BC5B71E0893E", major: 1, \
            minor: \(number), measured-power: -59 dBm}}]
            """
        let profile = try ProfileLoader.load(path: "b.yaml", bytes: Array(text.utf8)) { _ in
            .failure(FileFailure(reason: "none"))
        }
        return EmulatedDevice(profile: profile, seed: 1)
    }

    private static var residentKilobytes: Int {
        // Above the root there is the root.
        let up = String(repeating: "../", count: 32)
        let lines = SourceTree.text(up + "proc/self/status").split(separator: "\n")
        let line = lines.first { $0.hasPrefix("VmRSS") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// Runs `count` beacons for `span` of virtual time beside a host that scans without pause.
    private static func run(_ count: Int, for span: TimeSpan) throws -> Run {
        var run = Run()
        let before = residentKilobytes
        let ports = try (0..<count).map { DevicePort(device: try beacon($0)) }
        var world = World(
            port: ports[0], others: Array(ports.dropFirst()), seed: 1, timing: .ideal)
        world.powerOn(at: .zero)
        guard let host = world.addHost() else { return run }
        // A controller that nobody has told otherwise tells of no LE events.
        var mask = SetEventMask()
        mask.eventMask = 1 << 61
        var scan = LESetScanEnable()
        scan.enable = 1
        for command in [mask, scan] as [any HCICommand] {
            var packet = ByteBlock()
            packet.append(command: command)
            world.receive(packet.bytes.span, from: host, at: .zero)
        }
        run.kilobytes = max(residentKilobytes - before, 0)
        var block = ByteBlock()
        let clock = ContinuousClock()
        let start = clock.now
        while let deadline = world.deadline, deadline <= .zero + span {
            world.run(at: deadline)
            world.events.removeAll()
            world.drain(host, into: &block)
            try take(block.bytes, into: &run)
            block.removeAll()
        }
        let spent = (clock.now - start).components
        run.seconds = Double(spent.seconds) + Double(spent.attoseconds) / 1e18
        return run
    }

    private static func take(_ bytes: [UInt8], into run: inout Run) throws {
        var offset = 0
        while case .packet(_, let end) = H4.frame(bytes.span, from: offset) {
            if bytes[offset + 1] == EventCode.leMeta.rawValue {
                let body = bytes.span.extracting(offset + 4..<end)
                for report in try LEAdvertisingReport(hci: body).reports {
                    run.heard.insert(report.address)
                    run.reports += 1
                }
            }
            offset = end
        }
    }

    @Test("a thousand beacons in one process are all heard, at a cost linear in their number")
    func thousand() throws {
        let span = TimeSpan.seconds(10)
        let hundred = try Self.run(100, for: span)
        let thousand = try Self.run(1000, for: span)
        for (count, run) in [(100, hundred), (1000, thousand)] {
            #expect(run.heard.count == count && run.reports >= 9 * count)
            let micros = run.seconds / Double(count) / span.seconds * 1e6
            print(
                "\(count) beacons: \(Int(micros * 10) / 10) us a beacon and second, "
                    + "\(run.kilobytes / count) KiB a beacon, \(run.reports) reports")
        }
        #expect(thousand.seconds < 10 * hundred.seconds * 3)
    }
}
