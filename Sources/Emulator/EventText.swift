// What a device does, in lines for people: decoded, and by whom.
import Advertising
import BLEHost
import GATT
import HCI
import Profiles
import SansIO
import Wire

/// How much a line matters. `debug` is the most talkative.
public enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    case error, warning, info, debug

    /// The word on the command line; spelled out, for reflection costs a quarter of start-up.
    public var name: String {
        switch self {
        case .error: "error"
        case .warning: "warning"
        case .info: "info"
        case .debug: "debug"
        }
    }

    public static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }
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
    /// The line for an event of this device; nil where it matters less than `level` asks, or
    /// where another line says it already. Text is only made for lines that are shown.
    public func line(for event: DeviceEvent, upTo level: LogLevel) -> LogLine? {
        guard Self.level(of: event) <= level else { return nil }
        return line(for: event)
    }

    static func level(of event: DeviceEvent) -> LogLevel {
        switch event {
        case .activity(let event): level(of: event)
        case .accessed(let event, _, _): level(of: event)
        case .presetRefused, .keptValueDropped: .warning
        case .advertising, .interval, .said, .flashed, .answered: .info
        case .host(let event, _):
            switch event {
            case .failed: .error
            case .note, .advertisingRefused, .overflow: .warning
            case .ready, .advertising, .advertisingStopped, .connected, .disconnected,
                .connectionUpdated, .phyUpdated, .parametersAnswered, .pairingRefused, .security,
                .addressRenewed:
                .info
            case .advertisingPaused, .sent, .scanRequested, .connectedFrom: .debug
            case .server(let event): level(of: event)
            }
        }
    }

    private static func level(of event: ActivityEvent) -> LogLevel {
        switch event {
        case .sourceLost: .warning
        case .changed, .sourceReturned: .info
        case .level, .signalLost, .signalReturned: .debug
        }
    }

    private static func level(of event: ServerEvent) -> LogLevel {
        switch event {
        case .timeout: .warning
        // Discovery asks until there is no more: its reads and its last answer are routine.
        case .read(_, _, let opcode):
            opcode == .readByTypeRequest || opcode == .readByGroupTypeRequest ? .debug : .info
        case .refused(_, _, _, let error): error == .attributeNotFound ? .debug : .info
        case .mtu, .written, .subscribed: .info
        case .confirmed, .indicationReady, .features, .peerIndication: .debug
        }
    }

    private func line(for event: DeviceEvent) -> LogLine? {
        let level = Self.level(of: event)
        guard let text = text(for: event) else { return nil }
        return LogLine(level, text)
    }

    private func text(for event: DeviceEvent) -> String? {
        switch event {
        case .host(let event, let peer):
            text(for: event, peer.map { "\($0)" } ?? event.link.map { "link \($0)" } ?? "")
        case .accessed(let event, let peer, let value): text(for: event, by: peer, value)
        case .advertising(let interval, let gap, let reason, let set):
            prefix(of: set) + "advertising \(kind(of: set)) every \(interval)"
                + (gap.map { ", after \($0.microseconds) us off the air" } ?? "") + ": \(reason)"
        case .activity(let event): text(for: event)
        case .presetRefused(let reference):
            "the value given for '\(reference)' does not fit and the profile's stays: it is too "
                + "long, or the field is not in the value"
        case .keptValueDropped(let name):
            "state: the kept value of '\(name)' no longer fits the profile, whose own is used"
        case .said(let text): text
        case .flashed(let report): text(for: report)
        case .answered(_, let peer, let answer): text(for: answer, peer)
        case .interval(let decision, let set):
            prefix(of: set) + "interval \(decision.from) -> \(decision.to): \(decision.reason)"
        }
    }

    /// The set's name, where there are several.
    private func prefix(of set: Int) -> String {
        let sets = profile.advertising
        return sets.count > 1 && sets.indices.contains(set) ? "\(sets[set].name): " : ""
    }

    private func name(ofSet set: Int) -> String {
        profile.advertising.indices.contains(set) ? profile.advertising[set].name : "\(set)"
    }

    private func kind(of set: Int) -> String {
        let sets = profile.advertising
        return sets.indices.contains(set) ? sets[set].kind.word : "non-connectable"
    }

    private func text(for event: ActivityEvent) -> String? {
        switch event {
        case .changed(let change):
            // The interval's line says it too.
            profile.advertising.isEmpty ? "\(change.state): \(change.reason)" : nil
        case .level(let level, _): "activity level \(Int((level * 100).rounded())) %"
        case .sourceLost(let source, let reason, _):
            "activity source \(sourceName(source)) is lost: \(reason)"
        case .sourceReturned(let source, _): "activity source \(sourceName(source)) is back"
        case .signalLost(let reason, _): "the activity signal is lost: \(reason)"
        case .signalReturned: "the activity signal is back"
        }
    }

    private func sourceName(_ index: Int) -> String {
        guard let sources = profile.activity?.sources, sources.indices.contains(index),
            case .live(let live) = sources[index]
        else { return "\(index + 1)" }
        return "\(live)"
    }

    /// - Parameter peer: whose link it is about.
    private func text(for event: PeripheralEvent, _ peer: String) -> String? {
        switch event {
        case .ready(let controller):
            let address =
                privateAddress ?? randomAddress.map { "\($0) (random static)" }
                ?? "\(controller.publicAddress) (public)"
            return "controller ready: Bluetooth \(controller.versionName), "
                + "\(controller.aclPackets) ACL packets of \(controller.aclOctets) octets; "
                + "address \(address)"
        case .failed(let failure): return "\(failure)"
        case .note(let note): return "\(note)"
        case .advertising(let interval, _, let set):
            return prefix(of: set) + "advertising \(kind(of: set)) every \(interval)"
        case .advertisingPaused(let set):
            return prefix(of: set) + "advertising paused for a change"
        case .advertisingStopped(let set): return prefix(of: set) + "advertising stopped"
        case .advertisingRefused(let status, let set):
            return prefix(of: set) + "the controller refuses to advertise now: \(status); "
                + "tried again every minute, and when a connection changes"
        case .scanRequested(let set, let scanner):
            return prefix(of: set) + "\(scanner) asked for the scan response"
        case .connectedFrom(let set, _): return "\(peer) came by the set '\(name(ofSet: set))'"
        case .addressRenewed(let address, let set):
            return (set.map { prefix(of: $0) } ?? "") + "address \(address) from now on"
        case .connected(_, let connection):
            return "\(connection.peerAddress) connected: \(Self.parameters(connection))"
        case .disconnected(_, let peer, let reason): return "\(peer) disconnected: \(reason)"
        case .connectionUpdated(_, let connection):
            return "\(peer) \(Self.parameters(connection))"
        case .phyUpdated(_, let connection): return "\(peer) on \(connection.phyText)"
        case .parametersAnswered(_, let accepted):
            return "\(peer) "
                + (accepted ? "accepts" : "does not accept")
                + " the connection parameters asked for"
        case .overflow(_, let handle, let room, let isCut):
            return "\(name(of: handle)) has more than the \(room) octets that a notification to "
                + "\(peer) carries: " + (isCut ? "it is cut" : "it is not sent")
        case .sent(_, let handle, let value, let isIndication):
            return "\(peer) was sent \(isIndication ? "an indication" : "a notification") of "
                + name(of: handle) + shown(value, handle)
        case .pairingRefused:
            return "\(peer) asked to pair: refused, "
                + (profile.security == nil
                    ? "the profile has no 'security'" : "it does not pair now")
        case .security(let event): return text(for: event, peer)
        case .server(let event): return text(for: event, peer)
        }
    }

    private var privateAddress: String? {
        host.privateAddress.map {
            "\($0) ("
                + (randomAddress.map { "resolvable private, identity \($0)" }
                    ?? "non-resolvable private") + ")"
        }
    }

    private static func parameters(_ connection: ConnectionInformation) -> String {
        let interval = Double(connection.interval.microseconds) / 1000
        return "interval \(interval) ms, latency \(connection.latency), "
            + "supervision timeout \(Int(connection.supervisionTimeout) * 10) ms"
    }

    /// `temperature (0x0010)`: the name where the plan has one, and the handle.
    private func name(of handle: UInt16) -> String {
        plan.name(of: handle).map { "\($0) (\(Hex.code(handle)))" } ?? "handle \(Hex.code(handle))"
    }

    /// Characters of a value in a line; octets are cut at 32 before.
    private static let shownMax = 120

    private func text(
        for access: ServerEvent, by peer: DeviceAddress, _ value: [UInt8]
    ) -> String? {
        switch access {
        case .read(_, let handle, _): "\(peer) read \(name(of: handle))\(shown(value, handle))"
        case .written(_, let handle, _):
            "\(peer) wrote \(name(of: handle))\(shown(value, handle))"
        case .mtu, .subscribed, .features, .confirmed, .indicationReady, .refused,
            .peerIndication, .timeout:
            nil
        }
    }

    private func shown(_ value: [UInt8], _ handle: UInt16) -> String {
        let text = plan.describe(value, of: handle)
        guard text.count > Self.shownMax else { return " = " + text }
        return " = \(text.prefix(Self.shownMax))… (\(value.count) octets)"
    }

    private func text(for event: ServerEvent, _ peer: String) -> String? {
        switch event {
        case .mtu(_, let mtu): "\(peer) MTU \(mtu)"
        case .read, .written: nil
        case .subscribed(_, let handle, let notify, let indicate):
            "\(peer) " + (notify || indicate ? "subscribed to " : "unsubscribed from ")
                + name(of: handle)
                + (notify && indicate
                    ? " (notifications and indications)" : indicate ? " (indications)" : "")
        case .refused(_, let opcode, let handle, let error):
            "\(peer) refused \(opcode) of \(name(of: handle)): \(error)"
        case .timeout: "\(peer) did not confirm an indication within 30 s"
        case .confirmed, .indicationReady, .features, .peerIndication: nil
        }
    }
}
