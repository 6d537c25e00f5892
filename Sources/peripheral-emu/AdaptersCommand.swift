// `adapters`: the Bluetooth adapters of this machine, and the choice among them.
import Emulator
import LinuxIO
import SansIO

enum AdaptersCommand {
    static func run(_ console: inout Console) -> ExitCode {
        let adapters: [Adapter]
        do throws(SystemError) { adapters = try Adapter.all() } catch {
            console.error("\(error)")
            return .failure
        }
        for adapter in adapters {
            let features = adapter.features.isEmpty ? "features not known yet" : ""
            let parts = [
                adapter.name, "\(adapter.address)", adapter.bus,
                features + adapter.features.joined(separator: ", "), adapter.stateText,
            ]
            console.print(parts.joined(separator: "  "))
            if let remedy = remedy(adapter) { console.print("      \(remedy)") }
        }
        if adapters.isEmpty {
            console.print("there is no Bluetooth adapter; the virtual controller needs none")
        }
        console.print(
            Capabilities.hasNetAdmin
                ? "this user may open adapters"
                : "this user may not open adapters, that needs CAP_NET_ADMIN: "
                    + Capabilities.remedy)
        return .done
    }

    private static func remedy(_ adapter: Adapter) -> String? {
        switch adapter.state {
        case .free: "--controller hci:\(adapter.number)"
        case .up: "--controller hci:\(adapter.number) --take-over"
        case .taken: "end that program first"
        case .blocked(let isHard):
            isHard ? "switch it on" : "sudo rfkill unblock bluetooth"
        case .starting: nil
        }
    }

    /// The controller of a run that names none, and why it is that one.
    static func choice() -> (controller: ControllerSpec, reason: String) {
        switch Adapter.firstFree() {
        case .success(let adapter):
            (
                .transport(TransportSpec(adapter: adapter.number)),
                "controller: \(adapter.name), the first adapter that is free"
            )
        case .failure(let why): (.virtual, "controller: the virtual one; \(why.reason)")
        }
    }
}
