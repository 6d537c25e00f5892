// What a device does, in lines for people: decoded, and by whom.
import Advertising
import BLEHost
import GATT
import HCI
import Profiles
import Wire

/// How much a line matters. `debug` is the most talkative.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    case error, warning, info, debug

    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// One line of the log.
public struct LogLine: Equatable, Sendable {
    public var level: LogLevel
    public var text: String

    public init(_ level: LogLevel, _ text: String) {
        self.level = level
        self.text = text
    }
}

extension EmulatedDevice {
    /// The line for an event of this device; nil where another line says it already.
    public func line(for event: DeviceEvent) -> LogLine? {
        switch event {
        case .host(let event): line(for: event)
        case .activity(let change):
            profile.advertising.isEmpty
                ? LogLine(.info, "\(change.state): \(change.reason)") : nil
        case .interval(let decision):
            LogLine(
                .info,
                "interval \(decision.from) -> \(decision.to): \(decision.reason)")
        }
    }

    private func line(for event: PeripheralEvent) -> LogLine? {
        switch event {
        case .ready(let controller):
            let address = randomAddress.map { "\($0) (random static)" }
                ?? "\(controller.publicAddress) (public)"
            return LogLine(
                .info,
                "controller ready: Bluetooth \(controller.versionName), "
                    + "\(controller.aclPackets) ACL packets of \(controller.aclOctets) octets; "
                    + "address \(address)")
        case .failed(let failure): return LogLine(.error, "\(failure)")
        case .note(let note): return LogLine(.warning, "\(note)")
        case .advertising(let interval):
            let kind = profile.advertising.first?.kind
            let how =
                switch kind {
                case .connectable: "connectable"
                case .scannable: "scannable"
                case .nonConnectable, nil: "non-connectable"
                }
            return LogLine(.info, "advertising \(how) every \(interval): \(intervalReason)")
        case .advertisingStopped: return LogLine(.info, "advertising stopped")
        case .advertisingRefused(let status):
            return LogLine(
                .warning,
                "the controller refuses to advertise now: \(status); "
                    + "tried again when a connection changes")
        case .connected(_, let connection):
            return LogLine(
                .info,
                "\(connection.peerAddress) connected: \(Self.parameters(connection))")
        case .disconnected(let link, let reason):
            return LogLine(.info, "\(peer(link)) disconnected: \(reason)")
        case .connectionUpdated(let link):
            return LogLine(.info, "\(peer(link)) \(Self.parameters(host.links[link].information))")
        case .overflow(let link, let handle, let isCut):
            let room = host.server.mtu(of: link) - 3
            return LogLine(
                .warning,
                "\(name(of: handle)) has more than the \(room) octets that a notification to "
                    + "\(peer(link)) carries: " + (isCut ? "it is cut" : "it is not sent"))
        case .server(let event): return line(for: event)
        }
    }

    private static func parameters(_ connection: ConnectionInformation) -> String {
        let interval = Double(connection.interval.microseconds) / 1000
        return "interval \(interval) ms, latency \(connection.latency), "
            + "supervision timeout \(Int(connection.supervisionTimeout) * 10) ms"
    }

    private func peer(_ link: Int) -> String {
        host.links.indices.contains(link)
            ? "\(host.links[link].information.peerAddress)" : "link \(link)"
    }

    /// `temperature (0x0010)`: the name where the profile has one, and the handle.
    private func name(of handle: UInt16) -> String {
        if let binding = plan.binding(valueHandle: handle) {
            return "\(binding.name) (\(Hex.code(handle)))"
        }
        if let binding = plan.binding(cccdHandle: handle) {
            return "\(binding.name) configuration (\(Hex.code(handle)))"
        }
        return "handle \(Hex.code(handle))"
    }

    private func shown(_ handle: UInt16) -> String {
        guard let value = host.server.value(of: handle) else { return "" }
        let format = plan.binding(valueHandle: handle)?.format ?? .bytes
        return " = " + format.describe(value)
    }

    private func line(for event: ServerEvent) -> LogLine? {
        switch event {
        case .mtu(let client, let mtu): LogLine(.info, "\(peer(client)) MTU \(mtu)")
        case .read(let client, let handle, _):
            LogLine(.info, "\(peer(client)) read \(name(of: handle))\(shown(handle))")
        case .written(let client, let handle, _):
            LogLine(.info, "\(peer(client)) wrote \(name(of: handle))\(shown(handle))")
        case .subscribed(let client, let handle, let notify, let indicate):
            LogLine(
                .info,
                "\(peer(client)) "
                    + (notify || indicate ? "subscribed to " : "unsubscribed from ")
                    + name(of: handle)
                    + (notify && indicate
                        ? " (notifications and indications)" : indicate ? " (indications)" : ""))
        case .refused(let client, let opcode, let handle, let error):
            LogLine(
                .info, "\(peer(client)) refused \(opcode) of \(name(of: handle)): \(error)")
        case .timeout(let client):
            LogLine(.warning, "\(peer(client)) did not confirm an indication within 30 s")
        case .confirmed, .indicationReady, .features, .peerIndication: nil
        }
    }
}
