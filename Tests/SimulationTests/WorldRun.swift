// Whole runs in virtual time: everything that is said, with its time, and everything captured.
import Emulator
import Harness
import Profiles
import SansIO
import Simulation
import VirtualController
import Wire

/// A world that ran, from deadline to deadline as the program's own driver does.
struct WorldRun {
    var lines: [String] = []
    var capture: [UInt8] = []
    /// How the central ended; nil without one, or where it had not ended.
    var outcome: CentralFinding?
    var end = Instant.zero

    /// - Parameters:
    ///   - span: how long it runs at most; it ends when the central has ended.
    ///   - stopAfter: switches the device off behind this line of the central.
    init(
        _ text: String = SampleProfile.text, trace: String = SampleProfile.trace, seed: UInt64 = 1,
        timing: Air.Timing = .radio, withCentral: Bool = true, target: DeviceAddress? = nil,
        for span: TimeSpan = .seconds(60), stopAfter: String? = nil
    ) throws {
        let profile = try SampleProfile.load(text, trace: trace)
        var device = EmulatedDevice(profile: profile, seed: seed)
        device.reportsAccess = true
        var central: ScriptedCentral?
        if withCentral {
            central = ScriptedCentral(
                targets: target.map { [$0] } ?? device.lastingAddresses ?? [],
                sets: target == nil ? profile.setsForAnyone : 1,
                address: DeviceAddress(littleEndian: 0xC0FF_EE00_0001))
        }
        var world = World(
            port: DevicePort(device: device), seed: seed, timing: timing, central: central)
        world.capture(epoch: BtsnoopWriter.virtualEpoch)
        world.powerOn(at: .zero)
        take(&world)
        var isOff = false
        while outcome == nil, let deadline = world.deadline, deadline <= .zero + span {
            end = deadline
            world.run(at: deadline)
            take(&world)
            if let stopAfter, !isOff, lines.contains(where: { $0.hasSuffix(stopAfter) }) {
                isOff = true
                world.powerOff(at: deadline)
                take(&world)
            }
        }
    }

    private mutating func take(_ world: inout World) {
        for event in world.events.elements {
            switch event {
            case .device(let event, _):
                if let line = world.port.device.line(for: event, upTo: .info) {
                    lines.append("\(end - .zero)  \(line.text)")
                }
            case .central(.line(let text), _): lines.append("\(end - .zero)  central: \(text)")
            case .central(let finding, _): outcome = finding
            }
        }
        world.events.removeAll()
        capture += world.takeCapture()
    }

    /// The lines and the end.
    var text: String {
        lines.map { $0 + "\n" }.joined() + "\(end - .zero)  \(outcome.map { "\($0)" } ?? "end")\n"
    }
}
