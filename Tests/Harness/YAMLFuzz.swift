// Any octets as a profile: refused with errors, or loaded and at work.
import Emulator
import Profiles
import SansIO
import Wire

enum YAMLFuzz {
    static func seeds() -> [[UInt8]] { [Array(SampleProfile.text.utf8)] }

    static func run(_ bytes: [UInt8]) {
        let profile: DeviceProfile
        do throws(ProfileErrors) {
            profile = try ProfileLoader.load(path: "p.yaml", bytes: bytes) { _ in
                .success(Array(SampleProfile.trace.utf8))
            }
        } catch {
            precondition(!error.list.isEmpty, "a refusal says why")
            for one in error.list {
                precondition(one.line >= 1 && one.column >= 1, "lines and columns count from 1")
                precondition(!one.problem.isEmpty, "an error says what is wrong")
                precondition(!one.description.contains("\n"), "an error is one line")
            }
            return
        }
        precondition(!CheckReport.text(of: profile).isEmpty, "a profile has a report")
        var device = EmulatedDevice(profile: profile, seed: 1)
        var out = ByteBlock()
        var events = Outputs<DeviceEvent>()
        device.powerOn(at: .zero, sending: &out, emit: &events)
        // Without a controller its time-outs pass, and values and activity go on.
        for _ in 0..<64 {
            guard let deadline = device.deadline else { break }
            device.expire(at: deadline, sending: &out, emit: &events)
        }
        for event in events.elements {
            if let line = device.line(for: event, upTo: .debug) {
                precondition(!line.text.isEmpty, "a line has text")
            }
        }
    }
}
